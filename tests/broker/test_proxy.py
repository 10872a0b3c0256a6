"""Promise 5, on the wire: whatever becomes of one request or of its answer, each reset is done, once.

The engine reaches the broker through the proxy, everything else directly.
"""
import itertools
import struct

import pytest

from support.flow import Flow
from support.process import wait_until
from support.proxy import Api, How, Side
from support.scenario import ask, check_moved_once, wait_done

HOWS = [How.CUT, How.TORN, How.SLOW, How.HALF_OPEN]
STRIKES = list(itertools.product(Side, HOWS))

# How often a reset of two groups asks this: for the move, and for what became of it; to look, and to look again.
TIMES = {Api.PRODUCE: 2, Api.ADD_PARTITIONS_TO_TXN: 2, Api.END_TXN: 2, Api.OFFSET_FETCH: 4, Api.DESCRIBE_GROUPS: 2,
         Api.ADD_OFFSETS_TO_TXN: 2, Api.TXN_OFFSET_COMMIT: 2}
INVALID_PRODUCER_EPOCH = 47


@pytest.fixture
def engine_flow(flow, proxy) -> Flow:
    return Flow(proxy.address, flow.control_topic, flow.home)


@pytest.mark.parametrize("api", [
    Api.PRODUCE, Api.FETCH, Api.LIST_OFFSETS, Api.OFFSET_FETCH, Api.FIND_COORDINATOR, Api.DESCRIBE_GROUPS,
    Api.ADD_PARTITIONS_TO_TXN, Api.ADD_OFFSETS_TO_TXN, Api.END_TXN, Api.TXN_OFFSET_COMMIT,
], ids=lambda api: api.name.lower())
def test_trouble_at_a_request_of_a_reset(api, world, flow, control, orders, engine, proxy, rng, scaled):
    for side, how in rng.sample(STRIKES, scaled(len(STRIKES))):
        groups = orders.groups(2)
        proxy.arm(api, side, how, rng.randint(1, TIMES.get(api, 1)))
        request = ask(flow, groups, orders.topic)
        proxy.wait_struck()
        assert wait_done(control, request) == "completed", (side, how)
        check_moved_once(world, control, request, groups, orders, may_repeat=True)
        wait_until(lambda: all("stands" in control.standings(request, group) for group in groups), 30,
                   lambda: f"it is looked at afterwards: {[control.standings(request, group) for group in groups]}")


def test_trouble_while_groups_are_listed(world, flow, control, orders, engine, proxy, rng, scaled, fresh):
    """Only a group that its description does not know is looked for in the listing."""
    for side, how in rng.sample(STRIKES, scaled(len(STRIKES))):
        group = fresh("new")
        proxy.arm(Api.LIST_GROUPS, side, how)
        request = ask(flow, [group], orders.topic, "--create-group")
        proxy.wait_struck()
        assert wait_done(control, request) == "completed", (side, how)
        assert world.committed(group) == orders.at(0)
        assert {len(found) for found in control.results(request).values()} == {1}


@pytest.mark.parametrize("api", [Api.JOIN_GROUP, Api.SYNC_GROUP, Api.HEARTBEAT, Api.LEAVE_GROUP],
                         ids=lambda api: api.name.lower())
def test_trouble_at_a_request_of_a_held_reset(api, world, flow, control, orders, engine, proxy, rng, scaled):
    for side, how in rng.sample(STRIKES, scaled(len(STRIKES))):
        groups = orders.groups(2)
        proxy.arm(api, side, how)
        request = ask(flow, groups, orders.topic, "--hold")
        proxy.wait_struck()
        assert wait_done(control, request, 60) == "completed", (side, how)
        check_moved_once(world, control, request, groups, orders, may_repeat=True)


@pytest.mark.parametrize("api", [Api.METADATA, Api.DESCRIBE_CONFIGS, Api.FIND_COORDINATOR, Api.JOIN_GROUP,
                                 Api.SYNC_GROUP, Api.INIT_PRODUCER_ID, Api.LIST_OFFSETS, Api.END_TXN],
                         ids=lambda api: api.name.lower())
def test_trouble_while_an_engine_begins_to_lead(api, world, flow, control, orders, new_engine, proxy, rng, scaled):
    engine = new_engine()
    for side, how in rng.sample(STRIKES, scaled(len(STRIKES))):
        groups = orders.groups(2)
        request = ask(flow, groups, orders.topic)
        proxy.arm(api, side, how, rng.randint(1, 2) if api is Api.METADATA else 1)
        engine.start(ready=False)
        proxy.wait_struck()
        assert wait_done(control, request) == "completed", (side, how)
        check_moved_once(world, control, request, groups, orders, may_repeat=True)
        engine.kill()


def test_a_coordinator_that_moves_while_a_group_is_looked_at(world, flow, control, orders, engine, proxy):
    """librdkafka ends a client without a group here, engine or command."""
    for nth in (1, 2):
        group = orders.group()
        proxy.arm(Api.OFFSET_FETCH, Side.ANSWER, How.MOVED, nth)
        request = ask(flow, [group], orders.topic)
        proxy.wait_struck()
        assert wait_done(control, request) == "completed"
        check_moved_once(world, control, request, [group], orders, may_repeat=True)
        assert engine.is_running()
    command = Flow(proxy.address, flow.control_topic, flow.home)
    proxy.arm(Api.OFFSET_FETCH, Side.ANSWER, How.MOVED)
    done = command.run("status")
    assert proxy.has_struck and done.code in (0, 2), done


@pytest.mark.parametrize("api", [Api.END_TXN, Api.TXN_OFFSET_COMMIT], ids=["end-txn", "txn-offset-commit"])
def test_a_request_that_comes_late_acts_on_no_later_transaction(api, world, flow, control, orders, new_engine,
                                                                proxy):
    """Held back while its connection is lost; delivered when a later transaction has all but its end."""
    engine = new_engine("before-commit=stop@2").start()
    engine.wait_leading()
    first, second = orders.group(), orders.group()
    proxy.arm(api, Side.REQUEST, How.HOLD)
    earlier = ask(flow, [first], orders.topic)
    proxy.wait_struck()
    assert wait_done(control, earlier) == "completed"
    world.commit(first, orders.at(11), "by hand")  # A late commit of ours would undo this one.

    later = ask(flow, [second], orders.topic)
    engine.wait_frozen()
    answer = proxy.deliver_kept()
    assert struct.pack(">h", INVALID_PRODUCER_EPOCH) in answer, answer
    # Neither committed nor added to: nothing of it is to be seen while it is open.
    assert control.outcomes(later) == [] and control.results(later) == {}
    assert world.committed(second, stable=False) == orders.end
    assert world.committed(first) == orders.at(11)
    engine.thaw()
    # Nor aborted: the very transaction that was open is the one that is committed.
    assert wait_done(control, later) == "completed"
    check_moved_once(world, control, later, [second], orders)
    assert world.commit_values(first) == orders.values(20, 0, 11)
    assert control.outcomes(earlier) == ["completed"]
