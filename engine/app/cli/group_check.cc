#include "engine/app/cli/group_check.h"

#include <algorithm>

#include "engine/app/cli/report.h"

namespace flow::app {
namespace {

std::string in_use_text(const port::GroupView& view) {
  const std::string name = "group '" + view.group.value() + "' ";
  const std::string what =
      view.members.empty()
          ? "is in use (state " + view.state_name + "); the broker does not name its members"
          : "has " + std::to_string(view.members.size()) + " member(s) (state " + view.state_name +
                "): " + members_text(view.members);
  return name + what + "; stop them first, or append with --when-stopped or --wait";
}

// Who may write the control topic need not have the engine's rights on groups and topics.
bool is_missing_right(const Error& problem) { return problem.detail.starts_with("not authorised"); }

void add_once(std::vector<std::string>& lines, std::string line) {
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
}

void judge_problem(const Error& problem, GroupVerdict& verdict) {
  if (is_missing_right(problem)) {
    add_once(verdict.notes, "cannot look before asking, the engine will: " + problem.detail);
  } else if (problem.errc == Errc::refused) {
    add_once(verdict.refusals, problem.detail);
  } else if (!verdict.failure) {
    verdict.failure = problem;
  }
}

}  // namespace

GroupVerdict judge_groups(const Request& request, const port::Observation& seen,
                          bool members_are_fine) {
  GroupVerdict verdict;
  for (const auto& view : seen.groups) {
    if (view.problem) judge_problem(*view.problem, verdict);
    for (const auto& partition : view.partitions) {
      // What passes by itself (a transaction that is pending, a leader that changes) is the
      // engine's to wait for.
      const auto& problem = partition.problem;
      if (problem && problem->errc == Errc::refused) judge_problem(*problem, verdict);
    }
    if (view.problem) continue;
    const bool by_name = !request.groups.empty();
    if (view.state == port::GroupState::missing && by_name && !request.options.create_group) {
      add_once(verdict.refusals, "no consumer group '" + view.group.value() +
                                     "'; --create-group makes it on purpose");
    }
    if (view.state == port::GroupState::active && !members_are_fine) {
      add_once(verdict.refusals, in_use_text(view));
    }
  }
  return verdict;
}

}  // namespace flow::app
