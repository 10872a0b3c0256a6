"""What most tests start from: a topic with records, groups that have read it to the end, and requests for them."""
import dataclasses
import pathlib

from .control import ControlTopic
from .flow import Flow
from .process import wait_until
from .world import World

DONE_TIMEOUT_S = 40


@dataclasses.dataclass
class Orders:
    """A topic of `partitions` with `records` in each, and groups that stand at its end."""
    world: World
    topic: str
    partitions: int
    records: int
    fresh: object

    def at(self, offset: int) -> dict[tuple[str, int], int]:
        return {(self.topic, partition): offset for partition in range(self.partitions)}

    @property
    def end(self) -> dict[tuple[str, int], int]:
        return self.at(self.records)

    def group(self) -> str:
        """A new group whose only commit is the topic's end."""
        group = self.fresh("group")
        self.world.commit(group, self.end, "read it all")
        return group

    def groups(self, count: int) -> list[str]:
        return [self.group() for _ in range(count)]

    def values(self, *offsets: int) -> dict[tuple[str, int], list[int]]:
        """What `World.commit_values` shows when every partition went through these offsets."""
        return {place: list(offsets) for place in self.end}


def reset_arguments(groups: list[str], topic: str, *more: str) -> list[str]:
    return ["reset", *(word for group in groups for word in ("--group", group)),
            "--topic", topic, "--to-earliest", *more]


def ask(flow: Flow, groups: list[str], topic: str, *more: str) -> str:
    """Appends a request by `flow reset -q`; returns its id."""
    return flow.ok(*reset_arguments(groups, topic, "-q", *more)).strip()


def wait_done(control: ControlTopic, request: str, timeout_s: float = DONE_TIMEOUT_S) -> str:
    """Waits for the request's done record; returns its outcome. A second done is a failure at once."""
    outcomes = wait_until(lambda: control.outcomes(request), timeout_s,
                          lambda: f"request {request} is done: "
                                  f"{[f'{f.kind} {f.name}' for f in control.facts(request)]}")
    assert len(outcomes) == 1, f"{request} is done {len(outcomes)} times: {outcomes}"
    return outcomes[0]


def check_moved_once(world: World, control: ControlTopic, request: str, groups: list[str], orders: Orders,
                     may_repeat: bool = False) -> None:
    """Exactly once: by the groups' commits as Kafka has them, and by the records that stand beside them.

    `may_repeat`: the client may have had to send the same offsets twice within the one transaction.
    """
    values = world.commit_values_by_transaction if may_repeat else world.commit_values
    for group in groups:
        assert world.committed(group) == orders.at(0), group
        assert values(group) == orders.values(orders.records, 0), (group, world.commits(group))
        # The metadata belonged to the old place (Kafka Streams keeps its stream time there); Kafka's own tool
        # writes none either. The result record keeps it for the way back.
        assert world.metadata(group) == dict.fromkeys(orders.end, ""), group
    results = control.results(request)
    assert {group: len(found) for group, found in results.items()} == dict.fromkeys(groups, 1)
    for group in groups:
        assert control.moves(request, group) == dict.fromkeys(orders.end, (orders.records, 0))
    assert control.outcomes(request) == ["completed"]


def is_contested(control: ControlTopic, request: str, group: str) -> bool:
    """Whether it is told that somebody was in the group right after the commit."""
    return any(fact.table().contested for fact in control.facts(request, "verified") if fact.name == group)


def write_topology(path: pathlib.Path, pipelines: dict[str, dict[str, dict[str, tuple[str, str]]]],
                   namespace: str = "shop") -> pathlib.Path:
    """pipelines.yaml from {pipeline: {streamlet: {inlet: (topic, group)}}}; group "" takes the default."""
    lines = ["pipelines:"]
    for pipeline, streamlets in pipelines.items():
        lines += [f"  - namespace: {namespace}", f"    name: {pipeline}", "    streamlets:"]
        for streamlet, inlets in streamlets.items():
            lines.append(f"      - name: {streamlet}")
            if inlets:
                lines.append("        inlets:")
            for inlet, (topic, group) in inlets.items():
                lines += [f"          - name: {inlet}", f"            topic: {topic}"]
                if group:
                    lines.append(f"            group: {group}")
    path.write_text("\n".join(lines) + "\n")
    return path
