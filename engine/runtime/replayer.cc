#include "engine/runtime/replayer.h"

#include <algorithm>

#include "engine/decide/conclude.h"
#include "engine/decide/version.h"
#include "schemas/codec.h"
#include "schemas/utf8.h"

namespace flow::engine {

using boost::asio::awaitable;

awaitable<Result<port::LogState>> Replayer::describe_patiently() {
  for (int failures = 0; !context_.stopping; ++failures) {
    auto state = co_await context_.ports.log.describe();
    if (state || state.error().errc == Errc::refused) {
      co_return state;
    }
    if (state.error().detail != last_problem_) {
      last_problem_ = state.error().detail;
      context_.log->warn("waiting for the broker: {}", last_problem_);
    }
    co_await context_.ports.clock.sleep_until(context_.ports.clock.now() +
                                              decide::backoff(failures));
  }
  co_return error(Errc::cancelled, "stopped while it waited for the broker");
}

// The record at the store's birth position says whether this is the log that the store was read
// from.
awaitable<Result<bool>> Replayer::birth_stands(port::LogState log) {
  const auto birth = context_.keeper.store().birth();
  if (!birth) {
    // A store that was read from a log without a birth record: nothing but its length speaks for
    // it.
    co_return context_.keeper.store().next() <= log.high_watermark;
  }
  if (birth->position < log.start || birth->position >= log.last_stable) {
    co_return false;
  }
  BOOST_OUTCOME_CO_TRY(co_await context_.ports.log.seek(birth->position));
  for (int tries = 0; tries < 10 && !context_.stopping; ++tries) {
    BOOST_OUTCOME_CO_TRY(const auto batch, co_await context_.ports.log.read());
    if (batch.records.empty()) {
      if (batch.at_end) {
        co_return false;
      }
      continue;
    }
    const auto& first = batch.records.front();
    const auto key = decode_key(first.key);
    if (first.position != birth->position || !key || key->kind != Kind::log || !first.value) {
      co_return false;
    }
    const auto record = decode(*key, *first.value);
    const auto* born = record ? std::get_if<LogBorn>(&record.value()) : nullptr;
    co_return born != nullptr && born->birth == birth->id;
  }
  co_return error(Errc::unreachable, "read the birth record of the control topic: no answer");
}

awaitable<Result<bool>> Replayer::stands(store::Anchor anchor) {
  BOOST_OUTCOME_CO_TRY(co_await context_.ports.log.seek(anchor.position));
  for (int silent = 0; silent < 10 && !context_.stopping;) {
    BOOST_OUTCOME_CO_TRY(const auto batch, co_await context_.ports.log.read());
    if (const auto found = store::stands_in(batch.records, anchor)) {
      co_return *found;
    }
    if (batch.at_end) {
      co_return false;
    }
    silent = batch.records.empty() ? silent + 1 : 0;
  }
  co_return error(Errc::unreachable, "read what the store knows of the control topic: no answer");
}

// A log that lost records and was written on may be longer than the store.
awaitable<Result<std::optional<store::Anchor>>> Replayer::lost_anchor(port::LogState log) {
  BOOST_OUTCOME_CO_TRY(const auto anchors, context_.keeper.store().anchors());
  for (const auto& anchor : anchors) {
    if (anchor.position < log.start) {
      continue;
    }
    auto found = co_await stands(anchor);
    while (!found && found.error().errc != Errc::refused && !context_.stopping) {
      context_.log->warn("waiting for the broker: {}", found.error().detail);
      co_await context_.ports.clock.sleep_until(context_.ports.clock.now() + decide::backoff(5));
      found = co_await stands(anchor);
    }
    if (!found) {
      co_return found.error();
    }
    if (!found.value()) {
      co_return anchor;
    }
  }
  co_return std::optional<store::Anchor>{};
}

Error Replayer::lost_records(LogPosition from, const std::string& found) {
  const auto lines = known_only_to(context_.keeper.store(), from);
  if (!lines) {
    return lines.error();
  }
  for (const auto& line : lines.value()) {
    context_.log->error("only the store knows: {}", line);
  }
  return error(Errc::refused,
               "the control topic " + found +
                   ": the cluster lost records, so this engine does not lead. " +
                   std::to_string(lines.value().size()) +
                   " request(s) stand above; restore the topic, or delete the store's folder to "
                   "go on with the log as it is (a lost done means that its request may be "
                   "carried out again: cancel it first)");
}

awaitable<Result<void>> Replayer::check_store(port::LogState log) {
  auto birth = co_await birth_stands(log);
  while (!birth && !context_.stopping) {
    context_.log->warn("waiting for the broker: {}", birth.error().detail);
    co_await context_.ports.clock.sleep_until(context_.ports.clock.now() + decide::backoff(5));
    birth = co_await birth_stands(log);
  }
  if (!birth) {
    co_return birth.error();
  }
  const auto& store = context_.keeper.store();
  if (const auto why = why_rebuild(store, log, birth.value(), context_.ports.clock.now());
      !why.empty()) {
    co_return context_.keeper.rebuild(why);
  }
  if (log.high_watermark < store.next()) {
    co_return lost_records(log.high_watermark, "ends at position " +
                                                   std::to_string(log.high_watermark.value()) +
                                                   ", but this store has read up to " +
                                                   std::to_string(store.next().value()));
  }
  BOOST_OUTCOME_CO_TRY(const auto lost, co_await lost_anchor(log));
  if (lost) {
    co_return lost_records(lost->position, "does not hold what this store read at position " +
                                               std::to_string(lost->position.value()) + ", '" +
                                               to_line(lost->key, 120) + "'");
  }
  co_return boost::outcome_v2::success();
}

awaitable<Result<void>> Replayer::prepare() {
  for (int failures = 0; !context_.stopping; ++failures) {
    context_.book = WorkBook{};
    Result<void> ready = context_.keeper.open();
    if (ready) {
      ready = co_await make_ready();
    }
    if (ready) {
      checkpointed_at_ = context_.ports.clock.now();
      co_return co_await seek_patiently(context_.keeper.store().next());
    }
    if (ready.error().errc == Errc::fatal) {
      // What opening did not find, reading did.
      ready = context_.keeper.replace_damaged(ready.error().detail);
    }
    if (!ready && ready.error().errc != Errc::retriable) {
      co_return ready;
    }
    if (!ready) {
      say_once("waiting for the store: ", ready.error().detail);
    }
    co_await wait_for(context_, context_.reading,
                      context_.ports.clock.now() + decide::backoff(failures));
  }
  co_return error(Errc::cancelled, "stopped while it waited for its store");
}

// What was tried and the name of the file that could not be written are others each time.
void Replayer::say_once(const char* waits_for, const std::string& problem) {
  std::string kind = problem.substr(std::min(problem.find(": "), problem.size()));
  std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
  if (kind != last_problem_) {
    last_problem_ = std::move(kind);
    context_.log->warn("{}{}", waits_for, problem);
  }
}

// Holds an open store against the log, and loads what is open in it.
awaitable<Result<void>> Replayer::make_ready() {
  BOOST_OUTCOME_CO_TRY(const auto log, co_await describe_patiently());
  BOOST_OUTCOME_CO_TRY(co_await check_store(log));
  auto& store = context_.keeper.store();
  const auto behind = log.high_watermark.value() - store.next().value();
  if (store.next() == LogPosition{0} && behind > context_.settings.bulk_from) {
    co_return context_.keeper.begin_bulk();
  }
  co_return load_book();
}

awaitable<Result<void>> Replayer::seek_patiently(LogPosition position) {
  for (int failures = 0; !context_.stopping; ++failures) {
    auto sought = co_await context_.ports.log.seek(position);
    if (sought || sought.error().errc == Errc::refused || sought.error().errc == Errc::invalid) {
      co_return sought;
    }
    if (sought.error().detail != last_problem_) {
      last_problem_ = sought.error().detail;
      context_.log->warn("waiting for the broker: {}", last_problem_);
    }
    co_await context_.ports.clock.sleep_until(context_.ports.clock.now() +
                                              decide::backoff(failures));
  }
  co_return error(Errc::cancelled, "stopped while it waited for the broker");
}

Result<void> Replayer::load_book() {
  auto& store = context_.keeper.store();
  BOOST_OUTCOME_TRY(auto ids, store.open_requests());
  BOOST_OUTCOME_TRY(const auto unverified, store.unverified_requests());
  ids.insert(ids.end(), unverified.begin(), unverified.end());
  for (const auto& id : ids) {
    BOOST_OUTCOME_TRY(const auto facts, store.facts(id));
    context_.book.update(facts, context_.ports.topology.current());
  }
  return boost::outcome_v2::success();
}

void Replayer::on_changes(const store::Changes& changes) {
  for (const auto& bad : changes.bad) {
    context_.log->warn("bad record partition=0 offset={} key='{}': {}", bad.position.value(),
                       bad.key, bad.problem);
  }
  for (const auto& [id, facts] : changes.requests) {
    context_.book.update(facts, context_.ports.topology.current());
    if (store::phase_of(facts) == store::Phase::damaged) {
      damaged_.insert(id);
    }
  }
}

// A batch may end in the middle of a transaction, whose done has not been read then; so damage is
// named only once the log has been read to its end.
Result<void> Replayer::name_damaged() {
  for (const auto& id : std::exchange(damaged_, {})) {
    BOOST_OUTCOME_TRY(const auto facts, context_.keeper.store().facts(id));
    if (const auto damage = store::damage_of(facts); !damage.empty()) {
      context_.log->warn("damaged id={}: {}; it is never carried out", id.value(), damage);
    }
  }
  return boost::outcome_v2::success();
}

// Only an engine writes engine records; a newer one may say that older ones must not go on.
void Replayer::obey_newer_engine() {
  const auto& leader = context_.keeper.store().leader();
  if (context_.caught_up && leader &&
      decide::is_older(context_.settings.version, leader->engine.stop_older_than)) {
    context_.fail(
        error(Errc::refused, "engine " + leader->engine.engine + " says that engines older than " +
                                 leader->engine.stop_older_than + " must stop, and this one is " +
                                 context_.settings.version + ": upgrade it"));
  }
}

Result<void> Replayer::reach_end() {
  if (context_.keeper.store().in_bulk()) {
    BOOST_OUTCOME_TRY(context_.keeper.end_bulk());
    BOOST_OUTCOME_TRY(load_book());
  }
  BOOST_OUTCOME_TRY(name_damaged());
  const bool first = !context_.caught_up;
  context_.caught_up = true;
  obey_newer_engine();
  return checkpoint_if_due(first);
}

Result<void> Replayer::checkpoint_if_due(bool forced) {
  const Instant now = context_.ports.clock.now();
  const auto since = (now - checkpointed_at_).value();
  // An idle store stays current too; ten times rarer.
  const auto every = context_.settings.checkpoint_every.value() * (dirty_ ? 1 : 10);
  if (!forced && since < every) {
    return boost::outcome_v2::success();
  }
  BOOST_OUTCOME_TRY(context_.keeper.store().checkpoint(now));
  dirty_ = false;
  checkpointed_at_ = now;
  return boost::outcome_v2::success();
}

// The disk may be full, or what is on it damaged; neither loses anything, since the log has it all.
// What is not on disk is given up with the tables: after a failed write RocksDB takes no more until
// it is opened again.
awaitable<void> Replayer::begin_anew(Error problem) {
  context_.caught_up = false;
  context_.end_term();
  context_.settle_wanted = true;
  damaged_.clear();
  dirty_ = false;
  if (problem.errc == Errc::fatal) {
    const auto replaced = context_.keeper.replace_damaged(problem.detail);
    if (!replaced && replaced.error().errc == Errc::retriable) {
      say_once("waiting for the store: ", replaced.error().detail);
    }
  } else {
    say_once("waiting for the store: ", problem.detail);
    co_await wait_for(context_, context_.reading,
                      context_.ports.clock.now() + decide::backoff(failures_));
  }
  ++failures_;
  auto ready = co_await prepare();
  if (!ready && ready.error().errc != Errc::cancelled) {
    context_.fail(ready.error());
  }
}

// The broker does not give the log.
awaitable<void> Replayer::survive(Error problem) {
  if (problem.errc == Errc::refused || problem.errc == Errc::invalid) {
    context_.fail(std::move(problem));
    co_return;
  }
  if (problem.detail != last_problem_ || failures_ % 50 == 49) {
    last_problem_ = problem.detail;
    context_.log->warn("waiting: {}", problem.detail);
  }
  co_await wait_for(context_, context_.reading,
                    context_.ports.clock.now() + decide::backoff(failures_));
  ++failures_;
}

Result<void> Replayer::apply(const port::LogBatch& batch) {
  BOOST_OUTCOME_TRY(const auto changes, context_.keeper.store().apply(batch.records, batch.next));
  dirty_ = dirty_ || !batch.records.empty();
  on_changes(changes);
  if (changes.leader) {
    obey_newer_engine();
  }
  context_.book.read_back(context_.keeper.store().next());
  if (!batch.records.empty() || changes.leader) {
    context_.applied.notify();
    context_.wake_workers();
  }
  if (batch.at_end || context_.caught_up) {
    const bool newly = !context_.caught_up;
    BOOST_OUTCOME_TRY(batch.at_end ? reach_end() : checkpoint_if_due(false));
    if (newly) {
      context_.leading.notify();
      context_.wake_workers();
    }
  }
  return boost::outcome_v2::success();
}

awaitable<void> Replayer::run() {
  while (!context_.stopping) {
    auto batch = co_await context_.ports.log.read();
    if (!batch) {
      co_await survive(batch.error());
      continue;
    }
    auto applied = apply(batch.value());
    if (!applied) {
      co_await begin_anew(applied.error());
      continue;
    }
    if (!context_.caught_up) {
      continue;  // what went wrong with the store is over when all of it has been written
    }
    failures_ = 0;
    if (!last_problem_.empty()) {
      context_.log->info("reading the control topic again");
      last_problem_.clear();
    }
  }
  if (context_.keeper.store().in_bulk()) {
    co_return;  // half built: it is rebuilt at the next start
  }
  auto saved =
      context_.caught_up ? checkpoint_if_due(dirty_) : Result<void>{boost::outcome_v2::success()};
  if (!saved) {
    context_.log->warn("{}", saved.error().detail);
  }
}

}  // namespace flow::engine
