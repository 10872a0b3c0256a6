"""docs/scenarios.md, block by block, as it stands there."""
import os
import re
import subprocess

import pytest

from support.broker import QUICK, Broker
from support.flow import BIN, Engine, Flow
from support.process import ROOT
from support.world import World

pytestmark = pytest.mark.xdist_group("scenarios")
PAGE = (ROOT / "docs" / "scenarios.md").read_text()
TOPICS = ("shop.cart-events.v1", "shop.carts.v1", "shop.prices.v1")
GROUPS = {"cart.router.in": TOPICS[0], "cart.totals.carts": TOPICS[1], "price-reader": TOPICS[2]}


def blocks() -> list:
    found = []
    for section in PAGE.split("\n## ")[1:]:
        title = section.splitlines()[0]
        for number, script in enumerate(re.findall(r"```sh\n(.*?)```", section, re.DOTALL), 1):
            found.append(pytest.param(script, id=f"{title}-{number}"))
    return found


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A broker with the page's own names, and an engine that knows the page's pipelines."""
    folder = tmp_path_factory.mktemp("shop")
    broker = Broker(folder / "broker", QUICK).start()
    world = World(broker.address)
    flow = Flow(broker.address, "flow-control", folder, ROOT / "docs" / "pipelines.yaml")
    flow.ok("topic", "create")
    for topic in TOPICS:
        world.create_topic(topic, 3)
        world.fill(topic, 20)
    engine = Engine(flow, folder / "store").start()
    engine.wait_leading()
    yield world, flow, folder
    engine.close()
    world.close()
    broker.stop()


@pytest.mark.parametrize("script", blocks())
def test_every_block_does_what_it_says(script, shop):
    world, flow, folder = shop
    for group, topic in GROUPS.items():
        world.commit(group, {(topic, partition): 20 for partition in range(3)})
    world.commit("price-reader", {(TOPICS[0], partition): 20 for partition in range(3)})
    # A page's variables are the reader's; the path of a second engine's store is not ours to use.
    env = {**flow.env, "PATH": f"{BIN}:{os.environ['PATH']}"}
    env.pop("FLOW_CONTROL_TOPIC")
    script = script.replace("/var/lib/flow-2", str(folder / "store-2"))
    with world.consumer("busy-group", TOPICS[0]) as consumer:
        consumer.wait_assigned(3)
        done = subprocess.run(["bash", "-euc", script], cwd=ROOT, env=env, text=True, capture_output=True, timeout=90,
                              check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    for group in re.findall(r"--group (\S+) .*--wait", script):
        assert world.committed(group)[(TOPICS[0], 0)] == 0, group
    if "flow history" in script or "flow status" in script:
        assert "cart" in done.stdout
    if "flow reset cart" in script:
        assert "reset requested for 'cart': " in done.stdout
        assert "cart.router.in: 3 partition(s) of 'shop.cart-events.v1' to earliest" in done.stdout
        assert world.committed("cart.router.in") == {(TOPICS[0], partition): 0 for partition in range(3)}
