#include <cstdio>
#include <set>
#include <string>

#include "schemas/codec.h"
#include "tests/bench/client.h"
#include "tests/bench/programs.h"

namespace flow::bench {
namespace {

constexpr int done_max_ms = 60'000;

class Asker {
 public:
  explicit Asker(const Arguments& arguments)
      : topic_{arguments[1]},
        data_topic_{arguments[2]},
        hold_{arguments[4] == "held"},
        producer_{connect(RD_KAFKA_PRODUCER, arguments[0], {{"linger.ms", "0"}})},
        tail_{arguments[0], topic_, end_of(arguments[0], topic_), {{"fetch.wait.max.ms", "100"}}} {
    // The producer knows the topic's leader, and the reader waits at the end, before the clock
    // runs.
    const kafka::TopicHandle topic{rd_kafka_topic_new(producer_.get(), topic_.c_str(), nullptr)};
    const struct rd_kafka_metadata* raw = nullptr;
    const auto code = rd_kafka_metadata(producer_.get(), 0, topic.get(), &raw, 10'000);
    const kafka::Metadata metadata{raw};
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
      die(std::string{"metadata: "} + rd_kafka_err2str(code));
    }
    for (bool at_end = false; !at_end;) {
      for (const auto& message : tail_.next(1'000)) {
        at_end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
      }
    }
  }

  // Appends a request for `groups`.
  void append(const std::vector<std::string>& groups) {
    Request request;
    request.id = *parse_request_id(random_uuid());
    request.asked_at = now();
    request.asked_by = "flow_bench";
    for (const auto& group : groups) {
      request.groups.emplace_back(group);
    }
    request.topics = {{TopicName{data_topic_}, {}}};
    request.options.hold = hold_;
    waiting_.insert(request.id);
    produce(producer_.get(), topic_, request);
  }

  // Until every request that was appended has a done that can be read; all must be completed.
  void wait() {
    const auto began = Clock::now();
    while (!waiting_.empty()) {
      if (ms_since(began) > done_max_ms) {
        die(std::to_string(waiting_.size()) + " request(s) without a done after 60 s, " +
            waiting_.begin()->value() + " first");
      }
      rd_kafka_poll(producer_.get(), 0);
      for (const auto& message : tail_.next(100)) {
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
          take(*message);
        }
      }
    }
  }

 private:
  void take(const rd_kafka_message_t& message) {
    const auto key = decode_key({static_cast<const char*>(message.key), message.key_len});
    if (!key || key->kind != Kind::done || waiting_.erase(key->id) == 0) {
      return;
    }
    const auto record = decode(*key, {static_cast<const char*>(message.payload), message.len});
    const auto* done = record ? std::get_if<Done>(&record.value()) : nullptr;
    if (done == nullptr || done->outcome != DoneOutcome::completed) {
      die("request " + key->id.value() +
          " did not complete: " + (done == nullptr ? "unreadable" : done->reason));
    }
  }

  std::string topic_;
  std::string data_topic_;
  bool hold_;
  Client producer_;
  Tail tail_;
  std::set<RequestId> waiting_;
};

}  // namespace

int ask(const Arguments& arguments) {
  Asker asker{arguments};
  const Arguments groups{arguments.begin() + 5, arguments.end()};
  std::printf("{\"ms\": [");
  if (arguments[3] == "each") {
    const char* separator = "";
    for (const auto& group : groups) {
      const auto began = Clock::now();
      asker.append({group});
      asker.wait();
      std::printf("%s%.3f", separator, ms_since(began));
      separator = ", ";
    }
  } else {
    const auto began = Clock::now();
    if (arguments[3] == "together") {
      asker.append(groups);
    } else {
      for (const auto& group : groups) {
        asker.append({group});
      }
    }
    asker.wait();
    std::printf("%.3f", ms_since(began));
  }
  std::printf("]}\n");
  return 0;
}

}  // namespace flow::bench
