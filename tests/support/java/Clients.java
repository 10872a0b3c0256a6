package world;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The clients of one cluster, and the few shapes of JSON that all commands share. Used from the main thread. */
final class Clients {
  private final Properties common = new Properties();
  private Admin admin;
  private KafkaProducer<byte[], byte[]> producer;

  static Clients of(String[] arguments) {
    Clients clients = new Clients();
    clients.common.put("bootstrap.servers", arguments[0]);
    for (int i = 1; i < arguments.length; i++) {
      int equals = arguments[i].indexOf('=');
      clients.common.put(arguments[i].substring(0, equals), arguments[i].substring(equals + 1));
    }
    return clients;
  }

  String bootstrapServers() {
    return common.getProperty("bootstrap.servers");
  }

  Properties settings() {
    Properties copy = new Properties();
    copy.putAll(common);
    return copy;
  }

  Admin admin() {
    if (admin == null) {
      Properties settings = settings();
      settings.put("request.timeout.ms", "15000");
      settings.put("default.api.timeout.ms", "30000");
      // A world that is looked at often must not answer from a slow retry.
      settings.put("retry.backoff.ms", "20");
      admin = Admin.create(settings);
    }
    return admin;
  }

  /** For plain records; one for all topics. */
  KafkaProducer<byte[], byte[]> producer() {
    if (producer == null) {
      producer = newProducer(new Properties());
    }
    return producer;
  }

  KafkaProducer<byte[], byte[]> newProducer(Properties more) {
    Properties settings = settings();
    settings.put("max.block.ms", "20000");
    settings.put("linger.ms", "0");
    // With more in flight, a partition that is just being made can refuse a producer's first batch and take its
    // second, and then refuses the first for ever as out of order.
    settings.put("max.in.flight.requests.per.connection", "1");
    settings.putAll(more);
    return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
  }

  KafkaConsumer<byte[], byte[]> newConsumer(Properties more) {
    Properties settings = settings();
    settings.put("enable.auto.commit", "false");
    settings.put("auto.offset.reset", "earliest");
    settings.put("exclude.internal.topics", "false");
    settings.put("default.api.timeout.ms", "20000");
    settings.putAll(more);
    return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  KafkaConsumer<byte[], byte[]> newReader(String isolation) {
    Properties settings = new Properties();
    settings.put("isolation.level", isolation);
    settings.put("fetch.max.wait.ms", "20");
    return newConsumer(settings);
  }

  List<TopicPartition> partitionsOf(String topic) throws Exception {
    var description = admin().describeTopics(List.of(topic)).topicNameValues().get(topic).get();
    List<TopicPartition> partitions = new ArrayList<>();
    description.partitions().forEach(info -> partitions.add(new TopicPartition(topic, info.partition())));
    return partitions;
  }

  /** Asks again for 20 s while the broker has not heard from its controller yet of a topic that was just made. */
  static <T> T patiently(Callable<T> question) throws Exception {
    long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (true) {
      try {
        return question.call();
      } catch (ExecutionException failed) {
        if (!(failed.getCause() instanceof UnknownTopicOrPartitionException) || System.nanoTime() > deadline) {
          throw failed;
        }
        Thread.sleep(20);
      }
    }
  }

  /** {@code field} as text, or {@code field64} as Base64; null when neither is there. */
  static byte[] bytes(JsonNode node, String field) {
    if (node.hasNonNull(field + "64")) {
      return Base64.getDecoder().decode(node.get(field + "64").asText());
    }
    return node.hasNonNull(field) ? node.get(field).asText().getBytes(StandardCharsets.UTF_8) : null;
  }

  static String base64(byte[] bytes) {
    return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
  }

  static List<String> strings(JsonNode array) {
    List<String> strings = new ArrayList<>();
    array.forEach(node -> strings.add(node.asText()));
    return strings;
  }

  /** The client settings of a command's {@code config} object. */
  static Properties properties(JsonNode object) {
    Properties properties = new Properties();
    object.fields().forEachRemaining(field -> properties.put(field.getKey(), field.getValue().asText()));
    return properties;
  }
}
