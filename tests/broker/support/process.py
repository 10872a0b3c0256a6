"""Child processes that never outlive the tests, and waiting with a deadline."""
import ctypes
import os
import pathlib
import signal
import subprocess
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[3]
_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """Runs in the child before exec: SIGKILL when the test process ends, however it ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # Tests that run in a shell's background have it ignored, and so would have what they start.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def spawn(command: list[str], **options) -> subprocess.Popen:
    return subprocess.Popen(command, preexec_fn=_die_with_parent, **options)


def wait_until(claim: Callable[[], object], timeout_s: float, what: str | Callable[[], str], every_s: float = 0.02):
    """Polls until `claim` is true, and returns its value; fails with `what` after `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = claim()
        if value:
            return value
        if time.monotonic() > deadline:
            told = what() if callable(what) else what
            raise AssertionError(f"not within {timeout_s} s: {told}")
        time.sleep(every_s)


def state_of(pid: int) -> str:
    """The kernel's letter for a process: R, S, T (stopped), Z (ended, not yet waited for), or '' when it is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def cpu_seconds(pid: int) -> float:
    """User and system time that a process has used so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_share(seconds: float, *pids: int) -> float:
    """How much of one core the busiest of some processes uses over the next `seconds`."""
    before, began = [cpu_seconds(pid) for pid in pids], time.monotonic()
    time.sleep(seconds)
    return max(cpu_seconds(pid) - used for pid, used in zip(pids, before)) / (time.monotonic() - began)
