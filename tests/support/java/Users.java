package world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;

/** Users with a name and a password, on a broker with SCRAM. */
final class Users {
  private static final int ITERATIONS = 4096;

  private final Clients clients;

  Users(Clients clients) {
    this.clients = clients;
  }

  void register(Map<String, World.Command> commands) {
    commands.put("user.create", this::create);
  }

  /** {user, password, mechanism = SCRAM-SHA-256} */
  private void create(JsonNode request, ObjectNode answer) throws Exception {
    ScramMechanism mechanism = ScramMechanism.fromMechanismName(request.path("mechanism").asText("SCRAM-SHA-256"));
    ScramCredentialInfo kind = new ScramCredentialInfo(mechanism, ITERATIONS);
    clients.admin().alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(
        request.get("user").asText(), kind, request.get("password").asText()))).all().get();
  }
}
