"""`flow status`: who leads, what waits, where groups stand and how far behind they are; the same as JSON."""
import re

from support.process import wait_until
from support.scenario import ask, wait_done, write_topology


def rows(shown: str, beginning: str) -> list[list[str]]:
    return [line.split() for line in shown.splitlines() if line.startswith(beginning)]


def test_status_shows_who_leads(flow, world, control, engine):
    (member,) = world.describe(f"flow-engine.{control.topic}")["members"]
    shown = flow.ok("status")
    ((_, client, _, host, _, since),) = rows(shown, "leader ")
    assert (client, host) == (member["client"], member["host"].lstrip("/"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", since), since
    assert rows(shown, "engines ") == [["engines", "1"]] and "\nno open requests\n" in shown
    told = flow.run("status", "-o", "json").json()
    assert told["leader"] == {"client_id": client, "host": host}
    assert [each["client_id"] for each in told["engines"]] == [client]
    assert told["last_leader_record"]["number"] == engine.leader_number()
    assert client.endswith(told["last_leader_record"]["engine"])


def test_status_says_that_nobody_leads(flow, control, engine):
    assert engine.terminate() == 0
    done = flow.run("status")
    assert done.code == 0
    assert rows(done.out, "leader ") == [["leader", "nobody:", "no", "engine", "is", "running"]]
    assert rows(done.out, "engines ") == [["engines", "0"]]
    assert done.err == f"no engine is running for control topic '{control.topic}'\n"
    told = flow.run("status", "-o", "json").json()
    assert (told["leader"], told["engines"]) == (None, [])
    assert told["last_leader_record"]["number"] == control.leaders()[-1]


def test_status_shows_where_groups_stand_and_their_lag(flow, world, control, orders, engine):
    group = orders.group()
    assert wait_done(control, ask(flow, [group], orders.topic)) == "completed"
    world.commit(group, {(orders.topic, 0): 5, (orders.topic, 1): 20, (orders.topic, 2): 3})
    world.delete_records(orders.topic, 2, partition=2)
    expected = {0: (5, 0, 15), 1: (20, 0, 0), 2: (3, 2, 17)}
    assert rows(flow.ok("status"), group) == [
        [group, "Empty", "0", orders.topic, str(partition), str(offset), "20", str(lag)]
        for partition, (offset, _, lag) in expected.items()]
    (told,) = flow.run("status", "-o", "json").json()["groups"]
    assert (told["group"], told["state"], told["members"], told["problem"]) == (group, "Empty", [], None)
    assert told["partitions"] == [
        {"topic": orders.topic, "partition": partition, "offset": offset, "start": start, "end": 20, "lag": lag,
         "problem": None} for partition, (offset, start, lag) in expected.items()]


def test_status_shows_what_waits(flow, world, control, orders, engine):
    group = orders.group()
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_assigned(3)
        request = ask(flow, [group], orders.topic, "--when-stopped")
        (member,) = world.describe(group)["members"]
        why = f"{group} has 1 member(s): {member['client']} at {member['host'].lstrip('/')}"
        shown = wait_until(lambda: [line for line in flow.ok("status").splitlines() if "  waiting: " in line], 10,
                           "status says what the request waits for")
        (line,) = shown
        assert line.startswith(f"{request}  ") and line.endswith(f"  waiting: {why}"), line
        assert flow.ok("status", "-q") == f"{request}\n"
        (told,) = flow.run("status", "-o", "json").json()["open_requests"]
        assert (told["id"], told["phase"], told["waits_for"]) == (request, "waiting", [why])
    assert wait_done(control, request) == "completed"
    assert flow.ok("status", "-q") == ""


def test_status_of_one_pipeline(flow, control, orders, tmp_path):
    groups = dict(zip(("cart", "prices"), orders.groups(2)))
    path = str(write_topology(tmp_path / "pipelines.yaml",
                              {name: {"router": {"in": (orders.topic, group)}} for name, group in groups.items()}))
    asked = {name: flow.ok("reset", name, "-n", "shop", "-q", "--topology", path).strip() for name in groups}
    for name, group in groups.items():
        for more in ([], ["-n", "shop"]):
            done = flow.run("status", name, "--topology", path, *more)
            assert done.code == 0, done
            assert [row[0] for row in rows(done.out, "group.")] == [group] * 3, done.out
            assert asked[name] in done.out
            assert not any(asked[other] in done.out for other in groups if other != name)
        assert flow.ok("status", name, "-q").split() == [asked[name]]  # by what the log knows alone
    unknown = flow.run("status", "kart", "--topology", path)
    assert (unknown.code, unknown.out) == (1, ""), unknown
    assert unknown.err == f"no pipeline 'kart'; topology '{path}': did you mean 'cart'?\n"
    assert flow.ok("status", "kart", "-q") == ""
