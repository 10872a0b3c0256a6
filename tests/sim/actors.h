#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "schemas/records.h"
#include "tests/sim/broker.h"

namespace flow::sim {

class World;

// Everybody else: who asks, who consumes, who commits without joining, who compacts, who breaks
// things. Each acts at its own times until the world becomes quiet.
class Actors {
 public:
  explicit Actors(World& world) : world_(world) {}

  void begin();
  // Consumers leave, foreign transactions end, nobody acts any more.
  void end();
  void on_transaction(const Transaction& transaction);
  // An engine looks at this group, or moves it: somebody may do something just now.
  void ambush(const GroupId& group);

 private:
  // Calls `act` again and again, `least` to `most` apart.
  void often(Micros least, Micros most, std::function<void()> act);
  void later(Micros least, Micros most, std::function<void()> act);

  void append(const port::EncodedRecord& record);
  void append(const Record& record);
  void plan_requests();
  Request draw_request(int number);
  void make_odd(Request& request);
  void ask(const Request& request);
  void repeat(const Request& request);
  void append_rubbish();
  void meddle(const RequestId& id);

  void strike();
  void consume();
  void come(const GroupId& group, const std::string& member, int tries);
  void work(const GroupId& group, const std::string& member, int times);
  void commit_from_outside(const GroupId& group);
  void begin_foreign_transaction();
  void end_foreign_transaction(int transaction, const port::EncodedRecord& record,
                               std::int64_t position, bool commits);
  void cut_logs();
  void break_engines();
  void take_broker_away();

  World& world_;
  std::map<RequestId, Request> asked_;
  std::map<int, std::function<void()>> foreign_;  // how each open transaction ends
  bool ended_ = false;
};

}  // namespace flow::sim
