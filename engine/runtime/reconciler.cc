#include "engine/runtime/reconciler.h"

#include <algorithm>
#include <set>

#include "engine/decide/conclude.h"
#include "engine/ports/fail_point.h"

namespace flow::engine {

using boost::asio::awaitable;

namespace {

// A transaction of more requests moves faster, but the window between the first offsets and the
// commit grows with each; measured: 8 move 1,078 a second with a window of 5 ms.
constexpr std::ptrdiff_t moves_together_max = 8;
// As many as then move together: what was seen is fresh when the first of them moves, and
// librdkafka still knows the coordinators of their groups (it keeps ten) when they are read once
// more.
constexpr std::size_t looks_together_max = 8;

std::vector<RequestId> ids_of(const auto& decided) {
  std::vector<RequestId> ids;
  for (const auto& one : decided) {
    ids.push_back(one.from.id);
  }
  return ids;
}

std::vector<Standpoint> standpoints_of(const auto& decided) {
  std::vector<Standpoint> from;
  for (const auto& one : decided) {
    from.push_back(one.from);
  }
  return from;
}

const std::vector<Record>& records_of(const decide::Effect& effect) {
  static const std::vector<Record> none;
  if (const auto* write = std::get_if<decide::Write>(&effect)) {
    return write->records;
  }
  if (const auto* move = std::get_if<decide::Move>(&effect)) {
    return move->records;
  }
  return none;
}

// One attempt may fail by chance: a consumer looked in, a coordinator moved.
constexpr int told_after_failures = 3;

std::string why_not(const port::CommitOutcome& outcome) {
  if (!outcome.refusals.empty()) {
    return outcome.refusals.front().detail;
  }
  return outcome.error ? outcome.error->detail : "";
}

// No group moves twice with one look: the later request is decided again in the next round.
void leave_out_shared_groups(auto& moves) {
  std::set<GroupId> groups;
  std::erase_if(moves, [&](const auto& one) {
    const auto& own = std::get<decide::Move>(one.effect).moves;
    const bool shares = std::any_of(own.begin(), own.end(), [&](const port::GroupMove& move) {
      return groups.contains(move.group);
    });
    if (!shares) {
      for (const auto& move : own) {
        groups.insert(move.group);
      }
    }
    return shares;
  });
}

}  // namespace

decide::Effect decide_work(Context& context, const Term& term, Work& work,
                           const port::Observation* seen, bool held) {
  decide::Situation situation;
  situation.now = context.ports.clock.now();
  situation.self = term.self;
  situation.topology = &context.ports.topology.current();
  situation.behind = context.book.ahead_of(work.facts.id);
  situation.seen = seen;
  situation.held = held;
  situation.guard = term.guard;
  situation.refusals = work.refusals;
  const bool holds = work.facts.guard && work.facts.guard->record &&
                     work.facts.guard->record->request &&
                     work.facts.guard->record->request->options.hold;
  if (holds || work.failures >= told_after_failures) {
    situation.failing = work.failing;
  }
  return decide::decide(work.facts, situation);
}

void settle_works(Context& context, const std::vector<RequestId>& ids,
                  const port::CommitOutcome& outcome) {
  const Instant now = context.ports.clock.now();
  for (const auto& id : ids) {
    Work* work = context.book.find(id);
    if (work == nullptr) {
      continue;
    }
    auto conclusion = decide::conclude(outcome, ids.size(), work->failures, now);
    const bool was_begun = !outcome.error || outcome.error->errc != Errc::cancelled;
    if (ids.size() > 1 && was_begun && outcome.status != port::CommitStatus::committed) {
      work->alone = true;
    }
    switch (conclusion.after) {
      case decide::After::read_back:
        // The reader may be faster than we are; then the facts are here already.
        if (!outcome.positions.empty() &&
            context.keeper.store().next() <= outcome.positions.back()) {
          work->in_hand = outcome.positions.back();
        }
        work->refusals.clear();
        break;
      case decide::After::each_alone:
        break;
      case decide::After::look_again:
        work->next_at = conclusion.again;
        work->refusals = std::move(conclusion.remembered);
        work->failing = why_not(outcome);
        ++work->failures;
        break;
      case decide::After::settle:
        work->next_at = conclusion.again;
        ++work->failures;
        context.settle_wanted = true;
        context.end_term();
        break;
      case decide::After::prove_leadership:
        context.fenced = true;
        context.end_term();
        break;
    }
  }
  if (outcome.status != port::CommitStatus::committed && outcome.error) {
    // What was never begun is decided anew; only what the broker did not take is news.
    const bool is_news = outcome.error->errc != Errc::cancelled;
    context.log->log(is_news ? spdlog::level::warn : spdlog::level::debug,
                     "transaction not committed requests={} first={}: {}", ids.size(),
                     ids.empty() ? "" : ids.front().value(), outcome.error->detail);
  }
}

awaitable<void> Reconciler::write_all(Term term, std::vector<Decided> writes) {
  if (writes.empty()) {
    co_return;
  }
  port::Transaction transaction;
  for (const auto& one : writes) {
    auto encoded = encode_all(records_of(one.effect));
    std::move(encoded.begin(), encoded.end(), std::back_inserter(transaction.records));
  }
  auto from = standpoints_of(writes);
  auto outcome = co_await transact(context_, term, std::move(from), std::move(transaction));
  settle_works(context_, ids_of(writes), outcome);
}

// Returns whether `some` are settled: false where one of several was the reason of an abort.
awaitable<bool> Reconciler::carry_out(Term term, std::vector<Decided> some) {
  port::Transaction transaction;
  for (const auto& one : some) {
    const auto& move = std::get<decide::Move>(one.effect);
    auto encoded = encode_all(move.records);
    std::move(encoded.begin(), encoded.end(), std::back_inserter(transaction.records));
    transaction.moves.insert(transaction.moves.end(), move.moves.begin(), move.moves.end());
  }
  auto from = standpoints_of(some);
  auto outcome = co_await transact(context_, term, std::move(from), std::move(transaction));
  const bool settled =
      outcome.status != port::CommitStatus::aborted || outcome.refusals.empty() || some.size() == 1;
  settle_works(context_, ids_of(some), outcome);
  for (const auto& one : some) {
    if (outcome.status == port::CommitStatus::committed) {
      context_.log->info("moved id={} requests_together={}", one.from.id.value(), some.size());
    }
  }
  for (const auto& refusal : outcome.refusals) {
    context_.log->info("refused by the broker id={} group={}: {}", some.front().from.id.value(),
                       refusal.group.value(), refusal.detail);
  }
  co_return settled;
}

awaitable<void> Reconciler::move_all(Term term, std::vector<Decided> moves) {
  leave_out_shared_groups(moves);
  const auto alone = std::stable_partition(moves.begin(), moves.end(),
                                           [this](const Decided& one) { return !goes_alone(one); });
  for (auto at = moves.begin(); at != alone;) {
    const auto end = at + std::min<std::ptrdiff_t>(alone - at, moves_together_max);
    std::vector<Decided> some{at, end};
    const bool settled = co_await carry_out(term, some);
    if (!settled) {
      co_await each_alone(term, std::move(some));
    }
    at = end;
  }
  std::vector<Decided> rest{std::make_move_iterator(alone), std::make_move_iterator(moves.end())};
  co_await each_alone(term, std::move(rest));
}

bool Reconciler::goes_alone(const Decided& one) const {
  const Work* work = context_.book.find(one.from.id);
  return work != nullptr && work->alone;
}

awaitable<void> Reconciler::each_alone(Term term, std::vector<Decided> moves) {
  for (auto& one : moves) {
    if (!context_.term || context_.term->number != term.number) {
      co_return;
    }
    std::vector<Decided> alone;
    alone.push_back(std::move(one));
    co_await carry_out(term, std::move(alone));
  }
}

// One look for all that want one; then each decides with what was seen.
awaitable<std::vector<Reconciler::Decided>> Reconciler::look(Term term,
                                                             std::vector<Decided> wanted) {
  std::vector<Decided> decided;
  if (wanted.empty()) {
    co_return decided;
  }
  port::ObserveRequest request;
  for (const auto& one : wanted) {
    const auto& groups = std::get<decide::Look>(one.effect).groups;
    request.groups.insert(request.groups.end(), groups.begin(), groups.end());
  }
  fail_point("before-look");
  const auto seen = co_await context_.ports.groups.observe(std::move(request));
  fail_point("after-look");
  const Instant now = context_.ports.clock.now();
  context_.book.resolve_again(context_.ports.topology.current());
  for (auto& one : wanted) {
    Work* work = context_.book.find(one.from.id);
    if (work == nullptr || work->in_hand || !context_.term ||
        context_.term->number != term.number) {
      continue;
    }
    if (!seen) {
      work->next_at = now + decide::backoff(work->failures++);
      context_.log->warn("cannot look id={}: {}", one.from.id.value(), seen.error().detail);
      continue;
    }
    Standpoint from = context_.book.standpoint(*work);
    decided.push_back({std::move(from), decide_work(context_, term, *work, &seen.value(), false)});
  }
  co_return decided;
}

awaitable<void> Reconciler::round(Term term) {
  std::vector<Decided> wanted;
  std::vector<Decided> writes;
  std::vector<Decided> moves;
  const auto sort = [&](Decided one) {
    Work* work = context_.book.find(one.from.id);
    if (auto* rest = std::get_if<decide::Rest>(&one.effect)) {
      work->next_at = rest->until.value_or(Instant{std::numeric_limits<std::int64_t>::max()});
      // It waits for something else now.
      work->failures = 0;
      work->failing.clear();
    } else if (std::holds_alternative<decide::Look>(one.effect)) {
      wanted.push_back(std::move(one));
    } else if (auto* join = std::get_if<decide::Join>(&one.effect)) {
      work->joining = true;
      work->to_hold = std::move(join->groups);
      context_.held_work.notify();
    } else if (std::holds_alternative<decide::Move>(one.effect)) {
      moves.push_back(std::move(one));
    } else {
      writes.push_back(std::move(one));
    }
  };
  context_.book.resolve_again(context_.ports.topology.current());
  for (const auto& id : context_.book.due_open(context_.ports.clock.now(), looks_together_max)) {
    Work& work = *context_.book.find(id);
    sort({context_.book.standpoint(work), decide_work(context_, term, work, nullptr, false)});
  }
  auto looked = co_await look(term, std::exchange(wanted, {}));
  for (auto& one : looked) {
    // The facts may say by now that it wants to look elsewhere; then it does so in the next round.
    if (!std::holds_alternative<decide::Look>(one.effect)) {
      sort(std::move(one));
    }
  }
  co_await move_all(term, std::move(moves));
  co_await write_all(term, std::move(writes));
}

awaitable<void> Reconciler::run() {
  while (!context_.stopping) {
    const Instant now = context_.ports.clock.now();
    const auto next = context_.term ? context_.book.next_open() : std::nullopt;
    if (!context_.term || !next || *next > now) {
      if (context_.verifier_gives_way) {
        context_.verify_work.notify();
      }
      co_await wait_for(context_, context_.open_work, next);
      continue;
    }
    co_await round(*context_.term);
  }
}

}  // namespace flow::engine
