#include "tests/sim/checker.h"

#include <algorithm>

#include "schemas/codec.h"
#include "tests/sim/plan.h"

namespace flow::sim {

void Checker::violate(const RequestId& id, const std::string& what) const {
  violated_((id.value().empty() ? std::string{} : "request " + id.value() + ": ") + what);
}

void Checker::on_record(std::int64_t position, const port::EncodedRecord& record, Instant now) {
  const auto key = decode_key(record.key);
  if (!key || key->id.value().empty()) {
    return;
  }
  Entry& entry = book_[key->id];
  const auto decoded = record.value ? decode(*key, *record.value) : error(Errc::invalid, "erased");
  if (key->kind == Kind::request && record.value) {
    Copy copy{position, now, std::nullopt};
    if (decoded) {
      copy.content = std::get<Request>(decoded.value());
    }
    entry.copies.push_back(std::move(copy));
  } else if (key->kind == Kind::cancel && decoded && !entry.cancelled_at) {
    entry.cancelled_at = position;
  }
}

void Checker::on_commit_asked(int process, const port::Transaction& transaction,
                              std::int64_t applied) {
  if (roles_[process] != port::Role::leader) {
    violate({}, "e" + std::to_string(process) + " commits though it was told to follow");
  }
  for (const auto& record : transaction.records) {
    const auto key = decode_key(record.key);
    if (!key || key->kind != Kind::result) {
      continue;
    }
    const auto& cancelled_at = book_[key->id].cancelled_at;
    const auto result = decode(*key, *record.value);
    if (cancelled_at && *cancelled_at < applied && result &&
        std::get<GroupResult>(result.value()).failure.empty()) {
      violate(key->id, "a transaction that moves it begins after its cancel was read");
    }
  }
}

void Checker::on_observed(int process, Instant at, std::int64_t applied) {
  observed_.emplace(std::pair{process, at}, applied);
}

void Checker::take(const Written& written, Parts& parts) {
  const auto key = decode_key(written.record.key);
  if (!key || !written.record.value) {
    violate({}, "an engine wrote a record without a key or a value");
    return;
  }
  auto decoded = decode(*key, *written.record.value);
  if (!decoded) {
    violate(key->id, "an engine wrote a record that cannot be read: " + decoded.error().detail);
    return;
  }
  Record& record = decoded.value();
  if (!key->id.value().empty()) {
    book_[key->id].keys.insert(written.record.key);
  }
  if (auto* guard = std::get_if<Guard>(&record)) {
    parts[key->id].guard = std::move(*guard);
    parts[key->id].guard_at = written.position;
  } else if (auto* result = std::get_if<GroupResult>(&record)) {
    parts[key->id].results.push_back(std::move(*result));
  } else if (auto* done = std::get_if<Done>(&record)) {
    parts[key->id].dones.push_back(std::move(*done));
  } else if (const auto* verified = std::get_if<Verified>(&record)) {
    Entry& entry = book_[key->id];
    if (!entry.moved.contains(verified->group)) {
      violate(key->id, "verified a group that was not moved");
      return;
    }
    check_verified(*verified);
    if (verified->last) {
      entry.verified.insert(verified->group);
    }
  } else if (key->kind == Kind::request || key->kind == Kind::cancel) {
    violate(key->id, "an engine wrote a request or a cancel");
  }
}

// What it says of the offsets, held against those that stand there for long enough. Only where no
// other request has moved the group: then there is nothing to see of this one.
void Checker::check_verified(const Verified& verified) const {
  constexpr Micros long_enough = 3 * seconds;
  const auto movers = std::count_if(book_.begin(), book_.end(), [&](const auto& entry) {
    return entry.second.moved.contains(verified.group);
  });
  if (movers != 1 || !terms_.prompt) {
    return;
  }
  const auto& group = broker_.groups().all().at(verified.group);
  bool untouched = true;
  for (const auto& move : book_.at(verified.id).moved.at(verified.group).moves) {
    const auto stored = group.offsets.find(move.at);
    const bool touched = stored == group.offsets.end() || stored->second.transaction == 0;
    untouched = untouched && !touched;
    const bool elsewhere = stored != group.offsets.end() && touched &&
                           stored->second.committed != move.after &&
                           stored->second.visible_since + long_enough < Clockwork::at(verified.at);
    if (elsewhere && verified.standing == Standing::stands) {
      violate(verified.id, "'" + verified.group.value() + "' stands, it says, and does not");
    }
  }
  const bool lost =
      verified.standing == Standing::superseded || verified.standing == Standing::gone;
  if (untouched && lost) {
    violate(verified.id, "'" + verified.group.value() + "' was changed, it says, and was not");
  }
}

void Checker::on_transaction(const Transaction& transaction, Instant now) {
  Parts parts;
  for (const auto& written : transaction.records) {
    take(written, parts);
  }
  check_results(parts, transaction);
  for (const auto& [id, part] : parts) {
    check_part(id, part, transaction, now);
  }
}

// What is executed is the first guard record's content, and that is what somebody asked.
void Checker::check_guard(const RequestId& id, const Part& part) {
  Entry& entry = book_[id];
  const Guard& guard = *part.guard;
  entry.resolved = entry.resolved || !guard.targets.empty();
  if (!entry.accepted) {
    entry.accepted = guard;
    entry.accepted_at = part.guard_at;
    const bool asked =
        !guard.request ||
        std::any_of(entry.copies.begin(), entry.copies.end(), [&](const Copy& copy) {
          return copy.content && content_digest(*copy.content) == content_digest(*guard.request);
        });
    if (!asked || entry.copies.empty()) {
      violate(id, "accepted what nobody asked");
    }
    return;
  }
  if (entry.accepted->request != guard.request) {
    violate(id, "its guard record holds another request than the first one");
  }
}

void Checker::check_part(const RequestId& id, const Part& part, const Transaction& transaction,
                         Instant now) {
  Entry& entry = book_[id];
  if (entry.done) {
    violate(id, "something other than verified was written after its done");
  }
  if (part.guard) {
    check_guard(id, part);
  }
  if (part.dones.empty()) {
    if (!part.results.empty()) {
      violate(id, "a result without a done in the same transaction");
    }
    return;
  }
  if (part.dones.size() != 1 || !part.guard) {
    violate(id, "a transaction with more than one done, or with a done and no guard record");
    return;
  }
  const bool moves = std::any_of(part.results.begin(), part.results.end(),
                                 [](const GroupResult& one) { return one.failure.empty(); });
  if (moves) {
    check_order(id, part, transaction.process);
    ++entry.moves;
    ++moves_;
  }
  for (const auto& result : part.results) {
    if (result.failure.empty()) {
      entry.moved.emplace(result.group, result);
    }
  }
  check_groups(id, part);
  check_done(id, part, now);
  entry.done = part.dones.front();
  ++dones_;
  if (entry.moves > 1) {
    violate(id, "moved twice");
  }
}

// All of the request's groups, each moved or failed.
void Checker::check_groups(const RequestId& id, const Part& part) {
  const auto outcome = part.dones.front().outcome;
  std::set<GroupId> moved;
  std::set<GroupId> failed;
  for (const auto& result : part.results) {
    (result.failure.empty() ? moved : failed).insert(result.group);
  }
  if (moved.size() + failed.size() != part.results.size()) {
    violate(id, "two results of one group");
  }
  const bool completes =
      outcome == DoneOutcome::completed || outcome == DoneOutcome::completed_with_failures;
  if (!completes) {
    if (!moved.empty()) {
      violate(id, "moved groups, but its done does not say so");
    }
    return;
  }
  if (!part.guard->request) {
    violate(id, "completed without a request");
    return;
  }
  const auto wanted = geography::groups_of(*part.guard->request);
  std::set<GroupId> all = moved;
  all.insert(failed.begin(), failed.end());
  if (all != std::set<GroupId>(wanted.begin(), wanted.end())) {
    violate(id, "completed, but not with just the groups that it names");
  }
  if ((outcome == DoneOutcome::completed) != failed.empty() || moved.empty()) {
    violate(id, "its done and its results do not say the same");
  }
  if (!failed.empty() && part.guard->request->options.atomic) {
    violate(id, "atomic, and yet only some of its groups moved");
  }
}

void Checker::check_done(const RequestId& id, const Part& part, Instant now) {
  const Entry& entry = book_.at(id);
  const Done& done = part.dones.front();
  const auto& request = part.guard->request;
  switch (done.outcome) {
    case DoneOutcome::completed:
      return;
    case DoneOutcome::cancelled:
      if (!entry.cancelled_at) {
        violate(id, "cancelled, and nobody asked for that");
      }
      return;
    case DoneOutcome::expired: {
      constexpr Duration day{24 * 3'600 * 1'000};
      const auto until = request && request->expires_at ? *request->expires_at
                         : request && request->asked_at ? *request->asked_at + day
                                                        : Instant{0};
      // By the clock of the engine that says so.
      if (!request || request->never_expires || done.at < until || done.at > now + terms_.skew) {
        violate(id, "expired before its time");
      }
      return;
    }
    case DoneOutcome::completed_with_failures:
    case DoneOutcome::refused:
      if (request && !geography::may_fail(*request, terms_.erased)) {
        violate(id, "refused or failed, though it can be done: " + done.reason);
      }
      return;
    case DoneOutcome::left:
      violate(id, "left, though it is no annotation");
      return;
  }
}

// Offsets are moved just as the results say, in the transaction that holds them.
void Checker::check_results(const Parts& parts, const Transaction& transaction) {
  std::map<GroupId, const GroupResult*> by_group;
  for (const auto& [id, part] : parts) {
    for (const auto& result : part.results) {
      if (result.failure.empty() && !by_group.emplace(result.group, &result).second) {
        violate(id, "a group moved twice in one transaction");
      }
    }
  }
  std::set<GroupId> sent_groups;
  for (const auto& sent : transaction.offsets) {
    const auto found = by_group.find(sent.group);
    if (found == by_group.end()) {
      violate({}, "offsets of '" + sent.group.value() +
                      "' moved in a transaction that holds no result of it");
      continue;
    }
    if (!sent_groups.insert(sent.group).second) {
      violate(found->second->id, "offsets sent twice for '" + sent.group.value() + "'");
    }
    check_moved(*found->second, sent);
  }
  for (const auto& [group, result] : by_group) {
    if (!sent_groups.contains(group)) {
      violate(result->id, "a result of '" + group.value() + "', whose offsets did not move");
    }
  }
}

void Checker::check_moved(const GroupResult& result, const SentOffsets& sent) {
  if (!sent.consumers.empty()) {
    violate(result.id, "moved '" + sent.group.value() + "' while '" + sent.consumers.front() +
                           "' was a member");
  }
  if (!broker_.checks_guard && !sent.held) {
    violate(result.id, "a guarded move with a broker that does not check it");
  }
  std::map<TopicPartition, Committed> sent_at;
  for (const auto& commit : sent.commits) {
    sent_at[commit.at] = {commit.offset, commit.metadata};
  }
  std::set<TopicPartition> named;
  for (const auto& move : result.moves) {
    named.insert(move.at);
    const auto sent_here = sent_at.find(move.at);
    const auto went = sent_here == sent_at.end() ? std::nullopt : std::optional{sent_here->second};
    if (went != move.after) {
      violate(result.id, "an offset of '" + sent.group.value() + "' is not what its result says");
    }
    const auto stood = sent.stood.find(move.at);
    if ((stood == sent.stood.end() ? std::nullopt : stood->second) != move.before) {
      violate(result.id, "a before of '" + sent.group.value() +
                             "' is not what stood there: a foreign commit was overwritten unseen");
    }
    if (!went || !broker_.groups().topics().at(move.at).starts.contains(went->offset)) {
      violate(result.id, "an after of '" + sent.group.value() + "' was never the earliest");
    }
  }
  if (named.size() != sent_at.size()) {
    violate(result.id, "other partitions of '" + sent.group.value() + "' moved than it names");
  }
}

// Whether `first` was open, known before the engine looked at `group`, and comes before `id`.
bool Checker::comes_before(const RequestId& first, const RequestId& id, const GroupId& group,
                           std::int64_t applied) const {
  const Entry& entry = book_.at(first);
  if (first == id || entry.done || entry.meddled || entry.cancelled_at || entry.copies.empty() ||
      entry.copies.front().position >= applied) {
    return false;
  }
  const auto& own = book_.at(id).accepted->request;
  std::optional<Request> content;
  if (entry.accepted && entry.accepted_at < applied) {
    content = entry.accepted->request;
  } else if (entry.copies.size() == 1) {
    content = entry.copies.front().content;
    if (content && !content->asked_at) {
      content->asked_at = entry.copies.front().timestamp;
    }
  }
  if (!content || !own || geography::may_fail(*content, false)) {
    return false;
  }
  const auto groups = geography::groups_of(*content);
  // A pipeline is known only as long as the topology says so.
  const bool shares = std::find(groups.begin(), groups.end(), group) != groups.end() &&
                      (content->pipeline.empty() || entry.resolved);
  return shares && std::pair{*content->asked_at, first} < std::pair{*own->asked_at, id};
}

// Only what the engine had read before the look that it decided with could have come first.
void Checker::check_order(const RequestId& id, const Part& part, int process) {
  const auto& seen = part.guard->seen;
  const auto observed = seen ? observed_.find({process, seen->at}) : observed_.end();
  if (observed == observed_.end()) {
    violate(id, "moved without a look");
    return;
  }
  for (const auto& result : part.results) {
    if (!result.failure.empty()) {
      continue;
    }
    for (const auto& [first, entry] : book_) {
      if (comes_before(first, id, result.group, observed->second)) {
        violate(id, "moved '" + result.group.value() + "' before " + first.value() +
                        ", which was asked earlier");
      }
    }
  }
}

bool Checker::is_done(const RequestId& id) const {
  const auto found = book_.find(id);
  return found != book_.end() && found->second.done;
}

std::vector<std::string> Checker::not_done() const {
  std::vector<std::string> left;
  for (const auto& [id, entry] : book_) {
    if (!entry.meddled && !entry.copies.empty() && !entry.done) {
      left.push_back("request " + id.value() + " is not done");
    }
  }
  return left;
}

std::vector<std::string> Checker::not_verified() const {
  std::vector<std::string> left;
  for (const auto& [id, entry] : book_) {
    for (const auto& [group, result] : entry.moved) {
      if (!entry.meddled && !entry.verified.contains(group)) {
        left.push_back("request " + id.value() + ": '" + group.value() +
                       "' has no last verified record");
      }
    }
  }
  return left;
}

}  // namespace flow::sim
