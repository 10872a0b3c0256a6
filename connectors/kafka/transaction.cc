#include "connectors/kafka/transaction.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "connectors/kafka/errors.h"
#include "connectors/kafka/group_questions.h"
#include "connectors/kafka/hold.h"
#include "connectors/kafka/refusals.h"
#include "engine/ports/fail_point.h"

namespace flow::kafka {
namespace {

// All of them together stay below the transaction's own time-out, and below the 10 s in which an
// engine that is told to end has to have ended.
const Duration delivery_max{4'000};
const Duration offsets_max{4'000};
const Duration reread_max{2'000};
const Duration commit_max{4'000};
const Duration abort_max{3'000};

// The member of a guarded commit: made up, so that a group with any member at all refuses it.
constexpr const char* guard_member = "flow-guard";
constexpr int no_generation = -1;

PartitionList to_list(const std::vector<port::PartitionCommit>& commits) {
  PartitionList list{rd_kafka_topic_partition_list_new(static_cast<int>(commits.size()))};
  for (const auto& commit : commits) {
    auto* const entry = rd_kafka_topic_partition_list_add(
        list.get(), commit.at.topic.value().c_str(), commit.at.partition);
    entry->offset = commit.offset;
    if (!commit.metadata.empty()) {
      // librdkafka frees it, and reads it as text.
      entry->metadata = ::strndup(commit.metadata.data(), commit.metadata.size());
      entry->metadata_size = commit.metadata.size();
    }
  }
  return list;
}

GroupMetadata guard_metadata(const GroupId& group) {
  return GroupMetadata{rd_kafka_consumer_group_metadata_new_with_genid(
      group.value().c_str(), no_generation, guard_member, nullptr)};
}

bool is_fenced(rd_kafka_t* client) {
  std::array<char, 256> text{};
  const auto code = rd_kafka_fatal_error(client, text.data(), text.size());
  return code != RD_KAFKA_RESP_ERR_NO_ERROR && classify(code) == Errc::fenced;
}

class Attempt {
 public:
  Attempt(Producer& producer, const Connection& lookups, const port::Transaction& transaction)
      : producer_{producer}, lookups_{lookups}, transaction_{transaction} {}

  port::CommitOutcome run() {
    if (const auto wrong = negative_offset(transaction_)) {
      return refused(error(Errc::invalid, *wrong));
    }
    if (producer_.is_spent()) {
      return refused(error(Errc::retriable, "the producer has to be opened anew"));
    }
    mark("before-begin");
    const ErrorHandle failed{rd_kafka_begin_transaction(client())};
    if (failed != nullptr) {
      producer_.spend();
      return is_fenced(client()) ? fenced()
                                 : refused(failure(failed.get(), "beginning a transaction"));
    }
    mark("after-begin");
    if (!deliver_records() || !send_offsets() || !read_again()) {
      return abandon();
    }
    mark("before-commit");
    auto outcome = commit();
    mark("after-commit");
    return outcome;
  }

 private:
  rd_kafka_t* client() const { return producer_.handle(); }

  // The named places are those of a reset: an engine record's transaction passes none of them.
  void mark(std::string_view place) const {
    if (!transaction_.moves.empty()) {
      fail_point(place);
    }
  }

  port::CommitOutcome refused(Error why) const {
    port::CommitOutcome outcome;
    outcome.status = port::CommitStatus::aborted;
    outcome.error = std::move(why);
    outcome.producer_spent = producer_.is_spent();
    return outcome;
  }

  port::CommitOutcome fenced() const {
    port::CommitOutcome outcome;
    outcome.status = port::CommitStatus::fenced;
    outcome.producer_spent = true;
    outcome.error =
        error(Errc::fenced, "transactional id '" + transactional_id_of(producer_.topic()) +
                                "': another producer took over, or the transaction "
                                "took longer than its time-out");
    return outcome;
  }

  // Step 3. Delivered before the offsets are sent: what is left for the commit to do then is short.
  bool deliver_records() {
    auto& deliveries = producer_.new_deliveries(transaction_.records.size());
    for (std::size_t i = 0; i < deliveries.size(); ++i) {
      const ErrorHandle wrong =
          hand_over(client(), producer_.topic(), transaction_.records[i], deliveries[i]);
      if (wrong != nullptr) {
        deliveries[i].answered = true;
        for (auto left = i + 1; left < deliveries.size(); ++left) {
          deliveries[left].answered = true;
        }
        return fail(failure(wrong.get(), appending()));
      }
    }
    mark("after-produce");
    const auto all_answered = [&deliveries] {
      return std::all_of(deliveries.begin(), deliveries.end(),
                         [](const Delivery& one) { return one.answered; });
    };
    for (const Deadline until{delivery_max}; !all_answered() && !until.has_passed();) {
      rd_kafka_poll(client(), until.left_ms());
    }
    for (const auto& delivery : deliveries) {
      if (!delivery.answered) {
        return fail(producer_.connection().no_answer(appending(), delivery_max));
      }
      if (delivery.code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return fail(delivery_failure(delivery.code));
      }
      positions_.emplace_back(delivery.offset);
    }
    mark("after-delivery");
    return true;
  }

  std::string appending() const { return "appending to topic '" + producer_.topic().value() + "'"; }

  Error delivery_failure(rd_kafka_resp_err_t code) const {
    const Error not_authorised =
        error(Errc::refused, "not authorised: Write on topic '" + producer_.topic().value() + "'");
    if (code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED) {
      return not_authorised;
    }
    if (code == RD_KAFKA_RESP_ERR__PURGE_QUEUE || code == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT) {
      // The transaction failed before the record was sent; librdkafka only logged why. The one
      // partition that it adds to a transaction is the control topic's.
      auto why = producer_.connection().with_last_failure(appending());
      const bool is_refused =
          why.ends_with(rd_kafka_err2str(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED));
      return is_refused ? not_authorised : error(Errc::retriable, std::move(why));
    }
    return producer_.connection().explain(code, appending());
  }

  // Step 4. One request a group; the broker checks the group where it writes the offsets.
  bool send_offsets() {
    const auto* const hold = dynamic_cast<const GroupHold*>(transaction_.hold.get());
    FLOW_ASSERT(transaction_.hold == nullptr || hold != nullptr, "a hold of another connector");
    const Deadline until{offsets_max};
    bool is_first = true;
    for (const auto& move : transaction_.moves) {
      if (move.commits.empty()) {
        continue;
      }
      if (!std::exchange(is_first, false)) {
        mark("between-groups");
      }
      const GroupMetadata guard = hold == nullptr ? guard_metadata(move.group) : nullptr;
      const auto* const metadata = hold == nullptr ? guard.get() : hold->metadata_of(move.group);
      if (metadata == nullptr) {
        return fail(error(Errc::retriable, "group '" + move.group.value() + "' is not held"),
                    false);
      }
      const PartitionList offsets = to_list(move.commits);
      const ErrorHandle failed{rd_kafka_send_offsets_to_transaction(
          client(), offsets.get(), metadata, std::max(1, until.left_ms()))};
      if (failed != nullptr) {
        return judge_offsets(failed.get(), move, hold != nullptr);
      }
    }
    mark("after-offsets");
    return true;
  }

  bool judge_offsets(const rd_kafka_error_t* failed, const port::GroupMove& move, bool is_held) {
    const auto code = rd_kafka_error_code(failed);
    const std::string what = "moving group '" + move.group.value() + "'";
    if (!rd_kafka_error_is_fatal(failed)) {
      if (is_held && is_about_membership(code)) {
        return fail(error(Errc::retriable, what + ": it is no longer held (" + reason(code) + ")"),
                    false);
      }
      if (auto refusal = refusal_of(code, move)) {
        refusals_.push_back(*std::move(refusal));
        return false;
      }
    }
    if (code == RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED) {
      return fail(error(Errc::refused, "not authorised: Write on transactional id '" +
                                           transactional_id_of(producer_.topic()) + "'"));
    }
    return fail(failure(failed, what));
  }

  // The end of step 4. Without require_stable: ours is pending, and a plain commit of somebody else
  // shows.
  bool read_again() {
    std::vector<OffsetsQuestion> questions;
    std::vector<const port::GroupMove*> moves;
    for (const auto& move : transaction_.moves) {
      if (!move.before.empty()) {
        auto& question = questions.emplace_back();
        question.group = move.group;
        for (const auto& before : move.before) {
          question.partitions.push_back(before.at);
        }
        moves.push_back(&move);
      }
    }
    const auto answers = ask_offsets(lookups_, questions, false, Deadline{reread_max});
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i].problem) {
        return fail(*answers[i].problem, false);
      }
      if (auto refusal = compare_before(*moves[i], answers[i].partitions)) {
        refusals_.push_back(*std::move(refusal));
      }
    }
    mark("after-reread");
    return refusals_.empty();
  }

  // Step 5.
  port::CommitOutcome commit() {
    const auto ends_before = producer_.watch().end_requests();
    const ErrorHandle failed{
        rd_kafka_commit_transaction(client(), static_cast<int>(commit_max.value()))};
    port::CommitOutcome outcome;
    if (failed == nullptr) {
      outcome.status = port::CommitStatus::committed;
      outcome.positions = std::move(positions_);
      outcome.producer_spent = producer_.is_spent();
      return outcome;
    }
    producer_.spend();
    // Answered, and answered no: nothing was committed. Anything less is not known.
    const bool is_answered = !producer_.watch().is_disturbed() &&
                             producer_.watch().end_requests() == ends_before + 1 &&
                             classify(rd_kafka_error_code(failed.get())) != Errc::unreachable;
    if (is_answered && is_fenced(client())) {
      return fenced();
    }
    const bool was_asked = producer_.watch().is_disturbed() ||
                           producer_.watch().end_requests() != ends_before ||
                           classify(rd_kafka_error_code(failed.get())) == Errc::unreachable;
    outcome.status =
        was_asked && !is_answered ? port::CommitStatus::unknown : port::CommitStatus::aborted;
    outcome.error =
        outcome.status == port::CommitStatus::unknown
            ? error(Errc::unknown, producer_.connection().with_last_failure(
                                       "committing: " + reason(rd_kafka_error_code(failed.get()))))
            : failure(failed.get(), "committing");
    outcome.producer_spent = true;
    return outcome;
  }

  bool fail(Error why, bool is_spent = true) {
    error_ = std::move(why);
    if (is_spent) {
      producer_.spend();
    }
    return false;
  }

  // Aborts, so that nothing of this is left; a fatal producer's transaction is aborted by its
  // successor.
  port::CommitOutcome abandon() {
    if (is_fenced(client())) {
      producer_.spend();
      return fenced();
    }
    const ErrorHandle failed{
        rd_kafka_abort_transaction(client(), static_cast<int>(abort_max.value()))};
    if (failed != nullptr) {
      producer_.spend();
    }
    port::CommitOutcome outcome;
    outcome.status = port::CommitStatus::aborted;
    outcome.refusals = std::move(refusals_);
    outcome.error = std::move(error_);
    outcome.producer_spent = producer_.is_spent();
    return outcome;
  }

  Producer& producer_;
  const Connection& lookups_;
  const port::Transaction& transaction_;
  std::vector<LogPosition> positions_;
  std::vector<port::GroupRefusal> refusals_;
  std::optional<Error> error_;
};

}  // namespace

port::CommitOutcome run_transaction(Producer& producer, const Connection& lookups,
                                    const port::Transaction& transaction) {
  return Attempt{producer, lookups, transaction}.run();
}

Result<port::GuardSupport> probe_guarded_commit(Producer& producer, const GroupId& group) {
  const std::string what = "trying a guarded commit for group '" + group.value() + "'";
  if (producer.is_spent()) {
    return error(Errc::retriable, what + ": the producer has to be opened anew");
  }
  const ErrorHandle not_begun{rd_kafka_begin_transaction(producer.handle())};
  if (not_begun != nullptr) {
    producer.spend();
    return failure(not_begun.get(), what);
  }
  const PartitionList offsets = to_list({{{producer.topic(), 0}, 0, ""}});
  const GroupMetadata guard = guard_metadata(group);
  const ErrorHandle answer{rd_kafka_send_offsets_to_transaction(
      producer.handle(), offsets.get(), guard.get(), static_cast<int>(offsets_max.value()))};
  const ErrorHandle not_aborted{
      rd_kafka_abort_transaction(producer.handle(), static_cast<int>(abort_max.value()))};
  if (not_aborted != nullptr) {
    producer.spend();
    return failure(not_aborted.get(), what);
  }
  if (answer == nullptr) {
    return port::GuardSupport::unchecked;
  }
  if (rd_kafka_error_code(answer.get()) == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID) {
    return port::GuardSupport::checked;
  }
  producer.spend();
  return failure(answer.get(), what);
}

}  // namespace flow::kafka
