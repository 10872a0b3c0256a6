#pragma once

#include <memory>

#include "engine/runtime/context.h"
#include "engine/runtime/gate.h"
#include "engine/runtime/held_lane.h"
#include "engine/runtime/leader.h"
#include "engine/runtime/reconciler.h"
#include "engine/runtime/replayer.h"
#include "engine/runtime/verifier.h"

namespace flow::engine {

// One engine: replays the control topic, and leads or follows. One loop thread runs all of it.
class Engine {
 public:
  // Everything that is passed by reference must outlive the engine.
  Engine(const Settings& settings, Ports ports, TablesSource& tables,
         std::shared_ptr<spdlog::logger> log);

  // Runs until stop is called or the engine cannot go on. An error says why it ended by itself, in
  // a line for people.
  boost::asio::awaitable<Result<void>> run();

  // Finishes or aborts what is in hand and makes run return. May be called more than once, on the
  // loop.
  void stop() { context_.request_stop(); }

  const Context& context() const { return context_; }

 private:
  Context context_;
  Replayer replayer_;
  Leader leader_;
  Reconciler reconciler_;
  HeldLane held_lane_;
  Verifier verifier_;
  Gate gate_;
};

}  // namespace flow::engine
