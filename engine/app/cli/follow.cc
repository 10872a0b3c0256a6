#include "engine/app/cli/follow.h"

#include <poll.h>

#include <algorithm>
#include <chrono>

#include "engine/app/cli/exit.h"
#include "schemas/keys.h"

namespace flow::app {
namespace {

using SteadyClock = std::chrono::steady_clock;

// How soon a signal is seen, and how often the elapsed seconds move.
constexpr std::int64_t look_up_every_ms = 200;

std::int64_t ms_since(SteadyClock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - begin).count();
}

void apply(store::RequestFacts& facts, const port::LogBatch& batch) {
  for (const auto& record : batch.records) {
    if (!record.key.starts_with(facts.id.value())) continue;
    if (const auto key = decode_key(record.key); key && key->id == facts.id) {
      store::apply(facts, *key, record);
    }
  }
}

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
  auto& facts = followed.facts;
  if (following.first) apply(facts, *following.first);
  for (;;) {
    followed.progress = progress_of(facts, following.wait_for);
    if (followed.progress.is_over) return followed;
    const std::int64_t left = following.timeout.value() - ms_since(begin);
    if (left <= 0 || interrupts.came()) {
      followed.timed_out = true;
      return followed;
    }
    const auto asked = SteadyClock::now();
    auto batch = scan.next(Duration{std::min(left, look_up_every_ms)});
    if (batch) {
      apply(facts, batch.value());
    } else if (batch.error().errc != Errc::unreachable && batch.error().errc != Errc::retriable) {
      return batch.error();
    }
    const auto next = progress_of(facts, following.wait_for);
    if (next.is_over) continue;
    const std::string why = batch ? next.why : text_of(batch.error());
    terminal.progress("waiting: " + why, static_cast<long>(ms_since(begin) / 1'000));
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
  if (runs && !*runs) why = no_engine_text(session.topic());
  terminal.note("still waiting: " + why + "; flow cancel " + facts.id.value());
}

}  // namespace flow::app
