"""Promise 2 at random times: consumers of every kind start around a reset, guarded and held."""
import time

import pytest

from support import kcat
from support.process import wait_until
from support.scenario import ask, wait_done


def java(protocol: str):
    return lambda world, broker, group, topic: world.consumer(group, topic, protocol=protocol)


def librdkafka(isolation: str):
    return lambda world, broker, group, topic: kcat.GroupConsumer(broker.address, group, topic, isolation)


# The last one is told of no pending transaction: guarded, it may start from the before.
KINDS = {"java-classic": java("classic"), "java-kip848": java("consumer"),
         "librdkafka-read-committed": librdkafka("read_committed"),
         "librdkafka-read-uncommitted": librdkafka("read_uncommitted")}


def is_contested(control, request: str, group: str) -> bool:
    return any(fact.table().contested for fact in control.facts(request, "verified") if fact.name == group)


def waits_for(control, request: str, group: str) -> bool:
    guards = control.facts(request, "guard")
    return bool(guards) and any(reason.untilMs is None and group in reason.text.decode()
                                for reason in guards[-1].table().reasons or [])


def check_applied(kind, held, consumer, world, control, request, group, orders) -> None:
    """The consumer stands at the target, or, where that can not be helped, the before is told as contested."""
    world.fill(orders.topic, 1)
    wait_until(lambda: len(consumer.first()) == 3, 20, lambda: f"it reads: {consumer.first()}")
    if consumer.first() == orders.at(0):
        return
    assert kind == "librdkafka-read-uncommitted" and not held, consumer.first()
    wait_until(lambda: is_contested(control, request, group), 40, "it is told as contested")


def run_once(kind, held, delay_s, world, broker, flow, control, orders) -> str:
    """One reset with a consumer that starts `delay_s` after (or before) it was asked; says how it ended."""
    group = orders.group()
    arguments = ["--when-stopped", *(["--hold"] if held else [])]
    if delay_s >= 0:
        request = ask(flow, [group], orders.topic, *arguments)
        time.sleep(delay_s)  # The moment is what varies.
    with KINDS[kind](world, broker, group, orders.topic) as consumer:
        if delay_s < 0:
            time.sleep(-delay_s)
            request = ask(flow, [group], orders.topic, *arguments)
        wait_until(lambda: control.outcomes(request) or waits_for(control, request, group), 40, "it is done, or waits")
        if control.outcomes(request):
            check_applied(kind, held, consumer, world, control, request, group, orders)
            return "applied"
        # It may have waited for another run's end only; who is still there when it is done was waited for.
        if not control.outcomes(request):
            assert control.results(request) == {}
            assert all(offset >= orders.records for offset in world.committed(group).values())
    assert wait_done(control, request) == "completed"
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
    ended = {run_once(kind, mode == "held", rng.uniform(0, 1.2), world, broker, flow, control, orders)
             for _ in range(scaled(20))}
    assert "applied" in ended
