#include "engine/runtime/engine.h"

#include <boost/asio/this_coro.hpp>

namespace flow::engine {

using boost::asio::awaitable;

Engine::Engine(const Settings& settings, Ports ports, TablesSource& tables,
               std::shared_ptr<spdlog::logger> log)
    : context_(settings, ports, tables, std::move(log)),
      replayer_(context_),
      leader_(context_),
      reconciler_(context_),
      held_lane_(context_),
      verifier_(context_),
      gate_([this](const std::string& what) {
        context_.fail(error(Errc::fatal, "internal error: " + what));
      }) {}

awaitable<Result<void>> Engine::run() {
  auto prepared = co_await replayer_.prepare();
  if (!prepared) {
    if (context_.stopping) {
      co_return boost::outcome_v2::success();
    }
    co_return prepared.error();
  }
  const auto executor = co_await boost::asio::this_coro::executor;
  gate_.spawn(executor, replayer_.run());
  gate_.spawn(executor, leader_.watch_role());
  gate_.spawn(executor, leader_.run());
  gate_.spawn(executor, reconciler_.run());
  gate_.spawn(executor, held_lane_.run());
  gate_.spawn(executor, verifier_.run());
  while (!context_.stopping) {
    co_await context_.ended.wait();
  }
  co_await gate_.drained();
  co_await context_.ports.leadership.leave();
  if (context_.failure) {
    co_return *context_.failure;
  }
  co_return boost::outcome_v2::success();
}

}  // namespace flow::engine
