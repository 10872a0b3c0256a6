#include "store/facts.h"

#include "schemas/codec.h"

namespace flow::store {
namespace {

template <typename T>
Fact<T> fact_of(const RecordKey& key, const LogRecord& record) {
  Fact<T> fact{record.position, record.timestamp, Content::erased, {}, {}};
  if (!record.value) {
    return fact;
  }
  auto decoded = decode(key, *record.value);
  if (!decoded) {
    fact.content = decoded.error().errc == Errc::refused ? Content::newer : Content::unreadable;
    fact.problem = decoded.error().detail;
    return fact;
  }
  fact.content = Content::readable;
  fact.record = std::get<T>(std::move(decoded).value());
  return fact;
}

template <typename T>
Applied verdict(const Fact<T>& fact) {
  const bool readable = fact.content == Content::readable || fact.content == Content::erased;
  return {readable, fact.problem};
}

// A tombstone makes most facts absent, as if they had never been written: after delete.retention.ms
// nobody can tell the two apart.
template <typename T>
Applied put(std::optional<Fact<T>>& slot, Fact<T> fact) {
  const Applied applied = verdict(fact);
  if (fact.content == Content::erased) {
    slot.reset();
  } else {
    slot = std::move(fact);
  }
  return applied;
}

template <typename K, typename T>
Applied put(std::map<K, Fact<T>>& slots, const K& at, Fact<T> fact) {
  const Applied applied = verdict(fact);
  if (fact.content == Content::erased) {
    slots.erase(at);
  } else {
    slots.insert_or_assign(at, std::move(fact));
  }
  return applied;
}

}  // namespace

Applied apply(RequestFacts& facts, const RecordKey& key, const LogRecord& record) {
  switch (key.kind) {
    case Kind::request:
      return put(facts.request, fact_of<Request>(key, record));
    case Kind::cancel:
      return put(facts.cancel, fact_of<Cancel>(key, record));
    case Kind::guard:
      return put(facts.guard, fact_of<Guard>(key, record));
    case Kind::intent:
      return put(facts.intents, key.name, fact_of<Intent>(key, record));
    case Kind::verified:
      return put(facts.verified, GroupId{key.name}, fact_of<Verified>(key, record));
    case Kind::result: {
      const GroupId group{key.name};
      const Applied applied =
          put(facts.results[group], *key.leader, fact_of<GroupResult>(key, record));
      if (facts.results[group].empty()) {
        facts.results.erase(group);
      }
      return applied;
    }
    case Kind::done: {
      // An erased done stays known: the request was closed once, and must not open again.
      auto fact = fact_of<Done>(key, record);
      const Applied applied = verdict(fact);
      facts.dones.insert_or_assign(*key.leader, std::move(fact));
      return applied;
    }
    case Kind::step:
      return record.value ? Applied{false, decode(key, *record.value).error().detail} : Applied{};
    case Kind::engine:
    case Kind::log:
    case Kind::annotations:
    case Kind::savepoint:
    case Kind::schedule:
      break;
  }
  return {};
}

const Done* closing_done(const RequestFacts& facts) {
  for (const auto& [leader, fact] : facts.dones) {
    if (fact.record) {
      return &*fact.record;
    }
  }
  return nullptr;
}

const Request* accepted_request(const RequestFacts& facts) {
  if (facts.guard && facts.guard->record) {
    return facts.guard->record->request ? &*facts.guard->record->request : nullptr;
  }
  return facts.request && facts.request->record ? &*facts.request->record : nullptr;
}

std::optional<Instant> asked_at(const RequestFacts& facts) {
  if (const auto* request = accepted_request(facts); request != nullptr && request->asked_at) {
    return request->asked_at;
  }
  return facts.request ? std::optional{facts.request->timestamp} : std::nullopt;
}

const GroupResult* result_of(const RequestFacts& facts, const GroupId& group) {
  const auto found = facts.results.find(group);
  if (found == facts.results.end()) {
    return nullptr;
  }
  for (const auto& [leader, fact] : found->second) {
    if (fact.record) {
      return &*fact.record;
    }
  }
  return nullptr;
}

bool has_result(const RequestFacts& facts, const GroupId& group) {
  return facts.results.contains(group);
}

}  // namespace flow::store
