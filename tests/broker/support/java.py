"""Where Kafka's jars are, and the tests' own Java program compiled against them."""
import hashlib
import os
import pathlib
import subprocess
import tempfile

from .process import ROOT

VERSION = os.environ.get("KAFKA_VERSION", "4.1.1")
SOURCES = ROOT / "tests" / "support" / "java"


def jars(version: str = VERSION) -> pathlib.Path:
    """Kafka's jars of a version; scripts/setup fetches them where they are not there yet."""
    libs = ROOT / "build" / "kafka" / version / "libs"
    if not libs.is_dir():
        subprocess.run([ROOT / "scripts" / "setup"], check=True, env={**os.environ, "KAFKA_VERSION": version})
    return libs


def world_classes() -> pathlib.Path:
    """Compiles tests/support/java once for each content and Kafka version."""
    sources = sorted(SOURCES.glob("*.java"))
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.name.encode() + source.read_bytes())
    classes = ROOT / "build" / "world" / f"{VERSION}-{digest.hexdigest()[:16]}"
    if not classes.is_dir():
        classes.parent.mkdir(parents=True, exist_ok=True)
        fresh = tempfile.mkdtemp(dir=classes.parent)
        subprocess.run(["javac", "-nowarn", "-Xlint:-options", "-d", fresh, "-cp", f"{jars()}/*", *map(str, sources)],
                       check=True)
        try:
            os.rename(fresh, classes)
        except OSError:
            pass  # Another run was first, with the same content.
    return classes


def world_command(bootstrap: str, settings: dict[str, str]) -> list[str]:
    return ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp",
            f"{world_classes()}:{jars()}/*", "world.World", bootstrap, *(f"{k}={v}" for k, v in settings.items())]
