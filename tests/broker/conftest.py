"""One broker and one World for the whole run; fresh names for each test."""
import itertools
import os
import random
import re
import sys
import uuid

import pytest

sys.path.insert(0, os.path.dirname(__file__))

from support.broker import QUICK, Broker  # noqa: E402
from support.control import ControlTopic  # noqa: E402
from support.flow import Engine, Flow  # noqa: E402
from support.proxy import Proxy  # noqa: E402
from support.scenario import Orders  # noqa: E402
from support.world import World  # noqa: E402

SEED = int(os.environ.get("FLOW_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
os.environ["FLOW_TEST_SEED"] = str(SEED)  # Workers that run tests side by side start from the same one.
SCALE = float(os.environ.get("FLOW_TEST_SCALE", "0.1"))


def pytest_report_header(config) -> str:
    return f"FLOW_TEST_SEED={SEED} FLOW_TEST_SCALE={SCALE}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failed test shows what its engines said and what stands on its control topic."""
    report = (yield).get_result()
    if call.when != "call" or not report.failed:
        return
    for number, engine in enumerate(getattr(item, "engines", []), 1):
        ended = ", crashed" if engine.has_crashed() else ""
        report.sections.append((f"engine {number}{ended}", engine.whole_log()[-20000:]))
    control = item.funcargs.get("control")
    if control is not None:
        try:
            told = [f"{fact.record.offset} {fact.record.key.decode(errors='replace')}" for fact in control.facts()]
            report.sections.append(("control topic", "\n".join(told[-100:])))
        except Exception as unreadable:  # noqa: BLE001 - the test's own failure is what counts
            report.sections.append(("control topic", str(unreadable)))


@pytest.fixture(scope="session")
def session_proxy():
    one = Proxy()
    yield one
    one.close()


@pytest.fixture(scope="session")
def broker(tmp_path_factory, session_proxy):
    one = Broker(tmp_path_factory.mktemp("broker"), {**QUICK, **session_proxy.broker_settings()}).start()
    yield one
    one.stop()


@pytest.fixture
def proxy(broker, session_proxy) -> Proxy:
    """A second way to the same broker, through a proxy that lets everything pass until it is armed."""
    yield session_proxy
    session_proxy.disarm()


@pytest.fixture(scope="session")
def world(broker):
    one = World(broker.address)
    yield one
    one.close()


@pytest.fixture
def new_world(broker):
    """Makes further Worlds, for consumers that a test kills with kill -9."""
    made: list[World] = []

    def make(settings: dict[str, str] | None = None) -> World:
        made.append(World(broker.address, settings))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def fresh(request):
    """fresh("orders") is a name that no other test and no earlier run has used."""
    test = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")[:40]
    run = uuid.uuid4().hex[:6]
    counter = itertools.count(1)
    return lambda what: f"{what}.{test}.{run}-{next(counter)}"


@pytest.fixture
def rng(request) -> random.Random:
    """Seeded by the run's seed and the test's name, so that one test alone repeats what it did."""
    return random.Random(f"{SEED}/{request.node.nodeid}")


@pytest.fixture(scope="session")
def scaled():
    """scaled(50): 50 with --full, a tenth otherwise, at least one."""
    return lambda count: max(1, round(count * SCALE))


@pytest.fixture
def control(flow, world) -> ControlTopic:
    """This test's control topic, made by `flow topic create`."""
    flow.ok("topic", "create")
    return ControlTopic(world, flow.control_topic)


@pytest.fixture
def flow(broker, fresh, tmp_path) -> Flow:
    """`flow` commands on a control topic of this test's own; the fixture `control` makes the topic."""
    home = tmp_path / "home"
    home.mkdir()
    return Flow(broker.address, fresh("control"), home)


@pytest.fixture
def engine_flow(flow) -> Flow:
    """What engines are told; a module may give them another way to the broker than its commands."""
    return flow


@pytest.fixture
def new_engine(request, engine_flow, tmp_path):
    """new_engine() is an engine with an empty store of its own, not started yet; all of them end with the test."""
    made: list[Engine] = []
    request.node.engines = made

    def make(fail_point: str = "", arguments: tuple[str, ...] = ()) -> Engine:
        made.append(Engine(engine_flow, tmp_path / f"store-{len(made) + 1}", fail_point, arguments))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


@pytest.fixture
def engine(control, new_engine) -> Engine:
    """A leading engine."""
    one = new_engine().start()
    one.wait_leading()
    return one


@pytest.fixture
def orders(world, fresh) -> Orders:
    """A topic with 3 partitions of 20 records; its groups stand at the end."""
    topic = world.create_topic(fresh("orders"), 3)
    world.fill(topic, 20)
    return Orders(world, topic, 3, 20, fresh)
