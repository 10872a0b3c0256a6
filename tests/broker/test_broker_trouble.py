"""Promise 5: a broker that restarts, is away or hangs. The engine says so, rests, goes on, and does each reset once."""
import re
import time

import pytest

from support.broker import QUICK, Broker
from support.control import ControlTopic
from support.flow import Flow, finish
from support.process import cpu_share, wait_until
from support.scenario import Orders, ask, check_moved_once, reset_arguments, wait_done
from support.world import World

AWAY_S = 60
FROZEN_S = 30
REST = 0.05  # of one core while it waits
SHORTEST_S = 6
FROZEN_LEAST_S = 12  # Requests time out after 10 s.


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    """One of this module's own, since it ends it again and again."""
    one = Broker(tmp_path_factory.mktemp("troubled"), QUICK).start()
    yield one
    one.stop()


@pytest.fixture(autouse=True)
def broker_runs(broker):
    yield
    if broker.is_running():
        broker.thaw()
    else:
        broker.start()


@pytest.fixture(scope="module")
def world(broker):
    one = World(broker.address)
    yield one
    one.close()


@pytest.fixture
def seconds(scaled):
    """How long to be away: the whole time with --full, else shorter."""
    return lambda whole: max(SHORTEST_S, scaled(whole))


def asked_for_wait(flow, group, topic):
    """`flow reset --wait` in the background, its request's id read from the log."""
    return flow.start(*reset_arguments([group], topic, "--wait", "--timeout", "5m"))


def test_a_broker_that_is_away_at_the_start(broker, world, flow, control, orders, new_engine, seconds):
    group = orders.group()
    request = ask(flow, [group], orders.topic)
    broker.stop()
    engine = new_engine().start(ready=False)
    engine.wait_said("waiting for the broker")
    assert broker.address in engine.log()
    assert cpu_share(seconds(AWAY_S), engine.pid) < REST
    assert engine.is_running()
    broker.start()
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, [group], orders)


def test_a_broker_that_goes_away_while_an_engine_is_idle(broker, world, flow, control, orders, engine, seconds):
    before = orders.group()
    request = ask(flow, [before], orders.topic)
    assert wait_done(control, request) == "completed"
    busy = orders.group()
    with world.consumer(busy, orders.topic) as consumer:
        consumer.wait_assigned(3)
        waiter = asked_for_wait(flow, busy, orders.topic)
        wait_until(lambda: len(control.facts(kind="guard")) == 2, 20, "the second request waits")
        said = len(engine.log())
        broker.stop()
        wait_until(lambda: "waiting" in engine.log()[said:], 30, lambda: f"it says so:\n{engine.log()}")
        looking = flow.start("status")
        assert cpu_share(seconds(AWAY_S), engine.pid, waiter.pid) < REST
        status = finish(looking)
        assert status.code == 2 and "cannot reach Kafka" in status.err and broker.address in status.err, status
        broker.start()
        wait_until(lambda: world.state(busy) == "Stable", 30, "the consumer is back")
    done = finish(waiter, 60)
    assert done.code == 0, done
    assert "waiting" in done.err and "cannot reach Kafka" in done.err or broker.address in done.err, done
    (later,) = {fact.request for fact in control.facts(kind="request")} - {request}
    check_moved_once(world, control, request, [before], orders)
    check_moved_once(world, control, later, [busy], orders)


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_a_broker_restarted_in_the_middle_of_a_reset(how, broker, world, flow, control, orders, new_engine, rng,
                                                     scaled):
    points = ["before-look", "after-look", "after-begin", "after-delivery", "after-offsets", "before-commit",
              "after-commit", "before-verified"]
    for point in rng.sample(points, scaled(len(points))):
        engine = new_engine(f"{point}=stop").start()
        engine.wait_leading()
        groups = orders.groups(2)
        request = ask(flow, groups, orders.topic)
        engine.wait_frozen()
        broker.stop() if how == "stopped" else broker.kill()
        broker.start()
        engine.thaw()
        assert wait_done(control, request, 60) == "completed", point
        check_moved_once(world, control, request, groups, orders, may_repeat=True)
        engine.kill()


def test_a_broker_restarted_at_random_under_a_stream_of_requests(broker, world, flow, control, orders, engine, rng,
                                                                scaled):
    asked: dict[str, list[str]] = {}
    for _ in range(scaled(15)):
        for _ in range(rng.randint(2, 5)):
            groups = orders.groups(rng.randint(1, 3))
            asked[ask(flow, groups, orders.topic, *rng.choice([[], ["--hold"]]))] = groups
        time.sleep(rng.uniform(0, 0.3))  # The moment is what varies.
        broker.kill() if rng.random() < 0.5 else broker.stop()
        broker.start()
    for request, groups in asked.items():
        assert wait_done(control, request, 90) == "completed"
        check_moved_once(world, control, request, groups, orders, may_repeat=True)


def test_a_broker_that_hangs(broker, world, flow, control, orders, engine, seconds):
    """Frozen while a request comes, and in the middle of nothing: connections stay open, nothing answers."""
    first = orders.group()
    assert wait_done(control, ask(flow, [first], orders.topic)) == "completed"
    busy = orders.group()
    with world.consumer(busy, orders.topic) as consumer:
        consumer.wait_assigned(3)
        waiter = asked_for_wait(flow, busy, orders.topic)
        wait_until(lambda: len(control.facts(kind="guard")) == 2, 20, "the second request waits")
    said = len(engine.log())
    broker.freeze()
    assert cpu_share(max(FROZEN_LEAST_S, seconds(FROZEN_S)), engine.pid, waiter.pid) < REST
    assert re.search("waiting|cannot", engine.log()[said:]), engine.log()
    broker.thaw()
    done = finish(waiter, 90)
    assert done.code == 0, done
    last = orders.group()
    request = ask(flow, [last], orders.topic)
    assert wait_done(control, request, 60) == "completed"
    check_moved_once(world, control, request, [last], orders)
    for one in {fact.request for fact in control.facts(kind="request")}:
        (group,) = control.results(one)
        check_moved_once(world, control, one, [group], orders, may_repeat=True)


def test_a_broker_that_hangs_in_the_middle_of_a_reset(broker, world, flow, control, orders, new_engine, rng, seconds,
                                                      scaled):
    points = ["after-look", "after-begin", "after-offsets", "before-commit", "held-joined"]
    for point in rng.sample(points, scaled(len(points))):
        engine = new_engine(f"{point}=stop").start()
        engine.wait_leading()
        groups = orders.groups(2)
        request = ask(flow, groups, orders.topic, *(["--hold"] if point.startswith("held") else []))
        engine.wait_frozen()
        broker.freeze()
        engine.thaw()
        assert cpu_share(max(FROZEN_LEAST_S, seconds(FROZEN_S)), engine.pid) < REST
        broker.thaw()
        assert wait_done(control, request, 60) == "completed", point
        check_moved_once(world, control, request, groups, orders, may_repeat=True)
        engine.kill()
