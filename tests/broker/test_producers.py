"""A request can come from any producer: the lines of docs/reference/records.md, run as they stand there."""
import base64
import re
import subprocess
import uuid

from support import java, wire
from support.process import ROOT
from support.scenario import check_moved_once, wait_done

PAGE = (ROOT / "docs" / "reference" / "records.md").read_text()


def block(language: str, containing: str) -> str:
    """The page's only code block of a language that contains a text."""
    found = [text for text in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if containing in text]
    assert len(found) == 1, f"{len(found)} {language} blocks with {containing!r}"
    return found[0]


def test_the_kcat_line(world, flow, control, orders, engine):
    group = orders.group()
    script = block("sh", "kcat -P")
    for there, here in (("flow-control", control.topic), ('\\"orders\\"', f'\\"{group}\\"'),
                        ("orders.v1", orders.topic)):
        assert script.count(there) == 1
        script = script.replace(there, here)
    done = subprocess.run(["sh", "-euc", script + "\necho $id"], env={**flow.env, "USER": "a person"}, text=True,
                          capture_output=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    request = done.stdout.split()[-1]
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, [group], orders)
    (guard,) = [fact.table() for fact in control.facts(request, "guard")]
    assert guard.request.askedBy == b"a person"


def test_the_python_lines(world, control, orders, engine):
    """Python's FlatBuffers, not C++: what the page's function returns is appended by Kafka's Java producer."""
    group = orders.group()
    wire.module("Request")  # flatc's package is importable from here on.
    names: dict = {}
    source = block("python", "def reset_to_earliest").split("\nrequest_id, value")[0]
    exec(source.replace("from confluent_kafka import Producer\n", ""), names)  # noqa: S102
    request, value = names["reset_to_earliest"](group, orders.topic)
    assert value[4:8] == b"FLOW"
    world.append(control.topic, f"{request}/request", value)
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, [group], orders)


JAVA_PROGRAM = """
import com.google.flatbuffers.FlatBufferBuilder;
import flow.wire.*;

public class Producer {
  record ProducerRecord<K, V>(String topic, int partition, byte[] key, byte[] value) {}

  static class Printer {
    void send(ProducerRecord<byte[], byte[]> record) {
      System.out.println(new String(record.key()) + " " + java.util.Base64.getEncoder().encodeToString(record.value()));
    }
  }

  public static void main(String[] arguments) {
    Printer producer = new Printer();
%s
  }
}
"""


def test_the_java_lines(world, control, orders, engine, tmp_path):
    group = orders.group()
    source = block("java", "FlatBufferBuilder").replace("orders.v1", orders.topic).replace('"orders"', f'"{group}"')
    (tmp_path / "Producer.java").write_text(JAVA_PROGRAM % source)
    subprocess.run(["flatc", "--java", "-o", str(tmp_path), str(wire.SCHEMA)], check=True)
    path = f"{java.jars()}/*:{tmp_path}"
    subprocess.run(["javac", "-nowarn", "-cp", path, *map(str, tmp_path.rglob("*.java"))], check=True, cwd=tmp_path)
    done = subprocess.run(["java", "-cp", path, "Producer"], text=True, capture_output=True, check=True, timeout=30)
    key, value = done.stdout.split()
    request = key.partition("/")[0]
    assert key == f"{request}/request"
    world.append(control.topic, key, base64.b64decode(value))
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, [group], orders)


def test_json_and_flatbuffers_say_the_same(world, flow, control, orders, engine):
    """The same content in both forms under one id is the same request: no other content is reported."""
    group = orders.group()
    request = str(uuid.uuid4())
    world.append(control.topic, f"{request}/request", wire.request(request, [group], [orders.topic]))
    assert wait_done(control, request) == "completed"
    control.append_json(request, {"groups": [group], "topics": [{"name": orders.topic}],
                                  "position": {"kind": "earliest"}})
    assert flow.history(request)["other_content"] is False
    check_moved_once(world, control, request, [group], orders)


def test_a_cancel_record_from_any_producer(world, flow, control, orders, engine):
    group = orders.group()
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_assigned(3)
        request = str(uuid.uuid4())
        world.append(control.topic, f"{request}/request", wire.request(request, [group], [orders.topic]))
        world.append(control.topic, f"{request}/cancel", wire.cancel(request))
        assert wait_done(control, request) == "cancelled"
    assert world.commit_values(group) == orders.values(20)
