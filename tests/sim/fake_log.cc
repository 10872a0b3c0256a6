#include "tests/sim/fake_log.h"

#include "tests/sim/faults.h"
#include "tests/sim/hold.h"
#include "tests/sim/process.h"
#include "tests/sim/world.h"

namespace flow::sim {

using boost::asio::awaitable;

namespace {

// Owns the bytes that a batch's records point into.
struct Bytes {
  std::vector<ControlTopic::Entry> entries;
};

Error no_answer(const std::string& what) { return error(Errc::unreachable, what + ": no answer"); }

}  // namespace

awaitable<Result<port::LogState>> FakeLog::describe() {
  const World& here = process_.world();
  const std::function<port::LogState()> request = [&here] {
    port::LogState log;
    log.partitions = 1;
    log.replicas = 3;
    log.brokers = 3;
    log.cleanup_policy = "compact";
    log.min_insync_replicas = 2;
    log.delete_retention = here.plan.delete_retention;
    log.start = LogPosition{0};
    log.last_stable = LogPosition{here.broker.topic().last_stable()};
    log.high_watermark = LogPosition{here.broker.topic().end_position()};
    return log;
  };
  const auto state = co_await process_.ask("describe", request);
  if (!state) {
    co_return no_answer("describe the control topic");
  }
  co_return *state;
}

awaitable<Result<void>> FakeLog::seek(LogPosition position) {
  const std::function<Answer()> request = [] { return Answer::ok; };
  const auto answer = co_await process_.ask("seek", request);
  if (!answer) {
    co_return no_answer("seek");
  }
  position_ = position.value();
  end_told_ = -1;
  co_return boost::outcome_v2::success();
}

std::optional<port::LogBatch> FakeLog::take() {
  World& world = process_.world();
  const auto& topic = world.broker.topic();
  const bool sees_all = is_faulty(Fault::read_uncommitted);
  const std::int64_t stable = sees_all ? topic.end_position() : topic.last_stable();
  if (position_ >= stable && end_told_ == stable) {
    return std::nullopt;
  }
  auto bytes = std::make_shared<Bytes>();
  const auto most = static_cast<std::size_t>(
      world.clock.random().chance(30) ? world.clock.between(1, 5) : 10'000);
  std::vector<std::int64_t> positions;
  std::int64_t next = position_;
  while (next < stable && positions.size() < most) {
    const auto& entry = topic.entries()[static_cast<std::size_t>(next)];
    const bool hidden = entry.state != ControlTopic::State::visible;
    const bool is_record =
        entry.state == ControlTopic::State::pending || entry.state == ControlTopic::State::aborted;
    if (!hidden || (sees_all && is_record)) {
      bytes->entries.push_back(entry);
      positions.push_back(next);
    }
    ++next;
  }
  port::LogBatch batch;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto& entry = bytes->entries[i];
    batch.records.push_back(
        {LogPosition{positions[i]}, entry.timestamp, entry.key,
         entry.value ? std::optional<std::string_view>{*entry.value} : std::nullopt});
  }
  // The end is told with the records or after them; what lies behind the last record (markers,
  // gaps) is passed only then.
  batch.at_end = next >= stable && (positions.empty() || world.clock.random().chance(50));
  if (!batch.at_end && !positions.empty()) {
    next = positions.back() + 1;
  }
  end_told_ = batch.at_end ? stable : -1;
  position_ = next;
  batch.next = LogPosition{next};
  batch.owner = std::move(bytes);
  return batch;
}

awaitable<Result<port::LogBatch>> FakeLog::read() {
  World& world = process_.world();
  const Micros until = world.clock.now() + 1 * seconds;
  const std::function<bool()> request = [] { return true; };
  const auto reached = co_await process_.ask("read", request);
  if (!reached) {
    co_return no_answer("read the control topic");
  }
  for (;;) {
    if (auto batch = take()) {
      co_return *std::move(batch);
    }
    if (world.clock.now() >= until) {
      port::LogBatch none;
      none.next = LogPosition{position_};
      co_return none;
    }
    const bool woken = co_await process_.wait_for_log(until - world.clock.now());
    if (!woken) {
      co_return error(Errc::cancelled, "reading the control topic was cancelled");
    }
    if (!process_.reaches_broker()) {
      co_await process_.pass(process_.patience());
      co_return no_answer("read the control topic");
    }
  }
}

awaitable<Result<void>> FakeLog::open_producer() {
  World& world = process_.world();
  epoch_.reset();
  const Micros until = world.clock.now() + 25 * seconds;
  const std::function<Broker::Opened()> request = [&world, number = process_.number()] {
    return world.broker.open_producer(number);
  };
  do {
    const auto opened = co_await process_.ask("open producer", request, true);
    if (opened && opened->answer == Answer::ok) {
      epoch_ = opened->epoch;
      spent_ = false;
      world.say(process_.name(), "producer epoch " + std::to_string(*epoch_));
      co_return boost::outcome_v2::success();
    }
    if (!opened) {
      break;
    }
    co_await process_.pass(world.clock.between(2 * ms, 50 * ms));
  } while (world.clock.now() < until);
  co_return no_answer("open the producer");
}

// Steps 3 to 5 of the order, one request after the other.
class FakeLog::Attempt {
 public:
  Attempt(FakeLog& log, port::Transaction transaction)
      : log_(log),
        process_(log.process_),
        world_(log.process_.world()),
        transaction_(std::move(transaction)) {}

  awaitable<port::CommitOutcome> run() {
    if (!log_.epoch_ || log_.spent_) {
      co_return aborted(error(Errc::retriable, "the producer has to be opened anew"));
    }
    epoch_ = *log_.epoch_;
    if (world_.meets(world_.faults().spend)) {
      log_.spent_ = true;
      co_return aborted(error(Errc::retriable, "begin: the producer's id is not known any more"));
    }
    bool goes_on = co_await write();
    if (goes_on) {
      goes_on = co_await send_offsets();
    }
    if (goes_on) {
      goes_on = co_await read_again();
    }
    if (goes_on) {
      co_return co_await commit();
    }
    co_return co_await abandon();
  }

 private:
  port::CommitOutcome aborted(Error why) {
    port::CommitOutcome outcome;
    outcome.error = std::move(why);
    outcome.producer_spent = log_.spent_ || !log_.epoch_;
    return outcome;
  }

  port::CommitOutcome fenced() {
    port::CommitOutcome outcome;
    log_.spent_ = true;
    outcome.status = port::CommitStatus::fenced;
    outcome.producer_spent = true;
    outcome.error = error(Errc::fenced, "another producer took over");
    return outcome;
  }

  bool fail(Error why, bool spends) {
    error_ = std::move(why);
    log_.spent_ = log_.spent_ || spends;
    return false;
  }

  // The answer to one of the transaction's requests, asked again while the one before is ending.
  awaitable<std::optional<Answer>> ask(const char* name, std::function<Answer()> request,
                                       bool may_come_late) {
    for (int tries = 0; tries < 200; ++tries) {
      const auto answer = co_await process_.ask(name, request, may_come_late);
      if (!answer) {
        disturbed_ = true;
      }
      if (!answer || *answer != Answer::busy) {
        fenced_ = fenced_ || answer == Answer::fenced;
        co_return answer;
      }
      co_await process_.pass(world_.clock.between(2 * ms, 60 * ms));
    }
    disturbed_ = true;
    co_return std::nullopt;
  }

  awaitable<bool> write() {
    const auto positions = std::make_shared<std::vector<LogPosition>>();
    const std::function<Answer()> request = [&world = world_, number = process_.number(),
                                             epoch = epoch_, records = transaction_.records,
                                             positions] {
      positions->clear();
      return world.broker.write(number, epoch, records, positions.get());
    };
    const auto answer = co_await ask("write", request, false);
    if (!answer) {
      co_return fail(no_answer("append to the control topic"), true);
    }
    positions_ = *positions;
    co_return *answer == Answer::ok;
  }

  std::string member_of(const GroupId& group) const {
    const auto* hold = dynamic_cast<const SimHold*>(transaction_.hold.get());
    return hold == nullptr ? std::string{} : hold->member_of(group);
  }

  awaitable<bool> send_offsets() {
    for (const auto& move : transaction_.moves) {
      if (move.commits.empty()) {
        continue;
      }
      if (world_.meets(world_.faults().refuse)) {
        co_return fail(
            error(Errc::retriable, "the coordinator of '" + move.group.value() + "' is loading"),
            world_.clock.random().chance(50));
      }
      const std::function<Answer()> request = [&world = world_, epoch = epoch_, move,
                                               member = member_of(move.group)] {
        return world.broker.send_offsets(epoch, move, member);
      };
      const auto answer = co_await ask("send offsets", request, true);
      if (!answer) {
        co_return fail(no_answer("move group '" + move.group.value() + "'"), true);
      }
      if (*answer != Answer::ok) {
        co_return judge(*answer, move.group);
      }
    }
    co_return true;
  }

  bool judge(Answer answer, const GroupId& group) {
    const std::string name = "group '" + group.value() + "'";
    if (answer == Answer::has_member && transaction_.hold != nullptr) {
      return fail(error(Errc::retriable, name + " is no longer held"), false);
    }
    if (answer == Answer::has_member) {
      refusals_.push_back({group, port::RefusalKind::has_member, name + " has a member"});
    } else if (answer == Answer::permanent) {
      refusals_.push_back({group, port::RefusalKind::permanent, name + " is no consumer group"});
    } else {
      return fail(error(Errc::retriable, "move " + name + ": no transaction is open"), true);
    }
    return false;
  }

  awaitable<bool> read_again() {
    for (const auto& move : transaction_.moves) {
      if (move.before.empty() || is_faulty(Fault::no_reread)) {
        continue;
      }
      const std::function<bool()> request = [&world = world_, move] {
        const auto& group = world.broker.groups()[move.group];
        for (const auto& before : move.before) {
          if (group.committed(before.at) != before.committed) {
            return true;
          }
        }
        return false;
      };
      const auto changed = co_await process_.ask("read again", request);
      if (!changed) {
        co_return fail(no_answer("read '" + move.group.value() + "' again"), false);
      }
      if (*changed) {
        refusals_.push_back(
            {move.group, port::RefusalKind::changed, "'" + move.group.value() + "' has changed"});
      }
    }
    co_return refusals_.empty();
  }

  std::function<Answer()> ending(bool commit) const {
    return [&world = world_, epoch = epoch_, commit] { return world.broker.end(epoch, commit); };
  }

  awaitable<port::CommitOutcome> commit() {
    const auto request = ending(true);
    const auto answer = co_await ask("commit", request, true);
    port::CommitOutcome outcome;
    if (answer == Answer::ok) {
      outcome.status = port::CommitStatus::committed;
      outcome.positions = positions_;
      // Something was slow: this was answered, but the next transaction needs a new epoch.
      log_.spent_ = log_.spent_ || disturbed_ || world_.meets(world_.faults().spend);
      outcome.producer_spent = log_.spent_;
      co_return outcome;
    }
    if (answer == Answer::fenced) {
      co_return fenced();
    }
    log_.spent_ = true;
    outcome.status = answer ? port::CommitStatus::aborted : port::CommitStatus::unknown;
    outcome.producer_spent = true;
    outcome.error = error(answer ? Errc::retriable : Errc::unknown, "commit: no answer");
    co_return outcome;
  }

  awaitable<port::CommitOutcome> abandon() {
    if (!fenced_) {
      const auto request = ending(false);
      const auto answer = co_await ask("abort", request, true);
      if (!answer) {
        log_.spent_ = true;
      }
    }
    if (fenced_) {
      co_return fenced();
    }
    port::CommitOutcome outcome;
    outcome.refusals = std::move(refusals_);
    outcome.error = std::move(error_);
    outcome.producer_spent = log_.spent_;
    co_return outcome;
  }

  FakeLog& log_;
  Process& process_;
  World& world_;
  port::Transaction transaction_;
  std::int64_t epoch_ = 0;
  std::vector<LogPosition> positions_;
  std::vector<port::GroupRefusal> refusals_;
  std::optional<Error> error_;
  bool disturbed_ = false;
  bool fenced_ = false;
};

awaitable<port::CommitOutcome> FakeLog::commit(port::Transaction transaction) {
  World& world = process_.world();
  world.on_commit_asked(process_, transaction);
  Attempt attempt{*this, std::move(transaction)};
  auto outcome = co_await attempt.run();
  world.say(process_.name(), "transaction " + sim::describe(outcome));
  co_return outcome;
}

}  // namespace flow::sim
