"""kcat: what a person at a shell does, and consumers that are librdkafka's."""
import pathlib
import re
import subprocess
import tempfile

from .process import spawn, wait_until


def produce(bootstrap: str, topic: str, key: str, value: str) -> None:
    """One record, as `printf 'key|value' | kcat -P -K '|'`; kcat takes the first | as the delimiter."""
    done = subprocess.run(["kcat", "-P", "-b", bootstrap, "-t", topic, "-K", "|", "-p", "0"],
                          input=f"{key}|{value}\n".encode(), capture_output=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")


class GroupConsumer:
    """`kcat -G`: a librdkafka consumer in a group; remembers the first offset of each partition."""

    def __init__(self, bootstrap: str, group: str, topic: str, isolation: str = "read_committed",
                 settings: dict[str, str] | None = None):
        self._output = tempfile.NamedTemporaryFile()
        self._errors = tempfile.NamedTemporaryFile()
        options = {"isolation.level": isolation, "auto.offset.reset": "earliest", "session.timeout.ms": "6000",
                   "auto.commit.interval.ms": "200", **(settings or {})}
        self._process = spawn(
            ["kcat", "-b", bootstrap, *(f"-X{key}={value}" for key, value in options.items()), "-f", "%p %o\n", "-u",
             "-G", group, topic], stdout=self._output, stderr=self._errors, stdin=subprocess.DEVNULL)
        self._topic = topic

    def first(self) -> dict[tuple[str, int], int]:
        first: dict[tuple[str, int], int] = {}
        for line in pathlib.Path(self._output.name).read_text().splitlines():
            found = re.fullmatch(r"(\d+) (\d+)", line)
            if found:
                first.setdefault((self._topic, int(found[1])), int(found[2]))
        return first

    def wait_first(self, partitions: int, timeout_s: float = 20) -> dict[tuple[str, int], int]:
        wait_until(lambda: len(self.first()) == partitions, timeout_s,
                   lambda: f"kcat read {partitions} partitions: {self.first()}, "
                           f"{pathlib.Path(self._errors.name).read_text(errors='replace')}")
        return self.first()

    def close(self) -> None:
        """SIGTERM: leaves the group."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> "GroupConsumer":
        return self

    def __exit__(self, *exception) -> None:
        self.close()
