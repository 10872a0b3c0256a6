package world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/** Users with a name and a password on a broker with SCRAM, and their rights on one with an authorizer. */
final class Users {
  private static final int ITERATIONS = 4096;

  private final Clients clients;

  Users(Clients clients) {
    this.clients = clients;
  }

  void register(Map<String, World.Command> commands) {
    commands.put("user.create", this::create);
    commands.put("user.allow", this::allow);
  }

  /** {user, password, mechanism = SCRAM-SHA-256} */
  private void create(JsonNode request, ObjectNode answer) throws Exception {
    ScramMechanism mechanism = ScramMechanism.fromMechanismName(request.path("mechanism").asText("SCRAM-SHA-256"));
    ScramCredentialInfo kind = new ScramCredentialInfo(mechanism, ITERATIONS);
    clients.admin().alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(
        request.get("user").asText(), kind, request.get("password").asText()))).all().get();
  }

  /** {user, rights = [{operation: "DescribeConfigs", resource: "transactional-id", name, prefixed}]} */
  private void allow(JsonNode request, ObjectNode answer) throws Exception {
    List<AclBinding> bindings = new ArrayList<>();
    for (JsonNode right : request.get("rights")) {
      PatternType pattern = right.path("prefixed").asBoolean() ? PatternType.PREFIXED : PatternType.LITERAL;
      ResourceType resource = ResourceType.fromString(right.get("resource").asText().replace('-', '_'));
      String operation = right.get("operation").asText().replaceAll("(?<=[a-z])(?=[A-Z])", "_");
      bindings.add(new AclBinding(new ResourcePattern(resource, right.get("name").asText(), pattern),
          new AccessControlEntry("User:" + request.get("user").asText(), "*", AclOperation.fromString(operation),
              AclPermissionType.ALLOW)));
    }
    clients.admin().createAcls(bindings).all().get();
  }
}
