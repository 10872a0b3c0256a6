#include "engine/app/cli/log_facts.h"

#include "schemas/codec.h"
#include "schemas/keys.h"

namespace flow::app {

void LogFacts::apply(const port::LogBatch& batch) {
  for (const auto& record : batch.records) {
    apply(record);
  }
  next_ = batch.next;
}

std::int64_t LogFacts::bad_records() const {
  std::int64_t records = 0;
  for (const auto& [key, bad] : bad_) records += bad.records;
  return records;
}

const LogFacts::Bad* LogFacts::first_bad() const {
  const Bad* first = nullptr;
  for (const auto& [key, bad] : bad_) {
    if (first == nullptr || bad.first < first->first) first = &bad;
  }
  return first;
}

store::RequestFacts LogFacts::facts(const RequestId& id) const {
  const auto found = requests_.find(id);
  if (found != requests_.end()) return found->second;
  store::RequestFacts none;
  none.id = id;
  return none;
}

void LogFacts::apply(const port::LogRecord& record) {
  const auto key = decode_key(record.key);
  if (!key) {
    if (record.value) {
      note_bad(record,
               "its key is of no kind that flow knows; a tombstone on that key takes it away");
    } else {
      bad_.erase(std::string{record.key});
    }
    return;
  }
  if (key->id.value().empty()) {
    if (key->kind == Kind::engine) apply_engine(*key, record);
    return;
  }
  auto& facts = requests_[key->id];
  facts.id = key->id;
  if (const auto applied = store::apply(facts, *key, record); !applied.readable) {
    note_bad(record, applied.problem);
  }
}

void LogFacts::apply_engine(const RecordKey& key, const port::LogRecord& record) {
  if (!record.value) return;
  auto decoded = decode(key, *record.value);
  if (!decoded) {
    note_bad(record, decoded.error().detail);
    return;
  }
  leader_ = Leader{std::get<EngineStarted>(std::move(decoded).value()),
                   LeaderNumber{record.position.value()}};
}

void LogFacts::note_bad(const port::LogRecord& record, const std::string& problem) {
  ++bad_.try_emplace(std::string{record.key}, Bad{record.position, problem}).first->second.records;
}

}  // namespace flow::app
