package world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.tools.consumer.OffsetsMessageFormatter;

/**
 * Every commit that a group ever got, from Kafka's own {@code __consumer_offsets}, decoded by Kafka's own
 * formatter. This is the independent witness of "exactly once": it knows nothing of the product. Aborted
 * transactions do not count (read_committed). It goes on reading where it stopped, so each look costs only
 * what is new.
 */
final class OffsetsLog {
  private static final String TOPIC = "__consumer_offsets";

  private final Clients clients;
  private final OffsetsMessageFormatter formatter = new OffsetsMessageFormatter();
  private final Map<String, List<ObjectNode>> commitsOfGroup = new HashMap<>();
  private KafkaConsumer<byte[], byte[]> reader;
  private List<TopicPartition> partitions;

  OffsetsLog(Clients clients) {
    this.clients = clients;
  }

  void register(Map<String, World.Command> commands) {
    commands.put("group.commits", this::commits);
  }

  /** {group} -> commits = [{topic, partition, offset (null: a tombstone), metadata, position}] in the log's order. */
  private void commits(JsonNode request, ObjectNode answer) throws Exception {
    if (reader == null) {
      partitions = clients.partitionsOf(TOPIC);
      reader = clients.newReader("read_committed");
      reader.assign(partitions);
      reader.seekToBeginning(partitions);
    }
    Records.readAll(reader, partitions, this::take);
    ArrayNode commits = answer.putArray("commits");
    commitsOfGroup.getOrDefault(request.get("group").asText(), List.of()).forEach(commits::add);
  }

  private void take(ConsumerRecord<byte[], byte[]> record) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    formatter.writeTo(record, new PrintStream(bytes, true, StandardCharsets.UTF_8));
    String text = bytes.toString(StandardCharsets.UTF_8).strip();
    if (text.isEmpty()) {
      return;  // Group metadata, not a commit.
    }
    try {
      JsonNode formatted = World.JSON.readTree(text);
      JsonNode key = formatted.path("key").path("data");
      JsonNode value = formatted.path("value").path("data");
      if (!key.has("group")) {
        return;
      }
      ObjectNode commit = World.JSON.createObjectNode().put("topic", key.get("topic").asText())
          .put("partition", key.get("partition").asInt()).put("position", record.offset())
          .put("metadata", value.path("metadata").asText(null));
      commit.set("offset", value.get("offset"));
      commitsOfGroup.computeIfAbsent(key.get("group").asText(), group -> new ArrayList<>()).add(commit);
    } catch (java.io.IOException unreadable) {
      throw new IllegalStateException("Kafka's formatter wrote no JSON: " + text, unreadable);
    }
  }
}
