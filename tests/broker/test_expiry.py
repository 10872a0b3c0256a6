"""Offsets that expire: a classic group's count from when it became empty, not from the commit (KIP-211)."""
import time
import uuid

import pytest

from support.broker import QUICK, Broker
from support.flow import finish
from support.process import wait_until
from support.scenario import ask, reset_arguments, wait_done
from support.world import World


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    settings = {**QUICK, "offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "500"}
    one = Broker(tmp_path_factory.mktemp("forgets-offsets"), settings).start()
    yield one
    one.stop()


@pytest.fixture(scope="module")
def world(broker):
    one = World(broker.address)
    yield one
    one.close()


def left_group(world, orders) -> str:
    """A group that a consumer has been in, read everything, committed, and left."""
    group = orders.fresh("group")
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_count(orders.partitions * orders.records)
        consumer.commit()
    return group


def test_an_expiry_soon_after_a_guarded_reset_is_told_and_a_held_one_restarts_the_clock(world, flow, control, orders,
                                                                                        engine):
    guarded, held = left_group(world, orders), left_group(world, orders)
    empty_since = time.monotonic()
    time.sleep(45)  # Of the 60 s that its offsets are kept.
    moved = str(uuid.uuid4())
    follows = flow.start(*reset_arguments([guarded], orders.topic, "--id", moved, "--wait=verified"))
    moved_held = ask(flow, [held], orders.topic, "--hold")
    assert wait_done(control, moved) == wait_done(control, moved_held) == "completed"
    assert world.committed(guarded) == world.committed(held) == orders.at(0)
    assert time.monotonic() - empty_since < 58
    wait_until(lambda: "gone" in control.standings(moved, guarded), 40,
               lambda: f"the expiry is told: {control.standings(moved, guarded)}")
    assert world.committed(guarded) == {}
    assert "gone" in flow.ok("history", moved)
    done = finish(follows)
    assert done.code == 1 and f"{guarded}: gone: the offsets expired, or the topic was deleted\n" in done.err, done
    wait_until(lambda: any(fact.table().last for fact in control.facts(moved_held, "verified")), 40, "the last look")
    assert control.standings(moved_held, held)[-1] == "stands"
    assert world.committed(held) == orders.at(0)
