"""The harness itself, on a plain broker: what the other tests believe, they believe because of these."""
import pytest

from support import kcat
from support.process import wait_until
from support.world import WorldError


def all_at(topic: str, partitions: int, offset: int) -> dict[tuple[str, int], int]:
    return {(topic, partition): offset for partition in range(partitions)}


def test_fills_and_reads_topics(world, fresh):
    topic = world.create_topic(fresh("orders"), 3, {"retention.ms": "600000"})
    world.fill(topic, 5)
    assert world.earliest(topic) == all_at(topic, 3, 0)
    assert world.latest(topic) == all_at(topic, 3, 5)
    assert world.configs(topic)["retention.ms"] == "600000"
    world.delete_records(topic, 2, partition=1)
    assert world.earliest(topic)[(topic, 1)] == 2
    world.delete_topic(topic)
    with pytest.raises(WorldError) as refused:
        world.read(topic)
    assert refused.value.type == "UnknownTopicOrPartitionException"


def test_timestamps_are_as_asked(world, fresh):
    topic = world.create_topic(fresh("orders"))
    world.fill(topic, 3, timestamp=1_700_000_000_000, step_ms=1000)
    assert [record.timestamp for record in world.read(topic)] == [
        1_700_000_000_000, 1_700_000_001_000, 1_700_000_002_000]
    assert world.offsets(topic, 1_700_000_000_001) == {(topic, 0): 1}
    assert world.offsets(topic, 1_700_000_009_000) == {(topic, 0): -1}


def test_open_and_aborted_transactions_are_seen_as_kafka_shows_them(world, fresh):
    topic = world.create_topic(fresh("orders"))
    one = fresh("tx")
    world.append(topic, "plain", "1")
    world.begin(one)
    world.tx_append(one, topic, "open", b"\x00\xff")
    assert [record.key for record in world.read(topic)] == [b"plain"]
    assert [record.key for record in world.read(topic, "read_uncommitted")] == [b"plain", b"open"]
    assert world.offsets(topic, "latest", "read_committed") == {(topic, 0): 1}
    world.abort_tx(one)
    world.begin(one)
    world.tx_append(one, topic, "kept", None)
    world.commit_tx(one)
    assert [(record.key, record.value) for record in world.read(topic)] == [(b"plain", b"1"), (b"kept", None)]


def test_compaction_leaves_the_last_record_of_each_key_at_its_offset(world, fresh):
    topic = world.create_topic(fresh("control"), 1, {"cleanup.policy": "compact"})
    for value in range(3):
        world.append(topic, "a", str(value))
        world.append(topic, "b", str(value))
    world.compact(topic)
    assert [(record.offset, record.key, record.value) for record in world.read(topic)] == [
        (4, b"a", b"2"), (5, b"b", b"2")]


def test_commits_of_a_group_are_counted_by_kafkas_own_formatter(world, fresh):
    topic = world.create_topic(fresh("orders"), 2)
    world.fill(topic, 9)
    group = fresh("shop")
    world.commit(group, all_at(topic, 2, 9), "by hand")
    world.commit_assigned(group, {(topic, 1): 4})
    world.commit(group, {(topic, 1): 4})
    assert world.committed(group) == {(topic, 0): 9, (topic, 1): 4}
    assert world.metadata(group) == {(topic, 0): "by hand", (topic, 1): ""}
    assert world.commit_values(group) == {(topic, 0): [9], (topic, 1): [9, 4, 4]}
    world.delete_group(group)
    assert world.commit_values(group) == {(topic, 0): [9, None], (topic, 1): [9, 4, 4, None]}
    assert world.state(group) in ("Absent", "Dead")  # 3.9 says Dead


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_consumer_reports_where_it_began(world, fresh, protocol):
    topic = world.create_topic(fresh("orders"), 3)
    world.fill(topic, 10)
    group = fresh("shop")
    world.commit(group, all_at(topic, 3, 7))
    with world.consumer(group, topic, protocol=protocol) as consumer:
        consumer.wait_count(9)
        assert consumer.first() == all_at(topic, 3, 7)
        described = world.describe(group)
        assert described["state"] == "Stable" and described["type"].lower() == protocol
        assert [member["client"] for member in described["members"]] == [consumer.name]
        with pytest.raises(WorldError) as refused:
            world.commit(group, all_at(topic, 3, 0))
        assert refused.value.type == "UnknownMemberIdException"
        consumer.commit()
    assert world.describe(group)["state"] == "Empty"
    assert world.committed(group) == all_at(topic, 3, 10)


def test_a_killed_consumer_stays_a_member_until_its_session_ends(world, new_world, fresh):
    topic = world.create_topic(fresh("orders"))
    world.fill(topic, 3)
    group = fresh("shop")
    other = new_world()
    other.consumer(group, topic, config={"session.timeout.ms": "2000"}).wait_count(3)
    other.kill()
    assert world.state(group) == "Stable"
    assert world.committed(group) == {}
    wait_until(lambda: world.state(group) == "Empty", 10, "the session ends")


def test_kafkas_own_tool_says_the_same(world, fresh):
    topic = world.create_topic(fresh("orders"))
    world.fill(topic, 8)
    group = fresh("shop")
    world.commit(group, {(topic, 0): 3})
    said = world.tool("kafka-consumer-groups", "--describe", "--group", group)
    assert said["exit"] == 0
    row = next(line.split() for line in said["stdout"].splitlines() if line.startswith(group))
    assert row[1:6] == [topic, "0", "3", "8", "5"]
    assert world.tool("kafka-consumer-groups", "--no-such-flag")["exit"] == 1


def test_kcat_produces_and_consumes(world, broker, fresh):
    topic = world.create_topic(fresh("orders"))
    kcat.produce(broker.address, topic, "a/request", '{"x": "y"}')
    assert [(record.key, record.value) for record in world.read(topic)] == [(b"a/request", b'{"x": "y"}')]
    group = fresh("shop")
    with kcat.GroupConsumer(broker.address, group, topic) as consumer:
        assert consumer.wait_first(1) == {(topic, 0): 0}
        assert world.state(group) == "Stable"
    assert world.state(group) == "Empty"
