#include "engine/decide/reasons.h"

#include <algorithm>

namespace flow::decide {
namespace {

bool same(const Reason& recorded, const Holding& holding) {
  return !recorded.until && recorded.text == holding.text && recorded.group == holding.group &&
         recorded.permanent == holding.permanent;
}

std::string name_member(const Member& member) {
  std::string text = member.client_id.empty() ? member.member_id : member.client_id;
  if (!member.host.empty()) {
    text += " at " + member.host;
  }
  if (!member.instance_id.empty()) {
    text += " (static member '" + member.instance_id + "')";
  }
  return text;
}

std::string in_use(const port::GroupView& view) {
  if (view.members.empty()) {
    return view.group.value() + " is in use (state " + view.state_name +
           "); the broker does not name its members";
  }
  constexpr std::size_t named_max = 5;
  std::string text =
      view.group.value() + " has " + std::to_string(view.members.size()) + " member(s): ";
  for (std::size_t i = 0; i < view.members.size() && i < named_max; ++i) {
    text += (i == 0 ? "" : ", ") + name_member(view.members[i]);
  }
  if (view.members.size() > named_max) {
    text += " and " + std::to_string(view.members.size() - named_max) + " more";
  }
  return text;
}

bool is_permanent(const Error& problem) { return problem.errc == Errc::refused; }

// The first problem of its partitions stands for all of them: a permanent one before one that may
// pass.
std::optional<Error> partition_problem(const port::GroupView& view) {
  std::optional<Error> passing;
  for (const auto& partition : view.partitions) {
    if (partition.problem && is_permanent(*partition.problem)) {
      return partition.problem;
    }
    if (passing) {
      continue;
    }
    if (partition.problem) {
      passing = partition.problem;
    } else if (partition.start < 0 || partition.start > partition.last_stable) {
      passing = error(Errc::retriable, "the log of '" + partition.at.topic.value() +
                                           "' was being cut while it was looked at");
    }
  }
  return passing;
}

std::optional<Holding> refused_by_broker(const port::GroupView& view, const Situation& situation) {
  for (const auto& refusal : situation.refusals) {
    if (refusal.group == view.group && refusal.kind == port::RefusalKind::permanent) {
      return Holding{refusal.detail, view.group, true};
    }
  }
  return std::nullopt;
}

// Says the reasons at `which` together.
Holding together(const std::vector<Holding>& all, const std::vector<std::size_t>& which) {
  constexpr std::size_t named_max = 20;
  Holding one{"and " + std::to_string(which.size()) + " more:", {}, all[which.front()].permanent};
  for (std::size_t i = 0; i < which.size() && i < named_max; ++i) {
    one.text += (i == 0 ? " " : ", ") + all[which[i]].group.value();
  }
  if (which.size() > named_max) {
    one.text += " ...";
  }
  return one;
}

void fold_kind(const std::vector<Holding>& all, bool permanent, Holdings& folded) {
  constexpr std::size_t kept = reasons_kept / 2;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].permanent == permanent) {
      which.push_back(i);
    }
  }
  const std::size_t alone = which.size() <= kept ? which.size() : kept - 1;
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (i < alone) {
      folded.said.push_back(all[which[i]]);
    } else if (i == alone) {
      folded.said.push_back(
          together(all, {which.begin() + static_cast<std::ptrdiff_t>(i), which.end()}));
    }
    folded.said_by[which[i]] = folded.said.size() - 1;
  }
}

}  // namespace

Holdings fold(const std::vector<Holding>& all) {
  Holdings folded;
  folded.said_by.resize(all.size());
  if (all.size() > reasons_kept) {
    fold_kind(all, true, folded);
    fold_kind(all, false, folded);
    return folded;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    folded.said.push_back(all[i]);
    folded.said_by[i] = i;
  }
  return folded;
}

std::vector<Reason> merge_reasons(std::vector<Reason> recorded, const std::vector<Holding>& holding,
                                  Instant now) {
  for (auto& reason : recorded) {
    const bool holds = std::any_of(holding.begin(), holding.end(),
                                   [&](const Holding& one) { return same(reason, one); });
    if (!reason.until && !holds) {
      reason.until = now;
    }
  }
  for (const auto& one : holding) {
    const bool known = std::any_of(recorded.begin(), recorded.end(),
                                   [&](const Reason& reason) { return same(reason, one); });
    if (!known) {
      recorded.push_back({one.text, now, std::nullopt, one.group, one.permanent});
    }
  }
  while (recorded.size() > reasons_kept) {
    const auto ended = std::find_if(recorded.begin(), recorded.end(),
                                    [](const Reason& reason) { return reason.until.has_value(); });
    recorded.erase(ended == recorded.end() ? recorded.begin() : ended);
  }
  return recorded;
}

bool says_the_same(const std::vector<Reason>& recorded, const std::vector<Holding>& holding) {
  const auto held = [&](const Reason& reason) {
    return reason.until || std::any_of(holding.begin(), holding.end(),
                                       [&](const Holding& one) { return same(reason, one); });
  };
  return std::all_of(recorded.begin(), recorded.end(), held) &&
         std::all_of(holding.begin(), holding.end(),
                     [&](const Holding& one) { return stands_since(recorded, one).has_value(); });
}

std::optional<Instant> stands_since(const std::vector<Reason>& recorded, const Holding& holding) {
  for (const auto& reason : recorded) {
    if (same(reason, holding)) {
      return reason.since;
    }
  }
  return std::nullopt;
}

std::vector<Holding> judge(const Target& target, const port::GroupView& view,
                           const Request& request, const Situation& situation) {
  if (view.problem) {
    return {Holding{view.problem->detail, target.group, is_permanent(*view.problem)}};
  }
  if (const auto problem = partition_problem(view)) {
    return {Holding{problem->detail, target.group, is_permanent(*problem)}};
  }
  if (view.partitions.empty()) {
    return {Holding{target.group.value() + ": its topics have no partitions", target.group, true}};
  }
  if (auto refused = refused_by_broker(view, situation)) {
    return {*std::move(refused)};
  }
  // While we hold it, whoever else is shown waits until we leave. A KIP-848 consumer that knocks
  // turns it into a group whose members, ours too, are not named: the broker, which checks our
  // membership when the offsets are written, has the last word.
  const bool active = view.state == port::GroupState::active;
  const bool ours = situation.held && (view.held_by_us || view.members.empty());
  if (active && !ours) {
    return {Holding{in_use(view), target.group, false}};
  }
  // A hold of an engine that died: it takes itself over when this request is held, and ends with
  // its session.
  if (view.held_by_us && !situation.held && !request.options.hold) {
    return {
        Holding{view.group.value() +
                    " is still held by an engine that has ended or serves another control topic",
                target.group, false}};
  }
  const bool named_by_request = !request.groups.empty();
  if (view.state == port::GroupState::missing && named_by_request &&
      !request.options.create_group) {
    return {Holding{
        "no consumer group '" + view.group.value() + "'; --create-group makes it on purpose",
        target.group, true}};
  }
  if (situation.held && !active && !view.held_by_us) {
    return {Holding{view.group.value() + " is not held any more", target.group, false}};
  }
  return {};
}

}  // namespace flow::decide
