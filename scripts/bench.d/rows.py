"""The rows: each measures one promise and returns its lines of the table."""
import shutil
import time

from lab import BIN, Engine, Lab
from measure import Figure, Line, ratio

REBALANCE_DELAY_MS = 3_000  # a broker's default


def rebuild(lab: Lab) -> list[Line]:
    flow, _ = lab.history(lab.counts.requests)
    ours, streams, raw, peak, rss = Figure("ms"), Figure("ms"), Figure("ms"), Figure("MB"), Figure("MB")
    jvm = Figure("MB")
    records = 0
    for number in range(lab.counts.repeat):
        store = lab.new_store()
        with Engine(flow, store) as engine:
            ours.add(engine.ready_ms)
            peak.add(engine.memory_mb("VmHWM"))
            rss.add(engine.memory_mb("VmRSS"))
        shutil.rmtree(store)
        took, memory = lab.streams_restore(flow)
        streams.add(took)
        jvm.add(memory)
        took = lab.program("read", flow.control_topic)
        raw.add(took["ms"])
        records = took["records"]
        lab.say(f"rebuild {number + 1}: flow {ours.values[-1]:.0f} ms, Streams {streams.values[-1]:.0f} ms, "
                f"raw {raw.values[-1]:.0f} ms")
    what = f"cold rebuild of {records:,} records of {took['bytes'] / records:.0f} B, to ready"
    return [Line(what, ours, ratio(streams, ours), 2, peer="Streams' restore", peer_figure=streams),
            Line("the same", ours, ratio(raw, ours), 0.7, peer="librdkafka alone", peer_figure=raw),
            Line("peak memory of that", peak, peak, 150, at_most=True, peer="Streams", peer_figure=jvm)]


def start(lab: Lab) -> list[Line]:
    short_flow, short_store = lab.history(lab.counts.requests // 10)
    long_flow, long_store = lab.history(lab.counts.requests)
    short, long = Figure("ms"), Figure("ms")
    for _ in range(2 * lab.counts.repeat):
        with Engine(short_flow, short_store) as engine:
            short.add(engine.ready_ms)
        with Engine(long_flow, long_store) as engine:
            long.add(engine.ready_ms)
    what = f"start to ready with a current store, {lab.counts.requests * 5:,} records"
    return [Line(what, long, ratio(long, short), 1.2, at_most=True, peer="a tenth of them", peer_figure=short)]


def done(lab: Lab) -> list[Line]:
    flow = lab.new_control()
    ours, whole, tool = Figure("ms"), Figure("ms"), Figure("ms")
    with Engine(flow, lab.new_store()):
        for _ in range(lab.counts.repeat):
            groups = lab.groups(lab.counts.asks + 2)
            ours.add(Figure("ms", lab.ask(flow, "each", groups[2:])).median)
            tool.add(lab.kafka_tool(groups[:1]))
            whole.add(lab.timed([str(BIN / "flow"), "reset", "--group", groups[1], "--topic", lab.orders,
                                 "--to-earliest", "--wait"], flow.env))
    peer = "kafka-consumer-groups"
    return [Line("request appended to done readable", ours, ratio(tool, ours), 20, peer=peer, peer_figure=tool),
            Line("flow reset --wait, whole process", whole, ratio(tool, whole), 5, peer=peer, peer_figure=tool)]


def held(lab: Lab) -> list[Line]:
    broker, world = lab.start_broker("default", {})
    lab.data_topic(world)
    flow = lab.new_control(broker)
    ours = Figure("ms")
    with Engine(flow, lab.new_store()):
        for _ in range(lab.counts.repeat):
            ours.add(lab.ask(flow, "each", lab.groups(1, world), held=True, broker=broker)[0])
    over = Figure("ms", [value - REBALANCE_DELAY_MS for value in ours.values])
    return [Line("held: request appended to done readable", ours, over, 300, at_most=True,
                 peer=f"the broker's delay: {REBALANCE_DELAY_MS:,} ms")]


def groups_together(lab: Lab) -> list[Line]:
    flow = lab.new_control()
    ours, tool = Figure("ms"), Figure("ms")
    with Engine(flow, lab.new_store()):
        for _ in range(lab.counts.repeat):
            ours.add(lab.ask(flow, "together", lab.groups(lab.counts.groups))[0])
            tool.add(lab.kafka_tool(lab.groups(lab.counts.groups)))
    return [Line(f"{lab.counts.groups} groups of 3 partitions in one request", ours, ours, 400, at_most=True,
                 peer="kafka-consumer-groups", peer_figure=tool)]


def burst(lab: Lab) -> list[Line]:
    ours, rate = Figure("ms"), Figure("a second")
    for _ in range(lab.counts.repeat):
        groups = lab.groups(lab.counts.burst)
        # A log and an engine of its own: nothing of the last burst is looked at any more.
        flow = lab.new_control()
        with Engine(flow, lab.new_store()):
            ours.add(lab.ask(flow, "burst", groups)[0])
        rate.add(len(groups) / ours.values[-1] * 1000)
    return [Line(f"{lab.counts.burst:,} requests appended at once, to the last done", rate, rate, 500)]


def idle(lab: Lab) -> list[Line]:
    flow, store = lab.history(lab.counts.requests)
    started, rebuilt, busy = Figure("MB"), Figure("MB"), Figure("%")
    for at, figure in ((lab.new_store(), rebuilt), (store, started)):
        with Engine(flow, at) as engine:
            time.sleep(lab.counts.idle_s)  # a new store's files are compacted meanwhile
            figure.add(engine.memory_mb("VmRSS"))
            before = engine.cpu_seconds()
            time.sleep(lab.counts.idle_s)
            used = (engine.cpu_seconds() - before) / lab.counts.idle_s * 100
    busy.add(used)
    return [Line("memory of an idle engine, started with its store", started, started, 50, at_most=True),
            Line("memory of an idle engine that has rebuilt its store", rebuilt, rebuilt, 50, at_most=True),
            Line("processor of an idle engine", busy, busy, 1, at_most=True)]


ROWS = {"rebuild": rebuild, "start": start, "done": done, "held": held, "groups": groups_together, "burst": burst,
        "idle": idle}
