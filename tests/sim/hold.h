#pragma once

#include <map>
#include <string>

#include "engine/ports/values.h"
#include "tests/sim/groups.h"

namespace flow::sim {

class Process;

// One process' membership in groups.
class SimHold : public port::Hold {
 public:
  SimHold(Groups& groups, int process) : groups_(groups), process_(process) {}
  ~SimHold() override { leave(); }

  // Whether the group let it in: nobody else was there.
  bool join(const GroupId& group);
  void leave();
  // Empty where it does not hold `group`; stays after the broker has dropped the member.
  std::string member_of(const GroupId& group) const;

 private:
  Groups& groups_;
  int process_;
  std::map<GroupId, std::string> members_;
};

}  // namespace flow::sim
