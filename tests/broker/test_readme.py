"""The README's first reset, run as it stands there; the build and the two commands are run by whoever runs this."""
import re
import subprocess

from support.flow import BIN
from support.process import ROOT

README = (ROOT / "README.md").read_text()


def test_the_first_reset(world, flow, orders, tmp_path):
    section = README.split("## A first reset on your own cluster")[1].split("\n## ")[0]
    (script,) = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    lines = [line for line in script.splitlines() if not line.startswith("cmake")]
    assert len(lines) == len(script.splitlines()) - 1
    script = "\n".join(lines)
    group = orders.group()
    for there, here in (("$PWD/build/release/bin", str(BIN)), ("broker1:9092", flow.env["FLOW_BOOTSTRAP_SERVERS"]),
                        ("/var/lib/flow", str(tmp_path / "store")), ("--group orders ", f"--group {group} "),
                            ("orders.v1", orders.topic)):
        assert there in script, there
        script = script.replace(there, here)
    done = subprocess.run(["bash", "-euc", script + "\nkill %1\nwait %1"], env=flow.env, text=True, capture_output=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert f"reset requested for group '{group}'" in done.stdout
    assert f"{group}: 3 partition(s) of '{orders.topic}' to earliest" in done.stdout
    assert "completed" in done.stdout
    assert world.committed(group) == orders.at(0)
    assert world.commit_values(group) == orders.values(20, 0)
