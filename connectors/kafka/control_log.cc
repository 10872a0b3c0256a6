#include "connectors/kafka/control_log.h"

#include <utility>

#include "connectors/kafka/group_look.h"
#include "connectors/kafka/topic_admin.h"
#include "connectors/kafka/transaction.h"

namespace flow::kafka {

using boost::asio::awaitable;

namespace {

const Duration describe_max{10'000};
const Duration seek_max{10'000};
const Duration open_max{25'000};
const Duration read_max{1'000};

}  // namespace

std::shared_ptr<Connection> Shared::lookups() {
  if (committed->is_retired()) {
    auto next = Connection::open(RD_KAFKA_CONSUMER, config, client_id,
                                 admin_settings("read_committed", engine_group_of(topic)));
    if (next) {  // it was made from the same settings before
      // Its threads end on the pool: the loop does not wait for them.
      boost::asio::post(*pool, [old = std::exchange(committed, std::move(next.value()))] {});
    }
  }
  return committed;
}

KafkaLog::KafkaLog(const boost::asio::any_io_executor& loop, std::shared_ptr<Shared> shared)
    : shared_{std::move(shared)},
      pump_{loop},
      reader_{std::make_shared<LogReader>(shared_->config, shared_->topic, shared_->client_id)} {
  reader_->wake(pump_.descriptor());
}

awaitable<Result<port::LogState>> KafkaLog::describe() {
  auto work = [committed = shared_->lookups(), uncommitted = shared_->uncommitted,
               topic = shared_->topic] {
    return describe_log(*committed, *uncommitted, topic, Deadline{describe_max});
  };
  co_return co_await run_blocking(*shared_->pool, std::move(work));
}

awaitable<Result<void>> KafkaLog::seek(LogPosition position) {
  auto work = [reader = reader_, position] { return reader->seek(position, Deadline{seek_max}); };
  co_return co_await run_blocking(*shared_->pool, std::move(work));
}

awaitable<Result<port::LogBatch>> KafkaLog::read() {
  const Deadline until{read_max};
  if (reader_->needs_restart()) {
    auto work = [reader = reader_] { return reader->restart(Deadline{seek_max}); };
    BOOST_OUTCOME_CO_TRY(co_await run_blocking(*shared_->pool, std::move(work)));
  }
  for (;;) {
    auto batch = reader_->read(0);
    if (auto refill = reader_->refill()) {
      boost::asio::post(*shared_->pool, std::move(refill));
    }
    if (!batch || !batch.value().records.empty() || batch.value().at_end) {
      co_return batch;
    }
    if (until.has_passed()) {
      if (auto silent = reader_->silence()) {
        co_return *std::move(silent);
      }
      co_return batch;
    }
    co_await pump_.wait(Duration{until.left_ms()});
    const bool cancelled = co_await is_cancelled();
    if (cancelled) {
      co_return error(Errc::cancelled, "reading the control topic was cancelled");
    }
  }
}

awaitable<Result<void>> KafkaLog::open_producer() {
  auto work = [old = std::exchange(shared_->producer, nullptr), config = shared_->config,
               topic = shared_->topic, client_id = shared_->client_id]() mutable {
    old.reset();
    return Producer::open(config, topic, client_id, Deadline{open_max});
  };
  // The old one goes first, off the loop: what it had not sent yet is never sent then.
  auto opened = co_await run_blocking(*shared_->pool, std::move(work));
  if (!opened) {
    co_return opened.error();
  }
  shared_->producer = std::move(opened.value());
  co_return boost::outcome_v2::success();
}

awaitable<port::CommitOutcome> KafkaLog::commit(port::Transaction transaction) {
  if (shared_->producer == nullptr) {
    port::CommitOutcome outcome;
    outcome.producer_spent = true;
    outcome.error = error(Errc::retriable, "the producer has not been opened");
    co_return outcome;
  }
  auto work = [producer = shared_->producer, lookups = shared_->lookups(),
               transaction = std::move(transaction)] {
    return run_transaction(*producer, *lookups, transaction);
  };
  co_return co_await run_blocking(*shared_->pool, std::move(work));
}

}  // namespace flow::kafka
