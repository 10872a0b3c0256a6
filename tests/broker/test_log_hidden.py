"""An open transaction of somebody else hides what was committed behind it on the control topic."""
import uuid

import pytest

from support.process import wait_until
from support.scenario import ask, check_moved_once, wait_done


@pytest.fixture
def foreign(world, control):
    """Opens a transaction of another producer on the control topic; returns a function that ends it."""
    name = f"foreign-{control.topic}"

    def open_one(key: str, value: bytes):
        world.begin(name)
        world.tx_append(name, control.topic, key, value)
        return lambda how: (world.commit_tx if how == "commit" else world.abort_tx)(name)

    return open_one


@pytest.mark.parametrize("how", ["abort", "commit"])
def test_a_move_whose_done_is_hidden_is_not_repeated(how, world, flow, control, orders, new_engine, foreign):
    group = orders.group()
    engine = new_engine().start()
    engine.wait_leading()
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_assigned(3)
        request = ask(flow, [group], orders.topic, "--when-stopped")
        wait_until(lambda: control.facts(request, "guard"), 10, "it is accepted")
        end = foreign(f"{uuid.uuid4()}/request", b"rubbish")
    wait_until(lambda: world.committed(group) == orders.at(0), 20, lambda: f"it moves:\n{engine.log()}")
    assert control.outcomes(request) == [] and control.results(request) == {}
    engine.kill()
    second = new_engine().start(ready=False)
    second.wait_said("a transaction of another producer is open", 40)
    assert "leading" not in second.log()
    assert world.commit_values(group) == orders.values(20, 0)
    assert control.outcomes(request) == []
    end(how)
    assert wait_done(control, request) == "completed"
    second.wait_leading()
    assert wait_done(control, ask(flow, [orders.group()], orders.topic)) == "completed"
    check_moved_once(world, control, request, [group], orders)
    assert second.log().count("bad record") == (how == "commit")


def test_a_request_behind_a_foreign_transaction_is_done_when_it_ends(world, flow, control, orders, engine, foreign):
    group = orders.group()
    end = foreign(f"{uuid.uuid4()}/request", b"rubbish")
    request = ask(flow, [group], orders.topic)
    told = flow.run("status")
    assert told.code == 0
    assert f"a transaction is open on topic '{control.topic}'" in told.err and request not in told.out
    assert world.commit_values(group) == orders.values(20)
    assert control.facts(request) == []
    end("abort")
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, [group], orders)
    assert "a transaction is open" not in flow.run("status").err
    assert engine.role() == "leads"
