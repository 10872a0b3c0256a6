"""The control topic's records by Python classes that flatc makes from schemas/control.fbs.

This is a second reader and writer of the wire contract, independent of the product's own.
"""
import functools
import hashlib
import importlib
import os
import subprocess
import sys
import tempfile

import flatbuffers

from .process import ROOT

SCHEMA = ROOT / "schemas" / "control.fbs"
IDENTIFIER = b"FLOW"


@functools.cache
def _generated() -> None:
    digest = hashlib.sha256(SCHEMA.read_bytes()).hexdigest()[:16]
    classes = ROOT / "build" / "wire" / digest
    if not classes.is_dir():
        classes.parent.mkdir(parents=True, exist_ok=True)
        fresh = tempfile.mkdtemp(dir=classes.parent)
        subprocess.run(["flatc", "--python", "--gen-object-api", "-o", fresh, str(SCHEMA)], check=True)
        try:
            os.rename(fresh, classes)
        except OSError:
            pass  # Another run was first, with the same content.
    sys.path.insert(0, str(classes))


def module(name: str):
    """The generated module of a table or enum, for example module("Request").RequestT."""
    _generated()
    return importlib.import_module(f"flow.wire.{name}")


def pack(kind: str, table) -> bytes:
    """An envelope around an object of the generated object API, for example pack("Request", RequestT())."""
    envelope = module("Envelope").EnvelopeT()
    envelope.bodyType = getattr(module("Body").Body, kind)
    envelope.body = table
    builder = flatbuffers.Builder(256)
    builder.Finish(envelope.Pack(builder), file_identifier=IDENTIFIER)
    return bytes(builder.Output())


def unpack(value: bytes):
    """The table in an envelope, as an object of the generated object API."""
    envelope = module("Envelope").EnvelopeT.InitFromObj(module("Envelope").Envelope.GetRootAs(value, 0))
    return envelope.body


def request(request_id: str, groups: list[str], topics: list[str], position: str | int = "earliest") -> bytes:
    """A request for groups and topics, as any Python program can write it to the control topic."""
    table = module("Request").RequestT()
    table.id = request_id
    table.askedBy = "a Python program"
    table.groups = groups
    table.topics = []
    for topic in topics:
        selection = module("TopicSelection").TopicSelectionT()
        selection.name = topic
        table.topics.append(selection)
    table.position = module("Position").PositionT()
    kinds = module("PositionKind").PositionKind
    table.position.kind = position if isinstance(position, int) else getattr(kinds, position)
    return pack("Request", table)


def of_a_newer_program(request_id: str) -> bytes:
    """An envelope whose union member is of a version that does not exist yet: number 200, with a table."""
    builder = flatbuffers.Builder(64)
    text = builder.CreateString(request_id)
    builder.StartObject(1)
    builder.PrependUOffsetTRelativeSlot(0, text, 0)
    body = builder.EndObject()
    builder.StartObject(2)
    builder.PrependUint8Slot(0, 200, 0)
    builder.PrependUOffsetTRelativeSlot(1, body, 0)
    builder.Finish(builder.EndObject(), file_identifier=IDENTIFIER)
    return bytes(builder.Output())


def cancel(request_id: str) -> bytes:
    table = module("Cancel").CancelT()
    table.id = request_id
    return pack("Cancel", table)


def outcome_name(number: int) -> str:
    """The schema's name of a done record's outcome."""
    names = {value: name for name, value in vars(module("Outcome").Outcome).items() if not name.startswith("_")}
    return names[number]


def standing_name(number: int) -> str:
    names = {value: name for name, value in vars(module("Standing").Standing).items() if not name.startswith("_")}
    return names[number]
