"""Promise 2 at random times: consumers of every kind start around a reset, guarded and held."""
import time

import pytest

from support import kcat
from support.process import wait_until
from support.scenario import ask, is_contested, wait_done


def java(protocol: str):
    return lambda world, broker, group, topic: world.consumer(group, topic, protocol=protocol)


def librdkafka(isolation: str):
    return lambda world, broker, group, topic: kcat.GroupConsumer(broker.address, group, topic, isolation)


# The last one is told of no pending transaction: guarded, it may start from the before.
KINDS = {"java-classic": java("classic"), "java-kip848": java("consumer"),
         "librdkafka-read-committed": librdkafka("read_committed"),
         "librdkafka-read-uncommitted": librdkafka("read_uncommitted")}
IN_ITS_GROUP = float("-inf")  # A delay: the consumer has joined when the reset is asked for.


def waits_for(control, request: str, group: str) -> bool:
    guards = control.facts(request, "guard")
    return bool(guards) and any(reason.untilMs is None and group in reason.text.decode()
                                for reason in guards[-1].table().reasons or [])


def starts_at(consumer, world, orders) -> dict[tuple[str, int], int]:
    """Where the consumer began; there is a record for it in every partition."""
    world.fill(orders.topic, 1)
    wait_until(lambda: len(consumer.first()) == 3, 20, lambda: f"it reads: {consumer.first()}")
    return consumer.first()


def check_applied(kind, held, started, world, control, request, group, orders) -> None:
    """The consumer stands at the target, or, where that can not be helped, the before is told as contested."""
    check_carried_out(control, request, group)
    values = world.commit_values(group)
    # The consumer commits after that.
    assert {place: offsets[:2] for place, offsets in values.items()} == orders.values(orders.records, 0), values
    if started != orders.at(0):
        assert started == orders.end and kind == "librdkafka-read-uncommitted" and not held, started
        wait_until(lambda: is_contested(control, request, group), 40, "it is told as contested")


def check_waited(started, world, control, request, group, orders) -> None:
    """It is in its group, and nobody touches that."""
    assert started == orders.end
    assert control.results(request) == {}
    assert all(offset >= orders.records for offset in world.committed(group).values())


def check_carried_out(control, request, group) -> None:
    """Once."""
    assert wait_done(control, request) == "completed"
    assert {name: len(found) for name, found in control.results(request).items()} == {group: 1}


def run_once(kind, held, delay_s, world, broker, flow, control, orders) -> str:
    """One reset with a consumer that starts `delay_s` after it was asked, or before; says how it ended."""
    group = orders.group()
    arguments = ["--when-stopped", *(["--hold"] if held else [])]
    if delay_s >= 0:
        request = ask(flow, [group], orders.topic, *arguments)
        time.sleep(delay_s)  # The moment is what varies.
    with KINDS[kind](world, broker, group, orders.topic) as consumer:
        if delay_s == IN_ITS_GROUP:
            wait_until(lambda: world.state(group) == "Stable", 20, "the consumer is in its group")
        elif delay_s < 0:
            time.sleep(-delay_s)
        if delay_s < 0:
            request = ask(flow, [group], orders.topic, *arguments)
        wait_until(lambda: control.outcomes(request) or waits_for(control, request, group), 40, "it is done, or waits")
        started = starts_at(consumer, world, orders)
        # It may have waited for something else than this consumer, and be done while this one is inside.
        if started == orders.at(0) or control.outcomes(request):
            check_applied(kind, held, started, world, control, request, group, orders)
            return "applied"
        check_waited(started, world, control, request, group, orders)
    check_carried_out(control, request, group)
    for place, offsets in world.commit_values(group).items():
        assert offsets[0] == orders.records and offsets[-1] == 0 and offsets.count(0) == 1, (place, offsets)
    assert world.committed(group) == orders.at(0)
    return "waited"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["guarded", "held"])
def test_a_consumer_starts_around_a_reset(mode, kind, world, broker, flow, control, orders, engine, rng, scaled):
    for _ in range(scaled(50)):
        run_once(kind, mode == "held", rng.uniform(-0.3, 0.3), world, broker, flow, control, orders)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["guarded", "held"])
def test_a_consumer_starts_while_the_window_is_wide(mode, kind, world, broker, flow, control, orders, new_engine, rng,
                                                    scaled):
    engine = new_engine("after-offsets=sleep:1500@*").start()
    engine.wait_leading()
    delays = [IN_ITS_GROUP, 1.2, *(rng.uniform(0, 1.2) for _ in range(scaled(20) - 1))]
    ended = [run_once(kind, mode == "held", delay_s, world, broker, flow, control, orders) for delay_s in delays]
    assert ended[0] == "waited" and "applied" in ended, ended
