package world;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;

/** A consumer that polls on its own thread and remembers where it began: the first offset of each partition. */
final class LiveConsumer implements ConsumerRebalanceListener {
  private static final Duration POLL = Duration.ofMillis(50);

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final Thread thread;
  private final ConcurrentLinkedQueue<CompletableFuture<Void>> commits = new ConcurrentLinkedQueue<>();
  private final Map<String, Long> first = new TreeMap<>();
  private final Map<String, Long> last = new TreeMap<>();
  private final Set<String> assigned = new TreeSet<>();
  private long count;
  private int rebalances;
  private Throwable failure;
  private volatile boolean closing;

  LiveConsumer(KafkaConsumer<byte[], byte[]> consumer, List<String> topics) {
    this.consumer = consumer;
    consumer.subscribe(topics, this);
    thread = new Thread(this::run, "consumer");
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    try (consumer) {
      while (!closing) {
        consumer.poll(POLL).forEach(this::take);
        for (var commit = commits.poll(); commit != null; commit = commits.poll()) {
          consumer.commitSync();
          commit.complete(null);
        }
      }
    } catch (InterruptException interrupted) {
      // Only close() interrupts.
    } catch (Throwable thrown) {
      synchronized (this) {
        failure = thrown;
      }
    }
  }

  private synchronized void take(ConsumerRecord<byte[], byte[]> record) {
    String partition = record.topic() + "/" + record.partition();
    first.putIfAbsent(partition, record.offset());
    last.put(partition, record.offset());
    count++;
  }

  @Override
  public synchronized void onPartitionsAssigned(Collection<TopicPartition> partitions) {
    partitions.forEach(partition -> assigned.add(partition.topic() + "/" + partition.partition()));
    rebalances++;
  }

  @Override
  public synchronized void onPartitionsRevoked(Collection<TopicPartition> partitions) {
    partitions.forEach(partition -> assigned.remove(partition.topic() + "/" + partition.partition()));
  }

  /** Commits where it has read to; returns when that is done. */
  void commit() throws Exception {
    CompletableFuture<Void> commit = new CompletableFuture<>();
    commits.add(commit);
    commit.get(20, TimeUnit.SECONDS);
  }

  /** Leaves the group (a static member does not, as with every Kafka client) and ends. */
  void close() throws Exception {
    closing = true;
    consumer.wakeup();
    thread.join(20000);
    if (thread.isAlive()) {
      throw new IllegalStateException("the consumer did not close within 20 s");
    }
  }

  /** first, last: {"topic/partition": offset}; assigned; count; rebalances; failure (null while it is well). */
  synchronized void describe(ObjectNode answer) {
    ObjectNode firsts = answer.putObject("first");
    first.forEach(firsts::put);
    ObjectNode lasts = answer.putObject("last");
    last.forEach(lasts::put);
    ArrayNode partitions = answer.putArray("assigned");
    assigned.forEach(partitions::add);
    answer.put("count", count).put("rebalances", rebalances)
        .put("failure", failure == null || isWakeup() ? null : failure.toString());
  }

  private boolean isWakeup() {
    return closing && failure instanceof org.apache.kafka.common.errors.WakeupException;
  }
}
