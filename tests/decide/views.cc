#include "tests/decide/views.h"

#include "engine/decide/records.h"
#include "schemas/codec.h"

namespace flow::test {

port::PartitionView partition(std::int32_t number, std::optional<std::int64_t> committed,
                              std::int64_t start, std::int64_t end) {
  port::PartitionView view;
  view.at = {TopicName{"t"}, number};
  if (committed) {
    view.committed = Committed{*committed, {}};
  }
  view.start = start;
  view.last_stable = end;
  return view;
}

port::GroupView view_of(const std::string& group) {
  port::GroupView view;
  view.group = GroupId{group};
  view.state = port::GroupState::empty;
  view.state_name = "Empty";
  view.partitions = {partition(0, 7)};
  return view;
}

port::GroupView active_view(const std::string& group, const std::string& client_id) {
  auto view = view_of(group);
  view.state = port::GroupState::active;
  view.state_name = "Stable";
  view.members = {{client_id, "/10.0.0.1", client_id + "-uuid", {}}};
  return view;
}

port::GroupView missing_view(const std::string& group) {
  auto view = view_of(group);
  view.state = port::GroupState::missing;
  view.state_name = "Dead";
  view.partitions = {partition(0, std::nullopt)};
  return view;
}

port::GroupView problem_view(const std::string& group, Errc errc, const std::string& detail) {
  auto view = view_of(group);
  view.problem = error(errc, detail);
  return view;
}

port::Observation seen(std::vector<port::GroupView> groups, Instant at) {
  return {at, std::move(groups)};
}

store::RequestFacts facts_of(int n, const std::vector<Record>& records) {
  store::RequestFacts facts;
  facts.id = id_of(n);
  std::int64_t position = 0;
  for (const auto& record : records) {
    store::apply(facts, key_of(record), at(position++, record).view());
  }
  return facts;
}

const port::Topology& no_topology() {
  static const port::Topology topology{true, "none", {}, {}};
  return topology;
}

decide::Situation situation(Instant now) {
  decide::Situation made;
  made.now = now;
  made.self = {"e1", LeaderNumber{9}};
  made.topology = &no_topology();
  return made;
}

store::RequestFacts applied(store::RequestFacts facts, const decide::Effect& effect) {
  const auto& records = std::holds_alternative<decide::Write>(effect)
                            ? std::get<decide::Write>(effect).records
                            : std::get<decide::Move>(effect).records;
  std::int64_t position = 100;
  for (const auto& record : records) {
    store::apply(facts, key_of(record), at(position++, record).view());
  }
  return facts;
}

const Guard& guard_in(const decide::Effect& effect) {
  return std::get<Guard>(std::holds_alternative<decide::Write>(effect)
                             ? std::get<decide::Write>(effect).records.front()
                             : std::get<decide::Move>(effect).records.front());
}

Done done_in(const decide::Effect& effect) {
  const auto& records = std::holds_alternative<decide::Write>(effect)
                            ? std::get<decide::Write>(effect).records
                            : std::get<decide::Move>(effect).records;
  return std::get<Done>(records.back());
}

}  // namespace flow::test
