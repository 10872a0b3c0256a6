"""Promise 5: what every command says, and its exit code, on what a user can do wrong or asks to see."""
import json
import os
import re
import signal
import uuid

import pytest

from support.flow import finish, requested
from support.scenario import ask, reset_arguments, wait_done, write_topology

UUID = "1b7c2f0e-9a4d-4d3e-8f55-2f1c0b6e9a71"


def ids(rows) -> list[str]:
    return [" ".join(row[0])[:60] or "nothing" for row in rows]


# (text of pipelines.yaml, what stderr says beside file and line)
BAD_TOPOLOGIES = [
    ("pipelines: 3\n", "pipelines", 1),
    ("pipelines:\n  - namespace: shop\n", "name", 2),
    ("pipelines:\n  - name: cart\n    colour: red\n", "colour", 3),
    ("pipelines:\n  - name: cart\n    streamlets:\n      - name: router\n        inlets:\n          - name: in\n",
     "topic", 6),
    ("pipelines:\n  - name: cart\n   colour: red\n", "not YAML", 3),
    ("pipelines:\n  - name: cart\n  - name: cart\n", "cart", 3),
]


@pytest.mark.parametrize("text, field, line", BAD_TOPOLOGIES, ids=[row[1] for row in BAD_TOPOLOGIES])
def test_a_topology_file_with_an_error_is_told_with_file_line_and_field(text, field, line, flow, control, tmp_path):
    path = tmp_path / "pipelines.yaml"
    path.write_text(text)
    done = flow.run("reset", "cart", "-n", "shop", "--topology", str(path))
    assert done.code == 2, done
    assert re.search(rf"{re.escape(str(path))}:{line}\b", done.err), done.err
    assert field in done.err
    assert control.facts() == []


TOPOLOGY = {"cart": {"router": {"in": ("TOPIC", "GROUP")}, "clock": {}}, "idle": {"clock": {}}}

# (arguments, stderr): exit 1 by the names alone; nothing is appended.
NAMES = [
    (["reset", "basket", "-n", "shop"], "no pipeline 'basket' in namespace 'shop'"),
    (["reset", "cart", "-n", "office"], "no pipeline 'cart' in namespace 'office'"),
    (["reset", "cart", "-n", "shop", "--streamlet", "sorter"], "cannot reset offsets: no streamlet [sorter]"),
    (["reset", "cart", "-n", "shop", "--streamlet", "clock"],
     "cannot reset offsets: streamlet [clock] has no inlets, so no consumer groups to reset"),
    (["reset", "idle", "-n", "shop"], "pipeline idle has no streamlets with inlets to reset"),
]


def topology(orders, group, path):
    text = {name: {streamlet: {inlet: (orders.topic, group) for inlet in inlets}
                   for streamlet, inlets in streamlets.items()}
            for name, streamlets in TOPOLOGY.items()}
    return str(write_topology(path / "pipelines.yaml", text))


@pytest.mark.parametrize("arguments, said", NAMES, ids=ids(NAMES))
def test_names_are_checked_by_the_command_where_it_has_the_topology(arguments, said, flow, control, orders, tmp_path):
    done = flow.run(*arguments, "--topology", topology(orders, orders.group(), tmp_path))
    assert (done.code, done.out) == (1, ""), done
    assert said in done.err
    assert control.facts() == []


@pytest.mark.parametrize("arguments, said", NAMES, ids=ids(NAMES))
def test_names_are_the_engines_verdict_where_only_it_has_the_topology(arguments, said, flow, control,
                                                                      orders, new_engine,
                                                                      tmp_path):
    engine = new_engine(arguments=("--topology", topology(orders, orders.group(), tmp_path))).start()
    engine.wait_leading()
    done = flow.run(*arguments, "--wait")
    assert done.code == 1, done
    assert done.out == f"reset requested for '{arguments[1]}': {requested(done.out)}\n"
    assert said in done.err
    assert control.outcomes(requested(done.out)) == ["refused"]


@pytest.mark.parametrize("more", [[], ["--wait"]], ids=["append", "wait"])
def test_a_topic_that_does_not_exist_is_refused_at_once(more, flow, world, control, orders, engine, fresh):
    group, nowhere = orders.group(), fresh("nowhere")
    done = flow.run(*reset_arguments([group], nowhere, *more))
    assert (done.code, done.out) == (1, "")
    assert f"no such topic '{nowhere}'" in done.err
    assert control.facts(kind="request") == [] and nowhere not in world.topics()


def test_a_partition_that_does_not_exist(flow, control, orders, engine):
    group = orders.group()
    done = flow.run(*reset_arguments([group], f"{orders.topic}:0,9", "--wait"))
    assert done.code == 1
    assert "9" in done.err + done.out
    assert orders.world.commit_values(group) == orders.values(20)


def test_an_unknown_group_needs_create_group(flow, world, control, orders, engine, fresh):
    group = fresh("typo")
    done = flow.run(*reset_arguments([group], orders.topic, "--wait"))
    assert done.code == 1
    assert f"no consumer group '{group}'" in done.err + done.out and "--create-group" in done.err + done.out
    assert world.state(group) in ("Absent", "Dead")
    done = flow.run(*reset_arguments([group], orders.topic, "--wait", "--create-group"))
    assert done.code == 0, done
    assert world.committed(group) == orders.at(0)


def ask_by_record(control, groups, topic, **options) -> str:
    """Not by the command, which looks before it appends."""
    request = str(uuid.uuid4())
    control.append_json(request, {"groups": groups, "topics": [{"name": topic}], "position": {"kind": "earliest"},
                                  "options": options})
    return request


def test_others_move_without_the_group_that_can_not(flow, world, control, orders, engine, fresh):
    good, missing = orders.group(), fresh("typo")
    request = ask_by_record(control, [good, missing], orders.topic)
    followed = flow.run(*reset_arguments([good, missing], orders.topic, "--id", request, "--wait"))
    assert followed.code == 1
    assert control.outcomes(request) == ["completed_with_failures"]
    assert world.committed(good) == orders.at(0)
    assert world.state(missing) in ("Absent", "Dead")
    lines = (followed.out + followed.err).splitlines()
    assert f"{good}: 3 partition(s) of '{orders.topic}' to earliest" in lines
    assert any(line.startswith(f"{missing}: ") and "no consumer group" in line for line in lines), lines


def test_atomic_moves_nothing_when_one_can_not(flow, world, control, orders, engine, fresh):
    good, missing = orders.group(), fresh("typo")
    request = ask_by_record(control, [good, missing], orders.topic, atomic=True)
    assert wait_done(control, request) == "refused"
    assert world.commit_values(good) == orders.values(20)
    assert missing in flow.ok("history", request)


def test_some_partitions_alone(flow, world, control, orders, engine):
    group = orders.group()
    done = flow.run(*reset_arguments([group], f"{orders.topic}:0,2", "--wait"))
    assert done.code == 0, done
    assert f"{group}: 2 partition(s) of '{orders.topic}' to earliest" in done.out.splitlines()
    assert world.committed(group) == {**orders.at(0), (orders.topic, 1): 20}


def test_an_id_of_ones_own_is_asked_for_once(flow, world, control, orders, engine):
    group, other = orders.groups(2)
    request = str(uuid.uuid4())
    assert ask(flow, [group], orders.topic, "--id", request.upper()) == request
    assert wait_done(control, request) == "completed"
    appended = len(control.facts(request, "request"))
    again = flow.run(*reset_arguments([group], orders.topic, "--id", request))
    assert again.code == 0 and request in again.out + again.err and "completed" in again.out + again.err
    otherwise = flow.run(*reset_arguments([other], orders.topic, "--id", request))
    assert otherwise.code == 1 and request in otherwise.err
    assert len(control.facts(request, "request")) == appended
    assert world.commit_values(group) == orders.values(20, 0)
    assert world.commit_values(other) == orders.values(20)


def test_json_alone_on_stdout(flow, control, orders, engine, tmp_path):
    group = orders.group()
    done = flow.run(*reset_arguments([group], orders.topic, "--wait", "-o", "json"))
    assert done.code == 0
    assert done.json()["id"] == control.facts(kind="request")[0].request
    request = done.json()["id"]
    for arguments in (["status"], ["history"], ["history", request], ["topic", "check"]):
        assert json.loads(flow.ok(*arguments, "-o", "json")), arguments
    assert flow.history(request)["outcome"] == "completed"


def test_q_is_the_id_alone(flow, control, orders, engine):
    request = ask(flow, [orders.group()], orders.topic)
    assert control.facts(kind="request")[0].request == request
    assert wait_done(control, request) == "completed"
    assert flow.ok("history", "-q").split() == [request]


def test_history_shows_who_and_before_and_after(flow, control, orders, engine):
    group = orders.group()
    request = ask(flow, [group], orders.topic)
    assert wait_done(control, request) == "completed"
    entry = flow.history(request)
    (result,) = entry["results"]
    assert result["group"] == group
    assert [(each["partition"], each["before"]["offset"], each["before"]["metadata"], each["after"]["offset"])
            for each in result["partitions"]] == [(partition, 20, "read it all", 0) for partition in range(3)]
    assert entry["asked_by"] and entry["through"] == "cli"
    shown = flow.ok("history", request)
    assert group in shown and "20" in shown
    assert request not in flow.ok("history", "--since", "2099-01-01T00:00:00Z")
    unknown = flow.run("history", UUID)
    assert unknown.code == 1 and UUID in unknown.err


def test_history_of_a_pipeline_by_its_namespace(flow, control, orders, engine, tmp_path):
    asked = {}
    for namespace in ("shop", "lab"):
        inlets = {"in": (orders.topic, orders.group())}
        path = write_topology(tmp_path / f"{namespace}.yaml", {"cart": {"router": inlets}}, namespace)
        asked[namespace] = flow.ok("reset", "cart", "-n", namespace, "-q", "--topology", str(path)).strip()
    for namespace, request in asked.items():
        assert flow.ok("history", f"{namespace}/cart", "-q").split() == [request]
        (told,) = json.loads(flow.ok("history", f"{namespace}/cart", "-o", "json"))["requests"]
        assert (told["id"], told["namespace"], told["pipeline"]) == (request, namespace, "cart")
    assert flow.ok("history", "cart", "-q").split() == [asked["shop"], asked["lab"]]
    assert flow.ok("history", "office/cart", "-q") == ""


def test_other_content_under_the_same_id_is_told_and_changes_nothing(flow, world, control, orders, engine):
    group, other = orders.groups(2)
    request = ask_by_record(control, [group], orders.topic)
    assert wait_done(control, request) == "completed"
    assert flow.history(request)["other_content"] is False
    control.append_json(request, {"groups": [other], "topics": [{"name": orders.topic}],
                                  "position": {"kind": "earliest"}})
    assert flow.history(request)["other_content"] is True
    assert flow.history(request)["groups"] == [group]
    assert "(a later record of this id has other content)" in flow.ok("history", request)
    assert world.commit_values(other) == orders.values(20)


def test_history_says_what_it_looked_for(flow, control, orders, engine):
    beginning = str(uuid.uuid4())[:30]
    first, second = (f"{beginning}00000{digit}" for digit in "12")
    for request in (first, second):
        assert ask(flow, [orders.group()], orders.topic, "--id", request) == request
        assert wait_done(control, request) == "completed"
    nobody = flow.run("history", "kart")
    assert (nobody.code, nobody.out) == (0, "") and "'kart'" in nobody.err and flow.control_topic in nobody.err
    nothing = flow.run("history", "--since", "2099-01-01T00:00:00Z")
    assert (nothing.code, nothing.out) == (0, "") and "since 2099-01-01T00:00:00Z" in nothing.err
    several = flow.run("history", beginning)
    assert several.code == 1 and first in several.err and second in several.err
    other = f"{str(uuid.uuid4())[:30]}000003"
    assert ask(flow, [orders.group()], orders.topic, "--id", other) == other
    assert wait_done(control, other) == "completed"
    assert flow.ok("history", other[:8]) == flow.ok("history", other)
    assert flow.run("history", other[:3]).out == ""


def test_topic_create_and_check(flow, world):
    missing = flow.run("topic", "check")
    assert (missing.code, missing.out) == (1, ""), missing
    assert missing.err == (f"no such control topic '{flow.control_topic}'; make it with: "
                           f"flow topic create --control-topic {flow.control_topic}\n")
    assert flow.ok("topic", "create") != ""
    configs = world.configs(flow.control_topic)
    assert configs["cleanup.policy"] == "compact" and configs["unclean.leader.election.enable"] == "false"
    assert world.partitions(flow.control_topic) == 1
    assert flow.run("topic", "check").code == 0
    again = flow.run("topic", "create")
    assert again.code == 1 and "exists already" in again.err
    world.alter_configs(flow.control_topic, unclean_leader_election_enable="true")
    unsafe = flow.run("topic", "check")
    assert unsafe.code == 1 and "unclean.leader.election.enable" in unsafe.err + unsafe.out
    assert flow.run("topic", "check", "--allow-unsafe").code == 0
    many = flow.run("topic", "create", "--replication-factor", "3", "--control-topic", flow.control_topic + ".x")
    assert (many.code, many.out) == (1, ""), many
    assert "3" in many.err
    assert flow.control_topic + ".x" not in world.topics()


def test_a_context_gives_what_the_environment_does_not(flow, broker, control, tmp_path):
    config = flow.home / ".config" / "flow"
    config.mkdir(parents=True)
    (config / "config.yaml").write_text(f"contexts:\n  here:\n    bootstrap-server: {broker.address}\n"
                                        f"    control-topic: {flow.control_topic}\n")
    bare = {"FLOW_BOOTSTRAP_SERVERS": "", "FLOW_CONTROL_TOPIC": ""}
    done = flow.run("topic", "check", "--context", "here", env=bare)
    assert done.code == 0, done


def test_a_closed_pipe_is_no_crash(flow, control, orders, engine):
    for _ in range(3):
        assert wait_done(control, ask(flow, [orders.group()], orders.topic)) == "completed"
    reader, writer = os.pipe()
    os.close(reader)
    done = finish(flow.start("history", stdout=writer), 30)
    os.close(writer)
    assert (done.code, done.err) == (-signal.SIGPIPE, "")  # as every tool whose reader has gone: `flow history | head`
