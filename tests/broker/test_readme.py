"""The README's first reset, run as it stands there; the build and the two commands are run by whoever runs this."""
import os
import re
import subprocess

from support.flow import BIN
from support.java import jars
from support.process import ROOT

README = (ROOT / "README.md").read_text()


def kafka_scripts(folder):
    """Kafka's own script, as a Kafka distribution has it; Maven has its classes only."""
    script = folder / "scripts" / "kafka-consumer-groups.sh"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec java -cp "{jars()}/*" '
                      'org.apache.kafka.tools.consumer.group.ConsumerGroupCommand "$@"\n')
    script.chmod(0o755)
    return script.parent


def test_the_first_reset(world, flow, orders, tmp_path):
    section = README.split("## A first reset on your own cluster")[1].split("\n## ")[0]
    (script,) = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    lines = [line for line in script.splitlines() if not line.startswith(("cmake", "scripts/setup"))]
    assert len(lines) == len(script.splitlines()) - 2 <= 8
    script = "\n".join(lines)
    group = orders.group()
    for there, here in (("$PWD/build/release/bin", str(BIN)), ("broker1:9092", flow.env["FLOW_BOOTSTRAP_SERVERS"]),
                        ("/var/lib/flow", str(tmp_path / "store")), ("--group orders ", f"--group {group} "),
                            ("orders.v1", orders.topic)):
        assert there in script, there
        script = script.replace(there, here)
    env = {**flow.env, "PATH": f"{kafka_scripts(tmp_path)}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-euc", script + "\nkill %1\nwait %1"], cwd=ROOT, env=env, text=True,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert f"reset requested for group '{group}'" in done.stdout
    assert f"{group}: 3 partition(s) of '{orders.topic}' to earliest" in done.stdout
    assert "completed" in done.stdout
    described = done.stdout.split("completed")[1]
    assert re.findall(rf"{re.escape(group)} +{re.escape(orders.topic)} +\d +(\d+) +20 +20", described) == ["0"] * 3
    assert world.committed(group) == orders.at(0)
    assert world.commit_values(group) == orders.values(20, 0)
