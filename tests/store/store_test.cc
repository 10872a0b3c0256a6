#include "store/store.h"

#include <catch2/catch.hpp>

#include "schemas/codec.h"
#include "store/rows.h"
#include "tests/store/tables_kinds.h"
#include "tests/support/builders.h"

namespace flow::test {
namespace {

std::vector<OwnedRecord> small_log() {
  const LogBorn born{"birth-1", Instant{1}};
  const EngineStarted engine{"e1", "host", "0.1.0", Instant{2}, {}};
  return {
      at(0, born),
      at(1, engine),
      at(2, request_of(1)),
      at(3, request_of(2, {"g", "h"})),
      at(5, guard_of(request_of(1), Verdict::passed)),
      at(6, result_of(1)),
      at(7, done_of(1)),
      at(9, verified_of(1, "g", false)),
      at(10, cancel_of(3)),
      at(11, request_of(4)),
      at(12, guard_of(request_of(4), Verdict::closed)),
      at(13, done_of(4, DoneOutcome::refused)),
  };
}

void apply_all(store::Store& store, const std::vector<OwnedRecord>& records) {
  const auto log = views(records);
  REQUIRE(store.apply(log, LogPosition{records.back().position + 1}));
}

TEST_CASE("a store knows the log that it has read", "[store]") {
  const auto kind = GENERATE(TablesKind::memory, TablesKind::rocks);
  const Folder folder;
  const auto store = store_of(tables_of(kind, folder));
  CHECK(store->next() == LogPosition{0});
  CHECK_FALSE(store->birth().has_value());
  CHECK_FALSE(store->leader().has_value());
  apply_all(*store, small_log());
  CHECK(store->next() == LogPosition{14});
  CHECK(store->birth() == store::Birth{"birth-1", LogPosition{0}});
  REQUIRE(store->leader());
  CHECK(store->leader()->number == LeaderNumber{1});
  CHECK(store->open_requests().value() == std::vector{id_of(2)});
  CHECK(store->unverified_requests().value() == std::vector{id_of(1)});
  CHECK(store->bad_records() == 0);
  const auto facts = store->facts(id_of(1)).value();
  CHECK(facts.id == id_of(1));
  CHECK(store::phase_of(facts) == store::Phase::closed);
  CHECK(facts.guard->position == LogPosition{5});
  CHECK(store::phase_of(store->facts(id_of(9)).value()) == store::Phase::unknown);
  std::vector<RequestId> visited;
  REQUIRE(store->each([&](const store::RequestFacts& one) {
    CHECK(one == store->facts(one.id).value());
    visited.push_back(one.id);
    return visited.size() < 3;
  }));
  CHECK(visited == std::vector{id_of(1), id_of(2), id_of(3)});
}

TEST_CASE("both kinds of tables give the same answers, record by record or all at once",
          "[store]") {
  const auto log = small_log();
  const Folder folder;
  const auto at_once = store_of(tables_of(TablesKind::memory, folder));
  apply_all(*at_once, log);
  const auto kind = GENERATE(TablesKind::memory, TablesKind::rocks);
  const auto one_by_one = store_of(tables_of(kind, folder));
  for (const auto& record : log) {
    apply_all(*one_by_one, {record});
  }
  CHECK(answers_of(*one_by_one) == answers_of(*at_once));
}

TEST_CASE("applying records again changes nothing", "[store]") {
  const auto kind = GENERATE(TablesKind::memory, TablesKind::rocks);
  const Folder folder;
  const auto store = store_of(tables_of(kind, folder));
  auto log = small_log();
  log.push_back(at(14, key_of(request_of(7)), "rubbish"));
  log.push_back({15, "no such key", "x"});
  apply_all(*store, log);
  const auto before = answers_of(*store);
  CHECK(store->bad_records() == 2);
  const auto again = store->apply(views(log), LogPosition{16});
  REQUIRE(again);
  CHECK(again.value().requests.empty());
  CHECK(again.value().bad.empty());
  CHECK(answers_of(*store) == before);
  // A read that starts further back never moves the position back.
  REQUIRE(store->apply({}, LogPosition{3}));
  CHECK(store->next() == LogPosition{16});
}

TEST_CASE("bad records are counted, named, and block nothing", "[store]") {
  const auto kind = GENERATE(TablesKind::memory, TablesKind::rocks);
  const Folder folder;
  const auto store = store_of(tables_of(kind, folder));
  const std::vector<OwnedRecord> log{
      {0, "", "x"},
      {1, std::string("bad\n\xff key ") + std::string(500, 'k'), "x"},
      at(2, key_of(request_of(1)), "rubbish"),
      at(3, key_of(request_of(1)), std::string{}),
      at(4, {Kind::engine, {}, {}, {}}, "rubbish"),
      at(5, {Kind::schedule, {}, {}, {}}, "rubbish"),
      at(6, {Kind::step, id_of(2), "1", {}}, "rubbish"),
      at(7, request_of(3)),
      at(8, key_of(done_of(3)), std::nullopt),
  };
  const auto changes = store->apply(views(log), LogPosition{9});
  REQUIRE(changes);
  REQUIRE(changes.value().bad.size() == 7);
  CHECK(changes.value().bad[0].problem == "no kind of record has this key");
  CHECK(changes.value().bad[1].key.size() < 200);
  CHECK(changes.value().bad[1].key.starts_with("bad \xef\xbf\xbd key"));
  CHECK(changes.value().bad[3].position == LogPosition{3});
  for (const auto& bad : changes.value().bad) {
    CHECK_FALSE(bad.problem.empty());
  }
  CHECK(store->bad_records() == 7);
  CHECK(changes.value().requests.contains(id_of(3)));
  CHECK(store::phase_of(changes.value().requests.at(id_of(1))) == store::Phase::unreadable);
}

TEST_CASE("a rebuild in bulk ends where reading record by record ends", "[store]") {
  const Folder folder;
  auto log = small_log();
  log.push_back(at(14, key_of(request_of(7)), "rubbish"));
  log.push_back(at(15, key_of(done_of(7)), std::nullopt));
  const auto live = store_of(tables_of(TablesKind::memory, folder));
  apply_all(*live, log);

  const auto kind = GENERATE(TablesKind::memory, TablesKind::rocks);
  const auto bulk = store_of(tables_of(kind, folder, true));
  REQUIRE(bulk->begin_bulk());
  CHECK(bulk->in_bulk());
  apply_all(*bulk, log);
  auto tables = bulk->release_tables();
  if (kind == TablesKind::rocks) {
    REQUIRE(tables->flush());
    tables.reset();
    {
      // Cut off here, it is half built and says so.
      const auto half = store_of(tables_of(kind, folder));
      CHECK(half->is_half_built());
    }
    tables = tables_of(kind, folder);
  }
  REQUIRE(bulk->end_bulk(std::move(tables)));
  CHECK_FALSE(bulk->in_bulk());
  CHECK_FALSE(bulk->is_half_built());
  CHECK(answers_of(*bulk) == answers_of(*live));
}

TEST_CASE("a rebuild in bulk forgets no request that lacks a look", "[store]") {
  const auto result = at(0, result_of(1));
  const auto done = at(0, done_of(1));
  const auto other_done = at(0, done_of(1, DoneOutcome::completed, 2));
  const auto last = at(0, verified_of(1, "g", true));
  const auto first = at(0, verified_of(1, "g", false));
  const auto erased = at(0, key_of(verified_of(1)), std::nullopt);
  const std::vector<std::vector<OwnedRecord>> logs{
      {last, first, result, done},
      {last, erased, result, done},
      {result, last, done, first, other_done},
      {result, last, done, erased, other_done},
      {result, done, first},
      {done, result},
      {done, last, first, result},
  };
  auto log = logs[GENERATE_COPY(range(std::size_t{0}, logs.size()))];
  for (std::size_t i = 0; i < log.size(); ++i) {
    log[i].position = static_cast<std::int64_t>(i);
  }
  const Folder folder;
  const auto bulk = store_of(tables_of(TablesKind::memory, folder));
  REQUIRE(bulk->begin_bulk());
  apply_all(*bulk, log);
  REQUIRE(bulk->end_bulk(bulk->release_tables()));
  CHECK(bulk->unverified_requests().value() == std::vector{id_of(1)});
}

TEST_CASE("a store that is opened again knows what it knew", "[store]") {
  const Folder folder;
  std::string before;
  {
    const auto store = store_of(tables_of(TablesKind::rocks, folder));
    auto log = small_log();
    log.push_back(at(14, {Kind::engine, {}, {}, {}}, "rubbish"));
    log.push_back(at(15, {Kind::engine, {}, {}, {}}, std::nullopt));
    log.push_back(at(16, {Kind::log, {}, {}, {}}, "rubbish"));
    apply_all(*store, log);
    REQUIRE(store->checkpoint(Instant{77}));
    before = answers_of(*store);
  }
  const auto again = store_of(tables_of(TablesKind::rocks, folder));
  CHECK(again->current_at() == Instant{77});
  CHECK_FALSE(again->is_half_built());
  CHECK(answers_of(*again) == before);
}

// Tables whose next write fails.
class Failing : public store::MemoryTables {
 public:
  bool fails = false;
  Result<void> write(const store::Batch& batch) override {
    if (fails) {
      return error(Errc::retriable, "the disk is full");
    }
    return MemoryTables::write(batch);
  }
};

TEST_CASE("where the disk refuses, nothing has changed and the same call works later", "[store]") {
  auto tables = std::make_unique<Failing>();
  auto& disk = *tables;
  const auto store = store_of(std::move(tables));
  const auto log = small_log();
  apply_all(*store, {log[1], log[2]});
  const auto before = answers_of(*store);
  disk.fails = true;
  auto more = log;
  more.push_back({14, "no key", "x"});
  more.push_back(at(15, LogBorn{"birth-2", Instant{1}}));
  more.push_back(at(16, EngineStarted{"e2", {}, {}, {}, {}}));
  const auto refused = store->apply(views(more), LogPosition{17});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().errc == Errc::retriable);
  CHECK(answers_of(*store) == before);
  disk.fails = false;
  const auto taken = store->apply(views(more), LogPosition{17});
  REQUIRE(taken);
  CHECK(store->birth()->id == "birth-2");
  CHECK(store->leader()->engine.engine == "e2");
  CHECK(store->bad_records() == 1);
}

TEST_CASE("rows that nobody wrote are fatal: the store is to be set aside", "[store]") {
  using Row = std::pair<std::string, std::string>;
  const auto [key, value] =
      GENERATE(Row{"M", "rubbish"}, Row{"M", ""}, Row{"M", "99 1 2 3 4 0 b"}, Row{"Gengine", "x"},
               Row{"F" + id_of(1).value() + "/request", "x"},
               Row{"F" + id_of(1).value() + "/nothing", std::string(40, 'v')});
  CAPTURE(key);
  auto tables = std::make_unique<store::MemoryTables>();
  auto& rows = *tables;
  { auto made = std::make_unique<store::MemoryTables>(); }
  store::Batch good;
  good.put("M", store::encode_meta({}));
  REQUIRE(rows.write(good));
  store::Batch bad;
  bad.put(key, value);
  REQUIRE(rows.write(bad));
  const auto opened = store::Store::open(std::move(tables));
  if (!opened) {
    CHECK(opened.error().errc == Errc::fatal);
    return;
  }
  const auto facts = opened.value()->facts(id_of(1));
  REQUIRE_FALSE(facts);
  CHECK(facts.error().errc == Errc::fatal);
  const auto all = opened.value()->each([](const store::RequestFacts&) { return true; });
  REQUIRE_FALSE(all);
  CHECK(all.error().errc == Errc::fatal);
}

TEST_CASE("a row is found again from its bytes, and nothing else is a row", "[store]") {
  const OwnedRecord full{-5, "k", "value", -7};
  const OwnedRecord tombstone{9'223'372'036'854'775'807, "k", std::nullopt, 3};
  const OwnedRecord empty{0, "k", "", 0};
  for (const auto& record : {full, tombstone, empty}) {
    const auto header = store::row_header(record.view());
    const std::string row = std::string{header.data(), header.size()} + record.value.value_or("");
    const auto read = store::decode_row("k", row);
    REQUIRE(read);
    CHECK(read->position == record.view().position);
    CHECK(read->timestamp == record.view().timestamp);
    CHECK(read->value == record.view().value);
    for (std::size_t size = 0; size < 17; ++size) {
      CHECK_FALSE(store::decode_row("k", row.substr(0, size)));
    }
  }
  CHECK_FALSE(store::decode_row("k", std::string(20, 'x')));
}

}  // namespace

std::string answers_of(const store::Store& store) {
  std::string all = "next " + std::to_string(store.next().value()) + " bad " +
                    std::to_string(store.bad_records());
  if (store.birth()) {
    all += " birth " + store.birth()->id + "@" + std::to_string(store.birth()->position.value());
  }
  if (store.leader()) {
    all += " leader " + store.leader()->engine.engine + "@" +
           std::to_string(store.leader()->number.value());
  }
  const auto anchors = store.anchors();
  for (const auto& anchor : anchors.value()) {
    all += " anchor " + anchor.key + "@" + std::to_string(anchor.position.value());
  }
  const auto list = [&](const char* name, const Result<std::vector<RequestId>>& ids) {
    all += std::string{"\n"} + name;
    for (const auto& id : ids.value()) {
      all += " " + id.value();
    }
  };
  list("open", store.open_requests());
  list("unverified", store.unverified_requests());
  const auto visited = store.each([&](const store::RequestFacts& facts) {
    all += "\n" + facts.id.value() + " " + std::string{store::to_string(store::phase_of(facts))};
    const auto add = [&](const auto& fact) {
      all += " " + std::to_string(fact.position.value()) + ":" +
             std::to_string(static_cast<int>(fact.content));
      if (fact.record) {
        all += ":" + to_json(*fact.record);
      }
    };
    for (const auto& [leader, fact] : facts.dones) {
      add(fact);
    }
    for (const auto& [group, copies] : facts.results) {
      for (const auto& [leader, fact] : copies) {
        add(fact);
      }
    }
    for (const auto& [group, fact] : facts.verified) {
      add(fact);
    }
    for (const auto& [cluster, fact] : facts.intents) {
      add(fact);
    }
    if (facts.request) {
      add(*facts.request);
    }
    if (facts.guard) {
      add(*facts.guard);
    }
    if (facts.cancel) {
      add(*facts.cancel);
    }
    return true;
  });
  return visited ? all : all + "\n" + visited.error().detail;
}

}  // namespace flow::test
