"""scripts/bench works: it measures and prints its table. Nothing here asserts a speed."""
import subprocess

from support.process import ROOT

BENCH_MAX_S = 120


def test_a_row_is_measured_and_printed():
    done = subprocess.run([ROOT / "scripts" / "bench", "--quick", "--only", "done", "--repeat", "1"],
                          capture_output=True, text=True, timeout=BENCH_MAX_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()
            if line.startswith("|")]
    head, _, *measured = rows
    assert head == ["what", "flow", "peer", "ratio", "reach", "verdict"]
    assert [row[0] for row in measured] == ["request appended to done readable", "flow reset --wait, whole process"]
    for row in measured:
        assert row[1].endswith(" ms") and row[3].endswith(" x") and row[5] == "-", row
        assert row[2].startswith("kafka-consumer-groups: "), row
