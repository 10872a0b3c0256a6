#include "engine/app/cli/follow.h"

#include <poll.h>

#include <algorithm>
#include <chrono>

#include "engine/app/cli/exit.h"
#include "engine/decide/decide.h"
#include "schemas/keys.h"

namespace flow::app {
namespace {

using SteadyClock = std::chrono::steady_clock;

// How soon a signal is seen, and how often the elapsed seconds move.
constexpr std::int64_t look_up_every_ms = 200;

constexpr std::int64_t connect_within_ms = 3'000;

constexpr std::int64_t quiet_for_ms = 1'000;

std::int64_t ms_since(SteadyClock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - begin).count();
}

// Collects one request's facts from what is read.
class Reader {
 public:
  explicit Reader(store::RequestFacts& facts) : facts_(facts) {}

  void apply(const port::LogBatch& batch) {
    for (const auto& record : batch.records) {
      if (!record.key.starts_with(facts_.id.value())) continue;
      if (const auto key = decode_key(record.key); key && key->id == facts_.id) {
        store::apply(facts_, *key, record);
      }
    }
    if (!batch.records.empty() || batch.at_end) at_end_ = batch.at_end;
  }

  // A transaction's records may come in several batches: what looks damaged in the middle of one is
  // not.
  bool may_conclude() const { return at_end_ || store::phase_of(facts_) != store::Phase::damaged; }

 private:
  store::RequestFacts& facts_;
  bool at_end_ = true;  // of what was read before this one took over
};

// A read that fails at once must not be asked again at once; a signal ends the pause.
void pause_after_failure(SteadyClock::time_point asked) {
  const std::int64_t left = look_up_every_ms - ms_since(asked);
  if (left > 0) ::poll(nullptr, 0, static_cast<int>(left));
}

}  // namespace

Result<Followed> follow(kafka::Scan& scan, Following following, Terminal& terminal,
                        const Interrupts& interrupts) {
  const auto begin = SteadyClock::now();
  Followed followed{std::move(following.facts), {}, false};
  Reader reader{followed.facts};
  // The first read connects, and so does one after trouble: a broker far away needs its time.
  std::int64_t patience_ms = connect_within_ms;
  for (;;) {
    followed.progress = progress_of(followed.facts, following.wait_for);
    if (followed.progress.is_over && reader.may_conclude()) return followed;
    const std::int64_t left = following.timeout.value() - ms_since(begin);
    if (left <= 0 || interrupts.came()) {
      followed.timed_out = true;
      return followed;
    }
    const auto asked = SteadyClock::now();
    const auto batch = scan.next(Duration{std::min(left, patience_ms)});
    patience_ms = batch ? look_up_every_ms : connect_within_ms;
    if (batch) {
      reader.apply(batch.value());
    } else if (batch.error().errc != Errc::unreachable && batch.error().errc != Errc::retriable) {
      return batch.error();
    }
    const auto next = progress_of(followed.facts, following.wait_for);
    if (next.is_over) continue;
    // What takes no time needs no words.
    const bool is_worth_saying =
        !batch || ms_since(begin) > quiet_for_ms || !decide::waits_for(followed.facts).empty();
    const std::string why = batch ? next.why : text_of(batch.error());
    if (is_worth_saying) {
      terminal.progress("waiting: " + why, static_cast<long>(ms_since(begin) / 1'000));
    }
    if (!batch) pause_after_failure(asked);
  }
}

void say_still_waiting(Session& session, const Followed& followed, Terminal& terminal) {
  const auto& facts = followed.facts;
  std::string why = followed.progress.why;
  if (store::phase_of(facts) == store::Phase::closed) {
    terminal.note("still waiting: " + why);
    return;
  }
  const auto runs = session.engine_runs(Duration{2'000});
  if (runs && !*runs) {
    const auto reasons = decide::waits_for(facts);
    why = (reasons.empty() ? "" : why + "; ") + no_engine_text(session.topic());
  }
  terminal.note("still waiting: " + why + "; flow cancel " + facts.id.value());
}

}  // namespace flow::app
