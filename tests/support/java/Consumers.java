package world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;

/** Consumers by name, each on a thread of its own. One that must be killed lives in a World of its own. */
final class Consumers {
  private static final Map<String, String> ASSIGNORS = Map.of(
      "range", "org.apache.kafka.clients.consumer.RangeAssignor",
      "roundrobin", "org.apache.kafka.clients.consumer.RoundRobinAssignor",
      "sticky", "org.apache.kafka.clients.consumer.StickyAssignor",
      "cooperative-sticky", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");

  private final Clients clients;
  private final Map<String, LiveConsumer> running = new HashMap<>();

  Consumers(Clients clients) {
    this.clients = clients;
  }

  void register(Map<String, World.Command> commands) {
    commands.put("consumer.start", this::start);
    commands.put("consumer.state", (request, answer) -> consumer(request).describe(answer));
    commands.put("consumer.commit", (request, answer) -> consumer(request).commit());
    commands.put("consumer.close", this::close);
  }

  private LiveConsumer consumer(JsonNode request) {
    LiveConsumer consumer = running.get(request.get("name").asText());
    if (consumer == null) {
      throw new IllegalArgumentException("no consumer " + request.get("name"));
    }
    return consumer;
  }

  /**
   * {name, group, topics, protocol = "classic" | "consumer", assignor?, instance?, isolation = "read_uncommitted",
   * auto_commit = false, config = {}}
   */
  private void start(JsonNode request, ObjectNode answer) {
    Properties settings = new Properties();
    settings.put("group.id", request.get("group").asText());
    settings.put("client.id", request.get("name").asText());
    settings.put("isolation.level", request.path("isolation").asText("read_uncommitted"));
    settings.put("enable.auto.commit", String.valueOf(request.path("auto_commit").asBoolean(false)));
    settings.put("auto.commit.interval.ms", "200");
    settings.put("fetch.max.wait.ms", "50");
    boolean classic = request.path("protocol").asText("classic").equals("classic");
    settings.put("group.protocol", classic ? "classic" : "consumer");
    if (classic) {
      settings.put("session.timeout.ms", "6000");
      settings.put("heartbeat.interval.ms", "500");
      settings.put("partition.assignment.strategy", ASSIGNORS.get(request.path("assignor").asText("range")));
    } else if (request.hasNonNull("assignor")) {
      settings.put("group.remote.assignor", request.get("assignor").asText());
    }
    if (request.hasNonNull("instance")) {
      settings.put("group.instance.id", request.get("instance").asText());
    }
    settings.putAll(Clients.properties(request.path("config")));
    running.put(request.get("name").asText(),
        new LiveConsumer(clients.newConsumer(settings), Clients.strings(request.get("topics"))));
  }

  private void close(JsonNode request, ObjectNode answer) throws Exception {
    LiveConsumer consumer = consumer(request);
    running.remove(request.get("name").asText());
    consumer.close();
    consumer.describe(answer);
  }
}
