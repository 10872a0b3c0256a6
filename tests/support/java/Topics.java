package world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/** Topics: make, delete, settings, ends. */
final class Topics {
  private final Clients clients;

  Topics(Clients clients) {
    this.clients = clients;
  }

  void register(Map<String, World.Command> commands) {
    commands.put("topic.create", this::create);
    commands.put("topic.delete", this::delete);
    commands.put("topic.list", this::list);
    commands.put("topic.configs", this::configs);
    commands.put("topic.alter", this::alter);
    commands.put("topic.partitions", this::partitions);
    commands.put("topic.replicas", this::replicas);
    commands.put("topic.grow", this::grow);
    commands.put("topic.delete_records", this::deleteRecords);
    commands.put("topic.offsets", this::offsets);
  }

  /** {topic, partitions = 1, replication = 1, config = {}} */
  private void create(JsonNode request, ObjectNode answer) throws Exception {
    Map<String, String> config = new HashMap<>();
    Clients.properties(request.path("config")).forEach((key, value) -> config.put((String) key, (String) value));
    int partitions = request.path("partitions").asInt(1);
    NewTopic topic = new NewTopic(request.get("topic").asText(), partitions,
        (short) request.path("replication").asInt(1)).configs(config);
    clients.admin().createTopics(List.of(topic)).all().get();
    // The controller answers before the broker leads the partitions; this asks the leaders.
    Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
    for (int partition = 0; partition < partitions; partition++) {
      ends.put(new TopicPartition(topic.name(), partition), OffsetSpec.latest());
    }
    Clients.patiently(() -> clients.admin().listOffsets(ends).all().get());
  }

  private void delete(JsonNode request, ObjectNode answer) throws Exception {
    clients.admin().deleteTopics(List.of(request.get("topic").asText())).all().get();
  }

  private void list(JsonNode request, ObjectNode answer) throws Exception {
    ArrayNode topics = answer.putArray("topics");
    clients.admin().listTopics().names().get().stream().sorted().forEach(topics::add);
  }

  private static ConfigResource resource(JsonNode request) {
    return new ConfigResource(ConfigResource.Type.TOPIC, request.get("topic").asText());
  }

  /** Every setting of the topic, with the broker's defaults. */
  private void configs(JsonNode request, ObjectNode answer) throws Exception {
    ConfigResource resource = resource(request);
    ObjectNode configs = answer.putObject("configs");
    clients.admin().describeConfigs(List.of(resource)).all().get().get(resource).entries()
        .forEach(entry -> configs.put(entry.name(), entry.value()));
  }

  /** {topic, config = {name: value, or null for the default}} */
  private void alter(JsonNode request, ObjectNode answer) throws Exception {
    List<AlterConfigOp> changes = new ArrayList<>();
    request.get("config").fields().forEachRemaining(field -> changes.add(field.getValue().isNull()
        ? new AlterConfigOp(new ConfigEntry(field.getKey(), null), AlterConfigOp.OpType.DELETE)
        : new AlterConfigOp(new ConfigEntry(field.getKey(), field.getValue().asText()), AlterConfigOp.OpType.SET)));
    clients.admin().incrementalAlterConfigs(Map.of(resource(request), changes)).all().get();
  }

  private void partitions(JsonNode request, ObjectNode answer) throws Exception {
    answer.put("partitions", clients.partitionsOf(request.get("topic").asText()).size());
  }

  /** {topic} -> replicas and in_sync of its first partition */
  private void replicas(JsonNode request, ObjectNode answer) throws Exception {
    String topic = request.get("topic").asText();
    var first = clients.admin().describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().get(0);
    answer.put("replicas", first.replicas().size()).put("in_sync", first.isr().size());
  }

  private void grow(JsonNode request, ObjectNode answer) throws Exception {
    clients.admin().createPartitions(Map.of(request.get("topic").asText(),
        NewPartitions.increaseTo(request.get("partitions").asInt()))).all().get();
  }

  /** {topic, partition, before}: moves the log's start, as retention does. */
  private void deleteRecords(JsonNode request, ObjectNode answer) throws Exception {
    TopicPartition partition = new TopicPartition(request.get("topic").asText(), request.path("partition").asInt(0));
    clients.admin().deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(request.get("before").asLong())))
        .all().get();
  }

  /** {topic, at = "earliest" | "latest" | ms, isolation = "read_uncommitted"} -> offsets by partition number. */
  private void offsets(JsonNode request, ObjectNode answer) throws Exception {
    JsonNode at = request.path("at");
    OffsetSpec spec = at.isNumber() ? OffsetSpec.forTimestamp(at.asLong())
        : at.asText().equals("earliest") ? OffsetSpec.earliest() : OffsetSpec.latest();
    Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
    clients.partitionsOf(request.get("topic").asText()).forEach(partition -> asked.put(partition, spec));
    IsolationLevel isolation = request.path("isolation").asText().equals("read_committed")
        ? IsolationLevel.READ_COMMITTED : IsolationLevel.READ_UNCOMMITTED;
    ObjectNode offsets = answer.putObject("offsets");
    clients.admin().listOffsets(asked, new ListOffsetsOptions(isolation)).all().get()
        .forEach((partition, info) -> offsets.put(String.valueOf(partition.partition()), info.offset()));
  }
}
