#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>

#include "schemas/ids.h"

namespace flow::kafka {

// Lets librdkafka's queues wake a coroutine: librdkafka writes a byte when something arrives on a
// queue that has been looked at since the last byte, and a waiting coroutine resumes. No thread
// polls.
//
//   rd_kafka_queue_io_event_enable(queue, pump.descriptor(), "", 1);
//   for (;;) { take what is on the queue; if nothing: co_await pump.wait(max); }
//
// Taking comes first: what arrived before the queue was taken has its byte already, so nothing is
// missed; a byte may be left over from what was taken, so waking up to an empty queue is normal.
class EventPump {
 public:
  explicit EventPump(const boost::asio::any_io_executor& executor);
  ~EventPump();
  EventPump(const EventPump&) = delete;
  EventPump& operator=(const EventPump&) = delete;

  // Non-blocking, open as long as the pump.
  int descriptor() const { return write_end_; }

  // Returns when something may have arrived, after `max`, or when the coroutine is cancelled.
  boost::asio::awaitable<void> wait(Duration max);

 private:
  std::shared_ptr<boost::asio::posix::stream_descriptor> read_end_;
  boost::asio::steady_timer timer_;
  int write_end_ = -1;
};

// Whether the current coroutine has been cancelled. Name the answer: of a co_await in an if's
// condition g++ 12.2 made a coroutine frame that it then read at the wrong place.
boost::asio::awaitable<bool> is_cancelled();

}  // namespace flow::kafka
