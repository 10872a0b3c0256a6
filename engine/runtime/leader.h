#pragma once

#include "engine/runtime/context.h"

namespace flow::engine {

// Begins and ends terms.
//
//   follower --owns partition 0--> begin: new producer, engine record, apply until it came back -->
//   leading leading --producer spent, outcome unknown--> begin again leading --fenced--> prove:
//   commit a position as this member; taken: begin again; refused: follower leading --partition 0
//   revoked--> follower
class Leader {
 public:
  explicit Leader(Context& context) : context_(context) {}

  // Until the engine stops.
  boost::asio::awaitable<void> run();
  // Keeps `role_` true to the engine group, until the engine stops.
  boost::asio::awaitable<void> watch_role();

 private:
  boost::asio::awaitable<Result<void>> begin_term();
  boost::asio::awaitable<Result<LogPosition>> append(Record record);
  boost::asio::awaitable<Result<void>> wait_until_applied(LogPosition position);
  boost::asio::awaitable<Result<void>> write_birth();
  boost::asio::awaitable<Result<port::GuardSupport>> probe();
  boost::asio::awaitable<void> prove();
  boost::asio::awaitable<void> lead_or_wait();
  void say(const std::string& line);

  Context& context_;
  port::Role role_ = port::Role::follower;
  std::int64_t terms_ = 0;
  int failures_ = 0;
  std::string said_;
};

}  // namespace flow::engine
