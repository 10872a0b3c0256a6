#pragma once

#include <string>
#include <vector>

#include "engine/decide/effect.h"
#include "engine/ports/values.h"
#include "store/facts.h"
#include "tests/support/builders.h"

// What a look at groups finds, short to write.
namespace flow::test {

// Partition `partition` of topic "t": log from `start` to `end`.
port::PartitionView partition(std::int32_t partition, std::optional<std::int64_t> committed,
                              std::int64_t start = 0, std::int64_t end = 100);

// An empty group with "t" partition 0 committed at 7.
port::GroupView view_of(const std::string& group);
port::GroupView active_view(const std::string& group, const std::string& client_id = "consumer");
port::GroupView missing_view(const std::string& group);
port::GroupView problem_view(const std::string& group, Errc errc, const std::string& detail);

port::Observation seen(std::vector<port::GroupView> groups, Instant at = Instant{5'000});

// Facts of request `n`, from records in this order.
store::RequestFacts facts_of(int n, const std::vector<Record>& records);

// A topology without pipelines, read whole.
const port::Topology& no_topology();

// A situation at `now`, led by "e1" with number 9.
decide::Situation situation(Instant now = Instant{5'000});

// The records that an effect writes, read back: what the next decision sees.
store::RequestFacts applied(store::RequestFacts facts, const decide::Effect& effect);

// The guard record, and the done, among the records of an effect that writes both.
const Guard& guard_in(const decide::Effect& effect);
Done done_in(const decide::Effect& effect);

}  // namespace flow::test
