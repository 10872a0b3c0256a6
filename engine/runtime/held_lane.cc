#include "engine/runtime/held_lane.h"

#include "engine/decide/conclude.h"
#include "engine/ports/fail_point.h"
#include "engine/runtime/reconciler.h"
#include "store/phase.h"

namespace flow::engine {

using boost::asio::awaitable;

std::optional<RequestId> HeldLane::next() const { return context_.book.first_joining(); }

// The first verified record is taken while the group is still ours: whoever joins meanwhile waits.
awaitable<void> HeldLane::wait_until_verified(RequestId id) {
  const Instant deadline = context_.ports.clock.now() + Duration{5'000};
  while (!context_.stopping && context_.term && context_.ports.clock.now() < deadline) {
    const Work* work = context_.book.find(id);
    if (work == nullptr || !work->facts.verified.empty()) {
      co_return;
    }
    co_await wait_for(context_, context_.held_work, context_.ports.clock.now() + Duration{1'000});
  }
}

awaitable<void> HeldLane::while_held(Term term, RequestId id, std::shared_ptr<port::Hold> hold) {
  Work* work = context_.book.find(id);
  if (work == nullptr) {
    co_return;
  }
  port::ObserveRequest request;
  for (const auto& target : decide::targets_of(work->facts, context_.ports.topology.current())) {
    request.groups.push_back({target.group, target.topics});
  }
  fail_point("before-look");
  const auto seen = co_await context_.ports.groups.observe(std::move(request));
  fail_point("after-look");
  work = context_.book.find(id);
  if (work == nullptr) {
    co_return;
  }
  if (!seen) {
    work->next_at = context_.ports.clock.now() + decide::backoff(work->failures++);
    co_return;
  }
  context_.book.resolve_again(context_.ports.topology.current());
  std::vector<Standpoint> from;
  from.push_back(context_.book.standpoint(*work));
  auto effect = decide_work(context_, term, *work, &seen.value(), true);
  auto* move = std::get_if<decide::Move>(&effect);
  if (move == nullptr) {
    co_return;  // something changed meanwhile: the reconciler decides it anew, unheld
  }
  port::Transaction transaction;
  transaction.records = encode_all(move->records);
  transaction.moves = std::move(move->moves);
  transaction.hold = std::move(hold);
  const auto outcome = co_await transact(context_, term, std::move(from), std::move(transaction));
  settle_works(context_, {id}, outcome);
  if (outcome.status == port::CommitStatus::committed) {
    context_.log->info("moved id={} held=true", id.value());
    if (auto* moved = context_.book.find(id)) {
      moved->joining = false;  // the verifier may have it
      context_.wake_workers();
    }
    co_await wait_until_verified(id);
  }
}

// Which of `groups` can never be held: refused together they do not say, so each is tried alone.
awaitable<std::vector<port::GroupRefusal>> HeldLane::refused_ones(
    std::vector<port::GroupQuery> groups, Error why) {
  std::vector<port::GroupRefusal> refusals;
  if (groups.size() == 1) {
    refusals.push_back({groups.front().group, port::RefusalKind::permanent, why.detail});
    co_return refusals;
  }
  for (const auto& query : groups) {
    if (context_.stopping || !context_.term) {
      break;
    }
    std::vector<port::GroupQuery> alone{query};
    auto hold = co_await context_.ports.groups.hold(std::move(alone));
    if (hold) {
      co_await context_.ports.groups.release(std::move(hold).value());
    } else if (hold.error().errc == Errc::refused) {
      refusals.push_back({query.group, port::RefusalKind::permanent, hold.error().detail});
    }
  }
  co_return refusals;
}

awaitable<void> HeldLane::carry_out(Term term, RequestId id) {
  auto groups = context_.book.find(id)->to_hold;
  auto hold = co_await context_.ports.groups.hold(groups);
  std::vector<port::GroupRefusal> refusals;
  if (hold) {
    co_await while_held(term, id, hold.value());
    co_await context_.ports.groups.release(std::move(hold).value());
  } else {
    context_.log->info("cannot hold id={}: {}", id.value(), hold.error().detail);
    if (hold.error().errc == Errc::refused) {
      refusals = co_await refused_ones(std::move(groups), hold.error());
    }
  }
  auto* work = context_.book.find(id);
  if (work == nullptr) {
    co_return;
  }
  work->joining = false;
  if (!hold) {
    work->next_at = context_.ports.clock.now() + decide::backoff(work->failures++);
    work->failing = hold.error().detail;
    if (!refusals.empty()) {
      work->refusals = std::move(refusals);
    }
  }
  context_.wake_workers();
}

awaitable<void> HeldLane::run() {
  while (!context_.stopping) {
    const auto id = next();
    if (!context_.term || !id) {
      co_await context_.held_work.wait();
      continue;
    }
    co_await carry_out(*context_.term, *id);
  }
}

}  // namespace flow::engine
