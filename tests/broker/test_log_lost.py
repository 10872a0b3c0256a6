"""The control topic is deleted, made anew, or lost records: what an engine that knew it does."""
import pytest

from support.process import wait_until
from support.scenario import ask, check_moved_once, wait_done


def test_a_topic_made_anew_is_rebuilt_from(world, flow, control, orders, new_engine):
    engine = new_engine().start()
    engine.wait_leading()
    group = orders.group()
    assert wait_done(control, ask(flow, [group], orders.topic)) == "completed"
    assert engine.terminate() == 0
    world.delete_topic(control.topic)
    flow.ok("topic", "create")
    engine.start()
    engine.wait_leading()
    second = orders.group()
    request = ask(flow, [second], orders.topic)
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, [second], orders)
    assert world.commit_values(group) == orders.values(20, 0)


def make_anew(world, flow, control, records) -> None:
    """The topic with `records` at the same positions and nothing behind them."""
    world.delete_topic(control.topic)
    flow.ok("topic", "create")
    name = f"copy-{control.topic}"
    for record in records:
        # One transaction each, as the engine wrote them: the markers keep the offsets the same.
        world.begin(name)
        assert world.tx_append(name, control.topic, record.key, record.value) == record.offset
        world.commit_tx(name)


@pytest.fixture
def lost_its_done(world, flow, control, orders, new_engine):
    """An engine that did a request, stopped, and a log that lost everything from the guard record on."""
    engine = new_engine().start()
    engine.wait_leading()
    group = orders.group()
    request = ask(flow, [group], orders.topic)
    assert wait_done(control, request) == "completed"
    wait_until(lambda: control.standings(request, group), 10, "it is verified")
    assert engine.terminate() == 0
    records = world.read(control.topic)
    birth = next(index for index, record in enumerate(records) if record.key == b"log")
    make_anew(world, flow, control, records[: birth + 1])
    assert ask(flow, [group], orders.topic, "--id", request) == request
    return engine, request, group, records[-1].offset


def check_does_not_lead(engine, request: str, words: str) -> None:
    assert engine.wait_end() == 1
    said = engine.log()
    assert "leading" not in said
    assert f"only the store knows: {request} (done):" in said
    (line,) = [line for line in said.splitlines() if words in line]
    for told in ("the cluster lost records, so this engine does not lead", "restore the topic",
                 "delete the store's folder to go on", "cancel it first"):
        assert told in line, line


def test_a_log_shorter_than_the_store_is_not_led(lost_its_done, world, orders):
    """The cluster lost records: the same birth record, and less behind it than the store knows."""
    engine, request, group, _ = lost_its_done
    engine.start(ready=False)
    check_does_not_lead(engine, request, "ends at position")
    assert world.commit_values(group) == orders.values(20, 0)


@pytest.mark.parametrize("how", ["records", "transactions", "repeats"])
def test_a_log_that_lost_a_done_and_grew_again_is_not_led(how, lost_its_done, world, control, orders):
    """As long as it was, and longer; its last record and its length look like a log that went on."""
    engine, request, group, last = lost_its_done
    name = f"others-{control.topic}"
    while world.latest(control.topic)[(control.topic, 0)] <= last + 5:
        if how == "repeats":
            world.append(control.topic, f"{request}/request", control.facts(request, "request")[-1].record.value)
        elif how == "records":
            world.append(control.topic, "somebody", b"else")
        else:
            world.begin(name)
            world.tx_append(name, control.topic, "somebody", b"else")
            world.commit_tx(name)
    if how == "transactions":
        world.compact(control.topic)
    engine.start(ready=False)
    check_does_not_lead(engine, request, "does not hold what this store read at position")
    assert world.commit_values(group) == orders.values(20, 0)
    assert control.outcomes(request) == []


def test_a_log_that_was_compacted_is_the_same(world, flow, control, orders, new_engine):
    """The store's last records are gone for later ones of their keys; nothing was lost."""
    engine, second = new_engine(), new_engine()
    engine.start().wait_leading()
    group = orders.group()
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_assigned(3)
        request = ask(flow, [group], orders.topic, "--when-stopped")
        wait_until(lambda: control.facts(request, "guard"), 10, "it is accepted")
        (guard,) = control.facts(request, "guard")
        assert engine.terminate() == 0
        second.start().wait_leading()
    assert wait_done(control, request) == "completed"
    assert second.terminate() == 0
    world.compact(control.topic)
    (later,) = control.facts(request, "guard")
    assert later.record.offset > guard.record.offset
    engine.start().wait_leading()
    assert wait_done(control, ask(flow, [orders.group()], orders.topic)) == "completed"
    check_moved_once(world, control, request, [group], orders)
    assert "rebuilding" not in engine.log() and "lost records" not in engine.log()
