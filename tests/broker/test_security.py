"""TLS, logins and rights, on brokers with an authorizer: what docs/security.md promises, and what each refusal says."""
import dataclasses
import os
import pathlib
import re
import subprocess

import pytest
from support.control import ControlTopic
from support.flow import BIN, Engine, Flow, finish, requested
from support.process import wait_until
from support.scenario import reset_arguments, wait_done
from support.secure import PLAIN_KAFKA, SCRAM_KAFKA, SecureBroker, Tenant, documented, jaas, properties_text

PARTITIONS, RECORDS = 3, 5
KAFKA_OF = {"SCRAM-SHA-256": SCRAM_KAFKA, "SCRAM-SHA-512": SCRAM_KAFKA, "PLAIN": PLAIN_KAFKA}
NO_RIGHT = re.compile(r"not authorised: (\w+) on (topic|group|transactional id) '([^']+)'")


@pytest.fixture(scope="session")
def secure_broker(tmp_path_factory):
    """secure_broker("3.9.1"); one broker of a version for all test processes of this run."""
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    run = tmp_path_factory.getbasetemp().parent if is_worker else tmp_path_factory.getbasetemp()
    owner = os.getppid() if is_worker else os.getpid()
    made = {}

    def get(version: str):
        if version not in made:
            made[version] = SecureBroker.shared(run, version, owner)
        return made[version]

    yield get
    for broker in made.values():
        broker.close()


class Shop:
    """A tenant's control topic, a topic `orders`, and groups that stand at its end; all made by an administrator."""

    def __init__(self, broker, world, tenant: Tenant, stores: pathlib.Path, engines: list[Engine]):
        self.broker, self.world, self.tenant, self._stores = broker, world, tenant, stores
        self.topic = tenant.topic_prefix + "orders"
        self.engines = engines

    def make_topics(self, control: bool = True) -> ControlTopic:
        if control:
            self.world.create_topic(self.tenant.control_topic, 1, {"cleanup.policy": "compact"})
        self.world.create_topic(self.topic, PARTITIONS)
        self.world.fill(self.topic, RECORDS)
        return ControlTopic(self.world, self.tenant.control_topic)

    def at(self, offset: int) -> dict:
        return {(self.topic, partition): offset for partition in range(PARTITIONS)}

    def group(self, name: str = "router") -> str:
        group = self.tenant.group_prefix + name
        self.world.commit(group, self.at(RECORDS))
        return group

    def engine(self, *arguments: str, **more: str) -> Engine:
        """As User:flow, with its login's properties and `more`; not ready yet."""
        one = Engine(self.tenant.flow("flow", **more), self._stores / f"store-{len(self.engines)}", arguments=arguments)
        self.engines.append(one)
        return one.start(ready=False)

    def reset(self, group: str, *more: str, role: str = "ana", timeout_s: float = 60):
        return self.tenant.flow(role).run(*reset_arguments([group], self.topic, *more), timeout_s=timeout_s)


@pytest.fixture
def new_shop(request, secure_broker, fresh, tmp_path):
    made: list[Shop] = []
    engines = request.node.engines = []  # A failed test shows what they said.

    def make(mechanism: str = "SCRAM-SHA-256") -> Shop:
        broker = secure_broker(KAFKA_OF[mechanism])
        world = broker.world()
        name = fresh("t").replace(".", "-")
        folder = tmp_path / f"shop-{len(made)}"
        folder.mkdir()
        made.append(Shop(broker, world, Tenant(broker, world, mechanism, name, folder), folder, engines))
        return made[-1]

    yield make
    for engine in engines:
        engine.close()


@pytest.fixture
def person(fresh, tmp_path):
    """`flow` of somebody whose settings file says everything, the broker included."""
    home = tmp_path / "home"
    home.mkdir()
    one = Flow("", fresh("control"), home)
    del one.env["FLOW_BOOTSTRAP_SERVERS"]
    return one


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN"])
def test_the_documented_rights_are_enough(new_shop, mechanism):
    shop = new_shop(mechanism)
    for role in ("flow", "ana", "olu", "ops"):
        shop.tenant.grant_by_tool(role)
    shop.tenant.flow("ops").ok("topic", "create")
    control = shop.make_topics(control=False)
    shop.engine().wait_leading()

    moved, held = shop.group("router"), shop.group("billing")
    for group, more in ((moved, ()), (held, ("--hold",))):
        done = shop.reset(group, "--wait", *more)
        assert done.code == 0, done.err
        assert control.outcomes(requested(done.out)) == ["completed"]
        assert shop.world.committed(group) == shop.at(0)
        assert shop.world.commit_values(group) == {place: [RECORDS, 0] for place in shop.at(0)}

    looks = shop.tenant.flow("olu")
    assert moved in looks.ok("status") and requested(done.out) in looks.ok("history")
    looks.ok("topic", "check")
    refused = shop.reset(moved, role="olu")
    assert refused.code == 1
    assert NO_RIGHT.search(refused.err).groups() == ("Write", "topic", shop.tenant.control_topic), refused.err
    # Who may ask may not act: Kafka's own tool refuses ana what the engine did for her.
    by_hand = shop.world.tool("kafka-consumer-groups", "--command-config", shop.tenant.properties("ana"), "--group",
                              held, "--topic", shop.topic, "--reset-offsets", "--to-latest", "--execute")
    assert "GroupAuthorizationException" in by_hand["stderr"], by_hand
    assert shop.world.committed(held) == shop.at(0)


# What the engine says without each of the lines that docs/security.md lists, and whether it ends because of it.
MISSING = {
    ("Read", "--topic", "flow-control"): ("Read", "topic", True),
    ("Write", "--topic", "flow-control"): ("Write", "topic", False),
    ("DescribeConfigs", "--topic", "flow-control"): ("DescribeConfigs", "topic", True),
    ("Read", "--group", "flow-engine.flow-control"): ("Read", "group", False),
    ("Write", "--transactional-id", "flow.flow-control"): ("Write", "transactional id", False),
}
# Of a request's own groups and topics: its request is refused, nobody else's.
REFUSED = {("Read", "--group", "cart."): "group", ("Read", "--topic", "shop."): "topic"}


def of(right) -> tuple[str, str, str]:
    return right.operation, right.resource, right.name


def right_of(key: tuple[str, str, str], role: str = "flow"):
    (found,) = [right for right in documented(f"User:{role}") if of(right) == key]
    return found


def test_every_documented_right_of_the_engine_is_tried_without():
    assert {of(right) for right in documented("User:flow")} == {*MISSING, *REFUSED}


@pytest.mark.parametrize("key", MISSING, ids="-".join)
def test_without_a_right_the_engine_names_it_and_moves_nothing(new_shop, key):
    shop = new_shop()
    control = shop.make_topics()
    shop.tenant.grant_documented("flow", without=right_of(key))
    shop.tenant.grant_documented("ana")
    group = shop.group()
    request = shop.tenant.flow("ana").ok(*reset_arguments([group], shop.topic, "-q")).strip()
    engine = shop.engine()
    operation, kind, ends = MISSING[key]
    name = shop.tenant.here(right_of(key)).name
    wait_until(lambda: (operation, kind, name) in NO_RIGHT.findall(engine.log()), 20,
               lambda: f"the engine names {operation} on {kind} '{name}':\n{engine.log()}")
    if ends:
        assert engine.wait_end() == 1
    assert shop.world.committed(group) == shop.at(RECORDS) and not control.outcomes(request)

    # With the right it goes on by itself; where it ended, when it is started again.
    shop.tenant.grant("flow", right_of(key))
    if ends:
        engine.start(ready=False)
    assert wait_done(control, request) == "completed"
    assert shop.world.committed(group) == shop.at(0)


GROUP, TOPIC = REFUSED


@pytest.mark.parametrize("key, instead", [
    pytest.param(GROUP, "nothing", id="group"), pytest.param(GROUP, "Describe", id="group, Describe"),
    pytest.param(GROUP, "Describe, held", id="group, Describe, held"), pytest.param(TOPIC, "nothing", id="topic"),
    pytest.param(TOPIC, "Describe", id="topic, Describe")])
def test_a_request_that_the_engine_may_not_carry_out_is_refused_by_name(new_shop, key, instead):
    """Without a look, and with a look but no right to move, where the broker refuses the offsets or the hold."""
    shop = new_shop()
    control = shop.make_topics()
    shop.tenant.grant_documented("flow", without=right_of(key))
    shop.tenant.grant_documented("ana")
    group = shop.group()
    name = {"group": group, "topic": shop.topic}[REFUSED[key]]
    operation = "Describe"
    if instead != "nothing":
        shop.tenant.grant("flow", dataclasses.replace(right_of(key), operation="Describe"))
        operation = "Read"
    shop.engine()
    done = shop.reset(group, "--wait", *(["--hold"] if "held" in instead else []))
    request = requested(done.out)
    assert done.code == 1
    assert f"reset {request} refused: not authorised: {operation} on {REFUSED[key]} '{name}'" in done.err, done.err
    assert control.outcomes(request) == ["refused"]
    assert shop.world.committed(group) == shop.at(RECORDS)
    assert shop.world.commit_values(group) == {place: [RECORDS] for place in shop.at(0)}


def test_a_group_without_rights_does_not_keep_the_others(new_shop):
    shop = new_shop()
    control = shop.make_topics()
    groups = right_of(("Read", "--group", "cart."))
    shop.tenant.grant_documented("flow", without=groups)
    shop.tenant.grant_documented("ana")
    mine, other, third = shop.group("mine"), shop.group("other"), shop.group("third")
    for group in (mine, third):
        shop.tenant.grant_exactly("flow", "Read", "--group", group)
    shop.engine()
    flow = shop.tenant.flow("ana")
    asked = flow.start(*reset_arguments([mine, other], shop.topic, "--wait"))
    atomic = flow.start(*reset_arguments([third, other], shop.topic, "--wait", "--atomic"))
    done = finish(asked)
    assert done.code == 1
    assert f"{other}: not authorised: Describe on group '{other}'" in done.out + done.err
    assert control.outcomes(requested(done.out)) == ["completed_with_failures"]
    assert shop.world.committed(mine) == shop.at(0) and shop.world.committed(other) == shop.at(RECORDS)
    done = finish(atomic)
    assert done.code == 1 and control.outcomes(requested(done.out)) == ["refused"]
    assert f"refused: not authorised: Describe on group '{other}'" in done.err, done
    assert shop.world.committed(third) == shop.at(RECORDS)
    assert shop.world.commit_values(third) == {place: [RECORDS] for place in shop.at(0)}
    assert shop.reset(third, "--wait").code == 0 and shop.world.committed(third) == shop.at(0)


@pytest.mark.parametrize("given", ["nothing", "Describe", "Describe, held"])
def test_a_group_moves_on_all_its_topics_or_on_none(new_shop, given):
    """Kafka itself takes the offsets of the topics that it may take, within the transaction."""
    shop = new_shop()
    control = shop.make_topics()
    returns = shop.world.create_topic(shop.tenant.topic_prefix + "returns")
    shop.world.fill(returns, RECORDS)
    shop.tenant.grant_documented("flow", without=right_of(TOPIC))
    shop.tenant.grant_documented("ana")
    shop.tenant.grant_exactly("flow", "Read", "--topic", shop.topic)
    says = f"not authorised: Describe on topic '{returns}'"
    if given != "nothing":
        shop.tenant.grant_exactly("flow", "Describe", "--topic", returns)
        says = f"not authorised: Read on one of the topics '{shop.topic}', '{returns}'"
    group = shop.group()
    shop.world.commit(group, {(returns, 0): RECORDS})
    before = {**shop.at(RECORDS), (returns, 0): RECORDS}
    shop.engine()
    done = shop.reset(group, "--topic", returns, "--wait", *(["--hold"] if "held" in given else []))
    assert done.code == 1 and f" refused: {says}" in done.err, done
    assert control.outcomes(requested(done.out)) == ["refused"]
    assert shop.world.committed(group) == before
    assert shop.world.commit_values(group) == {place: [RECORDS] for place in before}


# (role, right that is missing, command) -> (exit code, what it says). "{...}" are this test's names.
ASKING = [
    ("ana", ("Read", "--topic", "flow-control"), "reset", 0, ""),  # To ask, writing is enough.
    ("ana", ("Read", "--topic", "flow-control"), "status", 1, "not authorised: Read on topic '{control}'"),
    ("ana", ("Read", "--topic", "flow-control"), "history", 1, "not authorised: Read on topic '{control}'"),
    ("ana", ("Write", "--topic", "flow-control"), "reset", 1, "not authorised: Write on topic '{control}'"),
    ("ana", ("DescribeConfigs", "--topic", "flow-control"), "reset", 0, ""),
    ("ana", ("DescribeConfigs", "--topic", "flow-control"), "status", 1,
     "not authorised: DescribeConfigs on topic '{control}'"),
    ("ana", ("Describe", "--group", "flow-engine.flow-control"), "status", 0,
     "cannot see whether an engine runs: not authorised: Describe on group 'flow-engine.{control}'"),
    ("ana", ("Describe", "--group", "cart."), "reset", 0,
     "cannot look before asking, the engine will: not authorised: Describe on group '{group}'"),
    ("ana", ("Describe", "--topic", "shop."), "reset", 0,
     "cannot look before asking, the engine will: not authorised: Describe on topic '{topic}'"),
    ("ops", ("Create", "--topic", "flow-control"), "create", 1, "not authorised: Create on topic '{control}'"),
    ("ops", ("Describe", "--topic", "flow-control"), "create", 1, "not authorised: Describe on topic '{control}'"),
    ("ops", ("DescribeConfigs", "--topic", "flow-control"), "create", 1,
     "not authorised: DescribeConfigs on topic '{control}'"),
]


@pytest.mark.parametrize("role", ["ana", "ops"])
def test_a_person_without_a_right_is_told_which(new_shop, role):
    assert {key for who, key, *_ in ASKING if who == role} == {of(right) for right in documented(f"User:{role}")}
    for key in dict.fromkeys(key for who, key, *_ in ASKING if who == role):
        shop = new_shop()
        shop.make_topics(control=role != "ops")
        group = shop.group()
        shop.tenant.grant_documented(role, without=right_of(key, role))
        commands = {"reset": reset_arguments([group], shop.topic), "status": ["status"], "history": ["history"],
                    "create": ["topic", "create"]}
        for who, missing, command, code, says in ASKING:
            if (who, missing) == (role, key):
                done = shop.tenant.flow(role).run(*commands[command])
                told = says.format(control=shop.tenant.control_topic, group=group, topic=shop.topic)
                assert (done.code, told in done.err) == (code, True), (key, command, done)


WRONG_SCRAM = ("turned us away: SASL authentication error: Authentication failed during authentication due to invalid "
               "credentials with SASL mechanism SCRAM-SHA-256; user or password are wrong, or the broker is Kafka 4.0 "
               "or newer")
LOGINS = {
    "a wrong password by SCRAM": (SCRAM_KAFKA, "SCRAM-SHA-256", {}, WRONG_SCRAM),
    "a wrong password by PLAIN": (PLAIN_KAFKA, "PLAIN", {}, "turned us away: SASL authentication error: "
                                  "Authentication failed: Invalid username or password"),
    "SCRAM on Kafka 4": (PLAIN_KAFKA, "SCRAM-SHA-256", {"right": True}, "to which librdkafka 2.0.2 cannot log in by "
                         "SCRAM: use PLAIN over SASL_SSL there, or run flow with librdkafka 2.6.1 or newer"),
    "a wrong authority": (PLAIN_KAFKA, "PLAIN", {"ssl.truststore.location": "{folder}/other-ca.pem"},
                          "turned us away: the certificate of 'localhost' is not accepted: its issuer "
                          "'/CN=flow-test-ca' is not trusted here; name the issuer's certificate (PEM) with "
                          "ssl.truststore.location"),
    "another name": (PLAIN_KAFKA, "PLAIN", {"bootstrap.servers": "127.0.0.1:{port}"},
                     "turned us away: the certificate of '127.0.0.1' is not accepted: it is for 'localhost'; call the "
                     "broker by that name, or set ssl.endpoint.identification.algorithm= (empty)"),
    "no TLS": (PLAIN_KAFKA, "PLAIN", {"security.protocol": "SASL_PLAINTEXT"},
               "the broker ends the connection at once; security.protocol is sasl_plaintext here, and this listener "
               "may want another one"),
    "no login": (PLAIN_KAFKA, "PLAIN", {"security.protocol": "SSL"},
                 "the broker ends the connection at once; security.protocol is ssl here, and this listener may want "
                 "another one"),
    "no such mechanism": (SCRAM_KAFKA, "GSSAPI", {"sasl.jaas.config": ""}, "client settings: "),
    "an unreadable authority": (SCRAM_KAFKA, "PLAIN", {"ssl.truststore.location": "", "ssl.ca.location": "/no/such"},
                                "client settings: ssl.ca.location failed"),
}


@pytest.mark.parametrize("what", LOGINS)
def test_a_login_that_fails_says_why(secure_broker, tmp_path, person, what):
    version, mechanism, changes, says = LOGINS[what]
    broker = secure_broker(version)
    password = "Sesame-open-7"
    if mechanism.startswith("SCRAM"):
        user = "right" if "right" in changes else "wrong"
        broker.world().ask("user.create", user=user, password=password if user == "right" else "another")
    else:
        user = "flow"
    values = {**broker.client(mechanism, user, password), "bootstrap.servers": broker.address}
    if what == "another name":
        values["sasl.jaas.config"] = jaas("PLAIN", "flow", broker.plain_password)
    for key, value in changes.items():
        if key != "right":
            values[key] = value.format(folder=broker.folder, port=broker.port)
    path = tmp_path / "client.properties"
    path.write_text(properties_text({key: value for key, value in values.items() if value}))
    done = person.run("status", "--command-config", str(path))
    assert done.code == 2 and says in done.err, done
    assert len(done.err.splitlines()) == 1 and password not in done.out + done.err


def test_an_engine_waits_for_its_password(new_shop):
    shop = new_shop()
    shop.make_topics()
    shop.tenant.grant_documented("flow")
    shop.tenant.user("flow")
    shop.tenant.set_password("flow", "another")
    engine = shop.engine()
    engine.wait_said("waiting for the broker: settings of topic")
    assert WRONG_SCRAM in engine.log() and shop.tenant.password not in engine.log()
    shop.tenant.set_password("flow", shop.tenant.password)
    engine.wait_leading()


def in_file(password: str) -> list[str]:
    """The password as it is, and as a settings file writes it."""
    escaped = jaas("PLAIN", "", password).split('password="')[1].rstrip('";')
    return [password, escaped, escaped.replace("\\", "\\\\"), password.split('"')[0]]


def test_passwords_appear_nowhere(new_shop):
    """Not in logs at any level, with all of librdkafka's own debugging on; not in errors, helps or the process list."""
    shop = new_shop()
    shop.make_topics()
    for role in ("flow", "ana"):
        shop.tenant.grant_documented(role)
    group = shop.group()
    told: dict[str, str] = {}
    listed: dict[str, bytes] = {}
    for level, form in (("trace", "text"), ("debug", "json")):
        engine = shop.engine("--log-level", level, "--log-format", form, debug="all")
        engine.wait_leading()
        listed[level] = pathlib.Path(f"/proc/{engine.pid}/cmdline").read_bytes()
        flow = shop.tenant.flow("ana", debug="all")
        waiting = flow.start(*reset_arguments([group], shop.topic, "-v", "--wait"))
        listed[f"reset {level}"] = pathlib.Path(f"/proc/{waiting.pid}/cmdline").read_bytes()
        done = finish(waiting)
        assert done.code == 0, done.err
        told[f"reset {level}"] = done.out + done.err
        engine.terminate()
        told[level] = engine.whole_log()
    assert "Sent ApiVersionRequest" in told["trace"], "librdkafka's debugging is in the log"
    flow.env["FLOW_COMMAND_CONFIG"] = shop.tenant.properties("ana", debug="all")
    for words in (["status"], ["history"], ["topic", "check"], ["--help"], ["engine", "--help"], ["reset", "--help"],
                  ["status", "--no-such-option"], ["cancel", "no-id"]):
        done = flow.run(*words, "-v") if "--help" not in words else flow.run(*words)
        told[" ".join(words)] = done.out + done.err
    shop.tenant.set_password("ana", "another")
    done = flow.run("status", "-v")
    assert done.code == 2
    told["a wrong password"] = done.out + done.err
    for secret in in_file(shop.tenant.password):
        assert [where for where, text in told.items() if secret in text] == [], secret
        assert [where for where, text in listed.items() if secret.encode() in text] == [], secret


PASSWORD = 'p"a\\s=s;w: #!\'0'
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
QUOTED = PASSWORD.replace("\\", "\\\\").replace('"', '\\"')
IN_FILE = QUOTED.replace("\\", "\\\\")
FILES = {
    "one line": f'sasl.jaas.config={SCRAM} required username="{{user}}" password="{IN_FILE}";',
    "lines that go on": f'sasl.jaas.config = {SCRAM} required \\\n   username="{{user}}" \\\n   password="{IN_FILE}" ;',
    "unquoted name": f'sasl.jaas.config:{SCRAM} REQUIRED username={{user}}\tpassword="{IN_FILE}";',
    "from Windows": f'# comment\r\nsasl.jaas.config={SCRAM} required username="{{user}}" password="{IN_FILE}";\r\n',
    "with an escape for each character": "sasl.jaas.config=" + SCRAM + ' required username="{user}" password="'
                                         + "".join(f"\\u{ord(each):04x}" for each in QUOTED) + '";',
    "librdkafka's names": "sasl.username={user}\nsasl.password=" + PASSWORD.replace("\\", "\\\\"),
}


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("trust", ["file", "text"])
def test_settings_files_as_people_have_them(secure_broker, fresh, person, tmp_path, form, trust):
    broker = secure_broker(SCRAM_KAFKA)
    user = fresh("person")
    broker.world().ask("user.create", user=user, password=PASSWORD)
    text = "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-256\nbootstrap.servers=" + broker.address + "\n"
    pem = pathlib.Path(broker.ca).read_text().strip().replace("\n", " \\\n  ")
    text += "ssl.truststore.type=PEM\n" + {"file": f"ssl.truststore.location={broker.ca}\n",
                                           "text": f"ssl.truststore.certificates={pem}\n"}[trust]
    path = tmp_path / "client.properties"
    path.write_bytes((text + FILES[form].format(user=user)).encode())
    done = person.run("topic", "check", "--command-config", str(path))
    # This person may log in and has no right at all.
    assert (done.code, done.err) == (1, f"not authorised: DescribeConfigs on topic '{person.control_topic}'\n"), done


@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
def test_the_way_out_of_a_java_store_works(secure_broker, person, tmp_path, kind):
    broker = secure_broker(PLAIN_KAFKA)
    store = tmp_path / "trust.store"
    subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", broker.ca, "-keystore", store,
                    "-storetype", kind, "-storepass", "Sesame-open-7"], check=True, capture_output=True)
    values = {**broker.client("PLAIN", "olu", broker.plain_password), "bootstrap.servers": broker.address,
              "ssl.truststore.type": kind, "ssl.truststore.location": str(store),
              "ssl.truststore.password": "Sesame-open-7"}
    path = tmp_path / "client.properties"
    path.write_text(properties_text(values))
    done = person.run("topic", "check", "--command-config", str(path))
    assert done.code == 2 and "Sesame" not in done.err, done
    command = re.search(r"(keytool -list -rfc -keystore '[^']+') > ca\.pem; then set (\S+)=PEM and (\S+)=ca\.pem",
                        done.err)
    assert command, done.err
    with (tmp_path / "ca.pem").open("wb") as pem:
        subprocess.run(f"{command[1]} -storepass Sesame-open-7", shell=True, check=True, stdout=pem,
                       stderr=subprocess.DEVNULL)
    path.write_text(properties_text({**values, command[2]: "PEM",
                                     command[3]: str(tmp_path / "ca.pem")}))
    done = person.run("topic", "check", "--command-config", str(path))
    assert done.code == 1 and done.err.startswith("not authorised: DescribeConfigs"), done


KEY_STORES = {
    "PEM in a file": {"ssl.keystore.type": "PEM", "ssl.keystore.location": "{folder}/{who}.pem"},
    "PEM in the text": {"ssl.keystore.type": "PEM", "ssl.keystore.key": "{key}",
                        "ssl.keystore.certificate.chain": "{certificate}"},
    "PKCS12": {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": "{store}",
               "ssl.keystore.password": "Sesame-open-7", "ssl.key.password": "Sesame-open-7"},
}


@pytest.mark.parametrize("form", KEY_STORES)
def test_a_clients_own_certificate_is_shown_to_the_broker(secure_broker, person, tmp_path, form):
    """The broker takes it or does not: what a stranger is told proves that the known one's was looked at."""
    broker = secure_broker(PLAIN_KAFKA)
    said = {}
    for who in ("known", "stranger"):
        store = tmp_path / f"{who}.p12"
        subprocess.run(["openssl", "pkcs12", "-export", "-in", broker.folder / f"{who}.pem", "-out", store, "-passout",
                        "pass:Sesame-open-7"], check=True)
        texts = {part: (broker.folder / f"{who}.{part}").read_text().strip().replace("\n", " ")
                 for part in ("key", "crt")}
        values = {key: value.format(folder=broker.folder, who=who, store=store, key=texts["key"],
                                    certificate=texts["crt"]) for key, value in KEY_STORES[form].items()}
        path = tmp_path / f"{who}.properties"
        path.write_text(properties_text({**broker.client("PLAIN", "olu", broker.plain_password), **values,
                                         "bootstrap.servers": broker.address}))
        said[who] = person.run("topic", "check", "--command-config", str(path))
        assert "Sesame" not in said[who].err and "PRIVATE KEY" not in said[who].err
    assert said["known"].err.startswith("not authorised: DescribeConfigs"), said["known"]
    assert said["stranger"].code == 2
    assert "turned us away: the broker wants a certificate of this client and does not accept this one" \
        in said["stranger"].err, said["stranger"]


def test_nothing_takes_a_password_as_an_argument():
    """So that none can stand in the process list or in a shell's history."""
    helps = [subprocess.run([BIN / "flow", *words, "--help"], capture_output=True, text=True, check=True).stdout
             for words in ([], ["engine"], ["reset"], ["status"], ["history"], ["cancel"], ["topic", "create"])]
    assert not re.search(r"--\S*(password|secret|token|jaas)", "".join(helps), re.IGNORECASE)
