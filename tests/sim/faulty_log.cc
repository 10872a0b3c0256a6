#include "tests/sim/faulty_log.h"

#include <deque>
#include <memory>

#include "schemas/codec.h"
#include "schemas/keys.h"
#include "tests/sim/faults.h"
#include "tests/sim/process.h"
#include "tests/sim/world.h"

namespace flow::sim {

using boost::asio::awaitable;

namespace {

bool is_of(const port::EncodedRecord& record, Kind kind) {
  const auto key = decode_key(record.key);
  return key && key->kind == kind;
}

// A guard record that says what the last copy of the request says.
std::string replace_request(const RecordKey& key, const std::string& guard_bytes,
                            const std::string& request_bytes) {
  const auto guard = decode(key, guard_bytes);
  const auto request = decode({Kind::request, key.id, {}, {}}, request_bytes);
  if (!guard || !request) {
    return guard_bytes;
  }
  Guard changed = std::get<Guard>(guard.value());
  const auto& last = std::get<Request>(request.value());
  if (!changed.request || content_digest(*changed.request) == content_digest(last)) {
    return guard_bytes;
  }
  const auto before = *changed.request;
  changed.request = last;
  changed.request->asked_at = before.asked_at;
  changed.request->expires_at = before.expires_at;
  changed.targets.clear();
  return encode(Record{std::move(changed)});
}

}  // namespace

awaitable<port::CommitOutcome> FaultyLog::commit_done_apart(port::Transaction transaction) {
  port::Transaction after;
  std::erase_if(transaction.records, [&](const port::EncodedRecord& record) {
    if (is_of(record, Kind::done)) {
      after.records.push_back(record);
      return true;
    }
    return false;
  });
  auto outcome = co_await FakeLog::commit(std::move(transaction));
  if (outcome.status == port::CommitStatus::committed && !outcome.producer_spent) {
    outcome = co_await FakeLog::commit(std::move(after));
  }
  co_return outcome;
}

awaitable<port::CommitOutcome> FaultyLog::commit_groups_apart(port::Transaction transaction) {
  std::vector<port::GroupMove> moves(transaction.moves.begin() + 1, transaction.moves.end());
  transaction.moves.resize(1);
  const auto hold = transaction.hold;
  auto outcome = co_await FakeLog::commit(std::move(transaction));
  for (auto& move : moves) {
    if (outcome.status != port::CommitStatus::committed || outcome.producer_spent) {
      break;
    }
    port::Transaction next;
    next.moves.push_back(std::move(move));
    next.hold = hold;
    const auto positions = outcome.positions;
    outcome = co_await FakeLog::commit(std::move(next));
    outcome.positions = positions;
  }
  co_return outcome;
}

awaitable<port::CommitOutcome> FaultyLog::commit(port::Transaction transaction) {
  const bool moves = !transaction.moves.empty();
  const bool begins_term = !moves && is_of(transaction.records.front(), Kind::engine);
  if (is_faulty(Fault::done_apart) && moves) {
    co_return co_await commit_done_apart(std::move(transaction));
  }
  if (is_faulty(Fault::groups_apart) && transaction.moves.size() > 1) {
    co_return co_await commit_groups_apart(std::move(transaction));
  }
  auto outcome = co_await FakeLog::commit(std::move(transaction));
  if (is_faulty(Fault::unknown_is_aborted) && moves &&
      outcome.status == port::CommitStatus::unknown) {
    outcome.status = port::CommitStatus::aborted;
    outcome.producer_spent = false;
    unspend();
  }
  if (outcome.status != port::CommitStatus::committed) {
    co_return outcome;
  }
  if (is_faulty(Fault::decided_again) && moves) {
    outcome.positions.back() = LogPosition{-1};
  }
  const auto& known = process_.engine().context().keeper.store().leader();
  if (is_faulty(Fault::early_leader) && begins_term && known) {
    outcome.positions.front() = LogPosition{known->number.value()};
  }
  co_return outcome;
}

// Guard records, and what is read after them under the request's key, both show the last copy.
void FaultyLog::hand_out_last_copies(port::LogBatch& batch) {
  struct Bytes {
    std::shared_ptr<const void> owner;
    std::deque<std::string> texts;
  };
  const auto bytes = std::make_shared<Bytes>();
  bytes->owner = batch.owner;
  std::vector<LogRecord> records;
  for (auto& record : batch.records) {
    const auto key = decode_key(record.key);
    records.push_back(record);
    if (!key || !record.value) {
      continue;
    }
    if (key->kind == Kind::guard) {
      guards_[key->id] = *record.value;
    } else if (key->kind == Kind::request) {
      requests_[key->id] = *record.value;
    } else {
      continue;
    }
    if (guards_.contains(key->id) && requests_.contains(key->id)) {
      const RecordKey guard_key{Kind::guard, key->id, {}, {}};
      bytes->texts.push_back(encode_key(guard_key));
      records.push_back(record);
      records.back().key = bytes->texts.back();
      bytes->texts.push_back(
          replace_request(guard_key, guards_.at(key->id), requests_.at(key->id)));
      records.back().value = bytes->texts.back();
    }
  }
  batch.records = std::move(records);
  batch.owner = bytes;
}

awaitable<Result<port::LogBatch>> FaultyLog::read() {
  auto batch = co_await FakeLog::read();
  if (!batch) {
    co_return batch;
  }
  if (is_faulty(Fault::last_copy)) {
    hand_out_last_copies(batch.value());
  }
  if (is_faulty(Fault::arrival_order)) {
    for (const auto& record : batch.value().records) {
      const auto key = decode_key(record.key);
      if (key && key->kind == Kind::request && record.position.value() >= process_.applied()) {
        process_.disk().forget("F" + key->id.value() + "/");
      }
    }
  }
  co_return batch;
}

}  // namespace flow::sim
