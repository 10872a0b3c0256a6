package world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.producer.KafkaProducer;

/** Transactions by name: begun, filled, and ended as the test says, or left open. */
final class Transactions {
  private final Clients clients;
  private final Map<String, KafkaProducer<byte[], byte[]>> open = new HashMap<>();

  Transactions(Clients clients) {
    this.clients = clients;
  }

  void register(Map<String, World.Command> commands) {
    commands.put("tx.list", this::list);
    commands.put("tx.begin", this::begin);
    commands.put("tx.fill", (request, answer) -> Records.send(producer(request), clients, request));
    commands.put("tx.append",
        (request, answer) -> answer.put("offset", Records.append(producer(request), request)));
    commands.put("tx.commit", this::commit);
    commands.put("tx.abort", this::abort);
  }

  /** Every transactional id that the brokers know. */
  private void list(JsonNode request, ObjectNode answer) throws Exception {
    ArrayNode ids = answer.putArray("ids");
    clients.admin().listTransactions().all().get().stream()
        .map(TransactionListing::transactionalId).sorted().forEach(ids::add);
  }

  private KafkaProducer<byte[], byte[]> producer(JsonNode request) {
    KafkaProducer<byte[], byte[]> producer = open.get(request.get("id").asText());
    if (producer == null) {
      throw new IllegalArgumentException("no open transaction " + request.get("id"));
    }
    return producer;
  }

  /** {id, timeout_ms = 60000}: the id is the transactional id. */
  private void begin(JsonNode request, ObjectNode answer) {
    Properties settings = new Properties();
    settings.put("transactional.id", request.get("id").asText());
    settings.put("transaction.timeout.ms", request.path("timeout_ms").asText("60000"));
    KafkaProducer<byte[], byte[]> producer = clients.newProducer(settings);
    producer.initTransactions();
    producer.beginTransaction();
    open.put(request.get("id").asText(), producer);
  }

  private void commit(JsonNode request, ObjectNode answer) {
    try (var producer = producer(request)) {
      producer.commitTransaction();
    } finally {
      open.remove(request.get("id").asText());
    }
  }

  private void abort(JsonNode request, ObjectNode answer) {
    try (var producer = producer(request)) {
      producer.abortTransaction();
    } finally {
      open.remove(request.get("id").asText());
    }
  }
}
