package world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Exit;

/** Kafka's own command line tools, run by their main methods inside this process: what their users see. */
final class Tools {
  private static final Map<String, List<String>> TOOLS = Map.of(
      "kafka-acls", List.of("org.apache.kafka.tools.AclCommand", "kafka.admin.AclCommand"),  // The second: 3.x.
      "kafka-consumer-groups", List.of("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"),
      "kafka-topics", List.of("org.apache.kafka.tools.TopicCommand"));

  private final Clients clients;

  Tools(Clients clients) {
    this.clients = clients;
  }

  void register(Map<String, World.Command> commands) {
    commands.put("tool", this::run);
  }

  private static final class Ended extends RuntimeException {
    final int status;

    Ended(int status) {
      this.status = status;
    }
  }

  /** {tool, arguments} -> stdout, stderr, exit. --bootstrap-server is added. */
  private void run(JsonNode request, ObjectNode answer) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("--bootstrap-server", clients.bootstrapServers()));
    arguments.addAll(Clients.strings(request.get("arguments")));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream outBefore = System.out;
    PrintStream errBefore = System.err;
    Exit.setExitProcedure((status, message) -> {
      throw new Ended(status);
    });
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
    int status = 0;
    try {
      mainClass(request.get("tool").asText()).getMethod("main", String[].class)
          .invoke(null, (Object) arguments.toArray(new String[0]));
    } catch (java.lang.reflect.InvocationTargetException thrown) {
      if (thrown.getCause() instanceof Ended ended) {
        status = ended.status;
      } else {
        // What leaves main ends a JVM with a stack trace and 1.
        thrown.getCause().printStackTrace();
        status = 1;
      }
    } finally {
      System.setOut(outBefore);
      System.setErr(errBefore);
      Exit.resetExitProcedure();
    }
    answer.put("exit", status).put("stdout", out.toString(StandardCharsets.UTF_8))
        .put("stderr", err.toString(StandardCharsets.UTF_8));
  }

  private static Class<?> mainClass(String tool) throws ClassNotFoundException {
    for (String name : TOOLS.get(tool)) {
      try {
        return Class.forName(name);
      } catch (ClassNotFoundException ofAnotherVersion) {
        continue;
      }
    }
    throw new ClassNotFoundException(tool);
  }
}
