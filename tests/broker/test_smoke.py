"""The main path, as the README tells it, with the names that users know."""
from support.control import ControlTopic
from support.flow import requested
from support.process import wait_until
from support.scenario import write_topology

TOPIC = "shop.cart-events.v1"
GROUP = "cart.router.in"
ALL = {(TOPIC, 0): 30, (TOPIC, 1): 30, (TOPIC, 2): 30}
EARLIEST = dict.fromkeys(ALL, 0)


def test_a_pipeline_is_rebuilt_from_the_start(world, flow, new_engine, tmp_path):
    world.create_topic(TOPIC, 3)
    world.fill(TOPIC, 30)
    with world.consumer(GROUP, TOPIC) as consumer:
        consumer.wait_count(90)
        consumer.commit()
    assert world.committed(GROUP) == ALL

    flow.env["FLOW_TOPOLOGY"] = str(write_topology(tmp_path / "pipelines.yaml",
                                                   {"cart": {"router": {"in": (TOPIC, "")}}}))
    flow.ok("topic", "create")
    flow.ok("topic", "check")
    engine = new_engine().start()
    engine.wait_leading()

    done = flow.run("reset", "cart", "-n", "shop", "--wait")
    assert done.code == 0, done.err
    request = requested(done.out)
    assert done.out.splitlines() == [f"reset requested for 'cart': {request}",
                                     f"{GROUP}: 3 partition(s) of '{TOPIC}' to earliest"]
    assert world.committed(GROUP) == EARLIEST
    assert world.commit_values(GROUP) == {place: [30, 0] for place in ALL}
    said = world.tool("kafka-consumer-groups", "--describe", "--group", GROUP)
    rows = [line.split() for line in said["stdout"].splitlines() if line.startswith(GROUP)]
    assert sorted(row[1:6] for row in rows) == [[TOPIC, str(partition), "0", "30", "30"] for partition in range(3)]

    control = ControlTopic(world, flow.control_topic)
    assert control.outcomes(request) == ["completed"]
    assert control.moves(request, GROUP) == dict.fromkeys(ALL, (30, 0))
    wait_until(lambda: control.standings(request, GROUP), 10, "a first look at what became of the offsets")
    assert request in flow.ok("history", request)
    assert engine.terminate() == 0

    # Without an engine the history is still there.
    assert request in flow.ok("history", "cart")
    with world.consumer(GROUP, TOPIC) as consumer:
        consumer.wait_count(90)
        assert consumer.first() == EARLIEST
