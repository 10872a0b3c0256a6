#pragma once

#include <map>
#include <string>

#include "tests/sim/fake_log.h"

namespace flow::sim {

// A control log that does what the chosen fault says, for the build flow_sim_faults.
class FaultyLog : public FakeLog {
 public:
  explicit FaultyLog(Process& process) : FakeLog(process), process_(process) {}

  boost::asio::awaitable<Result<port::LogBatch>> read() override;
  boost::asio::awaitable<port::CommitOutcome> commit(port::Transaction transaction) override;

 private:
  boost::asio::awaitable<port::CommitOutcome> commit_done_apart(port::Transaction transaction);
  boost::asio::awaitable<port::CommitOutcome> commit_groups_apart(port::Transaction transaction);
  void hand_out_last_copies(port::LogBatch& batch);

  Process& process_;
  std::map<RequestId, std::string> requests_;  // the last copy that was read
  std::map<RequestId, std::string> guards_;    // the last guard record that was read
};

}  // namespace flow::sim
