#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>

#include "schemas/error.h"

// Ways for coroutines of one loop thread to wait for each other. The timers live in the waiting
// coroutines' frames, never in the objects waited on, so that a loop may be destroyed with
// coroutines still waiting.
namespace flow::engine {

// Wakes one waiting coroutine. Sticky: a notify that nobody waits for ends the next wait at once.
class Signal {
 public:
  void notify() {
    set_ = true;
    if (waiter_ != nullptr) {
      waiter_->cancel();
    }
  }

  // One coroutine at a time. Ends early when it is cancelled (as the loser of a race is).
  boost::asio::awaitable<void> wait() {
    if (!set_) {
      boost::asio::steady_timer timer{co_await boost::asio::this_coro::executor};
      timer.expires_at(boost::asio::steady_timer::time_point::max());
      const Registration registration{*this, timer};
      boost::system::error_code ignored;
      co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    }
    set_ = false;
  }

 private:
  struct Registration {
    Registration(Signal& signal, boost::asio::steady_timer& timer) : signal_(signal) {
      FLOW_ASSERT(signal_.waiter_ == nullptr, "two coroutines wait for one signal");
      signal_.waiter_ = &timer;
    }
    ~Registration() { signal_.waiter_ = nullptr; }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    Signal& signal_;
  };

  bool set_ = false;
  boost::asio::steady_timer* waiter_ = nullptr;
};

// One owner at a time, in the order of asking.
class AsyncMutex {
 public:
  class Lock {
   public:
    explicit Lock(AsyncMutex& mutex) : mutex_(&mutex) {}
    Lock(Lock&& other) noexcept : mutex_(other.mutex_) { other.mutex_ = nullptr; }
    Lock& operator=(Lock&&) = delete;
    ~Lock() {
      if (mutex_ != nullptr) {
        mutex_->release();
      }
    }

   private:
    AsyncMutex* mutex_;
  };

  boost::asio::awaitable<Lock> lock() {
    if (taken_) {
      boost::asio::steady_timer timer{co_await boost::asio::this_coro::executor};
      timer.expires_at(boost::asio::steady_timer::time_point::max());
      const Place place{*this, timer};
      boost::system::error_code ignored;
      while (waiting_.front() != &timer || taken_) {
        co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
        timer.expires_at(boost::asio::steady_timer::time_point::max());
      }
    }
    taken_ = true;
    co_return Lock{*this};
  }

 private:
  struct Place {
    Place(AsyncMutex& mutex, boost::asio::steady_timer& timer) : mutex_(mutex), timer_(&timer) {
      mutex_.waiting_.push_back(timer_);
    }
    ~Place() { std::erase(mutex_.waiting_, timer_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    AsyncMutex& mutex_;
    boost::asio::steady_timer* timer_;
  };

  void release() {
    taken_ = false;
    if (!waiting_.empty()) {
      waiting_.front()->cancel();
    }
  }

  bool taken_ = false;
  std::deque<boost::asio::steady_timer*> waiting_;
};

}  // namespace flow::engine
