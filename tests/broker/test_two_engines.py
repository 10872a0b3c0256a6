"""Promise 3: one leads, the others follow, and a leader that comes back from the dead does nothing."""
import time

import pytest

from support.broker import QUICK, Broker
from support.control import ControlTopic
from support.flow import Engine, Flow
from support.process import wait_until
from support.scenario import Orders, ask, check_moved_once, wait_done
from support.world import World

TAKE_OVER_S = 10


def start_two(world, control, new_engine, fail_point=""):
    """Two engines, the first of which leads: one that joins leaves a leader its place."""
    group = f"flow-engine.{control.topic}"
    first, second = new_engine(fail_point), new_engine()
    first.start()
    first.wait_leading()
    second.start()
    wait_until(lambda: is_settled(world.describe(group)), 20,
               lambda: f"both are in the group: {world.describe(group)}")
    assert (first.role(), second.role()) == ("leads", "follows"), f"{first.log()}\n{second.log()}"
    return first, second


def is_settled(described: dict) -> bool:
    return described["state"] == "Stable" and len(described["members"]) == 2


def wait_role_after(engine, said_before: str, timeout_s: float = 30) -> None:
    """Until it says something new of being fenced or following."""
    wait_until(lambda: any(word in engine.log()[len(said_before):] for word in ("fenced", "following")), timeout_s,
               lambda: f"the woken leader follows:\n{engine.log()}")


def test_the_other_executes_the_next_request_when_the_leader_is_killed(world, flow, control, orders, new_engine):
    first, second = start_two(world, control, new_engine)
    before = orders.group()
    assert wait_done(control, ask(flow, [before], orders.topic)) == "completed"
    first.kill()
    killed = time.monotonic()
    group = orders.group()
    request = ask(flow, [group], orders.topic)
    assert wait_done(control, request) == "completed"
    assert time.monotonic() - killed < TAKE_OVER_S
    check_moved_once(world, control, request, [group], orders)
    assert world.commit_values(before) == orders.values(20, 0)
    assert second.role() == "leads"


def test_engines_that_join_leave_the_leader_its_place(world, flow, control, orders, new_engine):
    first, _ = start_two(world, control, new_engine)
    for count in (3, 4, 5):
        new_engine().start()
        wait_until(lambda: len(world.describe(f"flow-engine.{control.topic}")["members"]) == count, 20, "it joins")
    assert wait_done(control, ask(flow, [orders.group()], orders.topic)) == "completed"
    assert len(control.leaders()) == 1 and first.role() == "leads"


def test_a_leader_that_ends_hands_over_at_once(world, flow, control, orders, new_engine):
    first, second = start_two(world, control, new_engine)
    assert first.terminate() == 0
    second.wait_leading(5)
    assert wait_done(control, ask(flow, [orders.group()], orders.topic)) == "completed"


@pytest.mark.parametrize("point", ["before-begin", "after-delivery", "after-offsets", "before-commit"])
def test_a_leader_stopped_in_the_middle_is_fenced_when_it_wakes(point, world, flow, control, orders, new_engine):
    first, second = start_two(world, control, new_engine, f"{point}=stop")
    group = orders.group()
    request = ask(flow, [group], orders.topic)
    first.wait_frozen()
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, [group], orders)
    (result,) = control.results(request)[group]
    assert result.leader == second.leader_number()
    said = first.log()
    first.thaw()
    wait_role_after(first, said)
    next_group = orders.group()
    later = ask(flow, [next_group], orders.topic)
    assert wait_done(control, later) == "completed"
    check_moved_once(world, control, request, [group], orders)
    check_moved_once(world, control, later, [next_group], orders)
    (result,) = control.results(later)[next_group]
    assert result.leader == second.leader_number()
    assert second.is_running() and first.is_running()


def test_an_idle_leader_that_was_stopped_follows_when_it_wakes(world, flow, control, orders, new_engine):
    first, second = start_two(world, control, new_engine)
    first.freeze()
    group = orders.group()
    request = ask(flow, [group], orders.topic)
    assert wait_done(control, request) == "completed"
    said = first.log()
    first.thaw()
    groups = orders.groups(3)
    later = ask(flow, groups, orders.topic)
    assert wait_done(control, later) == "completed"
    check_moved_once(world, control, request, [group], orders)
    check_moved_once(world, control, later, groups, orders)
    wait_role_after(first, said)


def test_a_lone_engine_stopped_past_its_transaction_timeout_goes_on_by_itself(world, flow, control, orders, new_engine):
    engine = new_engine("before-commit=stop@1").start()
    engine.wait_leading()
    group = orders.group()
    request = ask(flow, [group], orders.topic)
    engine.wait_frozen()
    time.sleep(17)  # Longer than transaction.timeout.ms, at most 15 s: the broker has aborted it.
    assert world.committed(group) == orders.end
    engine.thaw()
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, [group], orders)


def strike(engine, rng) -> None:
    """Kills it, or stops it, or wakes or starts it again."""
    if not engine.is_running():
        engine.start(ready=False)
    elif engine.is_frozen():
        engine.thaw()
    elif rng.random() < 0.5:
        engine.kill()
    else:
        engine.freeze()


def test_requests_under_random_kills_and_stops_of_both(world, flow, control, orders, new_engine, rng, scaled):
    engines = [new_engine().start(), new_engine().start()]
    asked: dict[str, list[str]] = {}
    count = scaled(200)
    while len(asked) < count:
        for _ in range(rng.randint(1, 4)):
            groups = orders.groups(rng.randint(1, 3))
            asked[ask(flow, groups, orders.topic, *(["--hold"] if rng.random() < 0.2 else []))] = groups
        time.sleep(rng.uniform(0, 0.6))  # The moment of the blow is what varies.
        strike(rng.choice(engines), rng)
    for engine in engines:
        if engine.is_running() and engine.is_frozen():
            engine.thaw()
        elif not engine.is_running():
            engine.start(ready=False)
    for request, groups in asked.items():
        assert wait_done(control, request, 90) == "completed"
        check_moved_once(world, control, request, groups, orders)


@pytest.fixture
def forgetful_broker(tmp_path):
    """One that forgets a transactional id, and a producer, that it has not heard of for some seconds."""
    one = Broker(tmp_path / "forgetful", {**QUICK, "transactional.id.expiration.ms": "3000",
                                          "transaction.remove.expired.transaction.cleanup.interval.ms": "500",
                                          "producer.id.expiration.ms": "3000"}).start()
    yield one
    one.stop()


def test_an_engine_idle_past_the_expiry_of_its_transactional_id_does_the_next_request_by_itself(forgetful_broker,
                                                                                               tmp_path, fresh):
    flow = Flow(forgetful_broker.address, fresh("control"), tmp_path)
    world = World(forgetful_broker.address)
    engine = Engine(flow, tmp_path / "store")
    try:
        flow.ok("topic", "create")
        control = ControlTopic(world, flow.control_topic)
        orders = Orders(world, world.create_topic(fresh("orders"), 3), 3, 20, fresh)
        world.fill(orders.topic, 20)
        engine.start()
        engine.wait_leading()
        for _ in range(2):
            wait_until(lambda: world.transactional_ids() == [], 30,
                       lambda: f"the broker forgets the engine's id: {world.transactional_ids()}")
            group = orders.group()
            request = ask(flow, [group], orders.topic)
            assert wait_done(control, request) == "completed"
            check_moved_once(world, control, request, [group], orders)
    finally:
        engine.close()
        world.close()


def test_sigterm_at_any_moment_of_the_start_ends_it(control, new_engine, rng, scaled):
    for _ in range(scaled(100)):
        engine = new_engine().start(ready=False)
        time.sleep(rng.uniform(0, 0.2))  # The moment is what varies.
        engine.terminate()


def test_two_engines_on_one_store_folder(world, flow, control, orders, new_engine):
    first = new_engine().start()
    second = new_engine()
    second.store = first.store
    second.start(ready=False)
    assert second.wait_end() == 1
    assert f"another engine uses the store in '{first.store}'; give each engine a folder of its own (--store)" \
        in second.log()
    first.wait_leading()
    group = orders.group()
    request = ask(flow, [group], orders.topic)
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, [group], orders)
