#pragma once

#include <flatbuffers/flatbuffers.h>

#include <memory>

#include "schemas/control_generated.h"
#include "schemas/error.h"
#include "schemas/keys.h"
#include "schemas/records.h"

// Between the plain structs and the generated FlatBuffers types; used by schemas/codec.cc alone.
namespace flow::wire {

// Takes a record; returns its envelope, ready to be packed.
EnvelopeT to_wire(const Record& record);

// Takes a verified envelope and the key it stands under; returns the record. Errc::invalid names
// the field that is wrong, Errc::refused that it is newer than this version.
flow::Result<Record> from_wire(const Envelope& envelope, const RecordKey& key);

// Whether from_wire would return a record; copies nothing.
bool can_read(const Envelope& envelope, const RecordKey& key);

// The union member that belongs to a kind of record.
Body body_of(Kind kind);

}  // namespace flow::wire
