package world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;

/** Live groups that are no consumers': share groups (KIP-932), and Kafka Streams by its own protocol (KIP-1071). */
final class OtherGroups {
  private final Clients clients;
  private final Map<String, AutoCloseable> running = new HashMap<>();
  private final Map<String, AtomicLong> read = new HashMap<>();

  OtherGroups(Clients clients) {
    this.clients = clients;
  }

  void register(Map<String, World.Command> commands) {
    commands.put("share.start", (request, answer) -> running.put(name(request), share(request)));
    commands.put("streams.start", (request, answer) -> running.put(name(request), streams(request)));
    commands.put("other.count", (request, answer) -> answer.put("count", read.get(name(request)).get()));
    commands.put("other.close", (request, answer) -> running.remove(name(request)).close());
  }

  private static String name(JsonNode request) {
    return request.get("group").asText();
  }

  private AtomicLong count(JsonNode request) {
    AtomicLong count = new AtomicLong();
    read.put(name(request), count);
    return count;
  }

  /** {group, topic} */
  private AutoCloseable share(JsonNode request) {
    Properties settings = clients.settings();
    settings.put("group.id", name(request));
    AtomicBoolean ends = new AtomicBoolean();
    AtomicLong count = count(request);
    Thread thread = new Thread(() -> {
      var bytes = new ByteArrayDeserializer();
      try (var consumer = new KafkaShareConsumer<>(settings, bytes, bytes)) {
        consumer.subscribe(List.of(request.get("topic").asText()));
        while (!ends.get()) {
          count.addAndGet(consumer.poll(Duration.ofMillis(100)).count());
        }
      }
    });
    thread.setDaemon(true);
    thread.start();
    return () -> {
      ends.set(true);
      thread.join(20_000);
    };
  }

  /** {group, topic, folder} */
  private AutoCloseable streams(JsonNode request) {
    Properties settings = clients.settings();
    settings.put("application.id", name(request));
    settings.put("state.dir", request.get("folder").asText());
    settings.put("group.protocol", "streams");
    settings.put("auto.offset.reset", "earliest");
    settings.put("commit.interval.ms", "200");
    settings.put("default.key.serde", Serdes.ByteArraySerde.class);
    settings.put("default.value.serde", Serdes.ByteArraySerde.class);
    AtomicLong count = count(request);
    StreamsBuilder builder = new StreamsBuilder();
    builder.<byte[], byte[]>stream(request.get("topic").asText()).foreach((key, value) -> count.incrementAndGet());
    KafkaStreams application = new KafkaStreams(builder.build(), settings);
    application.start();
    return () -> application.close(Duration.ofSeconds(20));
  }
}
