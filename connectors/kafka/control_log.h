#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "connectors/kafka/blocking_pool.h"
#include "connectors/kafka/client_config.h"
#include "connectors/kafka/event_pump.h"
#include "connectors/kafka/log_reader.h"
#include "connectors/kafka/producer.h"
#include "engine/ports/control_log.h"

namespace flow::kafka {

// What the three ports of one engine share. Touched by the loop's thread only; blocking work takes
// copies.
struct Shared {
  ClientConfig config;
  TopicName topic;
  std::string client_id;
  std::shared_ptr<BlockingPool> pool;
  std::shared_ptr<Connection> committed;    // sees last stable offsets; to be had from lookups()
  std::shared_ptr<Connection> uncommitted;  // sees high watermarks
  std::shared_ptr<Producer> producer;  // absent until it is opened, and while it is being opened

  // The client for looking at groups and topics; another one when the last has been retired.
  std::shared_ptr<Connection> lookups();
};

// The control topic: a reader that wakes the loop through a descriptor, and the transactional
// producer on the pool.
class KafkaLog final : public port::ControlLog {
 public:
  KafkaLog(const boost::asio::any_io_executor& loop, std::shared_ptr<Shared> shared);

  boost::asio::awaitable<Result<port::LogState>> describe() override;
  boost::asio::awaitable<Result<void>> seek(LogPosition position) override;
  boost::asio::awaitable<Result<port::LogBatch>> read() override;
  boost::asio::awaitable<Result<void>> open_producer() override;
  boost::asio::awaitable<port::CommitOutcome> commit(port::Transaction transaction) override;

 private:
  std::shared_ptr<Shared> shared_;
  EventPump pump_;  // outlives the reader, which rings it
  std::shared_ptr<LogReader> reader_;
};

}  // namespace flow::kafka
