package world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * What Kafka's own Java client and tools say about the world, asked by the tests.
 *
 * <p>Usage: {@code World BOOTSTRAP_SERVERS [CLIENT_SETTING=VALUE]...}. It reads one JSON command a line from
 * stdin ({@code {"op": "group.offsets", ...}}), carries the commands out one after the other, and writes one
 * JSON answer a line to stdout: the command's own fields, or {@code {"error": ..., "type": ...}}. It lives as
 * long as its stdin, so it can not outlive the test run. Tests would otherwise pay a JVM start for each look.
 */
public final class World {
  /** One command: takes the request, fills the answer; whatever it throws becomes the answer's error. */
  interface Command {
    void run(JsonNode request, ObjectNode answer) throws Exception;
  }

  static final ObjectMapper JSON = new ObjectMapper();

  private final Map<String, Command> commands = new TreeMap<>();

  private World(Clients clients) {
    new Topics(clients).register(commands);
    new Records(clients).register(commands);
    new Groups(clients).register(commands);
    new OffsetsLog(clients).register(commands);
    new Transactions(clients).register(commands);
    new Consumers(clients).register(commands);
    new OtherGroups(clients).register(commands);
    new Tools(clients).register(commands);
    new Users(clients).register(commands);
  }

  public static void main(String[] arguments) throws Exception {
    // Nothing but answers may reach stdout, whatever a library prints.
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    System.setOut(System.err);
    World world = new World(Clients.of(arguments));
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(JSON.writeValueAsString(world.answer(line)));
      out.flush();
    }
    // Consumers that a test left running end with the process, as they would in a crash.
    Runtime.getRuntime().halt(0);
  }

  private ObjectNode answer(String line) {
    ObjectNode answer = JSON.createObjectNode();
    try {
      JsonNode request = JSON.readTree(line);
      Command command = commands.get(request.path("op").asText());
      if (command == null) {
        throw new IllegalArgumentException("no such op: " + request.path("op") + ", known: " + commands.keySet());
      }
      command.run(request, answer);
    } catch (Throwable thrown) {
      Throwable cause = thrown;
      while ((cause instanceof ExecutionException || cause instanceof CompletionException)
             && cause.getCause() != null) {
        cause = cause.getCause();
      }
      answer.removeAll();
      answer.put("error", String.valueOf(cause.getMessage())).put("type", cause.getClass().getSimpleName());
    }
    return answer;
  }
}
