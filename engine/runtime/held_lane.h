#pragma once

#include "engine/runtime/context.h"

namespace flow::engine {

// Carries out requests that asked to be held, one after another: join, look while held, move, look
// again, leave. Beside the reconciler, so that the broker's rebalance delay holds up nobody else.
class HeldLane {
 public:
  explicit HeldLane(Context& context) : context_(context) {}

  // Until the engine stops.
  boost::asio::awaitable<void> run();

 private:
  boost::asio::awaitable<void> carry_out(Term term, RequestId id);
  boost::asio::awaitable<void> while_held(Term term, RequestId id,
                                          std::shared_ptr<port::Hold> hold);
  boost::asio::awaitable<void> wait_until_verified(RequestId id);
  boost::asio::awaitable<std::vector<port::GroupRefusal>> refused_ones(
      std::vector<port::GroupQuery> groups, Error why);
  std::optional<RequestId> next() const;

  Context& context_;
};

}  // namespace flow::engine
