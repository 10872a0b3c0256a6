#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "engine/runtime/signal.h"

namespace flow::engine {

// Owns the coroutines spawned through it: none outlives `drained`.
class Gate {
 public:
  // `on_failure` is told what a coroutine threw; coroutines throw only when something is wrong with
  // us.
  explicit Gate(std::function<void(const std::string&)> on_failure)
      : on_failure_(std::move(on_failure)) {}

  template <typename Executor>
  void spawn(const Executor& executor, boost::asio::awaitable<void> coroutine) {
    ++running_;
    boost::asio::co_spawn(executor, std::move(coroutine), [this](std::exception_ptr thrown) {
      --running_;
      if (thrown) {
        report(thrown);
      }
      ended_.notify();
    });
  }

  boost::asio::awaitable<void> drained() {
    while (running_ > 0) {
      co_await ended_.wait();
    }
  }

 private:
  void report(const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& exception) {
      on_failure_(exception.what());
    }
  }

  std::function<void(const std::string&)> on_failure_;
  int running_ = 0;
  Signal ended_;
};

}  // namespace flow::engine
