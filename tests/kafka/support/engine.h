#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "connectors/kafka/engine_ports.h"
#include "tests/kafka/support/world.h"

namespace flow::kafka::testing {

inline ClientConfig client_config() {
  ClientConfig config;
  config.settings["bootstrap.servers"] = world::broker();
  return config;
}

// The ports of one engine on a loop that runs only while something is awaited.
class Engine {
 public:
  explicit Engine(const std::string& control_topic, const std::string& id = "engine-1",
                  ClientConfig config = client_config()) {
    auto made = EnginePorts::make(loop_.get_executor(), std::move(config),
                                  {TopicName{control_topic}, "test-host", id});
    REQUIRE(made);
    ports_ = std::move(made.value());
  }

  EnginePorts* operator->() { return ports_.get(); }
  boost::asio::io_context& loop() { return loop_; }

  template <typename T>
  T await(boost::asio::awaitable<T> work) {
    std::optional<T> outcome;
    await(keep(std::move(work), &outcome));
    REQUIRE(outcome);
    return *std::move(outcome);
  }

  void await(boost::asio::awaitable<void> work) {
    bool ended = false;
    boost::asio::co_spawn(loop_, std::move(work), [&](std::exception_ptr) { ended = true; });
    run_until([&] { return ended; });
  }

 private:
  template <typename T>
  static boost::asio::awaitable<void> keep(boost::asio::awaitable<T> work,
                                           std::optional<T>* outcome) {
    outcome->emplace(co_await std::move(work));
  }

  template <typename Condition>
  void run_until(Condition is_done) {
    loop_.restart();
    while (!is_done() && loop_.run_one() > 0) {
    }
  }

  boost::asio::io_context loop_;
  std::unique_ptr<EnginePorts> ports_;
};

template <typename T>
const T& value_of(const Result<T>& result) {
  if (!result) {
    FAIL("unexpected error: " << result.error());
  }
  return result.value();
}

inline void succeed(const Result<void>& result) {
  if (!result) {
    FAIL("unexpected error: " << result.error());
  }
}

template <typename T>
Error error_of(const Result<T>& result) {
  if (result) {
    FAIL("unexpected success");
  }
  return result.error();
}

// A move of every partition of `topic` from what stands there to `offset`.
inline port::GroupMove move_all(const std::string& group, const std::string& topic, int partitions,
                                std::int64_t offset, const std::string& metadata = "") {
  port::GroupMove move;
  move.group = GroupId{group};
  for (const auto& [partition, before] : world::committed(group, topic, partitions)) {
    const TopicPartition at{TopicName{topic}, partition};
    move.commits.push_back({at, offset, metadata});
    move.before.push_back({at, before.offset < 0
                                   ? std::nullopt
                                   : std::optional{Committed{before.offset, before.metadata}}});
  }
  return move;
}

inline port::ObserveRequest look_at(const std::string& group, const std::string& topic) {
  port::ObserveRequest request;
  request.groups.push_back({GroupId{group}, {{TopicName{topic}, {}}}});
  return request;
}

}  // namespace flow::kafka::testing
