#include "engine/runtime/work.h"

#include <algorithm>

#include "store/phase.h"

namespace flow::engine {

void WorkBook::leave_queues(const Work& work) {
  for (const auto& group : work.groups) {
    const auto queue = queues_.find(group);
    if (queue == queues_.end()) {
      continue;
    }
    queue->second.erase({work.asked_at, work.facts.id});
    // Whoever waited behind this one is decided again.
    for (const auto& [asked_at, id] : queue->second) {
      if (auto* next = find(id)) {
        next->next_at = Instant{0};
      }
    }
    if (queue->second.empty()) {
      queues_.erase(queue);
    }
  }
}

void WorkBook::enter_queues(const Work& work) {
  for (const auto& group : work.groups) {
    queues_[group].insert({work.asked_at, work.facts.id});
  }
}

namespace {

// Whether the topology, and not the request or its guard record, says which groups it means.
bool is_unresolved(const store::RequestFacts& facts) {
  if (facts.guard && facts.guard->record && !facts.guard->record->targets.empty()) {
    return false;
  }
  const auto* request = store::accepted_request(facts);
  return request != nullptr && !request->pipeline.empty();
}

}  // namespace

void WorkBook::resolve_again(const port::Topology& topology) {
  for (const auto& id : unresolved_) {
    Work& work = works_.at(id);
    auto groups = decide::groups_of(work.facts, topology);
    if (groups != work.groups) {
      leave_queues(work);
      work.groups = std::move(groups);
      enter_queues(work);
    }
  }
}

void WorkBook::note_moves(const store::RequestFacts& facts) {
  const auto* done = store::closing_done(facts);
  if (done == nullptr) {
    return;
  }
  for (const auto& [group, copies] : facts.results) {
    const auto* result = store::result_of(facts, group);
    if (result != nullptr && result->failure.empty()) {
      moved_[group].insert({done->at, facts.id});
    }
  }
}

void WorkBook::forget_moves(const store::RequestFacts& facts) {
  const auto* done = store::closing_done(facts);
  if (done == nullptr) {
    return;
  }
  for (const auto& [group, copies] : facts.results) {
    const auto moves = moved_.find(group);
    if (moves == moved_.end()) {
      continue;
    }
    moves->second.erase({done->at, facts.id});
    if (moves->second.empty()) {
      moved_.erase(moves);
    }
  }
}

void WorkBook::update(const store::RequestFacts& facts, const port::Topology& topology) {
  const auto phase = store::phase_of(facts);
  const bool open = store::is_open(phase);
  const bool unverified = store::is_unverified(facts);
  const auto known = works_.find(facts.id);
  if (known != works_.end()) {
    leave_queues(known->second);
    open_.erase({known->second.asked_at, facts.id});
    if (unverified_.erase(facts.id) == 1) {
      forget_moves(known->second.facts);
    }
    unresolved_.erase(facts.id);
  }
  if (!open && !unverified) {
    if (known != works_.end()) {
      works_.erase(known);
    }
    return;
  }
  Work& work = works_[facts.id];
  work.facts = facts;
  work.revision = ++revisions_;
  work.next_at = Instant{0};
  work.asked_at = store::asked_at(facts).value_or(Instant{0});
  work.groups = decide::groups_of(facts, topology);
  if (!open) {
    work.joining = false;  // whoever carried it out, the held lane has nothing left to do
  }
  if (unverified) {
    unverified_.insert(facts.id);
    note_moves(facts);
  }
  if (open) {
    open_.insert({work.asked_at, facts.id});
    enter_queues(work);
    if (is_unresolved(facts)) {
      unresolved_.insert(facts.id);
    }
  }
}

void WorkBook::read_back(LogPosition next) {
  for (auto& [id, work] : works_) {
    if (work.in_hand && *work.in_hand < next) {
      work.in_hand.reset();
    }
  }
}

void WorkBook::drop_hands() {
  for (auto& [id, work] : works_) {
    work.in_hand.reset();
    work.next_at = Instant{0};
    work.failures = 0;
    work.failing.clear();
    work.refusals.clear();
  }
}

void WorkBook::wake_all() {
  for (auto& [id, work] : works_) {
    work.next_at = Instant{0};
  }
}

Work* WorkBook::find(const RequestId& id) {
  const auto found = works_.find(id);
  return found == works_.end() ? nullptr : &found->second;
}

Standpoint WorkBook::standpoint(const Work& work) const {
  return {work.facts.id, work.revision, ahead_of(work.facts.id)};
}

bool WorkBook::stands(const Standpoint& standpoint) const {
  const auto found = works_.find(standpoint.id);
  return found != works_.end() && found->second.revision == standpoint.revision &&
         ahead_of(standpoint.id) == standpoint.behind;
}

std::optional<RequestId> WorkBook::ahead_of(const RequestId& id) const {
  const auto work = works_.find(id);
  if (work == works_.end()) {
    return std::nullopt;
  }
  const Place self{work->second.asked_at, id};
  std::optional<Place> first;
  for (const auto& group : work->second.groups) {
    const auto queue = queues_.find(group);
    if (queue != queues_.end() && *queue->second.begin() < self &&
        (!first || *queue->second.begin() < *first)) {
      first = *queue->second.begin();
    }
  }
  return first ? std::optional{first->second} : std::nullopt;
}

std::set<GroupId> WorkBook::moved_again(const Work& work) const {
  std::set<GroupId> groups;
  const auto* done = store::closing_done(work.facts);
  if (done == nullptr) {
    return groups;
  }
  for (const auto& [group, copies] : work.facts.results) {
    const auto moves = moved_.find(group);
    if (moves != moved_.end() && *moves->second.rbegin() > Place{done->at, work.facts.id}) {
      groups.insert(group);
    }
  }
  return groups;
}

std::optional<RequestId> WorkBook::first_joining() const {
  for (const auto& [asked_at, id] : open_) {
    const Work& work = works_.at(id);
    if (work.joining && !work.in_hand) {
      return id;
    }
  }
  return std::nullopt;
}

std::vector<RequestId> WorkBook::due_open(Instant now, std::size_t most) const {
  std::vector<RequestId> due;
  for (const auto& [asked_at, id] : open_) {
    if (due.size() == most) {
      break;
    }
    if (works_.at(id).is_free(now)) {
      due.push_back(id);
    }
  }
  return due;
}

std::vector<RequestId> WorkBook::due_unverified(Instant now, std::size_t most) const {
  std::vector<RequestId> due;
  for (const auto& id : unverified_) {
    if (due.size() == most) {
      break;
    }
    if (works_.at(id).is_free(now)) {
      due.push_back(id);
    }
  }
  return due;
}

namespace {

std::optional<Instant> earlier(std::optional<Instant> a, const Work& work) {
  if (work.in_hand || work.joining) {
    return a;  // woken when its records are read back, or by the held lane
  }
  return a ? std::min(*a, work.next_at) : work.next_at;
}

}  // namespace

std::optional<Instant> WorkBook::next_open() const {
  std::optional<Instant> next;
  for (const auto& [asked_at, id] : open_) {
    next = earlier(next, works_.at(id));
  }
  return next;
}

std::optional<Instant> WorkBook::next_unverified() const {
  std::optional<Instant> next;
  for (const auto& id : unverified_) {
    next = earlier(next, works_.at(id));
  }
  return next;
}

}  // namespace flow::engine
