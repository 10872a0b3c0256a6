"""Groups that are no consumers': share groups (KIP-932) and Kafka Streams by its own protocol (KIP-1071)."""
import pytest

from support.broker import QUICK, Broker
from support.process import wait_until
from support.scenario import ask, reset_arguments, wait_done
from support.world import World

pytestmark = pytest.mark.xdist_group("other groups")
# Both are previews in this version of Kafka.
NEW_GROUPS = {"unstable.feature.versions.enable": "true", "unstable.api.versions.enable": "true",
              "group.coordinator.rebalance.protocols": "classic,consumer,share,streams",
              "share.coordinator.state.topic.replication.factor": "1", "share.coordinator.state.topic.min.isr": "1"}
FEATURES = ["--feature", "share.version=1", "--feature", "streams.version=1"]


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    one = Broker(tmp_path_factory.mktemp("new-groups"), {**QUICK, **NEW_GROUPS}, FEATURES).start()
    yield one
    one.stop()


@pytest.fixture(scope="module")
def world(broker):
    one = World(broker.address)
    yield one
    one.close()


def reasons(control, request: str) -> list[str]:
    return [reason.text.decode() for fact in control.facts(request, "guard")[-1:]
            for reason in fact.table().reasons or [] if reason.untilMs is None]


def test_a_share_group_is_refused_and_reads_on(world, flow, control, orders, engine, fresh):
    group = fresh("share")
    with world.share_group(group, orders.topic):
        unknown = flow.run(*reset_arguments([group], orders.topic))
        assert unknown.code == 1 and group in unknown.err
        assert control.facts(kind="request") == []
        asked = flow.run(*reset_arguments([group], orders.topic, "--create-group", "--wait"), timeout_s=40)
        assert asked.code == 1 and f"group '{group}' is not a consumer group" in asked.err + asked.out
        held = ask(flow, [group], orders.topic, "--create-group", "--hold", "--when-stopped")
        wait_until(lambda: any("INCONSISTENT_GROUP_PROTOCOL" in reason for reason in reasons(control, held)), 20,
                   lambda: f"it says why it cannot be held: {reasons(control, held)}")
        flow.ok("cancel", held)
        assert control.results(held) == {}
        assert world.commit_values(group) == {}
        before = world.ask("other.count", group=group)["count"]
        world.fill(orders.topic, 1)
        wait_until(lambda: world.ask("other.count", group=group)["count"] > before, 20, "the share group reads on")


def test_a_streams_application_is_waited_for(world, flow, control, orders, engine, fresh, tmp_path):
    group = fresh("streams")
    with world.streams_application(group, orders.topic, tmp_path / "streams"):
        wait_until(lambda: len(world.committed(group)) == 3, 30, "it commits")
        request = ask(flow, [group], orders.topic, "--when-stopped")
        wait_until(lambda: any(group in reason for reason in reasons(control, request)), 20,
                   lambda: f"it says what it waits for: {reasons(control, request)}")
        assert control.results(request) == {}
        assert all(0 not in offsets for offsets in world.commit_values(group).values())
    assert wait_done(control, request) == "completed"
    assert world.committed(group) == orders.at(0)
