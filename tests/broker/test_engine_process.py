"""Promise 5: the engine as a process: it ends within 10 s of SIGTERM whatever it is in, and logs as it is told."""
import json
import re

import pytest

from support.broker import QUICK, Broker
from support.control import ControlTopic
from support.flow import Engine, Flow
from support.process import wait_until
from support.scenario import ask, check_moved_once, reset_arguments, wait_done
from support.world import World

LONG_MS = 60_000  # Nothing that sleeps so long ends by itself within a test.


def uncommitted(world, control: ControlTopic, request: str) -> bool:
    """Whether records of a request stand in a transaction that is still open."""
    key = f"{request}/result/".encode()
    return any((record.key or b"").startswith(key) for record in world.read(control.topic, "read_uncommitted"))


def test_sigterm_in_the_middle_of_a_transaction(world, flow, control, orders, new_engine):
    group = orders.group()
    engine = new_engine(f"after-offsets=sleep:{LONG_MS}").start()
    engine.wait_leading()
    request = ask(flow, [group], orders.topic)
    wait_until(lambda: uncommitted(world, control, request), 20, "the transaction has begun")
    assert engine.terminate() == 0
    assert control.results(request) == {} and world.commit_values(group) == orders.values(20)
    engine.start(fail_point="").wait_leading()
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, [group], orders)


def test_sigterm_while_it_holds_a_group(world, flow, control, orders, new_engine):
    group = orders.group()
    engine = new_engine(f"held-joined=sleep:{LONG_MS}").start()
    engine.wait_leading()
    request = ask(flow, [group], orders.topic, "--hold")
    wait_until(lambda: world.describe(group)["members"], 20, "the engine is in the group")
    assert engine.terminate() == 0
    assert world.commit_values(group) == orders.values(20)
    engine.start(fail_point="").wait_leading()
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, [group], orders)


@pytest.fixture
def own_broker(tmp_path):
    """One that may be frozen under nobody else."""
    one = Broker(tmp_path / "broker", QUICK).start()
    yield one
    one.thaw()
    one.stop()


def test_sigterm_while_the_broker_hangs(own_broker, tmp_path):
    flow = Flow(own_broker.address, "flow-control", tmp_path)
    flow.ok("topic", "create")
    leader, follower = (Engine(flow, tmp_path / name) for name in ("leader", "follower"))
    try:
        leader.start().wait_leading()
        follower.start()
        own_broker.freeze()
        assert leader.terminate() == 0
        assert follower.terminate() == 0
    finally:
        leader.close()
        follower.close()


def test_a_json_log_is_one_object_a_line(flow, world, control, orders, new_engine):
    engine = new_engine(arguments=("--log-format", "json")).start()
    engine.wait_leading()
    request = ask(flow, [orders.group()], orders.topic)
    assert wait_done(control, request) == "completed"
    world.append(control.topic, "a key of no kind", 'a "value"')
    engine.wait_said("bad record")
    assert engine.terminate() == 0
    lines = [json.loads(line) for line in engine.log().splitlines()]
    for line in lines:
        assert list(line) == ["time", "level", "message"], line
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"]), line
    told = {(line["level"], line["message"]) for line in lines}
    assert ("info", f"moved id={request} requests_together=1") in told, lines
    assert any(level == "warning" and "key='a key of no kind'" in message for level, message in told), lines
    assert ("info", "stopped") in told


def test_verify_for_is_when_the_last_look_is(flow, world, control, orders, new_engine):
    new_engine(arguments=("--verify-for", "2s")).start().wait_leading()
    group = orders.group()
    done = flow.run(*reset_arguments([group], orders.topic, "--wait=verified", "-o", "json"), timeout_s=15)
    assert done.code == 0, done
    told = done.json()
    (verified,) = [result["verified"] for result in told["results"]]
    assert (verified["standing"], verified["last"]) == ("stands", True)
    last = [fact for fact in control.facts(told["id"], "verified") if fact.name == group][-1].table()
    (ended,) = control.facts(told["id"], "done")
    assert last.last and 2000 <= last.atMs - ended.table().atMs < 10_000
