"""The Kafka connector's own contract tests (tests/kafka), which are C++, against the same real broker."""
import os
import subprocess

from support.flow import BIN


def test_the_connector_keeps_its_contract(broker):
    contract = BIN / "kafka_contract"
    ran = subprocess.run([contract, "--durations", "yes"], env={**os.environ, "FLOW_TEST_BROKER": broker.address},
                         capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
