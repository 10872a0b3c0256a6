#include <catch2/catch.hpp>

#include <iostream>
#include <set>

#include "schemas/codec.h"
#include "tests/store/tables_kinds.h"
#include "tests/support/builders.h"
#include "tests/support/random.h"

// Laws of the store, on random logs. Law A: compaction that keeps tombstones changes no fact, for
// any log whatsoever. Law B: compaction that also drops tombstones changes no outcome, for every
// log in which
// - engines write guard and intent records as decide has it: one transaction holds the done and a
// guard
//   record that says that the request ended; others may spoil a guard record, not forge or erase
//   it;
// - others write anything under the request's and cancel's keys, rubbish under all keys, and
// tombstones
//   under result and verified keys, and under done keys of requests that ended.
// Beyond that nothing can hold: who erases a request's guard record, results and dones has erased
// every trace of its end, and once the tombstones are gone too it is a request that nobody carried
// out.
namespace flow::test {
namespace {

using store::Phase;
using store::RequestFacts;

constexpr int requests = 3;

std::string newer_value(const RecordKey& key) {
  const std::string request = R"({"id":")" + key.id.value() + R"(","position":{"kind":77}})";
  switch (key.kind) {
    case Kind::request:
      return R"({"body_type":"Request","body":)" + request + "}";
    case Kind::guard:
      return R"({"body_type":"Guard","body":{"request":)" + request + "}}";
    default:
      return R"({"body_type":"Done","body":{"id":")" + key.id.value() + R"(","leader":)" +
             std::to_string(key.leader.value_or(LeaderNumber{0}).value()) + R"(,"outcome":77}})";
  }
}

// A log in the making.
class Writer {
 public:
  explicit Writer(Random& random) : random_(random) {}

  const std::vector<OwnedRecord>& log() const { return log_; }

  void put(const RecordKey& key, std::optional<std::string> value) {
    position_ += 1 + static_cast<std::int64_t>(random_.below(3));  // markers leave gaps
    log_.push_back({position_, encode_key(key), std::move(value), 1'000 + position_ * 10});
  }
  void put(const Record& record) { put(key_of(record), encode(record)); }

  RequestFacts facts(int n) const {
    RequestFacts facts;
    facts.id = id_of(n);
    for (const auto& record : log_) {
      const auto key = decode_key(record.key);
      if (key && key->id == facts.id) {
        store::apply(facts, *key, record.view());
      }
    }
    return facts;
  }

 private:
  Random& random_;
  std::int64_t position_ = -1;
  std::vector<OwnedRecord> log_;
};

const std::vector<std::string> groups{"g", "h"};

Request any_request(Random& random, int n) {
  auto request = request_of(n, {random.pick(groups)});
  if (random.chance(30)) {
    request.groups = {GroupId{"g"}, GroupId{"h"}};
  }
  if (random.chance(30)) {
    request.asked_at.reset();
  }
  return request;
}

// A record under any key of request `n`.
RecordKey any_key(Random& random, int n, const std::vector<Kind>& kinds) {
  RecordKey key{random.pick(kinds), id_of(n), {}, {}};
  if (key.kind == Kind::result || key.kind == Kind::verified) {
    key.name = random.pick(groups);
  }
  if (key.kind == Kind::intent) {
    key.name = random.chance(50) ? "" : "east";
  }
  if (key.kind == Kind::result || key.kind == Kind::done) {
    key.leader = LeaderNumber{random.between(1, 2)};
  }
  return key;
}

Record valid_record(Random& random, const RecordKey& key, int n) {
  switch (key.kind) {
    case Kind::cancel:
      return cancel_of(n);
    case Kind::guard: {
      auto guard = guard_of(any_request(random, n), static_cast<Verdict>(random.below(3)));
      if (random.chance(10)) {
        guard.request.reset();
      }
      return guard;
    }
    case Kind::intent:
      return intent_of(n, key.name, random.chance(30));
    case Kind::result:
      return random.chance(30) ? failure_of(n, key.name, "why", key.leader->value())
                               : result_of(n, key.name, key.leader->value());
    case Kind::done:
      return done_of(n, static_cast<DoneOutcome>(random.below(6)), key.leader->value());
    case Kind::verified:
      return verified_of(n, key.name, random.chance(50));
    default:
      return any_request(random, n);
  }
}

// What anybody may do under `kinds`: write, spoil, erase.
void meddle(Random& random, Writer& writer, const std::vector<Kind>& kinds, bool erase) {
  const int n = static_cast<int>(random.below(requests));
  const auto key = any_key(random, n, kinds);
  const auto what = random.below(erase ? 8 : 6);
  const bool has_newer =
      key.kind == Kind::request || key.kind == Kind::guard || key.kind == Kind::done;
  if (what < 4) {
    writer.put(valid_record(random, key, n));
  } else if (what == 4) {
    writer.put(key, "rubbish " + std::to_string(random.below(3)));
  } else if (what == 5 && has_newer) {
    writer.put(key, newer_value(key));
  } else if (what > 5) {
    writer.put(key, std::nullopt);
  }
}

// One step of an engine, from the facts alone: each line is one transaction of the real one.
void engine_step(Random& random, Writer& writer) {
  const int n = static_cast<int>(random.below(requests));
  const auto facts = writer.facts(n);
  const auto phase = store::phase_of(facts);
  if (phase == Phase::closed && random.chance(50)) {
    for (const auto& [group, copies] : facts.results) {
      writer.put(verified_of(n, group.value(), random.chance(70)));
    }
    return;
  }
  if (phase == Phase::unreadable) {
    Guard guard;
    guard.id = id_of(n);
    guard.verdict = Verdict::closed;
    writer.put(guard);
    writer.put(done_of(n, DoneOutcome::refused, random.between(1, 2)));
    return;
  }
  if (phase != Phase::requested && phase != Phase::waiting) {
    return;
  }
  const Request request = *store::accepted_request(facts);
  const std::int64_t leader = random.between(1, 2);
  switch (random.below(3)) {
    case 0:
      writer.put(guard_of(request));
      return;
    case 1:
      writer.put(guard_of(request, Verdict::closed));
      writer.put(done_of(n, DoneOutcome::cancelled, leader));
      return;
    default:
      writer.put(guard_of(request, Verdict::passed));
      for (const auto& group : request.groups) {
        writer.put(random.chance(20) ? failure_of(n, group.value(), "why", leader)
                                     : result_of(n, group.value(), leader));
      }
      writer.put(done_of(n, DoneOutcome::completed, leader));
  }
}

const std::vector<Kind> every_kind{Kind::request, Kind::cancel, Kind::guard,   Kind::intent,
                                   Kind::result,  Kind::done,   Kind::verified};

std::vector<OwnedRecord> anybodys_log(Random& random) {
  Writer writer{random};
  for (auto steps = 3 + random.below(40); steps > 0; --steps) {
    meddle(random, writer, every_kind, true);
    if (random.chance(3)) {
      writer.put(LogBorn{"birth-" + std::to_string(random.below(2)), {}});
    }
  }
  return writer.log();
}

bool says_ended(const RequestFacts& facts) {
  return facts.guard && (!facts.guard->record || facts.guard->record->verdict != Verdict::waiting);
}

// Engines as they are; others write what they like under the kinds that are theirs or hurt nobody,
// and spoil or erase under the engine's.
std::vector<OwnedRecord> law_b_log(Random& random) {
  Writer writer{random};
  for (auto steps = 5 + random.below(50); steps > 0; --steps) {
    switch (random.below(5)) {
      case 0:
        meddle(random, writer, {Kind::request, Kind::request, Kind::cancel}, true);
        break;
      case 1: {
        const int n = static_cast<int>(random.below(requests));
        const auto key = any_key(random, n, {Kind::done, Kind::done, Kind::result, Kind::verified});
        // The tombstone of a done leaves no trace once it vanishes, so the guard record must say
        // it.
        const bool may_erase = key.kind != Kind::done || says_ended(writer.facts(n));
        writer.put(key, may_erase && random.chance(60) ? std::nullopt
                                                       : std::optional<std::string>{"rubbish"});
        break;
      }
      case 2:
        if (random.chance(20)) {
          writer.put({Kind::guard, id_of(static_cast<int>(random.below(requests))), {}, {}},
                     "rubbish");
        }
        break;
      default:
        engine_step(random, writer);
    }
  }
  return writer.log();
}

// A legal compaction: of the records before a random place, any of those that a later one of their
// key replaces may be gone; with `drop_tombstones`, so may a tombstone that is its key's last and
// only record.
std::vector<OwnedRecord> compacted(Random& random, const std::vector<OwnedRecord>& log,
                                   bool drop_tombstones) {
  const auto clean = random.chance(50) ? log.size() : random.below(log.size() + 1);
  const unsigned thorough = random.chance(50) ? 100 : 60;
  std::vector<OwnedRecord> kept;
  std::set<std::string> earlier;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const auto later =
        std::find_if(log.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                     log.begin() + static_cast<std::ptrdiff_t>(std::max(clean, i + 1)),
                     [&](const OwnedRecord& other) { return other.key == log[i].key; });
    const bool replaced =
        i < clean && later != log.begin() + static_cast<std::ptrdiff_t>(std::max(clean, i + 1));
    const bool erased =
        i < clean && drop_tombstones && !log[i].value && !earlier.contains(log[i].key);
    if ((replaced || erased) && random.chance(thorough)) {
      continue;
    }
    kept.push_back(log[i]);
    earlier.insert(log[i].key);
  }
  return kept;
}

std::unique_ptr<store::Store> read(const std::vector<OwnedRecord>& log, TablesKind kind,
                                   const Folder& folder) {
  auto store = store_of(tables_of(kind, folder));
  const auto records = views(log);
  const auto next = LogPosition{log.empty() ? 0 : log.back().position + 1};
  REQUIRE(store->apply(records, next));
  return store;
}

std::string printed(const std::vector<OwnedRecord>& log) {
  std::string text;
  for (const auto& record : log) {
    const auto key = decode_key(record.key);
    text += std::to_string(record.position) + " " + record.key.substr(34) + " ";
    const auto decoded = record.value ? decode(*key, *record.value) : error(Errc::invalid, {});
    text += !record.value ? "(erased)" : decoded ? to_json(decoded.value()) : *record.value;
    text += "\n";
  }
  return text;
}

// What the outside sees of a request: all that must not depend on when the log was compacted.
std::string outcome_of(const RequestFacts& facts) {
  std::string text{store::to_string(store::phase_of(facts))};
  if (const auto* done = store::closing_done(facts)) {
    text += " done " + to_json(*done);
  }
  if (const auto* request = store::accepted_request(facts)) {
    text += " request " + to_json(*request);
  }
  if (const auto asked = store::asked_at(facts)) {
    text += " asked " + std::to_string(asked->value());
  }
  for (const auto& [group, copies] : facts.results) {
    const auto* result = store::result_of(facts, group);
    text += " result " + (result != nullptr ? to_json(*result) : "unreadable");
  }
  text += store::is_unverified(facts) ? " unverified" : "";
  return text;
}

struct Seeds {
  std::uint64_t first = number_from_environment("FLOW_SEED", 1);
  std::uint64_t count = number_from_environment("FLOW_LAW_SEEDS", 400);
};

TEST_CASE("law A: compaction that keeps tombstones changes no fact", "[law]") {
  const Seeds seeds;
  const Folder folder;
  for (auto seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    Random random{seed};
    const auto log = anybodys_log(random);
    const auto shorter = compacted(random, log, false);
    const auto whole = read(log, TablesKind::memory, folder);
    const auto after = read(shorter, TablesKind::memory, folder);
    for (int n = 0; n < requests; ++n) {
      const bool same = whole->facts(id_of(n)).value() == after->facts(id_of(n)).value();
      if (!same) {
        FAIL("seed " << seed << " request " << n << "\n"
                     << printed(log) << "\n"
                     << printed(shorter));
      }
    }
    const auto anchors = whole->anchors();
    for (const auto& anchor : anchors.value()) {
      if (!store::stands_in(views(shorter), anchor).value_or(false)) {
        FAIL("seed " << seed << ": the log does not show position " << anchor.position.value()
                     << "\n"
                     << printed(log) << "\n"
                     << printed(shorter));
      }
    }
    if (whole->open_requests().value() != after->open_requests().value() ||
        whole->unverified_requests().value() != after->unverified_requests().value()) {
      FAIL("seed " << seed << ": the indexes differ\n" << printed(log));
    }
  }
}

TEST_CASE("law B: compaction that drops tombstones changes no outcome", "[law]") {
  const Seeds seeds;
  const Folder folder;
  int erased_dones = 0;
  int vanished = 0;
  for (auto seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    Random random{seed};
    const auto log = law_b_log(random);
    const auto shorter = compacted(random, compacted(random, log, true), true);
    const auto whole = read(log, TablesKind::memory, folder);
    const auto after = read(shorter, TablesKind::memory, folder);
    for (int n = 0; n < requests; ++n) {
      const auto before = whole->facts(id_of(n)).value();
      const auto now = after->facts(id_of(n)).value();
      const bool damaged_done = !before.dones.empty() && store::closing_done(before) == nullptr;
      erased_dones += damaged_done ? 1 : 0;
      vanished += damaged_done && now.dones.empty() ? 1 : 0;
      if (outcome_of(before) != outcome_of(now)) {
        FAIL("seed " << seed << " request " << n << "\n"
                     << printed(log) << "\nbefore " << outcome_of(before) << "\nafter  "
                     << outcome_of(now));
      }
    }
  }
  // The law is about something: dones were erased, and their tombstones vanished.
  CHECK(erased_dones > 0);
  CHECK(vanished > 0);
}

TEST_CASE("law C: the same log gives the same answers, however it is read", "[law]") {
  const Seeds seeds;
  for (auto seed = seeds.first; seed < seeds.first + seeds.count / 8; ++seed) {
    CAPTURE(seed);
    Random random{seed};
    const auto log = anybodys_log(random);
    const Folder folder;
    const auto whole = read(log, TablesKind::memory, folder);
    const auto expected = answers_of(*whole);
    CHECK(answers_of(*read(log, TablesKind::rocks, folder)) == expected);

    // In batches that overlap, as after a crash.
    const auto batches = store_of(tables_of(TablesKind::memory, folder));
    for (std::size_t from = 0; from < log.size();) {
      const auto back = random.below(std::min<std::size_t>(from, 3) + 1);
      const auto to = std::min(log.size(), from + 1 + random.below(7));
      const std::vector<OwnedRecord> some(log.begin() + static_cast<std::ptrdiff_t>(from - back),
                                          log.begin() + static_cast<std::ptrdiff_t>(to));
      const auto records = views(some);
      REQUIRE(batches->apply(records, LogPosition{some.back().position + 1}));
      from = to;
    }
    CHECK(answers_of(*batches) == expected);
  }
}

TEST_CASE("law D: a rebuild in bulk ends where reading record by record ends", "[law]") {
  const Seeds seeds;
  const Folder folder;
  for (auto seed = seeds.first; seed < seeds.first + seeds.count * 5; ++seed) {
    Random random{seed};
    const auto log = random.chance(50) ? anybodys_log(random) : law_b_log(random);
    if (log.empty()) {
      continue;
    }
    const auto live = read(log, TablesKind::memory, folder);
    const auto bulk = store_of(tables_of(TablesKind::memory, folder));
    REQUIRE(bulk->begin_bulk());
    const auto records = views(log);
    REQUIRE(bulk->apply(records, LogPosition{log.back().position + 1}));
    REQUIRE(bulk->end_bulk(bulk->release_tables()));
    if (answers_of(*bulk) != answers_of(*live)) {
      FAIL("seed " << seed << "\n"
                   << printed(log) << "\nlive " << answers_of(*live) << "\nbulk "
                   << answers_of(*bulk));
    }
  }
}

}  // namespace
}  // namespace flow::test
