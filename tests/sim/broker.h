#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports/values.h"
#include "tests/sim/clockwork.h"
#include "tests/sim/control_topic.h"
#include "tests/sim/groups.h"

namespace flow::sim {

// A broker's answer to one request of a producer.
enum class Answer : std::uint8_t {
  ok,
  fenced,      // the epoch is over
  busy,        // the transaction before has not ended yet; ask again
  not_begun,   // no transaction is open
  has_member,  // the group has a member that did not ask
  permanent,   // not a consumer group, not authorised, no such topic
};

struct Written {
  std::int64_t position = 0;
  port::EncodedRecord record;
};

// One transaction of the engines' transactional id.
struct Transaction {
  int id = 0;
  int process = 0;
  std::int64_t epoch = 0;
  bool ending = false;  // decided; markers are on their way
  bool committed = false;
  std::size_t markers = 0;  // still to be written
  std::vector<Written> records;
  std::vector<SentOffsets> offsets;
};

// The cluster: control topic, groups, the transaction coordinator and the engine group. Everything
// here happens at once; the time that requests take is the ports' affair.
class Broker {
 public:
  explicit Broker(Clockwork& clock) : clock_(clock), topic_(clock), groups_(clock) {}

  ControlTopic& topic() { return topic_; }
  const ControlTopic& topic() const { return topic_; }
  Groups& groups() { return groups_; }
  bool is_up = true;
  bool checks_guard = true;
  Duration transaction_timeout{10'000};
  // Called when a transaction is decided to be committed.
  std::function<void(const Transaction&)> on_commit;

  // The engines' transactional id.
  struct Opened {
    Answer answer = Answer::busy;
    std::int64_t epoch = 0;
  };
  Opened open_producer(int process);
  Answer write(int process, std::int64_t epoch, const std::vector<port::EncodedRecord>& records,
               std::vector<LogPosition>* positions);
  // `member`: a hold's member id; empty: guarded.
  Answer send_offsets(std::int64_t epoch, const port::GroupMove& move, const std::string& member);
  Answer end(std::int64_t epoch, bool commit);
  std::int64_t epoch() const { return epoch_; }
  const std::optional<Transaction>& transaction() const { return open_; }

  // A producer of somebody else, whose transaction hides what is committed behind it.
  int begin_foreign() { return ++transactions_; }

  // The engine group.
  void join(int process);
  void drop(int process);  // leaves, or its session ended
  bool is_member(int process) const;
  std::optional<int> owner() const { return owner_; }

 private:
  bool is_over(std::int64_t epoch) const;
  void decide(bool commit);
  void write_markers();
  void choose_owner();

  Clockwork& clock_;
  ControlTopic topic_;
  Groups groups_;
  std::int64_t epoch_ = 0;
  int epoch_process_ = 0;
  int transactions_ = 0;
  std::optional<Transaction> open_;
  std::vector<int> members_;
  std::optional<int> owner_;
  std::uint64_t rebalances_ = 0;
};

}  // namespace flow::sim
