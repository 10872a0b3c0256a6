"""The product's binary: commands, and engines that are started, stopped, frozen and killed by pid."""
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import uuid

from .process import ROOT, cpu_seconds, spawn, state_of, wait_until

BIN = pathlib.Path(os.environ.get("FLOW_BIN_DIR", ROOT / "build" / "release" / "bin"))
COMMAND_TIMEOUT_S = 60
READY_TIMEOUT_S = 30
CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
END_TIMEOUT_S = 10  # What an engine promises, from SIGTERM on.
LEADS = re.compile(r"\bleads\b|\bleading\b")
FOLLOWS = re.compile(r"\bfollows\b|\bfollowing\b")


@dataclasses.dataclass(frozen=True)
class Done:
    """What a command left: exit code, stdout, stderr."""
    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)


class Flow:
    """`flow` with a control topic and a home of its own; environment variables give what each call needs."""

    def __init__(self, bootstrap: str, control_topic: str, home: pathlib.Path, topology: pathlib.Path | None = None):
        self.bootstrap = bootstrap
        self.control_topic = control_topic
        self.home = home
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "FLOW_BOOTSTRAP_SERVERS": bootstrap,
            "FLOW_CONTROL_TOPIC": control_topic,
        }
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        if topology is not None:
            self.env["FLOW_TOPOLOGY"] = str(topology)

    def start(self, *arguments: str, env: dict[str, str] | None = None, **options) -> subprocess.Popen:
        """The command in the background, its output in pipes, or where `options` say."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return spawn([str(BIN / "flow"), *arguments], env={**self.env, **(env or {})}, **{**pipes, **options})

    def run(self, *arguments: str, timeout_s: float = COMMAND_TIMEOUT_S, env: dict[str, str] | None = None) -> Done:
        return finish(self.start(*arguments, env=env), timeout_s)

    def ok(self, *arguments: str, timeout_s: float = COMMAND_TIMEOUT_S) -> str:
        """Runs a command that must succeed; returns its stdout."""
        done = self.run(*arguments, timeout_s=timeout_s)
        assert done.code == 0, f"flow {' '.join(arguments)}: exit {done.code}\n{done.out}{done.err}"
        return done.out

    def history(self, request: str) -> dict:
        """The one request's entry of `flow history ID -o json`."""
        found = json.loads(self.ok("history", request, "-o", "json"))
        entries = found if isinstance(found, list) else found.get("requests", [found])
        assert len(entries) == 1, entries
        return entries[0]


def finish(process: subprocess.Popen, timeout_s: float = COMMAND_TIMEOUT_S) -> Done:
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"not within {timeout_s} s: {' '.join(process.args)}\n{out}{err}") from None
    return Done(process.returncode, out, err)


def requested(out: str) -> str:
    """The id in `reset requested for 'cart': <uuid>`, or `... for group 'g': <uuid>`."""
    found = re.search(r"reset requested for .*: ([0-9a-f-]{36})$", out, re.MULTILINE)
    assert found, f"no id in: {out!r}"
    return str(uuid.UUID(found[1]))


class Engine:
    """One `flow engine` process with its own store folder."""

    def __init__(self, flow: Flow, store: pathlib.Path, fail_point: str = "", arguments: tuple[str, ...] = ()):
        self.store = store
        self._flow = flow
        self._fail_point = fail_point
        self._arguments = arguments
        self._log = store.parent / f"{store.name}.log"
        self._process: subprocess.Popen | None = None
        self._started_at = 0  # where this process's words begin in the log

    def start(self, fail_point: str | None = None, ready: bool = True) -> "Engine":
        """Starts it, with `fail_point` or the one that it was made with; "" for none."""
        assert self._process is None or self._process.poll() is not None, "it runs already"
        point = self._fail_point if fail_point is None else fail_point
        env = {**self._flow.env, **({"FLOW_FAIL_POINT": point} if point else {})}
        self._started_at = self._log.stat().st_size if self._log.exists() else 0
        with self._log.open("ab") as log:
            self._process = spawn([str(BIN / ("flow-faulty" if point else "flow")), "engine", "--store",
                                   str(self.store), *self._arguments], env=env, stdin=subprocess.DEVNULL, stdout=log,
                                  stderr=log)
        if ready:
            self.wait_ready()
        return self

    @property
    def pid(self) -> int:
        return self._process.pid

    def log(self) -> str:
        """What the running (or last) process has said."""
        with self._log.open("rb") as log:
            log.seek(self._started_at)
            return log.read().decode(errors="replace")

    def whole_log(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def _said(self, pattern: re.Pattern) -> bool:
        if pattern.search(self.log()):
            return True
        assert self._process.poll() is None, f"the engine ended with {self._process.returncode}:\n{self.log()}"
        return False

    def wait_ready(self, timeout_s: float = READY_TIMEOUT_S) -> None:
        """Until it says that it leads or follows."""
        wait_until(lambda: self._said(LEADS) or self._said(FOLLOWS), timeout_s,
                   lambda: f"the engine is ready:\n{self.log()}")

    def wait_leading(self, timeout_s: float = READY_TIMEOUT_S) -> None:
        wait_until(lambda: self._said(LEADS), timeout_s, lambda: f"the engine leads:\n{self.log()}")

    def wait_said(self, text: str, timeout_s: float = READY_TIMEOUT_S) -> None:
        wait_until(lambda: self._said(re.compile(re.escape(text))), timeout_s,
                   lambda: f"the engine says {text!r}:\n{self.log()}")

    def role(self) -> str:
        """What it last said of itself: "leads", "follows" or "" before it is ready."""
        said = [(match.start(), role) for role, pattern in (("leads", LEADS), ("follows", FOLLOWS))
                for match in pattern.finditer(self.log())]
        return max(said)[1] if said else ""

    def leader_number(self) -> int:
        """Of the term that it last began."""
        return int(re.findall(r"leader_number=(\d+)", self.log())[-1])

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def is_frozen(self) -> bool:
        return state_of(self.pid) == "T"

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)
        self.wait_frozen(5)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def wait_frozen(self, timeout_s: float = READY_TIMEOUT_S) -> None:
        """Until it is stopped, by us or by its own fail point."""
        wait_until(lambda: state_of(self.pid) == "T", timeout_s, lambda: f"the engine is stopped:\n{self.log()}")

    def terminate(self) -> int:
        """SIGTERM; returns its exit code, within the 10 s that it promises."""
        self._process.terminate()
        return self.wait_end(END_TIMEOUT_S)

    def wait_end(self, timeout_s: float = READY_TIMEOUT_S) -> int:
        """Its exit code; -9 after SIGKILL."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the engine did not end within {timeout_s} s:\n{self.log()}") from None

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)

    def has_crashed(self) -> bool:
        """By a signal that no test sends."""
        return self._process is not None and self._process.poll() in [-number for number in CRASHES]

    def close(self) -> None:
        """For teardown: whatever it does, it is gone afterwards; an end that nobody asked for is never overlooked."""
        assert not self.has_crashed(), f"the engine crashed: {self._process.returncode}\n{self.log()}"
        if self.is_running():
            self.thaw()
            self.kill()
