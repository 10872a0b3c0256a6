#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "connectors/kafka/client_config.h"
#include "connectors/kafka/connection_failure.h"
#include "connectors/kafka/handles.h"
#include "schemas/error.h"

namespace flow::kafka {

using SteadyClock = std::chrono::steady_clock;

// A point in time by which a blocking call has to end. Every call of librdkafka gets what is left
// of it.
class Deadline {
 public:
  explicit Deadline(Duration from_now);

  // Milliseconds that are left, at least 0.
  int left_ms() const;
  bool has_passed() const { return left_ms() == 0; }
  Duration asked() const { return asked_; }

 private:
  Duration asked_;
  SteadyClock::time_point at_;
};

// One librdkafka client with the memory of what last went wrong on its connections, so that a call
// that ran out of time can say why. Its own threads make it cheap to share; it is safe from several
// threads.
class Connection {
 public:
  // `type` producer or consumer. `prepare`, where given, may set callbacks before the client is
  // made; it must not fail. Errc::invalid: a setting that librdkafka does not take, named.
  static Result<std::shared_ptr<Connection>> open(rd_kafka_type_t type, const ClientConfig& user,
                                                  const std::string& client_id, const Settings& own,
                                                  void (*prepare)(rd_kafka_conf_t*,
                                                                  void*) = nullptr,
                                                  void* prepare_with = nullptr);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  rd_kafka_t* handle() const { return handle_; }
  QueueHandle new_queue() const { return QueueHandle{rd_kafka_queue_new(handle_)}; }
  const std::string& brokers() const { return brokers_; }

  // Waits until a broker is connected, so that what comes next is spent on the question itself. At
  // once after the first time. Errc::unreachable: nothing answers in time, or, without waiting
  // longer, a broker turned us away (wrong password, no such mechanism, TLS). `what` says what was
  // to be done.
  Result<void> reach(const std::string& what, const Deadline& deadline) const;

  // Marks this client as one to be replaced: a lookup of a group's coordinator hangs in it, or it
  // holds on to a coordinator that has moved. librdkafka 2.0.2 never asks again for a hanging one,
  // keeps what it knows of a moved one, and aborts the process when a lookup whose call has timed
  // out gets its answer after all (librdkafka#4605). So such calls never time out inside
  // librdkafka, and the client goes instead.
  void retire() const { is_retired_.store(true); }
  bool is_retired() const { return is_retired_.load(); }

  // The error for a call that got no answer: "no answer from HOST:PORT within 10 s: connection
  // refused".
  Error no_answer(const std::string& what, Duration waited) const;

  // "<what>: <what the connection said last>".
  std::string with_last_failure(const std::string& what) const;

  // As failure() of errors.h, but a code that means "not reached" also says what the connection
  // said last.
  Error explain(rd_kafka_resp_err_t code, const std::string& what) const;

  // Why a broker's certificate was not accepted, from OpenSSL's threads; for the failure that
  // follows.
  void keep_certificate_problem(std::string problem);

 private:
  Connection() = default;
  static void on_log(const rd_kafka_t* client, int level, const char* facility, const char* text);
  static rd_kafka_resp_err_t on_new(rd_kafka_t* client, const rd_kafka_conf_t*, void* self, char*,
                                    std::size_t);
  static rd_kafka_resp_err_t on_broker_state(rd_kafka_t*, std::int32_t, const char*, const char*,
                                             int, const char* state, void* self);
  void remember(std::string_view facility, std::string_view text);

  rd_kafka_t* handle_ = nullptr;
  std::string brokers_;
  Greeting greeting_;
  mutable std::atomic<bool> is_retired_{false};
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool was_reached_ = false;
  bool was_turned_away_ = false;
  std::string last_failure_;
  std::string certificate_problem_;
};

// Waits on a queue until an event of `type` comes or the deadline passes; other events are dropped.
EventHandle wait_for(rd_kafka_queue_t* queue, rd_kafka_event_type_t type, const Deadline& deadline);

// The rounds of a question that needs a group's coordinator: put it, wait until the round has
// passed, put it again, since the first may hang. The first round is 1 s, each is twice as long as
// the one before.
class Rounds {
 public:
  explicit Rounds(const Deadline& deadline) : deadline_{deadline} {}

  // How long to wait for answers now.
  Deadline next();
  // Whether there is time for another round. The connection is to be replaced in any case.
  bool again(const Connection& connection) const;

 private:
  const Deadline& deadline_;
  int next_ms_ = 1'000;
};

// A pause between two tries, doubled each time, from 5 ms to 200 ms, never beyond the deadline.
class Backoff {
 public:
  // Returns false where the deadline has passed: no further try.
  bool pause(const Deadline& deadline);

 private:
  int next_ms_ = 5;
};

}  // namespace flow::kafka
