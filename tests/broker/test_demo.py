"""scripts/demo, as whoever tries the project runs it: twice, since nothing of the first may be in the second's way."""
import os
import pathlib
import subprocess

import pytest

from support.flow import BIN
from support.process import ROOT

DEMO_MAX_S = 120


def mentions(folder: pathlib.Path) -> list[str]:
    """The command lines of live processes that name a folder."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has ended
        if str(folder) in command:
            found.append(command)
    return found


@pytest.mark.parametrize("time", ["first", "second"])
def test_the_demo_shows_one_execution_and_leaves_nothing(time, tmp_path):
    env = {**os.environ, "FLOW_BIN_DIR": str(BIN), "TMPDIR": str(tmp_path)}
    done = subprocess.run([ROOT / "scripts" / "demo"], env=env, text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=DEMO_MAX_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines.count("cart.router.in: 3 partition(s) of 'shop.cart-events.v1' to earliest") == 1, done.stdout
    assert [line for line in lines if "commit(s) of offset 0" in line] == [
        f"partition {partition}: 1 commit(s) of offset 0" for partition in range(3)]
    assert list(tmp_path.iterdir()) == [] and mentions(tmp_path) == []
