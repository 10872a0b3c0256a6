"""A real broker of the tests' own, by scripts/broker."""
import os
import pathlib
import signal
import subprocess

from . import java
from .process import ROOT, state_of, wait_until

# What makes a real broker quick to test with: no wait for a group's first member, sessions and open
# transactions that end in seconds, a log cleaner that looks often.
QUICK = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "200",
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "6000",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
    "log.cleaner.backoff.ms": "200",
    "log.cleaner.dedupe.buffer.size": "16777216",
    "log.segment.delete.delay.ms": "500",
}

if java.VERSION.startswith("3."):
    QUICK["group.coordinator.rebalance.protocols"] = "classic,consumer"  # KIP-848 is opt-in there.


class Broker:
    def __init__(self, directory: pathlib.Path, settings: dict[str, str] | None = None,
                 format_arguments: list[str] | None = None, version: str = java.VERSION,
                 join: "Broker | None" = None):
        self._dir = directory
        self._join = join
        self._version = version
        self.settings = settings or {}
        self._format_arguments = format_arguments or []
        self.address = ""

    def _script(self, command: str, *arguments: str) -> str:
        done = subprocess.run([ROOT / "scripts" / "broker", command, str(self._dir), *arguments], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False,
                              env={**os.environ, "KAFKA_VERSION": self._version})
        if done.returncode != 0 and command != "status":
            raise AssertionError(f"scripts/broker {command}: {done.stderr}")
        return done.stdout.strip()

    def start(self, owner: int | None = None) -> "Broker":
        """Starts it, or starts it again with its data, settings and port. It ends with `owner`, or with us."""
        java.jars(self._version)
        settings = [] if self.address else [f"--set={key}={value}" for key, value in self.settings.items()]
        joining = [f"--join={self._join._dir}"] if self._join and not self.address else []
        formatting = [f"--format-arg={argument}" for argument in self._format_arguments]
        self.address = self._script("start", "--owner", str(owner or os.getpid()), *joining, *settings,
                                    *formatting)
        return self

    def stop(self) -> None:
        self._script("stop")

    def kill(self) -> None:
        self._script("stop", "--kill")

    @property
    def pid(self) -> int:
        return int((self._dir / "pid").read_text())

    def freeze(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)
        wait_until(lambda: state_of(self.pid) == "T", 5, "the broker is stopped")

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def is_running(self) -> bool:
        return self._script("status").startswith("running")

    def log(self) -> str:
        return (self._dir / "broker.log").read_text(errors="replace")
