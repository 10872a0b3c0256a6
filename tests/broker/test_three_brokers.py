"""A cluster of three: the control topic's safety, and a coordinator that dies in the middle of a request."""
import pytest

from support.broker import QUICK, Broker
from support.flow import Flow
from support.process import wait_until
from support.scenario import Orders, ask, check_moved_once, wait_done
from support.world import World

pytestmark = pytest.mark.xdist_group("three brokers")
SAFE = {**QUICK, "offsets.topic.replication.factor": "3", "transaction.state.log.replication.factor": "3",
        "transaction.state.log.min.isr": "2", "default.replication.factor": "3", "min.insync.replicas": "2",
        "broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "300"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The first one is the controller too, and is never struck."""
    folder = tmp_path_factory.mktemp("three")
    first = Broker(folder / "1", SAFE).start()
    others = [Broker(folder / str(number), SAFE, join=first).start() for number in (2, 3)]
    yield first, others
    for each in (*others, first):
        each.stop()


@pytest.fixture(scope="module")
def broker(cluster):
    return cluster[0]


@pytest.fixture(scope="module")
def world(broker):
    one = World(broker.address)
    yield one
    one.close()


@pytest.fixture
def flow(cluster, fresh, tmp_path):
    """Knows all three: the one that is struck may be the one that it asks first."""
    first, others = cluster
    return Flow(",".join(each.address for each in (*others, first)), fresh("control"), tmp_path / "home")


@pytest.fixture
def orders(world, fresh) -> Orders:
    """As ever, with a copy on each broker."""
    topic = fresh("orders")
    world.ask("topic.create", topic=topic, partitions=3, replication=3, config={})
    world.fill(topic, 20)
    return Orders(world, topic, 3, 20, fresh)


def test_the_control_topic_is_made_safe_and_less_is_refused(world, flow, new_engine):
    assert flow.ok("topic", "create", "-o", "json")
    made = flow.run("topic", "check", "-o", "json").json()
    assert (made["replicas"], made["brokers"], made["min_insync_replicas"]) == (3, 3, 2)
    configs = world.configs(flow.control_topic)
    assert configs["min.insync.replicas"] == "2" and configs["unclean.leader.election.enable"] == "false"
    assert world.ask("topic.replicas", topic=flow.control_topic)["replicas"] == 3


def test_fewer_replicas_need_a_word(world, flow, new_engine):
    refused = flow.run("topic", "create", "--replication-factor", "1")
    assert refused.code == 1 and "wanted is 3 on 3 brokers" in refused.err
    assert flow.control_topic not in world.topics()
    flow.ok("topic", "create", "--replication-factor", "1", "--allow-unsafe")
    assert world.ask("topic.replicas", topic=flow.control_topic)["replicas"] == 1
    checked = flow.run("topic", "check")
    assert checked.code == 1 and "replication factor is 1, wanted is 3 on 3 brokers" in checked.err
    engine = new_engine().start(ready=False)
    assert engine.wait_end() == 1 and "replication factor is 1" in engine.log()
    new_engine(arguments=("--allow-unsafe",)).start().wait_leading()


def struck(cluster, world, orders) -> tuple[Broker, str]:
    """A broker that is not the controller, and a group that it coordinates."""
    _, others = cluster
    by_id = {int(each.address.rpartition(":")[2]): each for each in others}
    for _ in range(50):
        group = orders.group()
        coordinator = world.describe(group)["coordinator"]
        if coordinator in by_id:
            return by_id[coordinator], group
    raise AssertionError("none of 50 groups has a coordinator that may be struck")


@pytest.mark.parametrize("point", ["after-look", "after-begin", "after-offsets", "before-commit"])
@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_groups_coordinator_dies_in_the_middle(how, point, cluster, world, flow, control, orders, new_engine):
    engine = new_engine(f"{point}=stop@1").start()
    engine.wait_leading()
    victim, group = struck(cluster, world, orders)
    request = ask(flow, [group], orders.topic)
    engine.wait_frozen()
    getattr(victim, "kill" if how == "killed" else "stop")()
    engine.thaw()
    try:
        assert wait_done(control, request, 60) == "completed"
        check_moved_once(world, control, request, [group], orders, may_repeat=True)
        assert engine.role() == "leads"
    finally:
        victim.start()
    wait_until(lambda: world.ask("topic.replicas", topic=flow.control_topic)["in_sync"] == 3, 30, "all are in sync")
