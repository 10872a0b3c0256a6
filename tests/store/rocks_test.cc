#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "store/rocks_tables.h"
#include "tests/store/tables_kinds.h"
#include "tests/support/builders.h"
#include "tests/support/random.h"

namespace flow::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const std::string& folder, const std::string& beginning,
                               const std::string& ending) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator{folder}) {
    const auto name = entry.path().filename().string();
    if (name.starts_with(beginning) && name.ends_with(ending)) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A store with some requests, all on disk.
void make_store(const Folder& folder, int requests) {
  const auto store = store_of(tables_of(TablesKind::rocks, folder));
  std::vector<OwnedRecord> log;
  for (int n = 0; n < requests; ++n) {
    log.push_back(at(n, request_of(n)));
  }
  const auto records = views(log);
  REQUIRE(store->apply(records, LogPosition{requests}));
  REQUIRE(store->checkpoint(Instant{1}));
}

// Opens the store and asks it everything; returns the first error.
std::optional<Error> use(const Folder& folder) {
  auto tables = store::RocksTables::open(folder.at("store"), false);
  if (!tables) {
    return tables.error();
  }
  auto store = store::Store::open(std::move(tables).value());
  if (!store) {
    return store.error();
  }
  if (auto all = store.value()->each([](const store::RequestFacts&) { return true; }); !all) {
    return all.error();
  }
  if (auto open = store.value()->open_requests(); !open) {
    return open.error();
  }
  return std::nullopt;
}

TEST_CASE("a second engine on the same folder is refused with a clear word", "[rocks]") {
  const Folder folder;
  const auto first = tables_of(TablesKind::rocks, folder);
  const auto second = store::RocksTables::open(folder.at("store"), false);
  REQUIRE_FALSE(second);
  CHECK(second.error().errc == Errc::refused);
  CHECK(second.error().detail == "another engine uses the store in '" + folder.at("store") +
                                     "'; give each engine a folder of its own (--store)");
}

bool flushed_after(int n) { return n % 7 == 3; }

[[noreturn]] void apply_until_killed(const std::string& folder, int last) {
  const auto store = store_of(store::RocksTables::open(folder, false).value());
  for (int n = 0; n <= last; ++n) {
    const auto record = at(n, request_of(n));
    const std::vector<LogRecord> one{record.view()};
    if (!store->apply(one, LogPosition{n + 1}) ||
        (flushed_after(n) && !store->checkpoint(Instant{n}))) {
      _exit(EXIT_FAILURE);
    }
  }
  raise(SIGKILL);
  _exit(EXIT_FAILURE);
}

// Runs the current test in a process of its own: files copied from under a store that works are not
// what a kill leaves behind, since RocksDB removes some of them meanwhile, and its threads do not
// survive a fork. Returns how that process ended.
int status_of_killed_writer(const Folder& folder, int last) {
  const auto test = Catch::getResultCapture().getCurrentTestName();
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    setenv("FLOW_TEST_WRITE_TO", folder.at("store").c_str(), 1);
    setenv("FLOW_TEST_WRITE_LAST", std::to_string(last).c_str(), 1);
    execl("/proc/self/exe", "test_store", test.c_str(), nullptr);
    _exit(EXIT_FAILURE);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

TEST_CASE("rows and the position stand in one batch: a crash loses both or neither", "[rocks]") {
  if (const char* folder = std::getenv("FLOW_TEST_WRITE_TO")) {
    apply_until_killed(folder, std::stoi(std::getenv("FLOW_TEST_WRITE_LAST")));
  }
  std::int64_t flushed = 0;
  for (int last = 0; last < 50; ++last) {
    if (flushed_after(last)) {
      flushed = last + 1;
    }
    if (last % 5 != 0) {
      continue;
    }
    const Folder folder;
    const auto status = status_of_killed_writer(folder, last);
    REQUIRE(WIFSIGNALED(status));
    REQUIRE(WTERMSIG(status) == SIGKILL);
    const auto left = store_of(tables_of(TablesKind::rocks, folder));
    CHECK(left->next() >= LogPosition{flushed});
    std::int64_t rows = 0;
    REQUIRE(left->each([&](const store::RequestFacts&) { return ++rows >= 0; }));
    CHECK(LogPosition{rows} == left->next());
    CHECK(left->open_requests().value().size() == static_cast<std::size_t>(rows));
  }
}

TEST_CASE("a store that is left in peace can be used", "[rocks]") {
  const Folder folder;
  make_store(folder, 200);
  REQUIRE_FALSE(use(folder).has_value());
}

TEST_CASE("a folder that holds something else is refused by name", "[rocks]") {
  const Folder folder;
  fs::create_directories(folder.at("store"));
  std::ofstream{fs::path{folder.at("store")} / "thesis.tex"} << "mine";
  const auto found = use(folder);
  REQUIRE(found);
  CHECK(found->errc == Errc::refused);
  CHECK(found->detail == "the folder '" + folder.at("store") +
                             "' holds 'thesis.tex', which is no part of a store; give the engine "
                             "a folder of its own (--store)");
}

TEST_CASE("tables of another program are refused", "[rocks]") {
  const Folder folder;
  {
    auto tables = store::RocksTables::open(folder.at("store"), false);
    REQUIRE(tables);
    store::Batch batch;
    batch.put("theirs", "value");
    REQUIRE(tables.value()->write(batch));
    REQUIRE(tables.value()->flush());
  }
  const auto found = use(folder);
  REQUIRE(found);
  CHECK(found->errc == Errc::refused);
}

TEST_CASE("a file that is gone is told as damage", "[rocks]") {
  const Folder folder;
  make_store(folder, 200);
  const auto [beginning, ending] =
      GENERATE(table<std::string, std::string>({{"", ".sst"}, {"MANIFEST-", ""}, {"CURRENT", ""}}));
  CAPTURE(beginning, ending);
  const auto files = files_in(folder.at("store"), beginning, ending);
  REQUIRE_FALSE(files.empty());
  fs::remove(files.back());
  const auto found = use(folder);
  REQUIRE(found);
  CHECK(found->errc == Errc::fatal);
  CHECK(found->detail.find(folder.at("store")) != std::string::npos);
}

TEST_CASE("a flipped byte is told as damage, or changes nothing", "[rocks]") {
  const auto seed = number_from_environment("FLOW_SEED", 1);
  CAPTURE(seed);
  Random random{seed};
  const Folder good;
  make_store(good, 200);
  const auto before = answers_of(*store_of(tables_of(TablesKind::rocks, good)));
  int damaged = 0;
  for (int i = 0; i < 60; ++i) {
    const Folder folder;
    fs::copy(good.at("store"), folder.at("store"));
    auto files = files_in(folder.at("store"), "", ".sst");
    const auto manifests = files_in(folder.at("store"), "MANIFEST-", "");
    files.insert(files.end(), manifests.begin(), manifests.end());
    const auto file = random.pick(files);
    const auto at = random.below(fs::file_size(file));
    CAPTURE(i, file.string(), at);
    {
      std::fstream bytes{file, std::ios::in | std::ios::out | std::ios::binary};
      bytes.seekg(static_cast<std::streamoff>(at));
      const char byte = static_cast<char>(bytes.get());
      bytes.seekp(static_cast<std::streamoff>(at));
      bytes.put(static_cast<char>(byte ^ (1 << random.below(8))));
    }
    const auto found = use(folder);
    if (found) {
      ++damaged;
      CHECK(found->errc == Errc::fatal);
    } else {
      // The end of a MANIFEST may be cut as after a crash; then less is known, never something
      // else.
      const auto store = store_of(tables_of(TablesKind::rocks, folder));
      const bool same = answers_of(*store) == before;
      CHECK((same || store->next() == LogPosition{0}));
    }
  }
  CHECK(damaged > 20);
}

TEST_CASE("a folder that cannot be written is not damage", "[rocks]") {
  const auto opened = store::RocksTables::open("/dev/null/store", false);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().errc == Errc::retriable);
}

TEST_CASE("a deleted store is empty", "[rocks]") {
  const Folder folder;
  make_store(folder, 3);
  REQUIRE(store::RocksTables::destroy(folder.at("store")));
  const auto store = store_of(tables_of(TablesKind::rocks, folder));
  CHECK(store->next() == LogPosition{0});
  CHECK(store->open_requests().value().empty());
}

TEST_CASE("a rebuild in several parts ends with the last row of each key", "[rocks]") {
  const Folder folder;
  constexpr int keys = 1'000;
  const auto key_of = [](int n) { return "F" + id_of(n).value() + "/request"; };
  {
    auto tables = tables_of(TablesKind::rocks, folder, true);
    // Each round is larger than a part, and every part has every key.
    for (const char letter : {'a', 'b', 'c'}) {
      store::Batch batch;
      for (int n = 0; n < keys; ++n) {
        batch.put(key_of(n), std::string(13'000, letter));
      }
      batch.erase(key_of(7));
      REQUIRE(tables->write(batch));
    }
    store::Batch again;
    again.put(key_of(8), "first");
    again.put(key_of(8), "last");
    REQUIRE(tables->write(again));
    REQUIRE(tables->flush());
  }
  const auto tables = tables_of(TablesKind::rocks, folder);
  CHECK(tables->get(key_of(7)).value() == std::nullopt);
  CHECK(tables->get(key_of(8)).value() == "last");
  CHECK(tables->get(key_of(9)).value() == std::string(13'000, 'c'));
  int rows = 0;
  REQUIRE(tables->scan("F", [&](std::string_view, std::string_view) { return ++rows > 0; }));
  CHECK(rows == keys - 1);
}

TEST_CASE("a rebuild that was cut off leaves nothing behind", "[rocks]") {
  const Folder folder;
  {
    auto tables = tables_of(TablesKind::rocks, folder, true);
    store::Batch batch;
    batch.put("F1", std::string(13'000'000, 'a'));
    batch.put("F2", std::string(13'000'000, 'a'));
    REQUIRE(tables->write(batch));
  }
  { std::ofstream{folder.at("store") + "/rebuild-0.sst"} << "what a killed process leaves"; }
  const auto tables = tables_of(TablesKind::rocks, folder);
  CHECK(tables->get("F1").value() == std::nullopt);
  CHECK_FALSE(std::filesystem::exists(folder.at("store") + "/rebuild-0.sst"));
}

}  // namespace
}  // namespace flow::test
