"""What every row needs: brokers, control topics, engines whose start is timed, and the peers' programs."""
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid

from support import java
from support.broker import Broker
from support.flow import BIN, Flow
from support.process import cpu_seconds, spawn
from support.world import World

START_MAX_S = 120
PROGRAM_MAX_S = 900
END_MAX_S = 12
# An engine that starts waits for nobody; every other setting is the broker's own.
NO_DELAY = {"group.initial.rebalance.delay.ms": "0"}
PARTITIONS = 3
RECORDS = 100


@dataclasses.dataclass
class Counts:
    """How much of everything."""
    requests: int = 200_000  # of the long history; 5 records each
    repeat: int = 5
    asks: int = 20  # requests one after the other, for each call of Kafka's tool
    groups: int = 100
    burst: int = 1_000
    idle_s: float = 20
    writers: int = 8

    @staticmethod
    def quick() -> "Counts":
        return Counts(requests=5_000, repeat=2, asks=5, groups=10, burst=100, idle_s=2)


class Engine:
    """A `flow engine` process; `ready_ms` is from its start to the line that says that it leads."""

    def __init__(self, flow: Flow, store: pathlib.Path):
        began = time.monotonic()
        self._process = spawn([str(BIN / "flow"), "engine", "--store", str(store)], env=flow.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.said: list[str] = []
        self._led_at = 0.0
        self._leads = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()
        if not self._leads.wait(START_MAX_S) or not self._led_at:
            self._process.kill()
            sys.exit(f"bench: the engine does not lead:\n{''.join(self.said)}")
        self.ready_ms = (self._led_at - began) * 1000

    def _listen(self) -> None:
        for line in self._process.stderr:
            self.said.append(line)
            if not self._led_at and re.search(r"\bleading\b", line):
                self._led_at = time.monotonic()
                self._leads.set()
        self._leads.set()

    def memory_mb(self, field: str) -> float:
        """VmHWM: the peak; VmRSS: now."""
        status = pathlib.Path(f"/proc/{self._process.pid}/status").read_text()
        return int(re.search(rf"{field}:\s+(\d+) kB", status)[1]) / 1024

    def cpu_seconds(self) -> float:
        return cpu_seconds(self._process.pid)

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, failed, *exception) -> None:
        if failed:
            print(f"bench: the engine's last words:\n{''.join(self.said[-20:])}", file=sys.stderr)
        self._process.terminate()
        try:
            self._process.wait(END_MAX_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Lab:
    """A broker with a data topic, and a folder that is gone afterwards."""

    def __init__(self, counts: Counts):
        self.counts = counts
        self._stack = contextlib.ExitStack()
        self.histories: dict[int, tuple[Flow, pathlib.Path]] = {}

    def __enter__(self) -> "Lab":
        folder = tempfile.mkdtemp(prefix="flow-bench-", dir=os.environ.get("TMPDIR", "/tmp"))
        self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
        self.folder = pathlib.Path(folder)
        self.broker, self.world = self.start_broker("broker", NO_DELAY)
        self.orders = self.data_topic(self.world)
        return self

    def __exit__(self, *exception) -> None:
        self._stack.close()

    @staticmethod
    def say(text: str) -> None:
        print(f"bench: {text}", file=sys.stderr, flush=True)

    def start_broker(self, name: str, settings: dict[str, str]) -> tuple[Broker, World]:
        """Both end with the lab."""
        broker = Broker(self.folder / name, settings).start()
        self._stack.callback(broker.stop)
        world = World(broker.address)
        self._stack.callback(world.close)
        return broker, world

    @staticmethod
    def data_topic(world: World) -> str:
        """A topic with records that groups can be moved over."""
        topic = world.create_topic("orders", PARTITIONS)
        world.fill(topic, RECORDS)
        return topic

    def groups(self, count: int, world: World | None = None) -> list[str]:
        """New groups that have read the data topic to its end."""
        run = uuid.uuid4().hex[:6]
        names = [f"cart.router.in-{run}-{number}" for number in range(count)]
        for name in names:
            (world or self.world).commit(name, {("orders", partition): RECORDS for partition in range(PARTITIONS)})
        return names

    def new_control(self, broker: Broker | None = None) -> Flow:
        """A control topic of its own, by `flow topic create`."""
        flow = Flow((broker or self.broker).address, f"control-{uuid.uuid4().hex[:8]}", self.folder)
        flow.ok("topic", "create")
        return flow

    def new_store(self) -> pathlib.Path:
        return self.folder / f"store-{uuid.uuid4().hex[:8]}"

    def history(self, requests: int) -> tuple[Flow, pathlib.Path]:
        """A control topic with the records of so many finished requests, and a current store of it."""
        if requests not in self.histories:
            flow = self.new_control()
            with Engine(flow, self.new_store()):
                pass  # writes what stands at the beginning of every log
            self.say(f"writing the history of {requests:,} requests")
            self.program("fill", flow.control_topic, str(requests), str(self.counts.writers))
            store = self.new_store()
            with Engine(flow, store):
                pass
            self.histories[requests] = (flow, store)
        return self.histories[requests]

    def program(self, name: str, *arguments: str, broker: Broker | None = None) -> dict:
        """Runs flow_bench; returns what it printed."""
        done = subprocess.run([str(BIN / "flow_bench"), name, (broker or self.broker).address, *arguments],
                              capture_output=True, text=True, timeout=PROGRAM_MAX_S, check=False)
        if done.returncode != 0:
            sys.exit(f"bench: flow_bench {name} failed: {done.stderr}")
        return json.loads(done.stdout)

    def ask(self, flow: Flow, how: str, groups: list[str], held: bool = False,
            broker: Broker | None = None) -> list[float]:
        """Milliseconds from a request's append to its done readable; one for each request, or for all."""
        return self.program("ask", flow.control_topic, "orders", how, "held" if held else "guarded",
                            *groups, broker=broker)["ms"]

    def timed(self, command: list[str], env: dict[str, str] | None = None) -> float:
        """A whole process that must succeed, in milliseconds."""
        began = time.monotonic()
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=PROGRAM_MAX_S, check=False)
        took = (time.monotonic() - began) * 1000
        if done.returncode != 0 or "Error" in done.stdout:
            sys.exit(f"bench: {' '.join(command[:4])} failed: {done.stdout}{done.stderr}")
        return took

    def kafka_tool(self, groups: list[str]) -> float:
        """Kafka's own reset of these groups, its JVM's start included."""
        named = [word for group in groups for word in ("--group", group)]
        main = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
        return self.timed(["java", "-cp", f"{java.jars()}/*", main, "--bootstrap-server", self.broker.address,
                           "--reset-offsets", "--topic", "orders", "--to-earliest", "--execute", *named])

    def streams_restore(self, flow: Flow) -> tuple[float, float]:
        """Milliseconds of a GlobalKTable's restore of a control topic, and the JVM's peak memory in MB."""
        folder = self.new_store()
        process = spawn(["java", "-cp", f"{java.world_classes()}:{java.jars()}/*", "world.GlobalRestore",
                         self.broker.address, flow.control_topic, str(folder)], stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL, text=True)
        line = process.stdout.readline()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)
        if not line:
            sys.exit(f"bench: Kafka Streams did not restore: exit {process.returncode}")
        return json.loads(line)["ms"], usage.ru_maxrss / 1024


