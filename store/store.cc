#include "store/store.h"

#include <algorithm>
#include <array>

#include "schemas/codec.h"
#include "schemas/utf8.h"
#include "store/rows.h"

namespace flow::store {
namespace {

std::string printable(std::string_view key) { return to_line(key, 120); }

constexpr std::array<std::string_view, 2> anchor_names{"done", "last"};

void put_row(Batch& batch, char table, const LogRecord& record) {
  const auto header = row_header(record);
  batch.put({{&table, 1}, record.key},
            {{header.data(), header.size()}, record.value.value_or(std::string_view{})});
}

Error damaged_row(std::string_view key) {
  return error(Errc::fatal, "the store's row '" + printable(key) + "' cannot be read");
}

}  // namespace

Store::Store(std::unique_ptr<Tables> tables) : tables_(std::move(tables)) {}

Result<std::unique_ptr<Store>> Store::open(std::unique_ptr<Tables> tables) {
  std::unique_ptr<Store> store{new Store{std::move(tables)}};
  BOOST_OUTCOME_TRY(store->load());
  return store;
}

Result<void> Store::load() {
  BOOST_OUTCOME_TRY(const auto row, tables_->get(row_key(meta_table, {})));
  if (!row) {
    bool is_empty = true;
    BOOST_OUTCOME_TRY(tables_->scan({}, [&](std::string_view, std::string_view) {
      is_empty = false;
      return false;
    }));
    if (!is_empty) {
      return error(Errc::refused,
                   "the store's folder holds the tables of another program; give the engine a "
                   "folder of its own (--store)");
    }
    return boost::outcome_v2::success();
  }
  const auto meta = decode_meta(*row);
  if (!meta) {
    return damaged_row("M");
  }
  next_ = LogPosition{meta->next};
  bad_records_ = meta->bad_records;
  half_built_ = meta->half_built;
  if (meta->current_at >= 0) {
    current_at_ = Instant{meta->current_at};
  }
  if (meta->birth_position >= 0) {
    birth_ = Birth{meta->birth_id, LogPosition{meta->birth_position}};
  }
  const RecordKey key{Kind::engine, {}, {}, {}};
  BOOST_OUTCOME_TRY(const auto engine, tables_->get(row_key(log_table, encode_key(key))));
  if (engine) {
    const auto record = decode_row({}, *engine);
    if (!record) {
      return damaged_row("Gengine");
    }
    const auto decoded = record->value ? decode(key, *record->value) : error(Errc::invalid, {});
    if (decoded) {
      leader_ =
          Leader{std::get<EngineStarted>(decoded.value()), LeaderNumber{record->position.value()}};
    }
  }
  return boost::outcome_v2::success();
}

std::string Store::meta() const {
  Meta meta;
  meta.next = next_.value();
  meta.bad_records = bad_records_;
  meta.half_built = bulk_.has_value() || half_built_;
  meta.current_at = current_at_ ? current_at_->value() : -1;
  if (birth_) {
    meta.birth_id = birth_->id;
    meta.birth_position = birth_->position.value();
  }
  return encode_meta(meta);
}

void Store::note_bad(const LogRecord& record, std::string problem, Changes& changes) const {
  changes.bad.push_back({record.position, printable(record.key), std::move(problem)});
}

void Store::apply_log_record(const RecordKey& key, const LogRecord& record, Changes& changes,
                             Batch& batch) {
  if (!record.value) {
    return;
  }
  const auto decoded = decode(key, *record.value);
  if (!decoded) {
    // What was known before stays, here and when the store is opened again.
    note_bad(record, decoded.error().detail, changes);
    return;
  }
  put_row(batch, log_table, record);
  if (const auto* engine = std::get_if<EngineStarted>(&decoded.value())) {
    changes.leader = Leader{*engine, LeaderNumber{record.position.value()}};
  } else if (const auto* born = std::get_if<LogBorn>(&decoded.value())) {
    birth_ = Birth{born->birth, record.position};
  }
}

Result<void> Store::apply_request_record(const RecordKey& key, const LogRecord& record,
                                         Changes& changes, Batch& batch) {
  put_row(batch, fact_table, record);
  if (bulk_) {
    const bool readable = record.value && is_readable(key, *record.value);
    if (record.value && !readable) {
      // The full reader knows the reason; this is the rare case.
      note_bad(record, decode(key, *record.value).error().detail, changes);
    }
    bulk_->see(key, record.value.value_or(std::string_view{}), readable);
    return boost::outcome_v2::success();
  }
  auto known = changes.requests.find(key.id);
  if (known == changes.requests.end()) {
    BOOST_OUTCOME_TRY(auto before, facts(key.id));
    known = changes.requests.emplace(key.id, std::move(before)).first;
  }
  auto applied = store::apply(known->second, key, record);
  if (!applied.readable) {
    note_bad(record, std::move(applied.problem), changes);
  }
  return boost::outcome_v2::success();
}

void Store::index(const RequestFacts& facts, Batch& batch) const {
  const auto set = [&](char table, bool wanted) {
    if (wanted) {
      batch.put(row_key(table, facts.id.value()), {});
    } else {
      batch.erase(row_key(table, facts.id.value()));
    }
  };
  set(open_table, is_open(phase_of(facts)));
  set(unverified_table, is_unverified(facts));
}

Result<Changes> Store::apply(std::span<const LogRecord> records, LogPosition next) {
  Changes changes;
  Batch batch;
  const auto birth_before = birth_;
  const auto next_before = next_;
  std::array<std::optional<std::string_view>, anchor_names.size()> anchors;
  for (const auto& record : records) {
    if (record.position < next_before) {
      continue;
    }
    const auto key = decode_key(record.key);
    if (!key) {
      note_bad(record, "no kind of record has this key", changes);
    } else if (key->id.value().empty()) {
      apply_log_record(*key, record, changes, batch);
    } else if (auto applied = apply_request_record(*key, record, changes, batch); !applied) {
      birth_ = birth_before;
      return applied.error();
    } else {
      anchors.back() = record.key;
      if (key->kind == Kind::done) {
        anchors.front() = record.key;
      }
    }
  }
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    if (anchors[i]) {
      batch.put(row_key(anchor_table, anchor_names[i]), *anchors[i]);
    }
  }
  for (const auto& [id, facts] : changes.requests) {
    index(facts, batch);
  }
  next_ = std::max(next_before, next);
  bad_records_ += static_cast<std::int64_t>(changes.bad.size());
  batch.put(row_key(meta_table, {}), meta());
  if (auto written = tables_->write(batch); !written) {
    next_ = next_before;
    birth_ = birth_before;
    bad_records_ -= static_cast<std::int64_t>(changes.bad.size());
    return written.error();
  }
  if (changes.leader) {
    leader_ = changes.leader;
  }
  return changes;
}

Result<void> Store::begin_bulk() {
  FLOW_ASSERT(!bulk_ && next_ == LogPosition{0}, std::to_string(next_.value()));
  bulk_.emplace();
  return boost::outcome_v2::success();
}

Result<void> Store::end_bulk(std::unique_ptr<Tables> reopened) {
  FLOW_ASSERT(bulk_.has_value(), "no bulk rebuild was begun");
  tables_ = std::move(reopened);
  Batch batch;
  for (const auto& id : bulk_->suspects()) {
    BOOST_OUTCOME_TRY(const auto known, facts(id));
    index(known, batch);
  }
  bulk_.reset();
  half_built_ = false;
  batch.put(row_key(meta_table, {}), meta());
  BOOST_OUTCOME_TRY(tables_->write(batch));
  return tables_->flush();
}

Result<void> Store::checkpoint(Instant now) {
  current_at_ = now;
  Batch batch;
  batch.put(row_key(meta_table, {}), meta());
  BOOST_OUTCOME_TRY(tables_->write(batch));
  return tables_->flush();
}

Result<RequestFacts> Store::facts(const RequestId& id) const {
  RequestFacts known;
  known.id = id;
  bool damaged = false;
  BOOST_OUTCOME_TRY(tables_->scan(row_key(fact_table, id.value() + "/"),
                                  [&](std::string_view row, std::string_view value) {
                                    const auto record = decode_row(row.substr(1), value);
                                    const auto key = decode_key(row.substr(1));
                                    damaged = !record || !key;
                                    if (!damaged) {
                                      store::apply(known, *key, *record);
                                    }
                                    return !damaged;
                                  }));
  if (damaged) {
    return damaged_row(id.value());
  }
  return known;
}

Result<std::vector<Anchor>> Store::anchors() const {
  std::vector<Anchor> found;
  for (const auto which : anchor_names) {
    BOOST_OUTCOME_TRY(const auto key, tables_->get(row_key(anchor_table, which)));
    if (!key) {
      continue;
    }
    BOOST_OUTCOME_TRY(const auto row, tables_->get(row_key(fact_table, *key)));
    const auto record = row ? decode_row(*key, *row) : std::nullopt;
    if (!record) {
      return damaged_row(*key);
    }
    if (record->value) {
      found.push_back({record->position, *key, std::string{*record->value}});
    }
  }
  return found;
}

namespace {

Result<std::vector<RequestId>> ids_in(const Tables& tables, char table) {
  std::vector<RequestId> ids;
  BOOST_OUTCOME_TRY(
      tables.scan(row_key(table, {}), [&](std::string_view row, std::string_view /*value*/) {
        ids.emplace_back(std::string{row.substr(1)});
        return true;
      }));
  return ids;
}

}  // namespace

Result<std::vector<RequestId>> Store::open_requests() const { return ids_in(*tables_, open_table); }

Result<std::vector<RequestId>> Store::unverified_requests() const {
  return ids_in(*tables_, unverified_table);
}

Result<void> Store::each(const std::function<bool(const RequestFacts&)>& visit) const {
  std::optional<RequestFacts> known;
  bool damaged = false;
  bool go_on = true;
  BOOST_OUTCOME_TRY(
      tables_->scan(row_key(fact_table, {}), [&](std::string_view row, std::string_view value) {
        const auto record = decode_row(row.substr(1), value);
        const auto key = decode_key(row.substr(1));
        damaged = !record || !key;
        if (damaged) {
          return false;
        }
        if (!known || known->id != key->id) {
          go_on = !known || visit(*known);
          known.emplace();
          known->id = key->id;
        }
        store::apply(*known, *key, *record);
        return go_on;
      }));
  if (damaged) {
    return damaged_row("F");
  }
  if (known && go_on) {
    visit(*known);
  }
  return boost::outcome_v2::success();
}

}  // namespace flow::store
