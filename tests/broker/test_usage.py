"""Promise 5: what every command says, and its exit code, where no broker is asked. Tables; one row a case."""
import re

import pytest

from support.flow import Flow

UUID = "1b7c2f0e-9a4d-4d3e-8f55-2f1c0b6e9a71"
NOWHERE = "127.0.0.1:19999"

# (arguments, what stderr says): exit 2, nothing on stdout. No broker is asked.
USAGE = [
    (["reset"], "name what to reset"),
    (["reset", "--group", "g", "--topic", "t"], "--to-earliest"),
    (["reset", "--group", "g", "--to-earliest"], "--group needs --topic"),
    (["reset", "--topic", "t", "--to-earliest"], "--topic goes with --group"),
    (["reset", "cart", "--group", "g", "--topic", "t"], "not both"),
    (["reset", "cart", "--topic", "t"], "--topic goes with --group"),
    (["reset", "--group", "g", "--topic", "t", "--to-earliest", "--streamlet", "s"],
     "--streamlet goes with a PIPELINE"),
    (["reset", "--group", "g", "--topic", "t", "--to-earliest", "--wait", "verified"], "--wait=verified"),
    (["reset", "--group", "g", "--topic", "t", "--to-earliest", "-n", "shop"], "--namespace goes with a PIPELINE"),
    (["reset", "--group", "g", "--group", "g", "--topic", "t", "--to-earliest"], "'g' is given twice"),
    (["reset", "--group", "g", "--topic", "t:0,x", "--to-earliest"], "'x' is no partition number"),
    (["reset", "--group", "g", "--topic", "t:-1", "--to-earliest"], "'-1' is no partition number"),
    (["reset", "--group", "g", "--topic", "t:1,1", "--to-earliest"], "given twice"),
    (["reset", "--group", "g", "--topic", "no such topic", "--to-earliest"], "'no such topic' is no topic name"),
    (["reset", "--group", "", "--topic", "t", "--to-earliest"], "is empty"),
    (["reset", "cart", "--timeout", "5s"], "--timeout goes with --wait"),
    (["reset", "cart", "--wait", "--timeout", "soon"], "soon"),
    (["reset", "cart", "--wait", "--timeout", "-5s"], "-5s"),
    (["reset", "cart", "--wait=perhaps"], "perhaps"),
    (["reset", "cart", "--expire-after", "1 fortnight"], "1 fortnight"),
    (["reset", "cart", "--id", "42"], "'42' is no UUID"),
    (["reset", "cart", "--no-such-flag"], "--no-such-flag"),
    (["reset", "cart", "-o", "xml"], "xml"),
    (["history", "--since", "yesterday-ish"], "yesterday-ish"),
    (["cancel"], "ID"),
    (["cancel", "42"], "42"),
    (["engine"], "--store"),
    (["topic"], "create"),
    (["no-such-command"], "no-such-command"),
    (["status", "--control-topic", "no such topic"], "no such topic"),
    (["status", "--context", "production"], "no context 'production'"),
    (["status", "--command-config", "/no/such/file"], "/no/such/file"),
    (["reset", "cart", "--topology", "/no/such/pipelines.yaml"], "/no/such/pipelines.yaml"),
]


def ids(rows) -> list[str]:
    return [" ".join(row[0])[:60] or "nothing" for row in rows]


@pytest.fixture(scope="module")
def away(tmp_path_factory):
    """`flow` where no broker answers."""
    return Flow(NOWHERE, "flow-control", tmp_path_factory.mktemp("home"))


@pytest.mark.parametrize("arguments, said", USAGE, ids=ids(USAGE))
def test_usage_errors_exit_2_and_name_the_value(arguments, said, away):
    done = away.run(*arguments)
    assert (done.code, done.out) == (2, ""), done
    assert said in done.err
    assert "terminate called" not in done.err and "exception" not in done.err.lower()


@pytest.mark.parametrize("command", [[], ["reset"], ["engine"], ["status"], ["history"], ["cancel"], ["topic"],
                                     ["topic", "create"], ["topic", "check"]], ids=lambda command: " ".join(command))
def test_help_on_every_level_has_an_example(command, away):
    done = away.run(*command, "--help")
    assert (done.code, done.err) == (0, "")
    assert re.search(r"(?im)^\s*examples?\b", done.out), done.out
    assert f"flow {' '.join(command)}".strip() in done.out


def test_version(away):
    done = away.run("--version")
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(r"flow \d+\.\d+\.\d+.*\n", done.out)


def test_nothing_says_where_kafka_is(away):
    done = away.run("status", env={"FLOW_BOOTSTRAP_SERVERS": ""})
    assert done.code == 2
    assert "--bootstrap-server" in done.err and "FLOW_BOOTSTRAP_SERVERS" in done.err


UNREACHABLE = [["status"], ["history"], ["cancel", UUID], ["topic", "check"], ["topic", "create"],
               ["reset", "--group", "g", "--topic", "t", "--to-earliest"],
               ["reset", "--group", "g", "--topic", "t", "--to-earliest", "--wait"]]


@pytest.mark.parametrize("arguments", UNREACHABLE, ids=" ".join)
def test_kafka_cannot_be_reached(arguments, away):
    done = away.run(*arguments, timeout_s=45)
    assert (done.code, done.out) == (2, ""), done
    assert re.search(rf"^(flow: )?cannot reach Kafka: .*{re.escape(NOWHERE)}", done.err, re.MULTILINE), done.err


@pytest.mark.parametrize("settings, said", [
    ("security.protocol=SSL\nssl.truststore.type=JKS\nssl.truststore.location=/etc/kafka/trust.jks\n",
     "ssl.truststore"),
    ("sasl.mechanism=GSSAPI\nsecurity.protocol=SASL_PLAINTEXT\n"
     "sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true;\n",
     "sasl.kerberos.keytab"),
    ("security.protocol=TELEPATHY\n", "telepathy"),
    ("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
     "sasl.jaas.config=com.example.Login required secret=hunter2;\n", "sasl.jaas.config"),
], ids=["jks", "gssapi", "protocol", "jaas"])
def test_client_properties_that_cannot_be_translated_are_named(settings, said, away, tmp_path):
    (tmp_path / "client.properties").write_text(settings)
    done = away.run("status", "--command-config", str(tmp_path / "client.properties"))
    assert done.code == 2 and said in done.err
    assert "hunter2" not in done.err
