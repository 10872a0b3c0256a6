package world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/** Records: write them, read them all, have a topic compacted now. */
final class Records {
  private static final Duration POLL = Duration.ofMillis(20);

  private final Clients clients;

  Records(Clients clients) {
    this.clients = clients;
  }

  void register(Map<String, World.Command> commands) {
    commands.put("topic.fill", this::fill);
    commands.put("record.append", this::append);
    commands.put("topic.read", this::read);
    commands.put("topic.compact", this::compact);
  }

  /** {topic, count, partition?, size = 10, timestamp?, step_ms = 1}: so many records to each partition, or to one. */
  private void fill(JsonNode request, ObjectNode answer) throws Exception {
    send(clients.producer(), clients, request);
  }

  /** Shared with transactions: the same request, sent by another producer. */
  static void send(KafkaProducer<byte[], byte[]> producer, Clients clients, JsonNode request) throws Exception {
    String topic = request.get("topic").asText();
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    byte[] value = "v".repeat(request.path("size").asInt(10)).getBytes(StandardCharsets.UTF_8);
    for (TopicPartition partition : clients.partitionsOf(topic)) {
      if (request.hasNonNull("partition") && request.get("partition").asInt() != partition.partition()) {
        continue;
      }
      for (int i = 0; i < request.get("count").asInt(); i++) {
        Long timestamp = request.hasNonNull("timestamp")
            ? request.get("timestamp").asLong() + (long) i * request.path("step_ms").asInt(1) : null;
        byte[] key = ("key-" + i).getBytes(StandardCharsets.UTF_8);
        sent.add(producer.send(new ProducerRecord<>(topic, partition.partition(), timestamp, key, value)));
      }
    }
    producer.flush();
    for (Future<RecordMetadata> future : sent) {
      future.get();
    }
  }

  /** {topic, partition = 0, key | key64, value | value64, timestamp?} -> offset. No value: a tombstone. */
  private void append(JsonNode request, ObjectNode answer) throws Exception {
    answer.put("offset", append(clients.producer(), request));
  }

  static long append(KafkaProducer<byte[], byte[]> producer, JsonNode request) throws Exception {
    Long timestamp = request.hasNonNull("timestamp") ? request.get("timestamp").asLong() : null;
    return producer.send(new ProducerRecord<>(request.get("topic").asText(), request.path("partition").asInt(0),
                                              timestamp,
        Clients.bytes(request, "key"), Clients.bytes(request, "value"))).get().offset();
  }

  /** Reads what is there now: from the start to the end (read_committed: to the last stable offset) at this moment. */
  static void readAll(KafkaConsumer<byte[], byte[]> reader, List<TopicPartition> partitions,
      Consumer<ConsumerRecord<byte[], byte[]>> each) {
    Map<TopicPartition, Long> ends = reader.endOffsets(partitions);
    long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (partitions.stream().anyMatch(partition -> reader.position(partition) < ends.get(partition))) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("did not reach the end " + ends + " within 30 s");
      }
      reader.poll(POLL).forEach(each);
    }
  }

  /** {topic, isolation = "read_committed", values = true} -> records in the order of each partition. */
  private void read(JsonNode request, ObjectNode answer) throws Exception {
    ArrayNode records = answer.putArray("records");
    boolean values = request.path("values").asBoolean(true);
    List<TopicPartition> partitions = clients.partitionsOf(request.get("topic").asText());
    try (var reader = clients.newReader(request.path("isolation").asText("read_committed"))) {
      reader.assign(partitions);
      reader.seekToBeginning(partitions);
      readAll(reader, partitions, record -> {
        ObjectNode node = records.addObject().put("partition", record.partition()).put("offset", record.offset())
            .put("timestamp", record.timestamp()).put("key64", Clients.base64(record.key()));
        if (values) {
          node.put("value64", Clients.base64(record.value()));
        } else {
          node.put("size", record.serializedValueSize());
        }
      });
    }
  }

  /**
   * {topic, timeout_ms = 30000, delete_retention_ms?}: has the broker's own log cleaner compact everything that is
   * in the topic now, and waits until each key is there once. The segment is rolled by aborted transactions, so
   * that no reader ever sees a record of ours. The topic's settings stay changed.
   */
  private void compact(JsonNode request, ObjectNode answer) throws Exception {
    String topic = request.get("topic").asText();
    List<AlterConfigOp> changes = new ArrayList<>();
    Map<String, String> settings = Map.of("segment.ms", "1", "min.cleanable.dirty.ratio", "0.0",
        "min.compaction.lag.ms", "0", "max.compaction.lag.ms", "1",
        "delete.retention.ms", request.path("delete_retention_ms").asText("86400000"));
    settings.forEach((key, value) ->
        changes.add(new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET)));
    clients.admin().incrementalAlterConfigs(
        Map.of(new ConfigResource(ConfigResource.Type.TOPIC, topic), changes)).all().get();
    List<TopicPartition> partitions = clients.partitionsOf(topic);
    int wanted = distinctKeys(partitions)[0];
    long deadline = System.nanoTime() + Duration.ofMillis(request.path("timeout_ms").asLong(30000)).toNanos();
    roll(partitions);
    int[] seen = distinctKeys(partitions);
    while (seen[1] > seen[0]) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException(topic + " is not compacted in time: " + seen[1] + " records, "
                                        + seen[0] + " keys");
      }
      Thread.sleep(50);
      seen = distinctKeys(partitions);
    }
    answer.put("keys", wanted).put("records", seen[1]);
  }

  private int[] distinctKeys(List<TopicPartition> partitions) {
    Set<String> keys = new HashSet<>();
    int[] count = {0};
    try (var reader = clients.newReader("read_committed")) {
      reader.assign(partitions);
      reader.seekToBeginning(partitions);
      readAll(reader, partitions, record -> {
        keys.add(record.partition() + "/" + Clients.base64(record.key()));
        count[0]++;
      });
    }
    return new int[] {keys.size(), count[0]};
  }

  private void roll(List<TopicPartition> partitions) throws Exception {
    Properties settings = new Properties();
    settings.put("transactional.id", "world-roll-" + partitions.get(0).topic());
    settings.put("transaction.timeout.ms", "10000");
    try (var producer = clients.newProducer(settings)) {
      producer.initTransactions();
      for (int i = 0; i < 2; i++) {
        // More than segment.ms has passed for the broker's clock when the next batch arrives.
        Thread.sleep(20);
        producer.beginTransaction();
        for (TopicPartition partition : partitions) {
          producer.send(new ProducerRecord<>(partition.topic(), partition.partition(),
              "world-roll".getBytes(StandardCharsets.UTF_8), new byte[0])).get();
        }
        producer.abortTransaction();
      }
    }
  }
}
