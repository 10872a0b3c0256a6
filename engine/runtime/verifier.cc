#include "engine/runtime/verifier.h"

#include "engine/decide/conclude.h"
#include "engine/decide/verify.h"
#include "engine/ports/fail_point.h"
#include "engine/runtime/reconciler.h"

namespace flow::engine {

using boost::asio::awaitable;

namespace {

constexpr std::size_t together_max = 32;
// While requests wait to be moved, looks at what became of others give way to them: a round so
// often.
const Duration gives_way_for{500};

decide::Effect decide_one(Context& context, const Work& work, const port::Observation* seen) {
  decide::VerificationSituation situation;
  situation.now = context.ports.clock.now();
  situation.verify_for = context.settings.verify_for;
  situation.last_look = work.last_look;
  situation.seen = seen;
  situation.moved_again = context.book.moved_again(work);
  return decide::decide_verification(work.facts, situation);
}

struct Round {
  port::ObserveRequest request;
  std::vector<RequestId> looking;
  std::vector<RequestId> writing;
  std::vector<Record> records;
};

void sort(Context& context, const RequestId& id, decide::Effect effect, Round& round) {
  Work* work = context.book.find(id);
  if (auto* rest = std::get_if<decide::Rest>(&effect)) {
    work->next_at = rest->until.value_or(Instant{std::numeric_limits<std::int64_t>::max()});
  } else if (auto* look = std::get_if<decide::Look>(&effect)) {
    round.looking.push_back(id);
    round.request.until_stable = round.request.until_stable || look->until_stable;
    round.request.groups.insert(round.request.groups.end(), look->groups.begin(),
                                look->groups.end());
  } else if (auto* write = std::get_if<decide::Write>(&effect)) {
    round.writing.push_back(id);
    round.records.insert(round.records.end(), write->records.begin(), write->records.end());
  }
}

}  // namespace

awaitable<void> Verifier::write(Term term, std::vector<RequestId> ids,
                                std::vector<Record> records) {
  if (records.empty()) {
    co_return;
  }
  port::Transaction transaction;
  transaction.records = encode_all(records);
  fail_point("before-verified");
  std::vector<Standpoint> from;  // what was seen stays true whatever is asked meanwhile
  const auto outcome = co_await transact(context_, term, std::move(from), std::move(transaction));
  fail_point("after-verified");
  settle_works(context_, ids, outcome);
}

awaitable<void> Verifier::round(Term term) {
  Round round;
  for (const auto& id : context_.book.due_unverified(context_.ports.clock.now(), together_max)) {
    sort(context_, id, decide_one(context_, *context_.book.find(id), nullptr), round);
  }
  if (!round.looking.empty()) {
    fail_point("before-read-back");
    const auto seen = co_await context_.ports.groups.observe(std::move(round.request));
    fail_point("after-read-back");
    const Instant now = context_.ports.clock.now();
    for (const auto& id : round.looking) {
      Work* work = context_.book.find(id);
      if (work == nullptr || work->in_hand) {
        continue;
      }
      if (!seen) {
        work->next_at = now + decide::backoff(work->failures++);
        continue;
      }
      auto effect = decide_one(context_, *work, &seen.value());
      work->last_look = now;
      sort(context_, id, std::move(effect), round);
    }
  }
  co_await write(term, std::move(round.writing), std::move(round.records));
}

// When the next round may begin, where moves are due; nothing where none is.
std::optional<Instant> Verifier::gives_way_until(Instant now) const {
  const auto move = context_.book.next_open();
  const Instant until = last_round_ + gives_way_for;
  return move && *move <= now && until > now ? std::optional{until} : std::nullopt;
}

awaitable<void> Verifier::run() {
  while (!context_.stopping) {
    const Instant now = context_.ports.clock.now();
    const auto next = context_.term ? context_.book.next_unverified() : std::nullopt;
    if (!context_.term || !next || *next > now) {
      co_await wait_for(context_, context_.verify_work, next);
      continue;
    }
    if (const auto until = gives_way_until(now)) {
      context_.verifier_gives_way = true;
      co_await wait_for(context_, context_.verify_work, until);
      context_.verifier_gives_way = false;
      continue;
    }
    last_round_ = now;
    co_await round(*context_.term);
  }
}

}  // namespace flow::engine
