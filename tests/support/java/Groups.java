package world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;

/** Consumer groups: what is committed, who is in them, and plain commits as others make them. */
final class Groups {
  private final Clients clients;

  Groups(Clients clients) {
    this.clients = clients;
  }

  void register(Map<String, World.Command> commands) {
    commands.put("group.offsets", this::offsets);
    commands.put("group.describe", this::describe);
    commands.put("group.list", this::list);
    commands.put("group.commit", this::commit);
    commands.put("group.commit_assigned", this::commitAssigned);
    commands.put("group.delete", this::delete);
    commands.put("group.delete_offsets", this::deleteOffsets);
  }

  /** {group, stable = true, partitions? = [{topic, partition}]} -> offsets = [{topic, partition, offset, metadata}] */
  private void offsets(JsonNode request, ObjectNode answer) throws Exception {
    String group = request.get("group").asText();
    ListConsumerGroupOffsetsSpec spec = new ListConsumerGroupOffsetsSpec();
    if (request.hasNonNull("partitions")) {
      spec.topicPartitions(partitions(request.get("partitions")));
    }
    var options = new ListConsumerGroupOffsetsOptions().requireStable(request.path("stable").asBoolean(true));
    ArrayNode offsets = answer.putArray("offsets");
    clients.admin().listConsumerGroupOffsets(Map.of(group, spec), options).partitionsToOffsetAndMetadata(group).get()
        .forEach((partition, committed) -> {
          if (committed != null) {
            offsets.addObject().put("topic", partition.topic()).put("partition", partition.partition())
                .put("offset", committed.offset()).put("metadata", committed.metadata());
          }
        });
  }

  private static Set<TopicPartition> partitions(JsonNode array) {
    Set<TopicPartition> partitions = new HashSet<>();
    array.forEach(node -> partitions.add(
        new TopicPartition(node.get("topic").asText(), node.get("partition").asInt())));
    return partitions;
  }

  /**
   * {group} -> state ("Absent" when the broker does not know it), type, coordinator (a broker's id),
   * members = [{id, client, host, instance}]
   */
  private void describe(JsonNode request, ObjectNode answer) throws Exception {
    String group = request.get("group").asText();
    ConsumerGroupDescription description;
    try {
      description = clients.admin().describeConsumerGroups(List.of(group)).describedGroups().get(group).get();
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof GroupIdNotFoundException) {
        answer.put("state", "Absent").putArray("members");
        return;
      }
      throw failed;
    }
    answer.put("state", description.state().toString()).put("type", description.type().toString())
        .put("coordinator", description.coordinator().id());
    ArrayNode members = answer.putArray("members");
    description.members().forEach(member -> members.addObject().put("id", member.consumerId())
        .put("client", member.clientId()).put("host", member.host())
        .put("instance", member.groupInstanceId().orElse(null)));
  }

  // The call that names the states in every version from 3.9 on; its successor is missing in the older ones.
  @SuppressWarnings("removal")
  private void list(JsonNode request, ObjectNode answer) throws Exception {
    ObjectNode groups = answer.putObject("groups");
    for (var listing : clients.admin().listConsumerGroups().all().get()) {
      groups.put(listing.groupId(), listing.state().map(Object::toString).orElse(""));
    }
  }

  private static Map<TopicPartition, OffsetAndMetadata> committed(JsonNode request) {
    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    request.get("offsets").forEach(node -> offsets.put(
        new TopicPartition(node.get("topic").asText(), node.get("partition").asInt()),
        new OffsetAndMetadata(node.get("offset").asLong(), node.path("metadata").asText(""))));
    return offsets;
  }

  /** {group, offsets}: what kafka-consumer-groups and other admin tools do; refused while the group has members. */
  private void commit(JsonNode request, ObjectNode answer) throws Exception {
    clients.admin().alterConsumerGroupOffsets(request.get("group").asText(), committed(request)).all().get();
  }

  /** {group, offsets}: a consumer that assigns itself partitions and commits, without ever being a member. */
  private void commitAssigned(JsonNode request, ObjectNode answer) throws Exception {
    Properties settings = new Properties();
    settings.put("group.id", request.get("group").asText());
    Map<TopicPartition, OffsetAndMetadata> offsets = committed(request);
    try (var consumer = clients.newConsumer(settings)) {
      consumer.assign(offsets.keySet());
      consumer.commitSync(offsets);
    }
  }

  private void delete(JsonNode request, ObjectNode answer) throws Exception {
    clients.admin().deleteConsumerGroups(List.of(request.get("group").asText())).all().get();
  }

  private void deleteOffsets(JsonNode request, ObjectNode answer) throws Exception {
    clients.admin().deleteConsumerGroupOffsets(request.get("group").asText(), partitions(request.get("partitions")))
        .all().get();
  }
}
