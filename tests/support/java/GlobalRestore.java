package world;

import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.StateRestoreListener;

/**
 * What a Kafka Streams application pays to have a topic in its default store: a GlobalKTable's restore into RocksDB.
 * Arguments: bootstrap servers, topic, an empty folder. Prints one line of JSON: ms from KafkaStreams.start() to the
 * end of the restore (the JVM's own start is not counted), and the records.
 */
final class GlobalRestore {
  private static final long RESTORE_MAX_S = 300;

  private static final class Watch implements StateRestoreListener {
    final CountDownLatch ended = new CountDownLatch(1);
    volatile long endedNanos;
    volatile long records;

    @Override
    public void onRestoreStart(TopicPartition partition, String store, long from, long to) {
    }

    @Override
    public void onBatchRestored(TopicPartition partition, String store, long offset, long count) {
    }

    @Override
    public void onRestoreEnd(TopicPartition partition, String store, long count) {
      endedNanos = System.nanoTime();
      records = count;
      ended.countDown();
    }
  }

  public static void main(String[] arguments) throws Exception {
    Properties settings = new Properties();
    settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "flow-bench-" + System.nanoTime());
    settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0]);
    settings.put(StreamsConfig.STATE_DIR_CONFIG, Path.of(arguments[2]).toString());
    settings.put(StreamsConfig.consumerPrefix("isolation.level"), "read_committed");
    StreamsBuilder builder = new StreamsBuilder();
    builder.globalTable(arguments[1], Consumed.with(Serdes.ByteArray(), Serdes.ByteArray()),
        Materialized.as("table"));
    Watch watch = new Watch();
    KafkaStreams streams = new KafkaStreams(builder.build(), settings);
    streams.setGlobalStateRestoreListener(watch);
    long began = System.nanoTime();
    streams.start();
    if (!watch.ended.await(RESTORE_MAX_S, TimeUnit.SECONDS)) {
      throw new IllegalStateException("not restored within " + RESTORE_MAX_S + " s");
    }
    System.out.printf("{\"ms\": %.3f, \"records\": %d}%n", (watch.endedNanos - began) / 1e6, watch.records);
    System.out.flush();
    streams.close();
  }
}
