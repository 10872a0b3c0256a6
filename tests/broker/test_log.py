"""Promise 4: what stands on the control topic decides, whatever else is written there."""
import json
import os
import uuid

import pytest

from support import wire
from support.broker import QUICK, Broker
from support.control import ControlTopic
from support.flow import Flow
from support.process import wait_until
from support.scenario import ask, check_moved_once, wait_done
from support.world import World


def json_request(groups, topics, **more) -> dict:
    return {"groups": groups, "topics": [{"name": topic} for topic in topics], "position": {"kind": "earliest"}, **more}


def some_id() -> str:
    return str(uuid.uuid4())


def bad_values(request: str, group: str, topic: str, rng) -> dict[str, bytes | None]:
    """Values for the key <request>/request that nothing may come of."""
    good = wire.request(request, [group], [topic])
    as_json = (f'{{"body_type":"Request","body":{{"id":"{request}","groups":["{group}"],'
               f'"topics":[{{"name":"{topic}"}}],%s}}}}')
    return {
        "empty": b"",
        "tombstone": None,
        "truncated": good[: len(good) // 2],
        "random": rng.randbytes(200),
        "random with our identifier": b"\x10\0\0\0FLOW" + rng.randbytes(100),
        "another kind": wire.cancel(request),
        "another id": wire.request(some_id(), [group], [topic]),
        "a union of another version": wire.of_a_newer_program(request),
        "a wrong enum number": wire.request(request, [group], [topic], 99),
        "no identifier": good[:4] + b"WOLF" + good[8:],
        "no groups": wire.request(request, [], [topic]),
        "json without a position": (as_json % '"through":"cli"').encode(),
        "json with a misspelt position": (as_json % '"postion":{"kind":"earliest"}').encode(),
        "json with an unknown position": (as_json % '"position":{"kind":"sideways"}').encode(),
        "json with a wrong enum number": (as_json % '"position":{"kind":99}').encode(),
        "json cut off": (as_json % '"position":{"kind":"earliest"}').encode()[:-3],
        "json of another shape": b'{"hello": "world"}',
        "json with a misspelt option": (as_json % '"options":{"holdd":true},"position":{"kind":"earliest"}').encode(),
        "json with a text for a number": (as_json % '"expires_at_ms":"soon","position":{"kind":"earliest"}').encode(),
        "json twice": (as_json % '"position":{"kind":"earliest"}').encode() * 2,
        "json with a field twice": (as_json % '"position":{"kind":"earliest"},"position":{"kind":"latest"}').encode(),
        "json with a NUL": (as_json % '"asked_by":"a\\u0000b","position":{"kind":"earliest"}').encode(),
        "900 KB": rng.randbytes(900_000),
    }


def test_bad_records_between_good_requests(world, flow, control, orders, new_engine, rng):
    untouched = orders.group()
    # Nobody asked, or a newer program did: that one waits for a newer engine.
    not_refused = {"tombstone": [], "json with a wrong enum number": [], "a wrong enum number": [],
                   "a union of another version": []}
    # Read well, and refused for what it says; a tombstone says nothing.
    readable = {"tombstone", "no groups"}
    named = []
    good: dict[str, str] = {}
    bad: dict[str, str] = {}
    names = list(bad_values(some_id(), "", "", rng))
    for name in names:
        request = some_id()
        offset = world.append(control.topic, f"{request}/request",
                              bad_values(request, untouched, orders.topic, rng)[name])
        named += [] if name in readable else [(name, offset)]
        bad[name] = request
        group = orders.group()
        good[ask(flow, [group], orders.topic)] = group
    for key in (b"", b"\xff\xfe/request", b"no-uuid/request", b"engine/extra", b"/", b"request"):
        named.append((key, world.append(control.topic, key, b"rubbish")))
    engine = new_engine().start()
    engine.wait_leading()
    last = orders.group()
    good[ask(flow, [last], orders.topic)] = last
    for request, group in good.items():
        assert wait_done(control, request) == "completed"
        check_moved_once(world, control, request, [group], orders)
    assert world.commit_values(untouched) == orders.values(20)
    for name, request in bad.items():
        assert control.results(request) == {}, name
        wanted = not_refused.get(name, ["refused"])
        wait_until(lambda: control.outcomes(request) == wanted, 10,
                   lambda: f"a request with {name} ends as {wanted}: {control.outcomes(request)}")
    for name, offset in named:
        assert engine.log().count(f"bad record partition=0 offset={offset} ") == 1, (name, offset, engine.log())
    assert engine.log().count("bad record") == len(named)
    assert json.loads(flow.ok("status", "-o", "json"))["unreadable_records"] == len(named)
    assert engine.is_running()


def test_a_request_repeated_with_other_content_before_it_is_accepted_is_the_last_one(world, flow, control, orders,
                                                                                     new_engine):
    """Until an engine accepts one, a key's last record is what is asked, with or without compaction."""
    first, last = orders.groups(2)
    request = some_id()
    control.append_json(request, json_request([first], [orders.topic]))
    control.append_json(request, json_request([last], [orders.topic]))
    engine = new_engine().start()
    engine.wait_leading()
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, [last], orders)
    assert world.commit_values(first) == orders.values(20)


def test_a_waiting_request_that_is_repeated_with_other_content_stays_what_was_accepted(world, flow, control, orders,
                                                                                       new_engine):
    group, other = orders.groups(2)
    engine = new_engine().start()
    engine.wait_leading()
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_assigned(3)
        request = ask(flow, [group], orders.topic, "--when-stopped")
        wait_until(lambda: control.facts(request, "guard"), 10, "it is accepted")
        control.append_json(request, json_request([other], [orders.topic]))
        assert engine.terminate() == 0
        world.compact(control.topic)
        assert [fact.kind for fact in control.facts(request)].count("request") == 1
        second = new_engine().start()
        second.wait_leading()
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, [group], orders)
    assert world.commit_values(other) == orders.values(20)
    asked_again = flow.run("reset", "--group", other, "--topic", orders.topic, "--to-earliest", "--id", request)
    assert asked_again.code == 1 and request in asked_again.err
    assert "content" in flow.ok("history", request)


@pytest.mark.parametrize("how", ["json", "flatbuffers"])
def test_a_request_repeated_after_its_done_is_not_carried_out_again(how, world, flow, control, orders, new_engine):
    """Same id, same content and other content, before and after compaction, replayed into an empty store."""
    group, other = orders.groups(2)
    request = some_id()

    def append(of: str) -> None:
        if how == "json":
            control.append_json(request, json_request([of], [orders.topic]))
        else:
            world.append(control.topic, f"{request}/request", wire.request(request, [of], [orders.topic]))

    engine = new_engine().start()
    engine.wait_leading()
    append(group)
    assert wait_done(control, request) == "completed"
    append(group)
    append(other)
    assert wait_done(control, ask(flow, [orders.group()], orders.topic)) == "completed"
    assert engine.terminate() == 0
    world.compact(control.topic)
    assert [fact.kind for fact in control.facts(request)].count("request") == 1
    replayed = new_engine().start()
    replayed.wait_leading()
    assert wait_done(control, ask(flow, [orders.group()], orders.topic)) == "completed"
    check_moved_once(world, control, request, [group], orders)
    assert world.commit_values(other) == orders.values(20)
    assert request in flow.ok("history", request)


def test_a_done_without_its_result_or_with_rubbish_on_it_is_never_carried_out_again(world, flow, control,
                                                                                    orders, new_engine):
    group = orders.group()
    engine = new_engine().start()
    engine.wait_leading()
    request = ask(flow, [group], orders.topic)
    assert wait_done(control, request) == "completed"
    (done,) = control.facts(request, "done")
    world.append(control.topic, done.record.key, b"rubbish")
    second = orders.group()
    tombstoned = ask(flow, [second], orders.topic)
    assert wait_done(control, tombstoned) == "completed"
    (done,) = control.facts(tombstoned, "done")
    world.append(control.topic, done.record.key, None)
    assert engine.terminate() == 0
    world.compact(control.topic)
    replayed = new_engine().start()
    replayed.wait_leading()
    assert wait_done(control, ask(flow, [orders.group()], orders.topic)) == "completed"
    assert world.commit_values(group) == orders.values(20, 0)
    assert world.commit_values(second) == orders.values(20, 0)


@pytest.mark.parametrize("config, partitions, named", [
    ({"cleanup.policy": "delete"}, 1, "cleanup.policy"),
    ({"cleanup.policy": "compact,delete"}, 1, "cleanup.policy"),
    ({"cleanup.policy": "compact"}, 3, "partition"),
])
def test_a_control_topic_of_another_kind_is_refused(config, partitions, named, world, flow, orders, new_engine):
    world.create_topic(flow.control_topic, partitions, config)
    checked = flow.run("topic", "check")
    assert checked.code == 1 and named in checked.err + checked.out
    engine = new_engine().start(ready=False)
    assert engine.wait_end() == 1
    assert named in engine.log()
    group = orders.group()
    asked = flow.run("reset", "--group", group, "--topic", orders.topic, "--to-earliest")
    assert asked.code == 1 and named in asked.err
    assert world.latest(flow.control_topic) == {(flow.control_topic, n): 0 for n in range(partitions)}
    for command in ("status", "history"):
        shown = flow.run(command, "-o", "json")
        assert shown.code == 1 and named in shown.err and shown.json(), shown


def test_a_record_of_no_kind_is_forgotten_by_a_tombstone_on_its_key(world, flow, control):
    for key in ("ours", "theirs", "theirs"):
        offset = world.append(control.topic, key, b"rubbish")
    assert "3 record(s)" in flow.run("history").err and "offset 0:" in flow.run("history").err
    world.append(control.topic, "ours", None)
    assert "2 record(s)" in flow.run("history").err and f"offset {offset - 1}:" in flow.run("history").err
    world.append(control.topic, "theirs", None)
    assert "cannot be read" not in flow.run("history").err
    assert json.loads(flow.ok("status", "-o", "json"))["unreadable_records"] == 0


@pytest.fixture(scope="module")
def lax_broker(tmp_path_factory):
    """One that makes topics by accident."""
    one = Broker(tmp_path_factory.mktemp("lax"), {**QUICK, "auto.create.topics.enable": "true"}).start()
    yield one
    one.stop()


@pytest.mark.xdist_group("lax broker")
@pytest.mark.parametrize("arguments", [
    ["reset", "--group", "g", "--topic", "no-such-topic", "--to-earliest"],
    ["reset", "--group", "g", "--topic", "no-such-topic", "--to-earliest", "--wait", "--timeout", "2s"],
    ["status"], ["history"], ["cancel", "1b7c2f0e-9a4d-4d3e-8f55-2f1c0b6e9a71"], ["topic", "check"],
    ["engine", "--store", "{store}"],
], ids=lambda arguments: "-".join(word for word in arguments[:2] if word.isalpha()))
def test_no_command_makes_the_topic_by_accident(arguments, lax_broker, tmp_path, fresh):
    lax_world = World(lax_broker.address)
    try:
        flow = Flow(lax_broker.address, fresh("control"), tmp_path)
        done = flow.run(*(word.format(store=os.path.join(tmp_path, "store")) for word in arguments), timeout_s=30)
        assert done.code == 1
        assert flow.control_topic in done.err and "flow topic create" in done.err
        assert flow.control_topic not in lax_world.topics() and "no-such-topic" not in lax_world.topics()
        flow.ok("topic", "create")
        assert lax_world.configs(flow.control_topic)["cleanup.policy"] == "compact"
        assert ControlTopic(lax_world, flow.control_topic).facts() == []
    finally:
        lax_world.close()
