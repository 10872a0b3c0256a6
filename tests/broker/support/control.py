"""What stands on a control topic, read by Kafka's Java client and decoded by flatc's Python classes."""
import dataclasses
import json

from . import wire
from .world import Record, World


@dataclasses.dataclass(frozen=True)
class Fact:
    """One record: its key taken apart, and where it stands."""
    request: str
    kind: str
    name: str
    leader: int | None
    record: Record

    def table(self):
        """The value as an object of flatc's object API."""
        return wire.unpack(self.record.value)


def _fact(record: Record) -> Fact | None:
    try:
        parts = record.key.decode().split("/")
    except (AttributeError, UnicodeDecodeError):
        return None
    if len(parts) == 1:
        return Fact("", parts[0], "", None, record)
    request, kind, rest = parts[0], parts[1], parts[2:]
    leader = None
    if kind in ("result", "done") and rest and rest[-1].isdigit():
        leader = int(rest.pop())
    return Fact(request, kind, "/".join(rest), leader, record)


class ControlTopic:
    """A look at the topic: everything that a read_committed consumer sees at this moment."""

    def __init__(self, world: World, topic: str):
        self.topic = topic
        self._world = world

    def facts(self, request: str | None = None, kind: str | None = None) -> list[Fact]:
        found = [_fact(record) for record in self._world.read(self.topic)]
        return [fact for fact in found if fact is not None and (request is None or fact.request == request)
                and (kind is None or fact.kind == kind)]

    def results(self, request: str) -> dict[str, list[Fact]]:
        """By group; more than one for a group would be a second execution."""
        by_group: dict[str, list[Fact]] = {}
        for fact in self.facts(request, "result"):
            by_group.setdefault(fact.name, []).append(fact)
        return by_group

    def outcomes(self, request: str) -> list[str]:
        """The outcome of each done record; more than one would be a second execution."""
        return [wire.outcome_name(fact.table().outcome) for fact in self.facts(request, "done")]

    def moves(self, request: str, group: str) -> dict[tuple[str, int], tuple[int | None, int | None]]:
        """Before and after of each partition in the group's only result."""
        (fact,) = self.results(request)[group]
        moves = {}
        for move in fact.table().moves:
            moves[(move.topic.decode(), move.partition)] = (
                move.before.offset if move.before else None, move.after.offset if move.after else None)
        return moves

    def standings(self, request: str, group: str) -> list[str]:
        """What the verified records of a group say, oldest first."""
        return [wire.standing_name(fact.table().standing) for fact in self.facts(request, "verified")
                if fact.name == group]

    def leaders(self) -> list[int]:
        """The leader numbers: offsets of the engine records that are still there."""
        return [fact.record.offset for fact in self.facts(kind="engine")]

    def append_json(self, request: str, body: dict) -> None:
        """A request as JSON text, as any producer may write it."""
        self._world.append(self.topic, f"{request}/request",
                           json.dumps({"body_type": "Request", "body": {"id": request, **body}}))
