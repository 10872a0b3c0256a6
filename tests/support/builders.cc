#include "tests/support/builders.h"

#include <cstdio>
#include <cstdlib>

#include "schemas/codec.h"
#include "tests/support/random.h"

namespace flow::test {

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

RequestId id_of(int n) {
  std::string digits = std::to_string(n);
  digits.insert(0, 12 - digits.size(), '0');
  return RequestId{"00000000-0000-4000-8000-" + digits};
}

Request request_of(int n, std::vector<std::string> groups, Instant asked_at) {
  Request request;
  request.id = id_of(n);
  request.asked_at = asked_at;
  for (auto& group : groups) {
    request.groups.emplace_back(std::move(group));
  }
  request.topics = {{TopicName{"t"}, {}}};
  return request;
}

Guard guard_of(const Request& request, Verdict verdict) {
  Guard guard;
  guard.id = request.id;
  guard.request = request;
  guard.digest = content_digest(request);
  for (const auto& group : request.groups) {
    guard.targets.push_back({group, {}, {}, request.topics, {}});
  }
  guard.verdict = verdict;
  return guard;
}

GroupResult result_of(int n, const std::string& group, std::int64_t leader) {
  GroupResult result;
  result.id = id_of(n);
  result.group = GroupId{group};
  result.leader = LeaderNumber{leader};
  result.moves = {{{TopicName{"t"}, 0}, Committed{7, {}}, {}, Committed{0, {}}, {}}};
  return result;
}

GroupResult failure_of(int n, const std::string& group, const std::string& why,
                       std::int64_t leader) {
  GroupResult result;
  result.id = id_of(n);
  result.group = GroupId{group};
  result.leader = LeaderNumber{leader};
  result.failure = why;
  return result;
}

Done done_of(int n, DoneOutcome outcome, std::int64_t leader) {
  return {id_of(n), LeaderNumber{leader}, outcome, {}, Instant{2'000}, "e1"};
}

Verified verified_of(int n, const std::string& group, bool last) {
  Verified verified;
  verified.id = id_of(n);
  verified.group = GroupId{group};
  verified.last = last;
  verified.at = Instant{3'000};
  return verified;
}

Cancel cancel_of(int n) { return {id_of(n), Instant{1'500}, "someone"}; }

Intent intent_of(int n, const std::string& cluster, bool withdrawn) {
  return {id_of(n), cluster, {}, Instant{1'500}, {}, withdrawn};
}

namespace {

Request full_request() {
  Request request;
  request.id = id_of(1);
  request.asked_at = Instant{1'700'000'000'001};
  request.asked_by = "ada@host";
  request.through = Through::annotation;
  request.namespace_name = "shop";
  request.pipeline = "cart";
  request.streamlets = {"router", "écran"};
  request.groups = {GroupId{"a/b"}, GroupId{"g"}};
  request.topics = {{TopicName{"t"}, {0, 2}}, {TopicName{"u"}, {}}};
  request.position = {PositionKind::file,
                      5,
                      Instant{1'600'000'000'000},
                      -7,
                      "other",
                      "before-release",
                      {{{TopicName{"t"}, 2}, 42, "meta"}, {{TopicName{"u"}, 0}, std::nullopt, {}}}};
  request.options = {true, true, true, true, true};
  request.expires_at = Instant{1'800'000'000'000};
  request.never_expires = true;
  return request;
}

std::vector<Member> members() {
  return {{"client", "/10.0.0.1", "client-uuid", "static-1"}, {"other", {}, {}, {}}};
}

Guard full_guard() {
  Guard guard;
  guard.id = id_of(1);
  guard.request = full_request();
  guard.digest = content_digest(*guard.request);
  guard.targets = {{GroupId{"cart.router.in"}, "router", "in", {{TopicName{"t"}, {1}}}, "east"}};
  guard.verdict = Verdict::closed;
  guard.reasons = {{"has members", Instant{10}, Instant{20}, GroupId{"g"}, false},
                   {"no such topic", Instant{30}, std::nullopt, {}, true}};
  guard.seen = Seen{Instant{40}, {{GroupId{"g"}, "Stable", members()}}, {{"router", 2, 3}}};
  return guard;
}

GroupResult full_result() {
  GroupResult result;
  result.id = id_of(1);
  result.group = GroupId{"a/b/7"};
  result.leader = LeaderNumber{17};
  result.moves = {{{TopicName{"t"}, 1}, Committed{9, "m"}, 3, Committed{4, "n"}, "clamped"},
                  {{TopicName{"t"}, 2}, std::nullopt, std::nullopt, std::nullopt, {}}};
  result.identities = {{TopicName{"t"}, {{1, 4, 100, 99, Instant{1'650'000'000'000}}}}};
  result.failure = "not authorised";
  result.request_digest = std::string(64, 'a');
  return result;
}

}  // namespace

std::vector<std::pair<std::string, Record>> full_records() {
  const RequestId id = id_of(1);
  Verified verified{id,   GroupId{"a/b"}, Standing::superseded,
                    true, Instant{50},    true,
                    true, members(),      {{{TopicName{"t"}, 1}, 12, "x"}}};
  return {
      {"request", full_request()},
      {"cancel", Cancel{id, Instant{60}, "bob"}},
      {"guard", full_guard()},
      {"intent", Intent{id, "east", "delete", Instant{70}, {full_result()}, true}},
      {"result", full_result()},
      {"done", Done{id, LeaderNumber{17}, DoneOutcome::left, "because", Instant{80}, "e-1"}},
      {"verified", verified},
      {"engine", EngineStarted{"e-1", "host", "0.1.0", Instant{90}, "0.0.9"}},
      {"log", LogBorn{"birth-id", Instant{100}}},
      {"annotations", AnnotationsSettled{true, Instant{110}}},
  };
}

std::vector<std::pair<std::string, Record>> bare_records() {
  const RequestId id = id_of(2);
  Request request;
  request.id = id;
  Guard guard;
  guard.id = id;
  GroupResult result;
  result.id = id;
  result.group = GroupId{"g"};
  Verified verified;
  verified.id = id;
  verified.group = GroupId{"g"};
  Done done;
  done.id = id;
  return {
      {"request", request},      {"cancel", Cancel{id, {}, {}}},
      {"guard", guard},          {"intent", Intent{id, {}, {}, {}, {}, false}},
      {"result", result},        {"done", done},
      {"verified", verified},    {"engine", EngineStarted{"e", {}, {}, {}, {}}},
      {"log", LogBorn{"b", {}}}, {"annotations", AnnotationsSettled{}},
  };
}

OwnedRecord at(std::int64_t position, const Record& record) {
  return {position, encode_key(key_of(record)), encode(record)};
}

OwnedRecord at(std::int64_t position, const RecordKey& key, std::optional<std::string> value) {
  return {position, encode_key(key), std::move(value)};
}

std::vector<LogRecord> views(const std::vector<OwnedRecord>& records) {
  std::vector<LogRecord> out;
  out.reserve(records.size());
  for (const auto& record : records) {
    out.push_back(record.view());
  }
  return out;
}

}  // namespace flow::test
