"""A TCP proxy in front of a broker that knows Kafka's frames, and strikes at one request of a kind or at its answer.

Clients stay with it because the broker advertises it: `proxied` gives the broker a listener for it.
"""
import asyncio
import contextlib
import dataclasses
import enum
import random
import socket
import struct
import threading

from .process import wait_until

# Neither the brokers' ports nor the kernel's ephemeral ones; see scripts/broker.
LISTENER_PORTS = (18000, 20000)
SLOW_S = 1.5
NOT_COORDINATOR = 16
ANSWER_TIMEOUT_S = 15


class Api(enum.IntEnum):
    """Kafka's API keys."""
    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    INIT_PRODUCER_ID = 22
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    TXN_OFFSET_COMMIT = 28
    DESCRIBE_CONFIGS = 32


class Side(enum.Enum):
    REQUEST = "request"  # the broker gets it late, in part or never
    ANSWER = "answer"  # the broker got the request and answered


class How(enum.Enum):
    CUT = "cut"  # both connections end before the frame
    TORN = "torn"  # half of the frame goes on, then both connections end
    SLOW = "slow"  # half of the frame now, the rest after SLOW_S
    HALF_OPEN = "half-open"  # the connections stay, and from the frame on every byte is swallowed
    MOVED = "moved"  # an OffsetFetch is answered with NOT_COORDINATOR
    HOLD = "hold"  # the client's connection ends; the request is kept, to be delivered later on the broker's


@dataclasses.dataclass
class _Strike:
    api: Api
    side: Side
    how: How
    nth: int


class _Link:
    """One client's connection and the broker's that belongs to it."""

    def __init__(self, client: tuple, broker: tuple):
        self.client_in, self.client_out = client
        self.broker_in, self.broker_out = broker
        self.asked: dict[int, tuple[int, int]] = {}  # correlation id -> API key, version
        self.swallows = False
        self.kept = b""
        self.kept_answer: asyncio.Future | None = None

    def close(self) -> None:
        for writer in (self.client_out, self.broker_out):
            writer.close()


class Proxy:
    """Between clients that connect to `address` and the broker's listener at `upstream_port`."""

    def __init__(self) -> None:
        self.upstream_port = _free_port()
        self._lock = threading.Lock()
        self._strike: _Strike | None = None
        self._struck = 0
        self._links: set[_Link] = set()
        self._tasks: set[asyncio.Task] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()
        self._server = self._call(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def broker_settings(self) -> dict[str, str]:
        """For a broker's settings: a second listener that names this proxy as its address."""
        return {
            "listeners": f"PLAINTEXT://127.0.0.1:{{port}},PROXIED://127.0.0.1:{self.upstream_port},"
                         "CONTROLLER://127.0.0.1:{controller_port}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{{port}},PROXIED://{self.address}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT",
        }

    def arm(self, api: Api, side: Side, how: How, nth: int = 1) -> None:
        """Strikes once, at the `nth` such frame from now on."""
        assert how is not How.HOLD or side is Side.REQUEST
        with self._lock:
            self._strike = _Strike(api, side, how, nth)
            self._struck = 0

    def disarm(self) -> None:
        with self._lock:
            self._strike = None

    @property
    def has_struck(self) -> bool:
        with self._lock:
            return self._struck > 0

    def wait_struck(self, timeout_s: float = 30) -> None:
        wait_until(lambda: self.has_struck, timeout_s, "the proxy sees the frame that it waits for")

    def deliver_kept(self) -> bytes:
        """Sends the kept request on its own connection to the broker; returns the answer behind its correlation id."""
        (link,) = [link for link in self._links if link.kept]
        return self._call(self._deliver(link))

    def close(self) -> None:
        self._call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(ANSWER_TIMEOUT_S)

    async def _end(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _deliver(self, link: _Link) -> bytes:
        link.kept_answer = self._loop.create_future()
        link.broker_out.write(link.kept)
        link.kept = b""
        await link.broker_out.drain()
        return await asyncio.wait_for(link.kept_answer, ANSWER_TIMEOUT_S - 1)

    async def _serve(self, client_in: asyncio.StreamReader, client_out: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            try:
                broker = await asyncio.open_connection("127.0.0.1", self.upstream_port)
            except OSError:
                client_out.close()
                return
            for writer in (client_out, broker[1]):
                writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link = _Link((client_in, client_out), broker)
            self._links.add(link)
            try:
                await self._carry(link)
            finally:
                self._links.discard(link)
                link.close()
        except asyncio.CancelledError:
            pass  # The proxy ends.
        finally:
            self._tasks.discard(task)

    async def _carry(self, link: _Link) -> None:
        """Until either side ends; what is kept has to find its connection to the broker open."""
        requests = asyncio.create_task(self._pump(link, Side.REQUEST))
        answers = asyncio.create_task(self._pump(link, Side.ANSWER))
        try:
            await asyncio.wait({requests, answers}, return_when=asyncio.FIRST_COMPLETED)
            if link.kept:
                link.client_out.close()
                await answers
        finally:
            requests.cancel()
            answers.cancel()
            await asyncio.gather(requests, answers, return_exceptions=True)

    async def _pump(self, link: _Link, side: Side) -> None:
        reader = link.client_in if side is Side.REQUEST else link.broker_in
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                size = await reader.readexactly(4)
                body = await reader.readexactly(struct.unpack(">i", size)[0])
                if not await self._forward(link, side, size + body):
                    return

    async def _forward(self, link: _Link, side: Side, frame: bytes) -> bool:
        """One frame; false ends the connection."""
        how, version = self._strike_at(link, side, frame)
        out = link.broker_out if side is Side.REQUEST else link.client_out
        if side is Side.ANSWER and link.kept_answer is not None and not link.kept_answer.done():
            link.kept_answer.set_result(frame[8:])
            return True
        if how is How.HOLD:
            link.kept = frame
            return False
        if how is How.CUT:
            return False
        if how is How.MOVED:
            frame = _with_last_error(frame, NOT_COORDINATOR, has_tags=version >= 6)
        if how is How.HALF_OPEN:
            link.swallows = True
        if link.swallows:
            return True
        if how in (How.TORN, How.SLOW):
            out.write(frame[: len(frame) // 2])
            await out.drain()
            if how is How.TORN:
                return False
            await asyncio.sleep(SLOW_S)
            frame = frame[len(frame) // 2:]
        out.write(frame)
        await out.drain()
        return True

    def _strike_at(self, link: _Link, side: Side, frame: bytes) -> tuple[How | None, int]:
        """What is to become of a frame, and the version of its request."""
        if side is Side.REQUEST:
            api, version, correlation = struct.unpack(">hhi", frame[4:12])
            link.asked[correlation] = api, version
        else:
            api, version = link.asked.pop(struct.unpack(">i", frame[4:8])[0], (-1, 0))
        with self._lock:
            strike = self._strike
            if strike is None or strike.api != api or strike.side is not side:
                return None, version
            strike.nth -= 1
            if strike.nth > 0:
                return None, version
            self._strike = None
            self._struck += 1
            return strike.how, version


def _with_last_error(frame: bytes, code: int, has_tags: bool) -> bytes:
    """An answer that ends with its error code, and in flexible versions with no tags behind it."""
    end = b"\0" if has_tags else b""
    assert frame.endswith(b"\0\0" + end), frame
    return frame[:-2 - len(end)] + struct.pack(">h", code) + end


def _free_port() -> int:
    for _ in range(50):
        port = random.SystemRandom().randrange(*LISTENER_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise AssertionError(f"no free port between {LISTENER_PORTS[0]} and {LISTENER_PORTS[1]}")
