#pragma once

#include "engine/runtime/context.h"

namespace flow::engine {

// Looks at what became of moved offsets, and writes it down.
class Verifier {
 public:
  explicit Verifier(Context& context) : context_(context) {}

  // Until the engine stops.
  boost::asio::awaitable<void> run();

 private:
  std::optional<Instant> gives_way_until(Instant now) const;
  boost::asio::awaitable<void> round(Term term);
  boost::asio::awaitable<void> write(Term term, std::vector<RequestId> ids,
                                     std::vector<Record> records);

  Context& context_;
  Instant last_round_;
};

}  // namespace flow::engine
