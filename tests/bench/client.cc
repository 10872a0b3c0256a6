#include "tests/bench/client.h"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "schemas/codec.h"

namespace flow::bench {
namespace {

constexpr std::int32_t partition = 0;
constexpr int answer_ms = 10'000;
constexpr std::size_t messages_max = 10'000;

// With a callback for it rd_kafka_flush wakes at once; without one it looks every 10 ms.
void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    die(std::string{"append: "} + rd_kafka_err2str(message->err));
  }
}

}  // namespace

void die(const std::string& what) {
  std::fprintf(stderr, "flow_bench: %s\n", what.c_str());
  std::exit(2);
}

void check(rd_kafka_error_t* failed, const std::string& what) {
  if (const kafka::ErrorHandle error{failed}; error != nullptr) {
    die(what + ": " + rd_kafka_error_string(error.get()));
  }
}

double ms_since(Clock::time_point began) {
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

Instant now() {
  return Instant{std::chrono::duration_cast<std::chrono::milliseconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count()};
}

Client connect(rd_kafka_type_t type, const std::string& bootstrap, const ClientSettings& settings) {
  kafka::ConfHandle conf{rd_kafka_conf_new()};
  std::array<char, 512> text{};
  const auto set = [&](const std::string& name, const std::string& value) {
    if (rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), text.data(), text.size()) !=
        RD_KAFKA_CONF_OK) {
      die(text.data());
    }
  };
  set("bootstrap.servers", bootstrap);
  for (const auto& [name, value] : settings) {
    set(name, value);
  }
  if (type == RD_KAFKA_PRODUCER) {
    rd_kafka_conf_set_dr_msg_cb(conf.get(), &on_delivery);
  }
  Client client{rd_kafka_new(type, conf.get(), text.data(), text.size())};
  if (client == nullptr) {
    die(text.data());
  }
  // The client owns its settings from here.
  static_cast<void>(conf.release());
  return client;
}

void produce(rd_kafka_t* producer, const std::string& topic, const Record& record) {
  const std::string key = encode_key(key_of(record));
  const std::string value = encode(record);
  for (;;) {
    const auto code =
        rd_kafka_producev(producer, RD_KAFKA_V_TOPIC(topic.c_str()),
                          RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_KEY(key.data(), key.size()),
                          RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      return;
    }
    if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      die(std::string{"produce: "} + rd_kafka_err2str(code));
    }
    rd_kafka_poll(producer, 10);
  }
}

Tail::Tail(const std::string& bootstrap, const std::string& topic, std::int64_t offset,
           const ClientSettings& settings)
    : scratch_(messages_max) {
  ClientSettings all{{"isolation.level", "read_committed"},
                     {"enable.auto.commit", "false"},
                     {"enable.partition.eof", "true"},
                     {"auto.offset.reset", "error"}};
  all.insert(all.end(), settings.begin(), settings.end());
  client_ = connect(RD_KAFKA_CONSUMER, bootstrap, all);
  queue_.reset(rd_kafka_queue_new(client_.get()));
  topic_.reset(rd_kafka_topic_new(client_.get(), topic.c_str(), nullptr));
  // Asked for here, the leader is known at once; librdkafka by itself looks once a second.
  const struct rd_kafka_metadata* raw = nullptr;
  const auto code = rd_kafka_metadata(client_.get(), 0, topic_.get(), &raw, answer_ms);
  const kafka::Metadata metadata{raw};
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    die(std::string{"metadata: "} + rd_kafka_err2str(code));
  }
  if (rd_kafka_consume_start_queue(topic_.get(), partition, offset, queue_.get()) != 0) {
    die(std::string{"consume: "} + rd_kafka_err2str(rd_kafka_last_error()));
  }
}

Tail::~Tail() { rd_kafka_consume_stop(topic_.get(), partition); }

std::vector<kafka::MessageHandle> Tail::next(int wait_ms) {
  // Asked for many with a time-out, librdkafka waits the whole time-out; so first for one.
  auto count = rd_kafka_consume_batch_queue(queue_.get(), wait_ms, scratch_.data(), 1);
  if (count == 1) {
    const auto more =
        rd_kafka_consume_batch_queue(queue_.get(), 0, scratch_.data() + 1, scratch_.size() - 1);
    count += more > 0 ? more : 0;
  }
  std::vector<kafka::MessageHandle> messages;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    messages.emplace_back(scratch_[static_cast<std::size_t>(i)]);
    const auto problem = messages.back()->err;
    if (problem != RD_KAFKA_RESP_ERR_NO_ERROR && problem != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      die(std::string{"read: "} + rd_kafka_err2str(problem));
    }
  }
  return messages;
}

std::int64_t end_of(const std::string& bootstrap, const std::string& topic) {
  const Client client = connect(RD_KAFKA_CONSUMER, bootstrap, {});
  std::int64_t low = 0;
  std::int64_t high = 0;
  const auto code = rd_kafka_query_watermark_offsets(client.get(), topic.c_str(), partition, &low,
                                                     &high, answer_ms);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    die(std::string{"end of "} + topic + ": " + rd_kafka_err2str(code));
  }
  return high;
}

}  // namespace flow::bench
