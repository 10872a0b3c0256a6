#include "engine/runtime/store_keeper.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "store/memory_tables.h"
#include "store/rocks_tables.h"

namespace flow::engine {

StoreKeeper::StoreKeeper(TablesSource& source, std::function<void(const std::string&)> say)
    : source_(source), say_(std::move(say)) {
  close();
}

// Others ask at any time how far the store is: while no tables are open, one that knows nothing
// stands in.
void StoreKeeper::close() {
  store_ = store::Store::open(std::make_unique<store::MemoryTables>()).value();
}

Result<void> StoreKeeper::open_tables(bool bulk) {
  close();
  BOOST_OUTCOME_TRY(auto tables, source_.open(bulk));
  BOOST_OUTCOME_TRY(store_, store::Store::open(std::move(tables)));
  return boost::outcome_v2::success();
}

Result<void> StoreKeeper::open() {
  auto opened = open_tables(false);
  if (!opened && opened.error().errc == Errc::fatal) {
    return replace_damaged(opened.error().detail);
  }
  BOOST_OUTCOME_TRY(std::move(opened));
  if (store_->is_half_built()) {
    return rebuild("its last rebuild was cut off");
  }
  return boost::outcome_v2::success();
}

Result<void> StoreKeeper::rebuild(const std::string& why) {
  say_("rebuilding the store from the log: " + why);
  close();
  BOOST_OUTCOME_TRY(source_.destroy());
  return open_tables(false);
}

Result<void> StoreKeeper::replace_damaged(const std::string& why) {
  close();
  BOOST_OUTCOME_TRY(const auto where, source_.set_aside());
  say_("the store is damaged (" + why + "): " +
       (where.empty() ? "nothing of it is left, so it is" : "set aside as '" + where + "' and") +
       " rebuilt from the log");
  return open_tables(false);
}

Result<void> StoreKeeper::begin_bulk() {
  BOOST_OUTCOME_TRY(open_tables(true));
  return store_->begin_bulk();
}

Result<void> StoreKeeper::end_bulk() {
  auto ended = reopen_after_bulk();
  if (!ended) {
    close();  // its tables are half built, and are rebuilt when they are opened again
  }
  // What a rebuild needed is not needed any more, and an idle engine stays small.
  ::malloc_trim(0);
  return ended;
}

Result<void> StoreKeeper::reopen_after_bulk() {
  BOOST_OUTCOME_TRY(store_->flush());
  store_->release_tables().reset();
  BOOST_OUTCOME_TRY(auto tables, source_.open(false));
  return store_->end_bulk(std::move(tables));
}

Result<std::unique_ptr<store::Tables>> RocksSource::open(bool bulk) {
  std::error_code problem;
  std::filesystem::create_directories(folder_, problem);
  if (problem) {
    return error(Errc::retriable,
                 "create the store's folder '" + folder_ + "': " + problem.message());
  }
  BOOST_OUTCOME_TRY(auto tables, store::RocksTables::open(folder_, bulk));
  return std::unique_ptr<store::Tables>{std::move(tables)};
}

namespace {

// A disk that damages one store after the other must not be filled with them.
constexpr int kept_aside_max = 3;

// "<beginning><n>", n one more than the highest there is; removes all but the latest.
std::string next_aside(const std::string& beginning) {
  int n = 1;
  std::error_code ignored;
  std::filesystem::directory_iterator at{std::filesystem::path{beginning}.parent_path(), ignored};
  const std::string name = std::filesystem::path{beginning}.filename();
  for (const std::filesystem::directory_iterator end; !ignored && at != end;
       at.increment(ignored)) {
    const std::string there = at->path().filename();
    if (there.starts_with(name)) {
      n = std::max(n, std::atoi(there.c_str() + name.size()) + 1);
    }
  }
  std::filesystem::remove_all(beginning + std::to_string(n - kept_aside_max), ignored);
  return beginning + std::to_string(n);
}

// A folder that is a mount point, or whose parent cannot be written, stays where it is.
std::error_code move_files(const std::filesystem::path& folder, const std::string& aside) {
  std::error_code problem;
  std::filesystem::create_directory(aside, problem);
  for (std::filesystem::directory_iterator at{folder, problem}, end; !problem && at != end;
       at.increment(problem)) {
    const std::string name = at->path().filename();
    if (at->is_regular_file(problem) && !problem) {
      std::filesystem::rename(at->path(), std::filesystem::path{aside} / name, problem);
    }
  }
  return problem;
}

}  // namespace

Result<std::string> RocksSource::set_aside() {
  const std::filesystem::path folder = std::filesystem::absolute(folder_).lexically_normal();
  const std::filesystem::path bare = folder.has_filename() ? folder : folder.parent_path();
  std::string aside = next_aside(bare.string() + ".damaged-");
  std::error_code problem;
  std::filesystem::rename(bare, aside, problem);
  if (problem == std::errc::no_such_file_or_directory) {
    return std::string{};
  }
  if (problem) {
    aside = next_aside((bare / "damaged-").string());
    problem = move_files(bare, aside);
  }
  if (problem) {
    return error(Errc::retriable, "move the damaged store '" + folder_ + "' to '" + aside +
                                      "': " + problem.message());
  }
  return aside;
}

Result<void> RocksSource::destroy() { return store::RocksTables::destroy(folder_); }

std::string why_rebuild(const store::Store& store, const port::LogState& log, bool birth_stands,
                        Instant now) {
  if (store.next() == LogPosition{0}) {
    return {};
  }
  if (!birth_stands) {
    return "the control topic is another one than it was read from";
  }
  if (!store.current_at()) {
    return "it never held all of the log";
  }
  const Duration age = now - *store.current_at();
  if (age > log.delete_retention) {
    return "it was last current " + std::to_string(age.value() / 1'000) +
           " s ago, longer than the log keeps tombstones (delete.retention.ms " +
           std::to_string(log.delete_retention.value()) + ")";
  }
  return {};
}

namespace {

std::string standing(const store::RequestFacts& facts) {
  const auto* done = store::closing_done(facts);
  if (done == nullptr) {
    return std::string{store::to_string(store::phase_of(facts))};
  }
  return "done";
}

}  // namespace

Result<std::vector<std::string>> known_only_to(const store::Store& store, LogPosition end) {
  std::vector<std::string> lines;
  BOOST_OUTCOME_TRY(store.each([&](const store::RequestFacts& facts) {
    std::vector<std::string> kinds;
    const auto beyond = [&](const auto& fact, const char* kind) {
      if (fact.position >= end) {
        kinds.emplace_back(kind);
      }
    };
    const auto all_beyond = [&](const auto& slots, const char* kind) {
      for (const auto& [at, fact] : slots) {
        beyond(fact, kind);
      }
    };
    if (facts.request) {
      beyond(*facts.request, "request");
    }
    if (facts.cancel) {
      beyond(*facts.cancel, "cancel");
    }
    if (facts.guard) {
      beyond(*facts.guard, "guard");
    }
    all_beyond(facts.intents, "intent");
    for (const auto& [group, copies] : facts.results) {
      all_beyond(copies, "result");
    }
    all_beyond(facts.dones, "done");
    all_beyond(facts.verified, "verified");
    if (!kinds.empty()) {
      kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
      std::string line = facts.id.value() + " (" + standing(facts) + "):";
      for (const auto& kind : kinds) {
        line += " " + kind;
      }
      lines.push_back(std::move(line));
    }
    return true;
  }));
  return lines;
}

}  // namespace flow::engine
