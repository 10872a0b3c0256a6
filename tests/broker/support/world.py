"""The world as Kafka's own Java client and tools see it: a client of tests/support/java.

All offsets of a group or topic are plain dicts: {("topic", partition): offset}.
"""
import base64
import contextlib
import dataclasses
import json
import pathlib
import select
import subprocess
import tempfile

from . import java
from .process import spawn, wait_until

ANSWER_TIMEOUT_S = 60


class WorldError(Exception):
    """Kafka said no. `type` is the Java exception's simple name."""

    def __init__(self, kind: str, message: str):
        super().__init__(f"{kind}: {message}")
        self.type = kind


@dataclasses.dataclass(frozen=True)
class Record:
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None


@dataclasses.dataclass(frozen=True)
class Commit:
    """One commit of a group in __consumer_offsets; offset None is a tombstone."""
    topic: str
    partition: int
    offset: int | None
    metadata: str | None
    position: int


def _encode(data: bytes | str | None) -> str | None:
    if data is None:
        return None
    return base64.b64encode(data.encode() if isinstance(data, str) else data).decode()


def _decode(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _offsets(offsets: dict[tuple[str, int], int], metadata: str = "") -> list[dict]:
    return [{"topic": topic, "partition": partition, "offset": offset, "metadata": metadata}
            for (topic, partition), offset in offsets.items()]


class World:
    def __init__(self, bootstrap: str, settings: dict[str, str] | None = None):
        self.bootstrap = bootstrap
        self._errors = tempfile.TemporaryFile()
        self._process = spawn(java.world_command(bootstrap, settings or {}), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=self._errors)
        self._consumers = 0

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, op: str, **fields) -> dict:
        self._process.stdin.write(json.dumps({"op": op, **fields}).encode() + b"\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], ANSWER_TIMEOUT_S)[0]:
            raise WorldError("Timeout", f"no answer to {op} within {ANSWER_TIMEOUT_S} s")
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            raise WorldError("Ended", f"the Java program ended: {self._errors.read().decode(errors='replace')}")
        answer = json.loads(line)
        if "error" in answer:
            raise WorldError(answer["type"], answer["error"])
        return answer

    def close(self) -> None:
        """Clean end: the program ends with its stdin."""
        if self._process.poll() is None:
            self._process.stdin.close()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self.kill()
        self._process.stdout.close()
        self._errors.close()

    def kill(self) -> None:
        """kill -9: its consumers are gone without a word to the broker."""
        self._process.kill()
        self._process.wait()

    # Topics and records

    def create_topic(self, topic: str, partitions: int = 1, config: dict[str, str] | None = None) -> str:
        self.ask("topic.create", topic=topic, partitions=partitions, config=config or {})
        return topic

    def delete_topic(self, topic: str) -> None:
        self.ask("topic.delete", topic=topic)
        wait_until(lambda: topic not in self.topics(), 10, f"topic {topic} is still listed")

    def topics(self) -> list[str]:
        return self.ask("topic.list")["topics"]

    def configs(self, topic: str) -> dict[str, str]:
        return self.ask("topic.configs", topic=topic)["configs"]

    def alter_configs(self, topic: str, **config: str | None) -> None:
        """Names with underscores for dots; None takes the default."""
        self.ask("topic.alter", topic=topic, config={name.replace("_", "."): value for name, value in config.items()})

    def partitions(self, topic: str) -> int:
        return self.ask("topic.partitions", topic=topic)["partitions"]

    def grow(self, topic: str, partitions: int) -> None:
        self.ask("topic.grow", topic=topic, partitions=partitions)

    def delete_records(self, topic: str, before: int, partition: int = 0) -> None:
        self.ask("topic.delete_records", topic=topic, partition=partition, before=before)

    def offsets(self, topic: str, at: str | int, isolation: str = "read_uncommitted") -> dict[tuple[str, int], int]:
        """The offsets "earliest", "latest", or of the first record at a time in ms (-1: none)."""
        found = self.ask("topic.offsets", topic=topic, at=at, isolation=isolation)["offsets"]
        return {(topic, int(partition)): offset for partition, offset in found.items()}

    def earliest(self, topic: str) -> dict[tuple[str, int], int]:
        return self.offsets(topic, "earliest")

    def latest(self, topic: str) -> dict[tuple[str, int], int]:
        return self.offsets(topic, "latest")

    def fill(self, topic: str, count: int, **more) -> None:
        """`count` records to each partition; partition=, size=, timestamp=, step_ms=."""
        self.ask("topic.fill", topic=topic, count=count, **more)

    def append(self, topic: str, key: bytes | str | None, value: bytes | str | None, **more) -> int:
        """One raw record, its offset returned; value None is a tombstone."""
        return self.ask("record.append", topic=topic, key64=_encode(key), value64=_encode(value), **more)["offset"]

    def read(self, topic: str, isolation: str = "read_committed") -> list[Record]:
        found = self.ask("topic.read", topic=topic, isolation=isolation)["records"]
        return [Record(each["partition"], each["offset"], each["timestamp"], _decode(each["key64"]),
                       _decode(each["value64"])) for each in found]

    def compact(self, topic: str, **more) -> None:
        """Has the broker compact the topic now; returns when each key is there once."""
        self.ask("topic.compact", topic=topic, **more)

    # Transactions

    def transactional_ids(self) -> list[str]:
        """Those that the broker has not forgotten."""
        return self.ask("tx.list")["ids"]

    def begin(self, transactional_id: str, timeout_ms: int = 60000) -> None:
        self.ask("tx.begin", id=transactional_id, timeout_ms=timeout_ms)

    def tx_fill(self, transactional_id: str, topic: str, count: int, **more) -> None:
        self.ask("tx.fill", id=transactional_id, topic=topic, count=count, **more)

    def tx_append(self, transactional_id: str, topic: str, key, value, **more) -> int:
        return self.ask("tx.append", id=transactional_id, topic=topic, key64=_encode(key), value64=_encode(value),
                        **more)["offset"]

    def commit_tx(self, transactional_id: str) -> None:
        self.ask("tx.commit", id=transactional_id)

    def abort_tx(self, transactional_id: str) -> None:
        self.ask("tx.abort", id=transactional_id)

    # Groups

    def committed(self, group: str, stable: bool = True) -> dict[tuple[str, int], int]:
        found = self.ask("group.offsets", group=group, stable=stable)["offsets"]
        return {(each["topic"], each["partition"]): each["offset"] for each in found}

    def metadata(self, group: str) -> dict[tuple[str, int], str]:
        found = self.ask("group.offsets", group=group)["offsets"]
        return {(each["topic"], each["partition"]): each["metadata"] for each in found}

    def describe(self, group: str) -> dict:
        """state ("Absent" for none), type, coordinator (a broker's id), members."""
        return self.ask("group.describe", group=group)

    def state(self, group: str) -> str:
        return self.describe(group)["state"]

    def groups(self) -> dict[str, str]:
        return self.ask("group.list")["groups"]

    def commit(self, group: str, offsets: dict[tuple[str, int], int], metadata: str = "") -> None:
        """As an admin tool: the broker refuses it while the group has members."""
        self.ask("group.commit", group=group, offsets=_offsets(offsets, metadata))

    def commit_assigned(self, group: str, offsets: dict[tuple[str, int], int], metadata: str = "") -> None:
        """As a consumer that assign()s: never a member, never in the listing of members."""
        self.ask("group.commit_assigned", group=group, offsets=_offsets(offsets, metadata))

    def delete_group(self, group: str) -> None:
        self.ask("group.delete", group=group)

    def commits(self, group: str) -> list[Commit]:
        """Every commit the group ever got, from __consumer_offsets by Kafka's OffsetsMessageFormatter."""
        return [Commit(**each) for each in self.ask("group.commits", group=group)["commits"]]

    def commit_values(self, group: str) -> dict[tuple[str, int], list[int | None]]:
        """The same, as the row of values that each partition went through."""
        values: dict[tuple[str, int], list[int | None]] = {}
        for commit in self.commits(group):
            values.setdefault((commit.topic, commit.partition), []).append(commit.offset)
        return values

    def commit_values_by_transaction(self, group: str) -> dict[tuple[str, int], list[int | None]]:
        """As commit_values, but a commit that a client sent twice in one transaction, as it does when the answer was
        lost, counts once. Between two transactions stands a marker, which takes an offset of its own."""
        values: dict[tuple[str, int], list[int | None]] = {}
        run: set[tuple] = set()
        last = None
        for commit in sorted(self.commits(group), key=lambda each: each.position):
            if last is None or commit.position != last + 1:
                run = set()
            last = commit.position
            said = (commit.topic, commit.partition, commit.offset, commit.metadata)
            if said not in run:
                run.add(said)
                values.setdefault((commit.topic, commit.partition), []).append(commit.offset)
        return values

    # Consumers and tools

    def consumer(self, group: str, *topics: str, **more) -> "Consumer":
        """protocol="classic"|"consumer", assignor=, instance=, isolation=, auto_commit=, config={}."""
        self._consumers += 1
        return Consumer(self, more.pop("name", f"consumer-{self._consumers}"), group, list(topics), more)

    @contextlib.contextmanager
    def share_group(self, group: str, topic: str):
        """A live share group (KIP-932) that reads."""
        with self._other_group("share.start", group, topic):
            yield

    @contextlib.contextmanager
    def streams_application(self, group: str, topic: str, folder: pathlib.Path):
        """A live Kafka Streams application that reads, by KIP-1071's protocol."""
        with self._other_group("streams.start", group, topic, folder=str(folder)):
            yield

    @contextlib.contextmanager
    def _other_group(self, command: str, group: str, topic: str, **more):
        def reads() -> bool:
            self.fill(topic, 1)
            return self.ask("other.count", group=group)["count"] > 0
        self.ask(command, group=group, topic=topic, **more)
        try:
            wait_until(reads, 60, f"{group} reads", every_s=0.2)
            yield
        finally:
            self.ask("other.close", group=group)

    def tool(self, tool: str, *arguments: str) -> dict:
        """kafka-consumer-groups or kafka-topics, by Kafka's own main class: exit, stdout, stderr."""
        return self.ask("tool", tool=tool, arguments=list(arguments))


class Consumer:
    """A Java consumer inside the World; `with` closes it cleanly."""

    def __init__(self, world: World, name: str, group: str, topics: list[str], options: dict):
        self._world = world
        self.name = name
        self.group = group
        self._closed: dict | None = None
        world.ask("consumer.start", name=name, group=group, topics=topics, **options)

    def state(self) -> dict:
        state = self._closed or self._world.ask("consumer.state", name=self.name)
        assert state["failure"] is None, f"consumer {self.name} failed: {state['failure']}"
        return state

    def first(self) -> dict[tuple[str, int], int]:
        """The offset of the first record that it read of each partition."""
        return {_partition(name): offset for name, offset in self.state()["first"].items()}

    def last(self) -> dict[tuple[str, int], int]:
        return {_partition(name): offset for name, offset in self.state()["last"].items()}

    def count(self) -> int:
        return self.state()["count"]

    def wait_assigned(self, partitions: int, timeout_s: float = 20) -> None:
        wait_until(lambda: len(self.state()["assigned"]) == partitions, timeout_s,
                   lambda: f"{self.name} has {partitions} partitions: {self.state()}")

    def wait_count(self, count: int, timeout_s: float = 20) -> None:
        wait_until(lambda: self.count() >= count, timeout_s, lambda: f"{self.name} read {count}: {self.state()}")

    def commit(self) -> None:
        self._world.ask("consumer.commit", name=self.name)

    def close(self) -> None:
        if self._closed is None:
            self._closed = self._world.ask("consumer.close", name=self.name)

    def __enter__(self) -> "Consumer":
        return self

    def __exit__(self, *exception) -> None:
        self.close()


def _partition(name: str) -> tuple[str, int]:
    topic, _, partition = name.rpartition("/")
    return topic, int(partition)
