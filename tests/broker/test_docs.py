"""Commands that the pages name for people who work on this, run as they stand there; scenarios, README and records have
their own tests."""
import os
import re
import socket
import subprocess
import uuid

import pytest

from support.flow import BIN
from support.process import ROOT, spawn
from support.scenario import ask, check_moved_once, wait_done

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
CLI = (ROOT / "docs" / "reference" / "cli.md").read_text()
SIMULATION = (ROOT / "docs" / "simulation.md").read_text()


def named(page: str, beginning: str, **here: str) -> str:
    """The page's only command that begins so, each of its placeholders replaced."""
    found = set(re.findall(rf"`({re.escape(beginning)}[^`]*)`", page))
    assert len(found) == 1, f"{len(found)} commands that begin with {beginning!r}: {found}"
    command = found.pop()
    for there, value in here.items():
        assert re.search(rf"\b{there}\b", command), f"no {there} in {command}"
        command = re.sub(rf"\b{there}\b", value, command)
    return command.replace("build/release/bin", str(BIN))


def run(command: str, env: dict[str, str] | None = None, timeout_s: float = 120) -> subprocess.CompletedProcess:
    return subprocess.run(["bash", "-euc", command], cwd=ROOT, env={**os.environ, **(env or {})}, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s, check=False)


@pytest.mark.parametrize("page", [CONTRIBUTING, SIMULATION, (ROOT / "docs" / "testing.md").read_text()],
                         ids=["contributing", "simulation", "testing"])
def test_a_seed_is_replayed_and_gives_the_same_trace(page):
    (one, two) = (run(named(page, "build/release/bin/flow_sim --seed N --trace", N="7")) for _ in range(2))
    assert one.returncode == 0, one.stderr
    lines = one.stdout.splitlines()
    assert any("world: everything held" in line for line in lines) and len(lines) > 100
    assert one.stdout == two.stdout


def test_two_runs_of_the_simulation_are_compared():
    done = run(named(SIMULATION, "build/release/bin/flow_sim --seed N --count M", N="7", M="3"))
    assert done.returncode == 0 and "3 seed(s) from 7 held" in done.stdout, done


def test_the_page_has_every_fault_of_the_simulation():
    known = re.findall(r'\{"([a-z-]+)", Fault::', (ROOT / "tests" / "sim" / "faults.h").read_text())
    assert re.findall(r"^\| `([a-z-]+)` \|", SIMULATION, re.MULTILINE) == known
    done = run(named(SIMULATION, "build/release/bin/flow_sim_faults", NAME=known[0]))
    assert done.returncode == 1 and re.search(r"seed \d+ failed: ", done.stdout + done.stderr), done


def test_the_packages_are_those_that_setup_installs():
    setup = (ROOT / "scripts" / "setup").read_text()
    needs = re.search(r"The build needs (.*?)The tests need also: (.*?), and Kafka's jars", CONTRIBUTING, re.DOTALL)
    for name, told in zip(("build", "test"), needs.groups()):
        (installed,) = re.findall(rf"^{name}_packages=\((.*?)\n\)", setup, re.DOTALL | re.MULTILINE)
        assert sorted(re.findall(r"`([^`]+)`", told)) == sorted(installed.split())


def test_setup_says_what_it_can_be_told():
    assert run("scripts/setup --build-only").returncode == 0
    wrong = run("scripts/setup --biuld-only")
    assert (wrong.returncode, wrong.stdout) == (2, "usage: scripts/setup [--build-only]\n")


def free_port_pair() -> int:
    """A port and its successor that nobody listens on."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
                return port
            except OSError:
                continue


def test_a_broker_of_your_own(tmp_path):
    port = free_port_pair()
    here = {"DIR": str(tmp_path / "broker"), "9092": str(port)}
    start, stop = named(CONTRIBUTING, "scripts/broker start", **here), named(CONTRIBUTING, "scripts/broker stop",
                                                                             DIR=here["DIR"])
    status = f"scripts/broker status {here['DIR']}"
    try:
        done = run(f"{start} --owner {os.getpid()}")
        assert (done.returncode, done.stdout) == (0, f"127.0.0.1:{port}\n"), done
        assert run(status).stdout.endswith(f" at 127.0.0.1:{port}\n")
        assert "1 brokers:" in run(f"kcat -L -b 127.0.0.1:{port}").stdout
    finally:
        done = run(stop)
    assert done.returncode == 0, done
    assert run(status).stdout == "stopped\n"
    assert run(f"kcat -L -b 127.0.0.1:{port} -m 2").returncode != 0


def test_one_broker_test(tmp_path):
    done = run(named(CONTRIBUTING, "scripts/test --only broker", NAME="test_version"),
               {"FLOW_TEST_LOGS": str(tmp_path)}, 300)
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "1 passed, 0 failed"


def test_an_engine_dies_at_a_named_place(world, flow, control, orders, new_engine, tmp_path):
    group = orders.group()
    command = named(CONTRIBUTING, "FLOW_FAIL_POINT=", DIR=str(tmp_path / "store"))
    engine = spawn(["bash", "-c", f"exec env {command}"], env=flow.env, stdin=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    request = ask(flow, [group], orders.topic)
    assert engine.wait(30) == -9
    assert control.outcomes(request) == [] and world.commit_values(group) == orders.values(20)
    new_engine().start()
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, [group], orders)


def test_the_jq_line_names_what_was_refused(flow, control, orders, engine):
    request = str(uuid.uuid4())
    control.append_json(request, {"namespace": "shop", "pipeline": "cart", "groups": [orders.group()],
                                  "topics": [{"name": orders.topic}], "position": {"kind": "earliest"}})
    assert wait_done(control, request) == "refused"
    (line,) = re.findall(r"^\$ (flow history cart .*jq.*)$", CLI, re.MULTILINE)
    done = run(line, {**flow.env, "PATH": f"{BIN}:{os.environ['PATH']}"})
    assert done.returncode == 0, done
    assert done.stdout == f"{request}\t{flow.history(request)['reason']}\n"


def test_a_tombstone_by_kcat_forgets_a_record_that_cannot_be_read(flow, world, control):
    key = "a key of no kind"
    world.append(control.topic, key, "nothing that flow knows")
    assert f"1 record(s) of topic '{control.topic}' cannot be read" in flow.run("history").err
    line = named(CLI, "echo 'KEY|' | kcat", KEY=key)
    assert line.endswith(" ...")
    done = run(line.replace(" ...", f" -b {flow.bootstrap} -t {control.topic}"))
    assert done.returncode == 0, done
    assert world.read(control.topic)[-1].value is None
    assert "cannot be read" not in flow.run("history").err
