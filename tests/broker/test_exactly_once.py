"""Promise 1: kill -9 at every boundary; the groups' commits in __consumer_offsets are the witness."""
import time

import pytest

from support.scenario import ask, check_moved_once, wait_done

# Every fail point of engine/ports/fail_point.h, by when in the life of a reset it is passed.
BEFORE_THE_COMMIT = ["before-look", "after-look", "before-begin", "after-begin", "after-produce", "after-delivery",
                     "after-offsets", "after-reread", "before-commit"]
BETWEEN_GROUPS = ["between-groups"]
AFTER_THE_COMMIT = ["after-commit", "before-read-back", "after-read-back", "before-verified", "after-verified"]
HELD_BEFORE = ["held-before-join", "held-joined"]
HELD_AFTER = ["held-before-leave", "held-left"]


def cases() -> list:
    found = []
    for mode, before, after in (("guarded", [], []), ("held", HELD_BEFORE, HELD_AFTER)):
        for groups in (1, 3):
            points = [*BEFORE_THE_COMMIT, *before, *(BETWEEN_GROUPS if groups > 1 else [])]
            found += [pytest.param(mode, groups, point, False, id=f"{mode}-{groups}-{point}") for point in points]
            found += [pytest.param(mode, groups, point, True, id=f"{mode}-{groups}-{point}")
                      for point in AFTER_THE_COMMIT + after]
    return found


@pytest.mark.parametrize("mode, count, point, committed", cases())
def test_killed_at(mode, count, point, committed, world, flow, control, orders, new_engine):
    groups = orders.groups(count)
    engine = new_engine(f"{point}=kill").start()
    engine.wait_leading()
    request = ask(flow, groups, orders.topic, *(["--hold"] if mode == "held" else []))
    assert engine.wait_end() == -9
    if not committed:
        # Old for whoever asks now: a transaction that nobody ended shows nothing.
        assert [world.committed(group, stable=False) for group in groups] == [orders.end] * count
        assert control.results(request) == {} and control.outcomes(request) == []
    engine.start(fail_point="")
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, groups, orders)


@pytest.mark.parametrize("point", [*BEFORE_THE_COMMIT, *BETWEEN_GROUPS, *AFTER_THE_COMMIT[:3]])
def test_killed_in_a_transaction_of_several_requests(point, world, flow, control, orders, new_engine):
    asked = {}
    for _ in range(4):
        groups = orders.groups(1)
        asked[ask(flow, groups, orders.topic)] = groups
    engine = new_engine(f"{point}=kill").start(ready=False)
    assert engine.wait_end() == -9
    engine.start(fail_point="")
    for request, groups in asked.items():
        assert wait_done(control, request) == "completed"
        check_moved_once(world, control, request, groups, orders)
    # They did share one: in this run, or, where the first had committed it, by its offsets.
    together = engine.whole_log().count("requests_together=4")
    positions = sorted(control.facts(request, "done")[0].record.offset for request in asked)
    assert together == 4 or positions[-1] - positions[0] < 12, (together, positions)


def test_killed_as_it_begins_to_lead(world, flow, control, orders, new_engine):
    groups = orders.groups(2)
    request = ask(flow, groups, orders.topic)
    engine = new_engine("engine-record-committed=kill").start(ready=False)
    assert engine.wait_end() == -9
    assert control.results(request) == {}
    engine.start(fail_point="")
    assert wait_done(control, request) == "completed"
    check_moved_once(world, control, request, groups, orders)
    assert len(control.leaders()) == 2  # the first had said that it leads


def test_a_store_that_is_lost_changes_nothing(world, flow, control, orders, new_engine):
    """The store is a cache: killed right after the commit, an engine with an empty one does not do it again."""
    groups = orders.groups(2)
    first = new_engine("after-commit=kill").start()
    first.wait_leading()
    request = ask(flow, groups, orders.topic)
    assert first.wait_end() == -9
    second = new_engine().start()
    second.wait_leading()
    assert wait_done(control, request) == "completed"
    later = ask(flow, [orders.group()], orders.topic)
    assert wait_done(control, later) == "completed"
    check_moved_once(world, control, request, groups, orders)


@pytest.mark.parametrize("mode, kills", [("guarded", 65), ("held", 40)])
def test_random_kills_under_a_stream_of_requests(mode, kills, world, flow, control, orders, new_engine, rng, scaled):
    engine = new_engine().start()
    asked: dict[str, list[str]] = {}
    hold = ["--hold"] if mode == "held" else []
    for _ in range(scaled(kills)):
        engine.wait_leading()
        for _ in range(rng.randint(1, 4)):
            groups = orders.groups(rng.randint(1, 3))
            asked[ask(flow, groups, orders.topic, *hold)] = groups
        time.sleep(rng.uniform(0, 0.15))  # The moment of the kill is what varies.
        engine.kill()
        engine.start(ready=False)
    for request, groups in asked.items():
        assert wait_done(control, request) == "completed"
        check_moved_once(world, control, request, groups, orders)
