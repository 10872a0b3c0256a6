"""Promise 5: what every command says, and its exit code, on what a user can do wrong. Tables; one row a case."""
import json
import os
import re
import signal
import subprocess
import uuid

import pytest

from support.flow import Flow, finish, requested
from support.process import wait_until
from support.scenario import ask, reset_arguments, wait_done, write_topology

UUID = "1b7c2f0e-9a4d-4d3e-8f55-2f1c0b6e9a71"
NOWHERE = "127.0.0.1:19999"

# (arguments, what stderr says): exit 2, nothing on stdout. No broker is asked.
USAGE = [
    (["reset"], "name what to reset"),
    (["reset", "--group", "g", "--topic", "t"], "--to-earliest"),
    (["reset", "--group", "g", "--to-earliest"], "--group needs --topic"),
    (["reset", "--topic", "t", "--to-earliest"], "--topic goes with --group"),
    (["reset", "cart", "--group", "g", "--topic", "t"], "not both"),
    (["reset", "cart", "--topic", "t"], "--topic goes with --group"),
    (["reset", "--group", "g", "--topic", "t", "--to-earliest", "--streamlet", "s"],
     "--streamlet goes with a PIPELINE"),
    (["reset", "--group", "g", "--topic", "t", "--to-earliest", "--wait", "verified"], "--wait=verified"),
    (["reset", "--group", "g", "--topic", "t", "--to-earliest", "-n", "shop"], "--namespace goes with a PIPELINE"),
    (["reset", "--group", "g", "--group", "g", "--topic", "t", "--to-earliest"], "'g' is given twice"),
    (["reset", "--group", "g", "--topic", "t:0,x", "--to-earliest"], "'x' is no partition number"),
    (["reset", "--group", "g", "--topic", "t:-1", "--to-earliest"], "'-1' is no partition number"),
    (["reset", "--group", "g", "--topic", "t:1,1", "--to-earliest"], "given twice"),
    (["reset", "--group", "g", "--topic", "no such topic", "--to-earliest"], "'no such topic' is no topic name"),
    (["reset", "--group", "", "--topic", "t", "--to-earliest"], "is empty"),
    (["reset", "cart", "--timeout", "5s"], "--timeout goes with --wait"),
    (["reset", "cart", "--wait", "--timeout", "soon"], "soon"),
    (["reset", "cart", "--wait", "--timeout", "-5s"], "-5s"),
    (["reset", "cart", "--wait=perhaps"], "perhaps"),
    (["reset", "cart", "--expire-after", "1 fortnight"], "1 fortnight"),
    (["reset", "cart", "--id", "42"], "'42' is no UUID"),
    (["reset", "cart", "--no-such-flag"], "--no-such-flag"),
    (["reset", "cart", "-o", "xml"], "xml"),
    (["history", "--since", "yesterday-ish"], "yesterday-ish"),
    (["cancel"], "ID"),
    (["cancel", "42"], "42"),
    (["engine"], "--store"),
    (["topic"], "create"),
    (["no-such-command"], "no-such-command"),
    (["status", "--control-topic", "no such topic"], "no such topic"),
    (["status", "--context", "production"], "no context 'production'"),
    (["status", "--command-config", "/no/such/file"], "/no/such/file"),
    (["reset", "cart", "--topology", "/no/such/pipelines.yaml"], "/no/such/pipelines.yaml"),
]


def ids(rows) -> list[str]:
    return [" ".join(row[0])[:60] or "nothing" for row in rows]


@pytest.fixture(scope="module")
def away(tmp_path_factory):
    """`flow` where no broker answers."""
    return Flow(NOWHERE, "flow-control", tmp_path_factory.mktemp("home"))


@pytest.mark.parametrize("arguments, said", USAGE, ids=ids(USAGE))
def test_usage_errors_exit_2_and_name_the_value(arguments, said, away):
    done = away.run(*arguments)
    assert (done.code, done.out) == (2, ""), done
    assert said in done.err
    assert "terminate called" not in done.err and "exception" not in done.err.lower()


@pytest.mark.parametrize("command", [[], ["reset"], ["engine"], ["status"], ["history"], ["cancel"], ["topic"],
                                     ["topic", "create"], ["topic", "check"]], ids=lambda command: " ".join(command))
def test_help_on_every_level_has_an_example(command, away):
    done = away.run(*command, "--help")
    assert (done.code, done.err) == (0, "")
    assert re.search(r"(?im)^\s*examples?\b", done.out), done.out
    assert f"flow {' '.join(command)}".strip() in done.out


def test_version(away):
    done = away.run("--version")
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(r"flow \d+\.\d+\.\d+.*\n", done.out)


def test_nothing_says_where_kafka_is(away):
    done = away.run("status", env={"FLOW_BOOTSTRAP_SERVERS": ""})
    assert done.code == 2
    assert "--bootstrap-server" in done.err and "FLOW_BOOTSTRAP_SERVERS" in done.err


UNREACHABLE = [["status"], ["history"], ["cancel", UUID], ["topic", "check"], ["topic", "create"],
               ["reset", "--group", "g", "--topic", "t", "--to-earliest"],
               ["reset", "--group", "g", "--topic", "t", "--to-earliest", "--wait"]]


@pytest.mark.parametrize("arguments", UNREACHABLE, ids=" ".join)
def test_kafka_cannot_be_reached(arguments, away):
    done = away.run(*arguments, timeout_s=45)
    assert (done.code, done.out) == (2, ""), done
    assert re.search(rf"^(flow: )?cannot reach Kafka: .*{re.escape(NOWHERE)}", done.err, re.MULTILINE), done.err


@pytest.mark.parametrize("settings, said", [
    ("security.protocol=SSL\nssl.truststore.type=JKS\nssl.truststore.location=/etc/kafka/trust.jks\n",
     "ssl.truststore"),
    ("sasl.mechanism=GSSAPI\nsecurity.protocol=SASL_PLAINTEXT\n"
     "sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true;\n",
     "sasl.kerberos.keytab"),
    ("security.protocol=TELEPATHY\n", "telepathy"),
    ("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
     "sasl.jaas.config=com.example.Login required secret=hunter2;\n", "sasl.jaas.config"),
], ids=["jks", "gssapi", "protocol", "jaas"])
def test_client_properties_that_cannot_be_translated_are_named(settings, said, away, tmp_path):
    (tmp_path / "client.properties").write_text(settings)
    done = away.run("status", "--command-config", str(tmp_path / "client.properties"))
    assert done.code == 2 and said in done.err
    assert "hunter2" not in done.err


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


def test_cancel(flow, control, orders, engine):
    unknown = flow.run("cancel", UUID)
    assert unknown.code == 1 and UUID in unknown.err
    request = ask(flow, [orders.group()], orders.topic)
    assert wait_done(control, request) == "completed"
    late = flow.run("cancel", request)
    assert late.code == 1 and "completed" in late.err + late.out
    assert control.outcomes(request) == ["completed"]


def test_no_engine_is_said_on_stderr(flow, world, control, orders):
    group = orders.group()
    for arguments in (["status"], reset_arguments([group], orders.topic),
                      reset_arguments([group], orders.topic, "--wait", "--timeout", "2s")):
        done = flow.run(*arguments)
        assert done.code == (3 if "--wait" in arguments else 0), done
        assert "no engine" in done.err, done


def test_an_expired_request_is_never_carried_out(flow, world, control, orders, engine):
    group = orders.group()
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_assigned(3)
        request = ask(flow, [group], orders.topic, "--when-stopped", "--expire-after", "2s")
        assert wait_done(control, request) == "expired"
        done = flow.run(*reset_arguments([group], orders.topic, "--wait", "--expire-after", "1s"))
        assert done.code == 1 and "expired" in done.err
    assert world.commit_values(group) == orders.values(20)


def test_ctrl_c_leaves_the_request_and_says_how_to_cancel_it(flow, world, control, orders, engine):
    group = orders.group()
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_assigned(3)
        waiting = flow.start(*reset_arguments([group], orders.topic, "--wait"))
        wait_until(lambda: control.facts(kind="guard"), 10, "the engine has taken it up")
        waiting.send_signal(signal.SIGINT)
        done = finish(waiting, 10)
        request = control.facts(kind="request")[0].request
        assert done.code in (3, 130)
        assert f"flow cancel {request}" in done.err
    assert wait_done(control, request) == "completed"


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


def test_status_shows_who_leads_and_what_waits(flow, world, control, orders, engine):
    group = orders.group()
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_assigned(3)
        request = ask(flow, [group], orders.topic, "--when-stopped")

        def named() -> str:
            text = flow.ok("status")
            return text if group in text and consumer.name in text else ""

        shown = wait_until(named, 10, "status names the request's group and who is in it")
        assert request in shown
    assert wait_done(control, request) == "completed"


def test_topic_create_and_check(flow, world):
    missing = flow.run("topic", "check")
    assert missing.code in (1, 2) and flow.control_topic in missing.err
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
    assert many.code in (1, 2) and "3" in many.err
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
    process = subprocess.run([*flow.start("--version").args[:1], "history"], env=flow.env, stdout=writer,
                             stderr=subprocess.PIPE, timeout=30, check=False)
    os.close(writer)
    assert process.returncode in (0, 1, -signal.SIGPIPE)
