#include "connectors/kafka/log_reader.h"

#include <chrono>
#include <utility>

#include "connectors/kafka/errors.h"
#include "connectors/kafka/lookups.h"

namespace flow::kafka {
namespace {

constexpr std::int32_t partition = 0;
constexpr std::int16_t fetch_api_key = 1;
constexpr std::int64_t silence_max_ms = 5'000;
constexpr std::chrono::seconds eager_max{2};
constexpr std::size_t refill_bytes = 2 << 20;
const Duration refill_max{1'000};

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             SteadyClock::now().time_since_epoch())
      .count();
}

// When a fetch was last answered; an idle reader is answered twice a second. The client's own
// threads write it, so it lives as long as the client, which a batch may keep after its session.
struct Pulse {
  std::atomic<std::int64_t> answered_ms{now_ms()};
};

// Owns a batch's messages, and the client that they belong to.
struct Messages {
  Messages(std::shared_ptr<Pulse> beat, std::shared_ptr<Connection> of)
      : pulse{std::move(beat)}, connection{std::move(of)} {}
  ~Messages() {
    for (auto* const message : all) {
      rd_kafka_message_destroy(message);
    }
  }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  std::shared_ptr<Pulse> pulse;  // outlives the client
  std::shared_ptr<Connection> connection;
  std::vector<rd_kafka_message_t*> all;
};

port::LogRecord to_record(const rd_kafka_message_t& message) {
  rd_kafka_timestamp_type_t type{};
  port::LogRecord record;
  record.position = LogPosition{message.offset};
  record.timestamp = Instant{rd_kafka_message_timestamp(&message, &type)};
  record.key = {static_cast<const char*>(message.key), message.key_len};
  if (message.payload != nullptr) {
    record.value = std::string_view{static_cast<const char*>(message.payload), message.len};
  }
  return record;
}

}  // namespace

// One librdkafka client that reads; a change of pace makes another one.
struct LogReader::Session {
  ~Session() {
    // The descriptor may be closed, and its number used again, before a batch lets go of the
    // client.
    if (queue != nullptr) {
      rd_kafka_queue_io_event_enable(queue.get(), -1, nullptr, 0);
    }
    if (is_started) {
      rd_kafka_consume_stop(topic.get(), partition);
    }
  }

  static rd_kafka_resp_err_t on_new(rd_kafka_t* client, const rd_kafka_conf_t*, void* self, char*,
                                    std::size_t) {
    return rd_kafka_interceptor_add_on_response_received(client, "flow-log-reader", &on_response,
                                                         self);
  }

  static rd_kafka_resp_err_t on_response(rd_kafka_t*, int, const char*, std::int32_t,
                                         std::int16_t api_key, std::int16_t, std::int32_t,
                                         std::size_t, std::int64_t, rd_kafka_resp_err_t code,
                                         void* self) {
    if (api_key == fetch_api_key && code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      static_cast<Pulse*>(self)->answered_ms.store(now_ms(), std::memory_order_relaxed);
    }
    return RD_KAFKA_RESP_ERR_NO_ERROR;
  }

  Pace pace = Pace::eager;
  std::atomic<bool> is_refilling{false};
  std::shared_ptr<Pulse> pulse = std::make_shared<Pulse>();  // outlives the client
  std::shared_ptr<Connection> connection;
  QueueHandle queue;
  TopicHandle topic;
  bool is_started = false;
};

LogReader::LogReader(ClientConfig config, TopicName topic, std::string client_id)
    : config_{std::move(config)}, topic_{std::move(topic)}, client_id_{std::move(client_id)} {}

LogReader::~LogReader() = default;

Result<void> LogReader::seek(LogPosition position, const Deadline& deadline) {
  position_ = position.value();
  pending_.reset();
  return start(Pace::eager, deadline);
}

bool LogReader::needs_restart() const {
  return stopped_ || (session_->pace == Pace::eager && at_end_since_ &&
                      SteadyClock::now() - *at_end_since_ > eager_max);
}

Result<void> LogReader::restart(const Deadline& deadline) {
  const bool to_idle = !stopped_;
  return start(to_idle ? Pace::idle : Pace::eager, deadline);
}

Result<void> LogReader::start(Pace pace, const Deadline& deadline) {
  stopped_ = true;
  at_end_since_.reset();
  session_.reset();
  auto session = std::make_shared<Session>();
  session->pace = pace;
  Settings settings = reader_settings();
  settings.emplace_back("fetch.wait.max.ms", pace == Pace::eager ? "5" : "500");
  const auto prepare = [](rd_kafka_conf_t* conf, void* self) {
    rd_kafka_conf_interceptor_add_on_new(conf, "flow-log-reader", &Session::on_new, self);
  };
  BOOST_OUTCOME_TRY(session->connection, Connection::open(RD_KAFKA_CONSUMER, config_, client_id_,
                                                          settings, prepare, session->pulse.get()));
  session->queue = session->connection->new_queue();
  session->topic.reset(
      rd_kafka_topic_new(session->connection->handle(), topic_.value().c_str(), nullptr));
  if (session->topic == nullptr) {
    return failure(rd_kafka_last_error(), "topic '" + topic_.value() + "'");
  }
  // Asked for here, the leader is known at once; librdkafka by itself looks once a second.
  BOOST_OUTCOME_TRY(look_up_topic(*session->connection, topic_, deadline));
  if (wake_descriptor_ >= 0) {
    rd_kafka_queue_io_event_enable(session->queue.get(), wake_descriptor_, "", 1);
  }
  if (rd_kafka_consume_start_queue(session->topic.get(), partition, position_,
                                   session->queue.get()) != 0) {
    return failure(rd_kafka_last_error(), "reading topic '" + topic_.value() + "'");
  }
  session->is_started = true;
  session->pulse->answered_ms.store(now_ms(), std::memory_order_relaxed);
  session_ = std::move(session);
  stopped_ = false;
  return boost::outcome_v2::success();
}

void LogReader::wake(int descriptor) {
  wake_descriptor_ = descriptor;
  if (session_ != nullptr) {
    rd_kafka_queue_io_event_enable(session_->queue.get(), descriptor, "", 1);
  }
}

void LogReader::take(const rd_kafka_message_t& message, port::LogBatch& batch) {
  if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    position_ = message.offset;
    batch.at_end = true;
  } else if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    pending_ = describe(message);
    stopped_ = true;
  } else {
    batch.records.push_back(to_record(message));
    drained_bytes_ += message.len;
    position_ = message.offset + 1;
    batch.at_end = false;
  }
}

Result<port::LogBatch> LogReader::read(int wait_ms) {
  if (pending_) {
    return *std::exchange(pending_, std::nullopt);
  }
  FLOW_ASSERT(session_ != nullptr, topic_.value());
  auto messages = std::make_shared<Messages>(session_->pulse, session_->connection);
  scratch_.resize(records_max);
  auto* const queue = session_->queue.get();
  // Asked for many with a time-out, librdkafka waits the whole time-out; so first for one, then for
  // the rest.
  auto count = rd_kafka_consume_batch_queue(queue, wait_ms, scratch_.data(), 1);
  if (count == 1) {
    const auto more =
        rd_kafka_consume_batch_queue(queue, 0, scratch_.data() + 1, scratch_.size() - 1);
    count += more > 0 ? more : 0;
  }
  const auto received = static_cast<std::ptrdiff_t>(count > 0 ? count : 0);
  messages->all.assign(scratch_.begin(), scratch_.begin() + received);

  port::LogBatch batch;
  batch.records.reserve(messages->all.size());
  for (const auto* const message : messages->all) {
    if (!pending_) {
      take(*message, batch);
    }
  }
  batch.next = LogPosition{position_};
  if (batch.records.empty() && !batch.at_end && pending_) {
    return *std::exchange(pending_, std::nullopt);
  }
  if (!batch.records.empty() || batch.at_end) {
    at_end_since_ = batch.at_end ? std::optional{SteadyClock::now()} : std::nullopt;
  }
  batch.owner = std::move(messages);
  return batch;
}

Error LogReader::describe(const rd_kafka_message_t& message) const {
  const std::string what = "reading topic '" + topic_.value() + "' at " + std::to_string(position_);
  if (message.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
      message.err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
    return error(Errc::refused, what + ": no such position; the topic was truncated or made anew");
  }
  if (is_no_such_topic(message.err)) {
    return error(Errc::refused, "no such topic '" + topic_.value() + "'");
  }
  if (message.err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED) {
    return error(Errc::refused, "not authorised: Read on topic '" + topic_.value() + "'");
  }
  return session_->connection->explain(message.err, what);
}

std::function<void()> LogReader::refill() {
  if (drained_bytes_ < refill_bytes || session_ == nullptr ||
      session_->is_refilling.exchange(true)) {
    return {};
  }
  drained_bytes_ = 0;
  return [session = session_, topic = topic_] {
    // The answer does not matter: it comes from the partition's leader, as what is fetched does.
    static_cast<void>(
        look_up_ends(*session->connection, {{topic, partition}}, End::last, Deadline{refill_max}));
    session->is_refilling = false;
  };
}

std::optional<Error> LogReader::silence() const {
  const auto since_ms = now_ms() - session_->pulse->answered_ms.load(std::memory_order_relaxed);
  if (since_ms < silence_max_ms) {
    return std::nullopt;
  }
  return session_->connection->no_answer("reading topic '" + topic_.value() + "'",
                                         Duration{silence_max_ms});
}

}  // namespace flow::kafka
