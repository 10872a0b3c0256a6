#include "engine/runtime/context.h"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "schemas/codec.h"

namespace flow::engine {

using boost::asio::awaitable;

awaitable<port::CommitOutcome> transact(Context& context, Term term,
                                        std::vector<Standpoint> decided,
                                        port::Transaction transaction) {
  const auto lock = co_await context.producer.lock();
  // While it stops nothing is applied any more, so nothing is begun either.
  if (context.stopping || !context.term || context.term->number != term.number ||
      context.settle_wanted) {
    port::CommitOutcome ended;
    ended.error = error(Errc::cancelled, "this engine's term has ended");
    co_return ended;
  }
  for (const auto& one : decided) {
    if (!context.book.stands(one)) {
      port::CommitOutcome changed;
      changed.error = error(Errc::cancelled,
                            "request " + one.id.value() + " changed before the transaction began");
      co_return changed;
    }
  }
  auto outcome = co_await context.ports.log.commit(std::move(transaction));
  if (outcome.producer_spent) {
    context.settle_wanted = true;
    context.end_term();
  }
  co_return outcome;
}

awaitable<void> wait_for(Context& context, Signal& signal, std::optional<Instant> at) {
  using boost::asio::experimental::awaitable_operators::operator||;
  if (at) {
    co_await (signal.wait() || context.ports.clock.sleep_until(*at));
  } else {
    co_await signal.wait();
  }
}

std::vector<port::EncodedRecord> encode_all(const std::vector<Record>& records) {
  std::vector<port::EncodedRecord> encoded;
  encoded.reserve(records.size());
  for (const auto& record : records) {
    encoded.push_back({encode_key(key_of(record)), encode(record)});
  }
  return encoded;
}

}  // namespace flow::engine
