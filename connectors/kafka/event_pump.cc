#include "connectors/kafka/event_pump.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>

#include "schemas/error.h"

namespace flow::kafka {

using boost::asio::awaitable;

EventPump::EventPump(const boost::asio::any_io_executor& executor) : timer_{executor} {
  std::array<int, 2> ends{-1, -1};
  const int failed = ::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC);
  FLOW_ASSERT(failed == 0, std::string{"pipe2: "} + std::strerror(errno));
  read_end_ = std::make_shared<boost::asio::posix::stream_descriptor>(executor, ends[0]);
  write_end_ = ends[1];
}

EventPump::~EventPump() { ::close(write_end_); }

awaitable<void> EventPump::wait(Duration max) {
  timer_.expires_after(std::chrono::milliseconds{max.value()});
  timer_.async_wait(
      [read_end = std::weak_ptr{read_end_}](const boost::system::error_code& cancelled) {
        if (const auto end = read_end.lock(); end != nullptr && !cancelled) {
          end->cancel();  // a wait that has begun since then only wakes up early
        }
      });
  const auto read_end = read_end_;
  co_await read_end->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                                boost::asio::as_tuple(boost::asio::use_awaitable));
  timer_.cancel();
  std::array<char, 256> bytes{};
  while (::read(read_end->native_handle(), bytes.data(), bytes.size()) > 0) {
  }
}

awaitable<bool> is_cancelled() {
  const auto state = co_await boost::asio::this_coro::cancellation_state;
  co_return state.cancelled() != boost::asio::cancellation_type::none;
}

}  // namespace flow::kafka
