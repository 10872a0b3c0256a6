#pragma once

#include <set>
#include <string>

#include "engine/runtime/context.h"

namespace flow::engine {

// Brings the store to where the log is: opens it, says why it must be rebuilt, then reads for ever.
class Replayer {
 public:
  explicit Replayer(Context& context) : context_(context) {}

  // Opens the store and holds it against the log. Waits while the broker is away, and says so.
  // Waits as well while the disk refuses. Fails where this engine must not go on: another process
  // has the store, or the log lost what the store knows.
  boost::asio::awaitable<Result<void>> prepare();

  // Reads and applies until the engine stops.
  boost::asio::awaitable<void> run();

 private:
  boost::asio::awaitable<Result<port::LogState>> describe_patiently();
  boost::asio::awaitable<Result<void>> make_ready();
  boost::asio::awaitable<Result<void>> seek_patiently(LogPosition position);
  boost::asio::awaitable<Result<bool>> birth_stands(port::LogState log);
  boost::asio::awaitable<Result<bool>> stands(store::Anchor anchor);
  boost::asio::awaitable<Result<std::optional<store::Anchor>>> lost_anchor(port::LogState log);
  boost::asio::awaitable<Result<void>> check_store(port::LogState log);
  Error lost_records(LogPosition from, const std::string& found);
  Result<void> apply(const port::LogBatch& batch);
  boost::asio::awaitable<void> begin_anew(Error problem);
  boost::asio::awaitable<void> survive(Error problem);
  void say_once(const char* waits_for, const std::string& problem);
  Result<void> reach_end();
  void obey_newer_engine();
  void on_changes(const store::Changes& changes);
  Result<void> name_damaged();
  Result<void> load_book();
  Result<void> checkpoint_if_due(bool forced);

  Context& context_;
  std::set<RequestId> damaged_;  // seen so since the log's end was last reached
  bool dirty_ = false;
  Instant checkpointed_at_;
  std::string last_problem_;
  int failures_ = 0;
};

}  // namespace flow::engine
