"""Promise 6: the store is a cache. Whatever becomes of its folder, nothing is lost and nothing happens twice."""
import contextlib
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import uuid

import pytest

from support.process import cpu_share
from support.scenario import ask, check_moved_once, wait_done

FOREIGN_RECORD_BYTES = 900_000
RECORDS_THAT_FILL_A_MEMTABLE = 5  # of 4 MB: the store has to write a file
WATCHED_S = 3


class Asked:
    """Requests that were asked, and what is to be true of each at the end."""

    def __init__(self, world, flow, control, orders):
        self._world, self._flow, self._control, self._orders = world, flow, control, orders
        self._groups: dict[str, list[str]] = {}

    def one(self) -> str:
        groups = self._orders.groups(1)
        request = ask(self._flow, groups, self._orders.topic)
        self._groups[request] = groups
        return request

    def done(self) -> None:
        """One more, done."""
        assert wait_done(self._control, self.one()) == "completed"

    def check(self) -> None:
        """Each is done, once."""
        for request, groups in self._groups.items():
            assert wait_done(self._control, request) == "completed"
            check_moved_once(self._world, self._control, request, groups, self._orders)


@pytest.fixture
def asked(world, flow, control, orders):
    return Asked(world, flow, control, orders)


def write_much(world, control) -> None:
    """Makes the store write to its folder: rubbish is kept as it is."""
    for _ in range(RECORDS_THAT_FILL_A_MEMTABLE):
        world.append(control.topic, f"{uuid.uuid4()}/verified/rubbish", os.urandom(FOREIGN_RECORD_BYTES))


def files(store: pathlib.Path, beginning: str, ending: str = "") -> list[pathlib.Path]:
    return sorted(path for path in store.iterdir() if path.name.startswith(beginning) and path.name.endswith(ending))


KINDS = {"CURRENT": ("CURRENT", ""), "MANIFEST": ("MANIFEST-", ""), "sst": ("", ".sst"), "OPTIONS": ("OPTIONS-", ""),
         "IDENTITY": ("IDENTITY", ""), "LOCK": ("LOCK", "")}
NEEDED = ("CURRENT", "MANIFEST", "sst")


def stopped_with_a_store(new_engine, asked):
    engine = new_engine().start()
    for _ in range(3):
        asked.done()
    assert engine.terminate() == 0
    return engine


def warnings(engine) -> list[str]:
    return [line for line in engine.log().splitlines() if " warning " in line or " error " in line]


def aside(engine) -> list[pathlib.Path]:
    return sorted(engine.store.parent.glob(f"{engine.store.name}.damaged-*"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_deleted_while_it_is_stopped(kind, new_engine, asked):
    engine = stopped_with_a_store(new_engine, asked)
    found = files(engine.store, *KINDS[kind])
    assert found
    for path in found:
        path.unlink()
    engine.start()
    asked.done()
    asked.check()
    if kind in NEEDED:
        (line,) = [line for line in warnings(engine) if "the store is damaged" in line]
        assert str(engine.store) in line and "set aside as" in line and "rebuilt from the log" in line
        assert len(aside(engine)) == 1
    else:
        assert warnings(engine) == [] and aside(engine) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_byte_while_it_is_stopped(kind, new_engine, asked, rng, scaled):
    engine = stopped_with_a_store(new_engine, asked)
    for _ in range(scaled(10)):
        path = rng.choice(files(engine.store, *KINDS[kind]))
        if path.stat().st_size == 0:
            continue
        flipped = bytearray(path.read_bytes())
        flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
        path.write_bytes(flipped)
        engine.start()
        asked.done()
        assert engine.terminate() == 0
        for line in [line for line in warnings(engine) if "store" in line]:
            assert "the store is damaged" in line and "rebuilt from the log" in line, line
    asked.check()


def test_the_folder_is_deleted_while_it_is_stopped(new_engine, asked):
    engine = stopped_with_a_store(new_engine, asked)
    shutil.rmtree(engine.store)
    engine.start()
    asked.done()
    asked.check()
    assert warnings(engine) == []


@pytest.mark.parametrize("what", ["folder", *NEEDED])
def test_deleted_while_it_runs(what, world, control, new_engine, asked):
    engine = stopped_with_a_store(new_engine, asked).start()
    assert files(engine.store, "", ".sst")
    if what == "folder":
        shutil.rmtree(engine.store)
    else:
        for path in files(engine.store, *KINDS[what]):
            path.unlink()
    asked.done()
    write_much(world, control)
    asked.done()
    assert engine.terminate() == 0
    engine.start()
    asked.done()
    asked.check()


def test_bytes_flipped_while_it_runs(world, control, new_engine, asked, rng):
    engine = stopped_with_a_store(new_engine, asked).start()
    for path in files(engine.store, "", ".sst"):
        with path.open("r+b") as file:
            for at in range(0, path.stat().st_size, 100):
                file.seek(at)
                file.write(rng.randbytes(1))
    asked.done()
    write_much(world, control)
    asked.done()
    assert engine.terminate() == 0
    engine.start()
    asked.done()
    asked.check()


def test_a_folder_that_is_none_of_ours(control, new_engine):
    engine = new_engine()
    engine.store.mkdir()
    (engine.store / "thesis.tex").write_text("mine")
    engine.start(ready=False)
    assert engine.wait_end() == 1
    (line,) = engine.log().splitlines()
    assert str(engine.store) in line and "thesis.tex" in line and "--store" in line
    assert [path.name for path in engine.store.iterdir()] == ["thesis.tex"]


def test_a_store_path_that_is_a_file(control, new_engine):
    engine = new_engine()
    engine.store.write_text("mine")
    engine.start(ready=False)
    assert engine.wait_end() == 2
    (line,) = engine.log().splitlines()
    assert str(engine.store) in line
    assert engine.store.read_text() == "mine"


@contextlib.contextmanager
def small_disk(folder: pathlib.Path, megabytes: int):
    """A file system of its own at `folder`; None where mounting is not allowed."""
    folder.mkdir(exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)],
                             capture_output=True, check=False)
    if mounted.returncode != 0:
        yield None
        return
    try:
        yield lambda options: subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def limit_files(engine, size: int = resource.RLIM_INFINITY) -> None:
    """Instead of a disk: no file may grow beyond `size`, which has to leave room for what the engine says."""
    resource.prlimit(engine.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def check_waits_for_room(engine) -> None:
    engine.wait_said("waiting for the store", 30)
    assert cpu_share(WATCHED_S, engine.pid) < 0.05
    lines = [line for line in warnings(engine) if "waiting" in line]
    assert len(lines) < 4, lines  # one for each kind of file that finds no room
    for line in lines:
        assert str(engine.store) in line and ("No space left on device" in line or "File too large" in line), line
    assert engine.is_running() and aside(engine) == []


@pytest.mark.parametrize("how", ["disk", "limit"])
def test_a_full_disk_while_it_runs(how, world, control, new_engine, asked):
    """A small tmpfs where mounting is allowed; a limit on the size of files (EFBIG, not ENOSPC) anywhere."""
    engine = new_engine()
    with small_disk(engine.store, 3) if how == "disk" else contextlib.nullcontext() as remount:
        engine.start()
        asked.done()
        if remount is None:
            limit_files(engine, 100_000)
        write_much(world, control)
        check_waits_for_room(engine)
        waits = asked.one()
        if remount is None:
            limit_files(engine)
        else:
            remount("size=64m")
        assert wait_done(control, waits) == "completed"
        assert engine.terminate() == 0
        engine.start()
        asked.done()
        asked.check()
        assert engine.terminate() == 0


@pytest.mark.parametrize("how", ["nothing more", "less than it needs", "limit"])
def test_a_disk_that_is_full_at_the_start(how, world, control, new_engine, asked):
    engine = stopped_with_a_store(new_engine, asked)
    kept = {path.name: path.read_bytes() for path in engine.store.iterdir()}
    shutil.rmtree(engine.store)
    write_much(world, control)
    with small_disk(engine.store, 1 if how == "nothing more" else 3) if how != "limit" \
            else contextlib.nullcontext() as remount:
        if how == "nothing more" and remount is not None:
            for name, content in kept.items():
                (engine.store / name).write_bytes(content)
            with contextlib.suppress(OSError), (engine.store / ".filler").open("wb", buffering=0) as filler:
                while True:
                    filler.write(bytes(4096))
        engine.start(ready=False)
        if remount is None:
            limit_files(engine, 100_000)
        check_waits_for_room(engine)
        assert "leading" not in engine.log()
        request = asked.one()
        if remount is None:
            limit_files(engine)
        else:
            remount("size=64m")
        assert wait_done(control, request) == "completed"
        asked.check()
        assert aside(engine) == []
        assert engine.terminate() == 0


def test_a_folder_that_cannot_be_written(control, new_engine):
    """A read-only file system where mounting is allowed, else one in which nobody can make anything."""
    engine = new_engine()
    with small_disk(engine.store, 1) as remount:
        if remount is None:
            engine.store = pathlib.Path("/proc/flow-store")
        else:
            remount("ro")
        engine.start(ready=False)
        assert engine.wait_end() == 2
        (line,) = engine.log().splitlines()
        assert str(engine.store) in line and "--store" in line


def test_a_damaged_store_on_a_volume_of_its_own_is_set_aside_there(world, control, new_engine, asked):
    """A mount point cannot be renamed. Where mounting is not allowed, the folder is renamed as any other."""
    engine = new_engine()
    with small_disk(engine.store, 64) as remount:
        engine.start()
        asked.done()
        assert engine.terminate() == 0
        (engine.store / "CURRENT").write_text("MANIFEST-999999\n")
        engine.start()
        asked.done()
        asked.check()
        found = list(engine.store.glob("damaged-*")) if remount else aside(engine)
        assert [(path / "CURRENT").read_text() for path in found] == ["MANIFEST-999999\n"]
        assert engine.terminate() == 0
        engine.start()
        asked.done()
        assert engine.terminate() == 0
