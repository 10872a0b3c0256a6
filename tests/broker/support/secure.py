"""A broker with TLS, SASL and an authorizer; its certificates, users, and the rights that docs/security.md lists."""
import dataclasses
import fcntl
import os
import pathlib
import re
import secrets
import shlex
import subprocess

from .broker import QUICK, Broker
from .flow import Flow
from .process import ROOT
from .world import World

DOC = ROOT / "docs" / "security.md"
ADMIN = "admin"
PLAIN_USERS = ("flow", "ana", "olu", "ops")
LOGIN = "org.apache.kafka.common.security"
# librdkafka 2.0.2 cannot log in by SCRAM to Kafka 4 (docs/security.md), so SCRAM has an older broker.
SCRAM_KAFKA = "3.9.1"
PLAIN_KAFKA = "4.1.1"


def _openssl(folder: pathlib.Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=30)


def _signed(folder: pathlib.Path, name: str, authority: str, subject: str) -> None:
    """NAME.key and NAME.crt, for the name localhost alone, and both in NAME.pem."""
    _openssl(folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
             f"/CN={subject}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
    (folder / "names").write_text("subjectAltName=DNS:localhost\n")
    _openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key",
             "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", f"{name}.crt")
    (folder / f"{name}.pem").write_text((folder / f"{name}.key").read_text() + (folder / f"{name}.crt").read_text())


def make_certificates(folder: pathlib.Path) -> None:
    """ca.pem, which signed the broker and the client `known`, and other-ca.pem, which signed the client `stranger`."""
    for name in ("ca", "other-ca"):
        _openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                 "2", "-subj", f"/CN=flow-test-{name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")
    for name, authority in (("broker", "ca"), ("known", "ca"), ("stranger", "other-ca")):
        _signed(folder, name, authority, "localhost" if name == "broker" else name)


def jaas(mechanism: str, user: str, password: str, more: str = "") -> str:
    """As people write it: quoted, with the characters escaped that JAAS wants escaped, a semicolon at the end."""
    module = f"{LOGIN}.plain.PlainLoginModule" if mechanism == "PLAIN" else f"{LOGIN}.scram.ScramLoginModule"
    quoted = password.replace("\\", "\\\\").replace('"', '\\"')
    return f'{module} required username="{user}" password="{quoted}"{more};'


def properties_text(values: dict[str, str]) -> str:
    """A properties file; what such a file would take for an escape is escaped."""
    return "".join(f"{key}={value}\n".replace("\\", "\\\\") for key, value in values.items())


class SecureBroker:
    """One SASL_SSL listener on the name localhost, PLAIN and SCRAM, an authorizer. Shared by all test processes."""

    def __init__(self, folder: pathlib.Path, version: str):
        self.folder = folder
        self.version = version
        self._broker = Broker(folder / "broker", {}, version=version)
        self._world: World | None = None

    @classmethod
    def shared(cls, run: pathlib.Path, version: str, owner: int) -> "SecureBroker":
        """The run's only one of this version: whoever comes first starts it; it ends with the process `owner`."""
        folder = run / f"secure-{version}"
        folder.mkdir(exist_ok=True)
        one = cls(folder, version)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "started").exists():
                one._start(owner)
                (folder / "started").touch()
        return one

    def _start(self, owner: int) -> None:
        make_certificates(self.folder)
        for name in ("admin.password", "plain.password"):
            (self.folder / name).write_text(secrets.token_hex(12))
        users = "".join(f' user_{user}="{self.plain_password}"' for user in PLAIN_USERS)
        plain = jaas("PLAIN", ADMIN, self.admin_password, f' user_{ADMIN}="{self.admin_password}"{users}')
        listener = "listener.name.sasl_ssl"
        self._broker.settings = {
            **QUICK,
            "group.coordinator.rebalance.protocols": "classic,consumer",
            "listeners": "SASL_SSL://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
            "advertised.listeners": "SASL_SSL://localhost:{port}",
            "inter.broker.listener.name": "SASL_SSL",
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            f"{listener}.plain.sasl.jaas.config": plain,
            f"{listener}.scram-sha-256.sasl.jaas.config": f"{LOGIN}.scram.ScramLoginModule required;",
            f"{listener}.scram-sha-512.sasl.jaas.config": f"{LOGIN}.scram.ScramLoginModule required;",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": f"User:{ADMIN};User:ANONYMOUS",  # Anonymous is the controller's own listener.
            f"{listener}.ssl.client.auth": "requested",  # None is fine, a stranger's is not.
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.folder / "broker.pem"),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": self.ca,
        }
        self._broker.start(owner)

    @property
    def port(self) -> int:
        return int((self.folder / "broker" / "port").read_text())

    @property
    def address(self) -> str:
        return f"localhost:{self.port}"

    @property
    def ca(self) -> str:
        return str(self.folder / "ca.pem")

    @property
    def admin_password(self) -> str:
        return (self.folder / "admin.password").read_text()

    @property
    def plain_password(self) -> str:
        """Of PLAIN_USERS."""
        return (self.folder / "plain.password").read_text()

    def client(self, mechanism: str, user: str, password: str, **more: str) -> dict[str, str]:
        """A client's properties, as for Kafka's own tools; `more` with underscores for dots."""
        return {"security.protocol": "SASL_SSL", "sasl.mechanism": mechanism,
                "sasl.jaas.config": jaas(mechanism, user, password),
                "ssl.truststore.type": "PEM", "ssl.truststore.location": self.ca,
                **{name.replace("_", "."): value for name, value in more.items()}}

    def admin(self) -> dict[str, str]:
        return self.client("PLAIN", ADMIN, self.admin_password)

    def world(self) -> World:
        """An administrator's; made when it is first needed."""
        self._world = self._world or World(self.address, self.admin())
        return self._world

    def close(self) -> None:
        if self._world is not None:
            self._world.close()


@dataclasses.dataclass(frozen=True)
class Right:
    """One operation on one resource: what one `--operation` of a kafka-acls line grants."""
    operation: str
    resource: str  # the option: --topic, --group, --transactional-id, --cluster
    name: str
    prefixed: bool = False

    def arguments(self, principal: str) -> list[str]:
        return ["--add", "--allow-principal", principal, "--operation", self.operation,
                self.resource, *([self.name] if self.name else []),
                *(["--resource-pattern-type", "prefixed"] if self.prefixed else [])]


RESOURCES = ("--topic", "--group", "--transactional-id", "--cluster")


def documented(principal: str) -> list[Right]:
    """What the kafka-acls lines of docs/security.md give to a principal. A line that this cannot read is an error."""
    rights = []
    for line in re.findall(r"^kafka-acls .*$", DOC.read_text(), re.MULTILINE):
        words = shlex.split(line)[1:]
        assert words[0] == "--add" and words[1] == "--allow-principal", line
        if words[2] != principal:
            continue
        operations, resources, prefixed = [], [], False
        options = iter(words[3:])
        for option in options:
            if option == "--operation":
                operations.append(next(options))
            elif option in RESOURCES:
                resources.append((option, "" if option == "--cluster" else next(options)))
            else:
                assert (option, next(options)) == ("--resource-pattern-type", "prefixed"), line
                prefixed = True
        rights += [Right(operation, *resource, prefixed) for resource in resources for operation in operations]
    assert rights, f"{DOC} has no kafka-acls line for {principal}"
    return rights


class Tenant:
    """Users, a control topic, a topic and groups of one test's own on a secure broker, named in place of the page's."""

    def __init__(self, broker: SecureBroker, world: World, mechanism: str, name: str, folder: pathlib.Path):
        self._broker, self._world, self._mechanism, self._folder = broker, world, mechanism, folder
        self.control_topic = f"control-{name}"
        self.group_prefix = f"cart-{name}."
        self.topic_prefix = f"shop-{name}."
        self._name = name
        self._admin = self.write("admin", broker.admin())
        # As a password may be: what JAAS and property files treat in a way of their own.
        self.password = broker.plain_password if mechanism == "PLAIN" else f'{secrets.token_hex(8)}"\\; =#:{{}} end'
        self._made: set[str] = set()

    def user(self, role: str) -> str:
        """flow, ana, olu or ops; those of a SCRAM broker are made when they are first named."""
        if self._mechanism == "PLAIN":
            return role
        user = f"{role}-{self._name}"
        if user not in self._made:
            self._world.ask("user.create", user=user, password=self.password, mechanism=self._mechanism)
            self._made.add(user)
        return user

    def set_password(self, role: str, password: str) -> None:
        self._world.ask("user.create", user=self.user(role), password=password, mechanism=self._mechanism)

    def here(self, right: Right) -> Right:
        """The page's right with this tenant's names."""
        names = {"flow-control": self.control_topic, "cart.": self.group_prefix, "shop.": self.topic_prefix,
                 "flow-engine.flow-control": f"flow-engine.{self.control_topic}",
                 "flow.flow-control": f"flow.{self.control_topic}"}
        return dataclasses.replace(right, name=names[right.name])

    def grant(self, role: str, *rights: Right) -> None:
        self._allow(role, [self.here(right) for right in rights])

    def grant_by_tool(self, role: str) -> None:
        """What the page gives to this role, by Kafka's own kafka-acls."""
        for right in documented(f"User:{role}"):
            done = self._world.tool("kafka-acls", "--command-config", self._admin,
                                    *self.here(right).arguments(f"User:{self.user(role)}"))
            assert done["exit"] == 0 and "Adding ACLs" in done["stdout"], done

    def _allow(self, role: str, rights: list[Right]) -> None:
        self._world.ask("user.allow", user=self.user(role), rights=[
            {**dataclasses.asdict(right), "resource": right.resource.removeprefix("--")} for right in rights])

    def grant_exactly(self, role: str, operation: str, resource: str, name: str) -> None:
        """A right on a name of this test's own, not prefixed."""
        self._allow(role, [Right(operation, resource, name)])

    def grant_documented(self, role: str, without: Right | None = None) -> None:
        self.grant(role, *(right for right in documented(f"User:{role}") if right != without))

    def write(self, name: str, values: dict[str, str]) -> str:
        path = self._folder / f"{name}.properties"
        path.write_text(properties_text(values))
        return str(path)

    def properties(self, role: str, **more: str) -> str:
        """The file with this role's login."""
        return self.write(role, self._broker.client(self._mechanism, self.user(role), self.password, **more))

    def flow(self, role: str, **more: str) -> Flow:
        """`flow` as this role runs it."""
        home = self._folder / f"home-{role}"
        home.mkdir(exist_ok=True)
        one = Flow(self._broker.address, self.control_topic, home)
        one.env["FLOW_COMMAND_CONFIG"] = self.properties(role, **more)
        return one
