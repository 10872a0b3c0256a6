#include "engine/runtime/store_keeper.h"

#include <malloc.h>

#include <algorithm>
#include <filesystem>

#include "store/rocks_tables.h"

namespace flow::engine {

StoreKeeper::StoreKeeper(TablesSource& source, std::function<void(const std::string&)> say)
    : source_(source), say_(std::move(say)) {}

Result<void> StoreKeeper::open_tables(bool bulk) {
  store_.reset();
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
  store_.reset();
  BOOST_OUTCOME_TRY(source_.destroy());
  return open_tables(false);
}

Result<void> StoreKeeper::replace_damaged(const std::string& why) {
  store_.reset();
  BOOST_OUTCOME_TRY(const auto where, source_.set_aside());
  say_("the store is damaged (" + why + "): set aside as '" + where + "' and rebuilt from the log");
  return open_tables(false);
}

Result<void> StoreKeeper::begin_bulk() {
  BOOST_OUTCOME_TRY(open_tables(true));
  return store_->begin_bulk();
}

Result<void> StoreKeeper::end_bulk() {
  // While the disk refuses, the rows stay where they are, and this is tried again.
  BOOST_OUTCOME_TRY(store_->flush());
  store_->release_tables().reset();
  auto tables = source_.open(false);
  if (!tables) {
    // Without tables nothing can go on: begun anew, whatever the reason was.
    return error(Errc::fatal, tables.error().detail);
  }
  auto ended = store_->end_bulk(std::move(tables).value());
  // What a rebuild needed is not needed any more, and an idle engine stays small.
  ::malloc_trim(0);
  return ended;
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

Result<std::string> RocksSource::set_aside() {
  const std::filesystem::path folder{folder_};
  for (int n = 1;; ++n) {
    const std::string aside = folder_ + ".damaged-" + std::to_string(n);
    if (std::filesystem::exists(aside)) {
      continue;
    }
    std::error_code problem;
    std::filesystem::rename(folder, aside, problem);
    if (problem) {
      return error(Errc::retriable, "rename the damaged store '" + folder_ + "' to '" + aside +
                                        "': " + problem.message());
    }
    return aside;
  }
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
