#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace flow::kafka {

// The few threads on which librdkafka's blocking calls run, so that the loop never waits.
using BlockingPool = boost::asio::thread_pool;

// Runs `work` on the pool and resumes on the caller's executor with what it returned. The work must
// end by itself (its own deadline), must not throw, and must own what it touches: the caller may be
// gone when it ends. It cannot be cancelled. Name the work first and move it in: g++ 12 destroys
// the captures of a lambda that is written within a co_await twice.
template <typename Work>
boost::asio::awaitable<std::invoke_result_t<Work>> run_blocking(BlockingPool& pool, Work work) {
  using Outcome = std::invoke_result_t<Work>;
  const boost::asio::any_io_executor caller = co_await boost::asio::this_coro::executor;
  auto outcome = std::make_shared<std::optional<Outcome>>();
  co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void()>(
      [](auto handler, BlockingPool* threads, boost::asio::any_io_executor executor, Work job,
         std::shared_ptr<std::optional<Outcome>> result) {
        // The guard keeps the caller's loop running until the outcome has been handed back to it.
        auto guard = boost::asio::make_work_guard(executor);
        boost::asio::post(*threads, [handler = std::move(handler), guard = std::move(guard),
                                     job = std::move(job), result = std::move(result)]() mutable {
          result->emplace(job());
          boost::asio::post(guard.get_executor(), std::move(handler));
        });
      },
      boost::asio::use_awaitable, &pool, caller, std::move(work), outcome);
  co_return std::move(**outcome);
}

}  // namespace flow::kafka
