"""Promise 2: the guard is atomic. Nobody in a group is reset under their feet, nobody's commit is lost."""
import time

import pytest

from support import kcat
from support.flow import finish, requested
from support.process import wait_until
from support.scenario import ask, check_moved_once, is_contested, reset_arguments, wait_done

RESET_WITHIN_S = 2.0  # of the group becoming empty
SESSION_S = 4
SESSION = {"session.timeout.ms": f"{SESSION_S}000"}
VERIFIED_SOON = ("--verify-for", "3s")


def wait_guard(control, request: str, text: str) -> None:
    """Until the request's guard record says that it waits for `text`."""
    def reasons() -> list[str]:
        return [reason.text.decode() for fact in control.facts(request, "guard")
                for reason in fact.table().reasons or []]
    wait_until(lambda: any(text in reason for reason in reasons()), 10, lambda: f"waits for {text!r}: {reasons()}")


@pytest.mark.parametrize("mode", ["guarded", "held"])
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_live_group_is_waited_for(protocol, mode, world, flow, control, orders, engine):
    group = orders.group()
    hold = ["--hold"] if mode == "held" else []
    with world.consumer(group, orders.topic, protocol=protocol) as consumer:
        consumer.wait_assigned(3)
        refused = flow.run(*reset_arguments([group], orders.topic, *hold))
        assert refused.code == 1
        assert group in refused.err
        if protocol == "classic":
            assert consumer.name in refused.err  # A KIP-848 group's members cannot be named.
        assert control.facts(kind="request") == []

        request = ask(flow, [group], orders.topic, "--when-stopped", *hold)
        wait_guard(control, request, group)
        assert group in flow.ok("status")
        world.fill(orders.topic, 1)
        consumer.wait_count(3)  # The waiting request disturbs nobody.
        assert world.committed(group) == orders.end
        assert control.outcomes(request) == []
    emptied = time.time()
    assert wait_done(control, request) == "completed"
    (done,) = control.facts(request, "done")
    if mode == "guarded":
        assert done.record.timestamp / 1000 - emptied < RESET_WITHIN_S
    check_moved_once(world, control, request, [group], orders)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_wait_ends_with_3_and_the_request_stays(protocol, world, flow, control, orders, engine):
    group = orders.group()
    with world.consumer(group, orders.topic, protocol=protocol) as consumer:
        consumer.wait_assigned(3)
        done = flow.run(*reset_arguments([group], orders.topic, "--wait", "--timeout", "3s"))
        assert done.code == 3
        request = control.facts(kind="request")[0].request
        assert f"flow cancel {request}" in done.err
        cancelled = flow.run("cancel", request)
        assert cancelled.code == 0, cancelled.err
    assert control.outcomes(request) == ["cancelled"]
    assert world.committed(group) == orders.end


def check_moved_when_the_session_ends(left, named, world, flow, control, orders, group) -> None:
    """For a member that went at the time `left` without a word: the broker has it until its session ends."""
    refused = flow.run(*reset_arguments([group], orders.topic))
    assert refused.code == 1 and named in refused.err, refused
    assert control.facts(kind="request") == []
    request = ask(flow, [group], orders.topic, "--when-stopped")
    wait_guard(control, request, named.split("'")[1])
    wait_until(lambda: world.state(group) == "Empty", 10, lambda: f"its session ends: {world.describe(group)}")
    emptied = time.time()
    assert emptied - left > SESSION_S / 2  # The last heartbeat was shortly before it left.
    assert wait_done(control, request) == "completed"
    (done,) = control.facts(request, "done")
    assert left + SESSION_S / 2 < done.record.timestamp / 1000 < emptied + RESET_WITHIN_S
    check_moved_once(world, control, request, [group], orders)


def test_a_static_member_that_left_without_a_word_is_named(world, flow, control, orders, engine):
    group = orders.group()
    with world.consumer(group, orders.topic, instance="till-1", config=SESSION) as consumer:
        consumer.wait_assigned(3)
    left = time.time()
    check_moved_when_the_session_ends(left, "static member 'till-1'", world, flow, control, orders, group)


def test_a_killed_consumer_holds_the_reset_until_its_session_ends(world, new_world, flow, control, orders, engine):
    group = orders.group()
    other = new_world()
    other.consumer(group, orders.topic, name="till-2", config=SESSION).wait_assigned(3)
    other.kill()
    left = time.time()
    check_moved_when_the_session_ends(left, "client 'till-2'", world, flow, control, orders, group)


def java(protocol):
    return lambda world, broker, group, topic: world.consumer(group, topic, protocol=protocol)


def librdkafka(isolation):
    return lambda world, broker, group, topic: kcat.GroupConsumer(broker.address, group, topic, isolation)


JOINERS = [pytest.param(java("classic"), id="java-classic"), pytest.param(java("consumer"), id="java-kip848"),
           pytest.param(librdkafka("read_committed"), id="librdkafka-read-committed")]
# This one is told of no pending transaction: only a hold keeps it from the before.
UNCOMMITTED = pytest.param(librdkafka("read_uncommitted"), id="librdkafka-read-uncommitted")


@pytest.mark.parametrize("join", JOINERS)
@pytest.mark.parametrize("point", ["after-offsets", "after-reread", "before-commit"])
def test_who_joins_after_the_offsets_starts_from_the_after(point, join, world, broker, flow, control,
                                                           orders, new_engine):
    group = orders.group()
    engine = new_engine(f"{point}=stop").start()
    engine.wait_leading()
    request = ask(flow, [group], orders.topic)
    engine.wait_frozen()
    with join(world, broker, group, orders.topic) as consumer:
        wait_until(lambda: world.state(group) == "Stable", 10, "the joiner is in the group")
        engine.thaw()
        assert wait_done(control, request) == "completed"
        wait_until(lambda: len(consumer.first()) == 3, 20, "the joiner reads")
        assert consumer.first() == orders.at(0)
    assert world.commit_values(group)[(orders.topic, 0)][:2] == [orders.records, 0]


@pytest.mark.parametrize("point", ["after-offsets", "before-commit"])
def test_who_reads_uncommitted_may_start_from_the_before_and_is_told(point, world, broker, flow, control, orders,
                                                                     new_engine):
    group = orders.group()
    engine = new_engine(f"{point}=stop", VERIFIED_SOON).start()
    engine.wait_leading()
    asked = flow.start(*reset_arguments([group], orders.topic, "--wait=verified"))
    engine.wait_frozen()
    world.fill(orders.topic, 1)
    # Were it to commit what it read, the reset would start over; kcat does so when it leaves.
    settings = {"enable.auto.commit": "false", "client.id": "early-bird"}
    with kcat.GroupConsumer(broker.address, group, orders.topic, "read_uncommitted", settings) as consumer:
        assert consumer.wait_first(3) == orders.end
        engine.thaw()
        done = finish(asked)
        request = requested(done.out)
        check_moved_once(world, control, request, [group], orders)
    assert done.code == 0, done
    assert f"{group}: contested: client 'early-bird' on 127.0.0.1 was in the group right after the reset" in done.err
    assert is_contested(control, request, group)


@pytest.mark.parametrize("join", JOINERS)
@pytest.mark.parametrize("point", ["after-look", "after-begin", "after-delivery"])
def test_who_joins_before_the_offsets_is_never_reset(point, join, world, broker, flow, control, orders, new_engine):
    group = orders.group()
    engine = new_engine(f"{point}=stop").start()
    engine.wait_leading()
    request = ask(flow, [group], orders.topic)
    engine.wait_frozen()
    with join(world, broker, group, orders.topic) as consumer:
        wait_until(lambda: world.state(group) == "Stable", 10, "the joiner is in the group")
        engine.thaw()
        wait_guard(control, request, group)
        world.fill(orders.topic, 1)
        wait_until(lambda: len(consumer.first()) == 3, 20, "the joiner reads")
        assert consumer.first() == orders.end
        assert control.results(request) == {}
    assert wait_done(control, request) == "completed"
    assert world.committed(group) == orders.at(0)


@pytest.mark.parametrize("join", [*JOINERS, UNCOMMITTED])
@pytest.mark.parametrize("point", ["held-joined=stop", "before-begin=stop", "after-offsets=stop"])
def test_who_joins_a_held_group_waits_and_starts_from_the_after(point, join, world, broker, flow, control, orders,
                                                                new_engine):
    group = orders.group()
    engine = new_engine(point).start()
    engine.wait_leading()
    request = ask(flow, [group], orders.topic, "--hold")
    engine.wait_frozen()
    assert len(world.describe(group)["members"]) == 1
    with join(world, broker, group, orders.topic) as consumer:
        wait_until(lambda: world.state(group) != "Stable" or len(world.describe(group)["members"]) == 2, 10,
                   lambda: f"the joiner knocks: {world.describe(group)}")
        assert consumer.first() == {}
        engine.thaw()
        assert wait_done(control, request) == "completed"
        wait_until(lambda: len(consumer.first()) == 3, 20, "the joiner reads")
        assert consumer.first() == orders.at(0)


@pytest.mark.parametrize("point", ["after-look", "before-begin", "after-begin", "after-delivery", "after-offsets"])
def test_a_foreign_commit_before_the_last_look_is_never_lost(point, world, flow, control, orders, new_engine):
    """Something that never joins commits before ours is committed: the reset starts over from what it finds."""
    group = orders.group()
    engine = new_engine(f"{point}=stop").start()
    engine.wait_leading()
    request = ask(flow, [group], orders.topic)
    engine.wait_frozen()
    world.commit_assigned(group, {(orders.topic, 1): 7})
    engine.thaw()
    # The same fail point stops the next try too.
    wait_until(lambda: control.outcomes(request) or engine.thaw() is not None, 30, "the request is done", every_s=0.2)
    assert control.outcomes(request) == ["completed"]
    assert control.moves(request, group) == {(orders.topic, 0): (20, 0), (orders.topic, 1): (7, 0),
                                             (orders.topic, 2): (20, 0)}
    assert world.commit_values(group) == {(orders.topic, 0): [20, 0], (orders.topic, 1): [20, 7, 0],
                                          (orders.topic, 2): [20, 0]}


# Before the commit nobody sees the foreign one any more; Kafka keeps which of two commits was written later.
@pytest.mark.parametrize("point", ["after-reread", "before-commit", "after-commit", "after-read-back"])
def test_a_foreign_commit_after_the_reset_is_told(point, world, flow, control, orders, new_engine):
    group = orders.group()
    engine = new_engine(f"{point}=stop", VERIFIED_SOON).start()
    engine.wait_leading()
    asked = flow.start(*reset_arguments([group], orders.topic, "--wait=verified"))
    engine.wait_frozen()
    world.commit_assigned(group, {(orders.topic, 1): 7})
    engine.thaw()
    done = finish(asked)
    assert done.code == 1, done
    assert f"{group}: superseded: somebody committed other offsets after the reset: {orders.topic}:1 at 7\n" in done.err
    request = requested(done.out)
    assert control.outcomes(request) == ["completed"]
    assert control.moves(request, group) == dict.fromkeys(orders.end, (orders.records, 0))
    assert control.standings(request, group)[-1] == "superseded"
    assert world.commit_values(group) == {**orders.values(20, 0), (orders.topic, 1): [20, 0, 7]}
    assert world.committed(group) == {**orders.at(0), (orders.topic, 1): 7}


def test_groups_of_one_request_move_together(world, flow, control, orders, engine):
    free, busy = orders.groups(2)
    with world.consumer(busy, orders.topic) as consumer:
        consumer.wait_assigned(3)
        request = ask(flow, [free, busy], orders.topic, "--when-stopped")
        wait_guard(control, request, busy)
        assert world.committed(free) == orders.end
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, [free, busy], orders)
