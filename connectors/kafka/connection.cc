#include "connectors/kafka/connection.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <vector>

#include "connectors/kafka/errors.h"
#include "connectors/kafka/log.h"

namespace flow::kafka {
namespace {

constexpr int error_level = 3;
constexpr int info_level = 6;
constexpr const char* interceptor_name = "flow-connection";

std::string seconds(Duration duration) {
  if (duration.value() % 1000 == 0) {
    return std::to_string(duration.value() / 1000) + " s";
  }
  return std::to_string(duration.value()) + " ms";
}

// librdkafka prefixes its lines with "[thrd:...]: " and the broker; the rest is the reason.
std::string_view without_thread(std::string_view text) {
  if (text.starts_with("[thrd:")) {
    const auto end = text.find("]: ");
    if (end != std::string_view::npos) {
      text.remove_prefix(end + 3);
    }
  }
  return text;
}

// Called by OpenSSL for each certificate of a chain. Says what OpenSSL says, and keeps the reason,
// which librdkafka does not tell.
int on_certificate(rd_kafka_t*, const char* broker, std::int32_t, int* reason, int, const char* der,
                   std::size_t size, char*, std::size_t, void* self) {
  if (*reason == 0) {
    return 1;
  }
  static_cast<Connection*>(self)->keep_certificate_problem(
      certificate_problem(*reason, broker, der, size));
  return 0;
}

// Where the user wants no look at certificates, a callback would look nevertheless.
void watch_certificates(rd_kafka_conf_t* conf) {
  std::array<char, 16> value{};
  std::size_t size = value.size();
  if (rd_kafka_conf_get(conf, "enable.ssl.certificate.verification", value.data(), &size) ==
          RD_KAFKA_CONF_OK &&
      std::string_view{value.data()} == "true") {
    rd_kafka_conf_set_ssl_cert_verify_cb(conf, &on_certificate);
  }
}

// Settings of which no client could be made. librdkafka 2.0.2 may have freed the interceptors in
// them, and would free them again with the settings (it crashes), so nobody may; they stay
// reachable, for whatever looks for leaks.
void keep_for_good(rd_kafka_conf_t* conf) {
  static std::mutex mutex;
  static auto& kept = *new std::vector<rd_kafka_conf_t*>;
  const std::lock_guard lock{mutex};
  kept.push_back(conf);
}

// A new client of librdkafka 2.0.2 connects when something asks for a broker, and its own threads
// may have asked before the bootstrap servers were added: the next time is a second later. A
// question for metadata connects now; with no time to wait, and no topic, that is all it does.
void connect_now(rd_kafka_t* client) {
  const rd_kafka_metadata_t* found = nullptr;
  if (rd_kafka_metadata(client, 0, nullptr, &found, 0) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_metadata_destroy(found);
  }
}

}  // namespace

Deadline::Deadline(Duration from_now)
    : asked_{from_now}, at_{SteadyClock::now() + std::chrono::milliseconds{from_now.value()}} {}

int Deadline::left_ms() const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - SteadyClock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

Result<std::shared_ptr<Connection>> Connection::open(rd_kafka_type_t type, const ClientConfig& user,
                                                     const std::string& client_id,
                                                     const Settings& own,
                                                     void (*prepare)(rd_kafka_conf_t*, void*),
                                                     void* prepare_with) {
  BOOST_OUTCOME_TRY(ConfHandle conf, make_conf(user, client_id, own));
  std::shared_ptr<Connection> connection{new Connection};
  connection->brokers_ = bootstrap_servers(user);
  connection->greeting_ = greeting_of(user);
  rd_kafka_conf_set_opaque(conf.get(), connection.get());
  rd_kafka_conf_set_log_cb(conf.get(), &Connection::on_log);
  rd_kafka_conf_interceptor_add_on_new(conf.get(), interceptor_name, &Connection::on_new,
                                       connection.get());
  watch_certificates(conf.get());
  if (prepare != nullptr) {
    prepare(conf.get(), prepare_with);
  }
  std::array<char, 512> text{};
  connection->handle_ = rd_kafka_new(type, conf.get(), text.data(), text.size());
  if (connection->handle_ == nullptr) {
    keep_for_good(conf.release());
    return error(Errc::invalid, "client settings: " + std::string{text.data()});
  }
  static_cast<void>(conf.release());  // the client's now
  connect_now(connection->handle_);
  return connection;
}

Connection::~Connection() {
  if (handle_ != nullptr) {
    // Whoever joined a group has left it before; nothing here may wait for a broker.
    rd_kafka_destroy_flags(handle_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  }
}

Result<void> Connection::reach(const std::string& what, const Deadline& deadline) const {
  std::unique_lock lock{mutex_};
  const auto until = SteadyClock::now() + std::chrono::milliseconds{deadline.left_ms()};
  changed_.wait_until(lock, until, [this] { return was_reached_ || was_turned_away_; });
  if (was_reached_) {
    return boost::outcome_v2::success();
  }
  if (was_turned_away_) {
    return error(Errc::unreachable, what + ": " + brokers_ + " turned us away: " + last_failure_);
  }
  lock.unlock();
  return no_answer(what, deadline.asked());
}

rd_kafka_resp_err_t Connection::on_new(rd_kafka_t* client, const rd_kafka_conf_t*, void* self,
                                       char*, std::size_t) {
  return rd_kafka_interceptor_add_on_broker_state_change(client, interceptor_name,
                                                         &Connection::on_broker_state, self);
}

rd_kafka_resp_err_t Connection::on_broker_state(rd_kafka_t*, std::int32_t, const char*, const char*,
                                                int, const char* state, void* self) {
  if (std::string_view{state} == "UP") {
    auto& connection = *static_cast<Connection*>(self);
    const std::lock_guard lock{connection.mutex_};
    connection.was_reached_ = true;
    connection.changed_.notify_all();
  }
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

Error Connection::no_answer(const std::string& what, Duration waited) const {
  return Error{Errc::unreachable, with_last_failure(what + ": no answer from " + brokers_ +
                                                    " within " + seconds(waited))};
}

std::string Connection::with_last_failure(const std::string& what) const {
  const std::lock_guard lock{mutex_};
  return last_failure_.empty() ? what : what + ": " + last_failure_;
}

Error Connection::explain(rd_kafka_resp_err_t code, const std::string& what) const {
  Error found = failure(code, what);
  if (found.errc == Errc::unreachable) {
    found.detail = with_last_failure(found.detail);
  }
  return found;
}

void Connection::on_log(const rd_kafka_t* client, int level, const char* facility,
                        const char* text) {
  // Settings that belong to the other kind of client are of no interest: one settings file serves
  // all.
  if (std::string_view{facility} == "CONFWARN") {
    return;
  }
  const std::string_view line = without_thread(text);
  auto* const self = static_cast<Connection*>(rd_kafka_opaque(client));
  const bool is_hang_up = tells_of_a_hang_up(line);
  if (self != nullptr && (level <= error_level || is_hang_up)) {
    self->remember(facility, line);
  }
  if (!is_hang_up) {
    log_line(std::max(level, info_level), rd_kafka_name(client), line);
  }
}

void Connection::keep_certificate_problem(std::string problem) {
  const std::lock_guard lock{mutex_};
  certificate_problem_ = std::move(problem);
}

void Connection::remember(std::string_view facility, std::string_view text) {
  if (facility != "FAIL" && facility != "ERROR" && facility != "TXNERR") {
    return;
  }
  if (text.ends_with("brokers are down")) {  // says nothing that a failed call does not say
    return;
  }
  const std::lock_guard lock{mutex_};
  auto failure = read_failure(text, greeting_, certificate_problem_);
  if (!failure) {
    return;
  }
  last_failure_ = std::move(failure->text);
  if (failure->was_turned_away) {
    was_turned_away_ = true;
    changed_.notify_all();
  }
}

EventHandle wait_for(rd_kafka_queue_t* queue, rd_kafka_event_type_t type,
                     const Deadline& deadline) {
  for (;;) {
    EventHandle event{rd_kafka_queue_poll(queue, deadline.left_ms())};
    if (event == nullptr || rd_kafka_event_type(event.get()) == type) {
      return event;
    }
  }
}

Deadline Rounds::next() {
  const Deadline round{Duration{std::min(next_ms_, deadline_.left_ms())}};
  next_ms_ *= 2;
  return round;
}

bool Rounds::again(const Connection& connection) const {
  connection.retire();
  return !deadline_.has_passed();
}

bool Backoff::pause(const Deadline& deadline) {
  const int left_ms = deadline.left_ms();
  if (left_ms == 0) {
    return false;
  }
  std::mutex mutex;
  std::condition_variable nobody_notifies;
  std::unique_lock lock{mutex};
  const auto until = SteadyClock::now() + std::chrono::milliseconds{std::min(next_ms_, left_ms)};
  while (nobody_notifies.wait_until(lock, until) != std::cv_status::timeout) {
  }
  next_ms_ = std::min(next_ms_ * 2, 200);
  return !deadline.has_passed();
}

}  // namespace flow::kafka
