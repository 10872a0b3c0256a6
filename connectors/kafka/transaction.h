#pragma once

#include <memory>

#include "connectors/kafka/connection.h"
#include "connectors/kafka/producer.h"
#include "engine/ports/values.h"

namespace flow::kafka {

// Carries out steps 3 to 5 of a reset's order in one Kafka transaction: begin, records delivered,
// offsets sent with the metadata that makes the broker check each group, befores read again,
// commit. Blocks, with a deadline around each phase; to be called on a pool thread, one at a time
// for one producer. `lookups` reads the befores.
//
//   aborted    the transaction is not committed and never will be
//   unknown    the end of it was asked for and the answer is missing
//   fenced     the producer's epoch is over; nothing of this will happen
port::CommitOutcome run_transaction(Producer& producer, const Connection& lookups,
                                    const port::Transaction& transaction);

// Sends a guarded commit for `group`, which has a live member, and aborts. Leaves nothing behind.
// The offset is of partition 0 of the producer's topic, as any of the group's would do.
Result<port::GuardSupport> probe_guarded_commit(Producer& producer, const GroupId& group);

}  // namespace flow::kafka
