#include "tests/kafka/support/world.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>

namespace world {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error{"world: " + what}; }

void check(rd_kafka_resp_err_t code, const std::string& what) {
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    fail(what + ": " + rd_kafka_err2str(code));
  }
}

void check(rd_kafka_error_t* error, const std::string& what) {
  if (error != nullptr) {
    const std::string text = rd_kafka_error_string(error);
    rd_kafka_error_destroy(error);
    fail(what + ": " + text);
  }
}

rd_kafka_t* make(rd_kafka_type_t type, const std::map<std::string, std::string>& settings,
                 void* opaque = nullptr,
                 void (*rebalance)(rd_kafka_t*, rd_kafka_resp_err_t,
                                   rd_kafka_topic_partition_list_t*, void*) = nullptr) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  std::array<char, 512> text{};
  std::map<std::string, std::string> all = settings;
  all["bootstrap.servers"] = broker();
  all.try_emplace("client.id", "world");
  for (const auto& [name, value] : all) {
    if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text.data(), text.size()) !=
        RD_KAFKA_CONF_OK) {
      fail(text.data());
    }
  }
  rd_kafka_conf_set_opaque(conf, opaque);
  if (rebalance != nullptr) {
    rd_kafka_conf_set_rebalance_cb(conf, rebalance);
  }
  rd_kafka_t* client = rd_kafka_new(type, conf, text.data(), text.size());
  return client != nullptr ? client : (fail(text.data()), nullptr);
}

// One client for all administration of a test process.
rd_kafka_t* admin() {
  static rd_kafka_t* const client = make(RD_KAFKA_PRODUCER, {});
  return client;
}

rd_kafka_event_t* wait(rd_kafka_queue_t* queue, const std::string& what) {
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue, 20'000);
  if (event == nullptr) {
    fail(what + ": no answer");
  }
  check(rd_kafka_event_error(event), what);
  return event;
}

void pause_briefly() {
  std::mutex mutex;
  std::unique_lock lock{mutex};
  std::condition_variable nobody;
  nobody.wait_for(lock, std::chrono::milliseconds{5});
}

rd_kafka_topic_partition_list_t* list_of(const std::string& topic,
                                         const std::map<int, Offset>& offsets) {
  auto* list = rd_kafka_topic_partition_list_new(static_cast<int>(offsets.size()));
  for (const auto& [partition, offset] : offsets) {
    auto* entry = rd_kafka_topic_partition_list_add(list, topic.c_str(), partition);
    entry->offset = offset.offset;
    if (!offset.metadata.empty()) {
      entry->metadata = ::strndup(offset.metadata.data(), offset.metadata.size());
      entry->metadata_size = offset.metadata.size();
    }
  }
  return list;
}

}  // namespace

std::string broker() {
  const char* address = std::getenv("FLOW_TEST_BROKER");
  if (address == nullptr) {
    fail("FLOW_TEST_BROKER=host:port has to name a broker");
  }
  return address;
}

std::string fresh(const std::string& stem) {
  static std::atomic<int> count{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return stem + "-" +
         std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()) + "-" +
         std::to_string(::getpid()) + "-" + std::to_string(++count);
}

void create_topic(const std::string& name, int partitions,
                  const std::map<std::string, std::string>& settings) {
  std::array<char, 512> text{};
  rd_kafka_NewTopic_t* topic =
      rd_kafka_NewTopic_new(name.c_str(), partitions, 1, text.data(), text.size());
  for (const auto& [key, value] : settings) {
    rd_kafka_NewTopic_set_config(topic, key.c_str(), value.c_str());
  }
  rd_kafka_queue_t* queue = rd_kafka_queue_new(admin());
  rd_kafka_CreateTopics(admin(), &topic, 1, nullptr, queue);
  rd_kafka_event_t* event = wait(queue, "creating topic " + name);
  std::size_t count = 0;
  const auto* const* results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
  check(rd_kafka_topic_result_error(results[0]), "creating topic " + name);
  rd_kafka_event_destroy(event);
  rd_kafka_queue_destroy(queue);
  rd_kafka_NewTopic_destroy(topic);
  // Until the broker serves it.
  fill(name, partitions, 0);
}

void delete_topic(const std::string& name) {
  rd_kafka_DeleteTopic_t* topic = rd_kafka_DeleteTopic_new(name.c_str());
  rd_kafka_queue_t* queue = rd_kafka_queue_new(admin());
  rd_kafka_DeleteTopics(admin(), &topic, 1, nullptr, queue);
  rd_kafka_event_destroy(wait(queue, "deleting topic " + name));
  rd_kafka_queue_destroy(queue);
  rd_kafka_DeleteTopic_destroy(topic);
}

void delete_group(const std::string& group) {
  rd_kafka_DeleteGroup_t* deletion = rd_kafka_DeleteGroup_new(group.c_str());
  rd_kafka_queue_t* queue = rd_kafka_queue_new(admin());
  rd_kafka_DeleteGroups(admin(), &deletion, 1, nullptr, queue);
  rd_kafka_event_destroy(wait(queue, "deleting group " + group));
  rd_kafka_queue_destroy(queue);
  rd_kafka_DeleteGroup_destroy(deletion);
}

void fill(const std::string& topic, int partitions, int count) {
  rd_kafka_t* client = make(RD_KAFKA_PRODUCER, {{"acks", "all"}, {"linger.ms", "1"}});
  for (int partition = 0; partition < partitions; ++partition) {
    // The end of the partition answers once its leader serves it.
    for (int tries = 0;; ++tries) {
      std::int64_t low = 0;
      std::int64_t high = 0;
      const auto code =
          rd_kafka_query_watermark_offsets(client, topic.c_str(), partition, &low, &high, 5'000);
      if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        break;
      }
      if (tries > 200) {
        check(code, "waiting for topic " + topic);
      }
      pause_briefly();
    }
    for (int i = 0; i < count; ++i) {
      const std::string value = "record " + std::to_string(i);
      check(
          rd_kafka_producev(
              client, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(partition),
              RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(value.data(), value.size()),
              RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()), RD_KAFKA_V_END),
          "filling topic " + topic);
    }
  }
  check(rd_kafka_flush(client, 20'000), "filling topic " + topic);
  rd_kafka_destroy(client);
}

void commit(const std::string& group, const std::string& topic,
            const std::map<int, Offset>& offsets) {
  rd_kafka_t* client =
      make(RD_KAFKA_CONSUMER, {{"group.id", group}, {"enable.auto.commit", "false"}});
  auto* list = list_of(topic, offsets);
  check(rd_kafka_commit(client, list, 0), "committing to group " + group);
  rd_kafka_topic_partition_list_destroy(list);
  rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

std::map<int, Offset> committed(const std::string& group, const std::string& topic,
                                int partitions) {
  rd_kafka_t* client = make(RD_KAFKA_CONSUMER, {{"group.id", group},
                                                {"isolation.level", "read_committed"},
                                                {"enable.auto.commit", "false"}});
  std::map<int, Offset> wanted;
  for (int partition = 0; partition < partitions; ++partition) {
    wanted[partition] = {};
  }
  auto* list = list_of(topic, wanted);
  // A read_committed consumer's own lookup waits for pending transactions.
  check(rd_kafka_committed(client, list, 20'000), "offsets of group " + group);
  for (int i = 0; i < list->cnt; ++i) {
    const auto& found = list->elems[i];
    check(found.err, "offsets of group " + group);
    wanted[found.partition] = {
        found.offset < 0 ? -1 : found.offset,
        found.metadata == nullptr
            ? std::string{}
            : std::string{static_cast<const char*>(found.metadata), found.metadata_size}};
  }
  rd_kafka_topic_partition_list_destroy(list);
  rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  return wanted;
}

std::vector<LogLine> read_all(const std::string& topic) {
  rd_kafka_t* client = make(RD_KAFKA_CONSUMER, {{"group.id", fresh("reader")},
                                                {"isolation.level", "read_committed"},
                                                {"enable.auto.commit", "false"},
                                                {"enable.partition.eof", "true"},
                                                {"fetch.wait.max.ms", "10"}});
  auto* list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, topic.c_str(), 0)->offset = RD_KAFKA_OFFSET_BEGINNING;
  check(rd_kafka_assign(client, list), "reading topic " + topic);
  rd_kafka_topic_partition_list_destroy(list);
  std::vector<LogLine> lines;
  for (bool at_end = false; !at_end;) {
    rd_kafka_message_t* message = rd_kafka_consumer_poll(client, 20'000);
    if (message == nullptr) {
      fail("reading topic " + topic + ": no answer");
    }
    at_end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (!at_end) {
      check(message->err, "reading topic " + topic);
      lines.push_back({message->offset,
                       std::string{static_cast<const char*>(message->key), message->key_len},
                       std::string{static_cast<const char*>(message->payload), message->len}});
    }
    rd_kafka_message_destroy(message);
  }
  rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  return lines;
}

LiveMember::LiveMember(const std::string& group, const std::string& topic,
                       const std::string& client_id, const std::string& instance_id) {
  std::map<std::string, std::string> settings{{"group.id", group},
                                              {"client.id", client_id},
                                              {"session.timeout.ms", "6000"},
                                              {"heartbeat.interval.ms", "200"},
                                              {"auto.offset.reset", "earliest"},
                                              {"enable.auto.commit", "false"}};
  if (!instance_id.empty()) {
    settings["group.instance.id"] = instance_id;
  }
  client_ = make(RD_KAFKA_CONSUMER, settings, &has_assignment_,
                 [](rd_kafka_t* client, rd_kafka_resp_err_t code,
                    rd_kafka_topic_partition_list_t* partitions, void* assigned) {
                   const bool is_assigned = code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
                   rd_kafka_assign(client, is_assigned ? partitions : nullptr);
                   *static_cast<std::atomic<bool>*>(assigned) = is_assigned;
                 });
  rd_kafka_poll_set_consumer(client_);
  auto* list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, topic.c_str(), RD_KAFKA_PARTITION_UA);
  check(rd_kafka_subscribe(client_, list), "joining group " + group);
  rd_kafka_topic_partition_list_destroy(list);
  thread_ = std::thread{&LiveMember::run, this};
}

LiveMember::~LiveMember() {
  stop_ = true;
  thread_.join();
  rd_kafka_consumer_close(client_);
  rd_kafka_destroy(client_);
}

void LiveMember::run() {
  while (!stop_) {
    if (rd_kafka_message_t* message = rd_kafka_consumer_poll(client_, 20); message != nullptr) {
      rd_kafka_message_destroy(message);
    }
  }
}

void LiveMember::await_assignment() const {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (!has_assignment_) {
    if (std::chrono::steady_clock::now() > until) {
      fail("the member got no assignment within 20 s");
    }
    pause_briefly();
  }
}

OpenTransaction::OpenTransaction(const std::string& topic, const std::string& group,
                                 const std::string& offsets_topic, std::int64_t offset)
    : client_{make(RD_KAFKA_PRODUCER,
                   {{"transactional.id", fresh("world")}, {"transaction.timeout.ms", "60000"}})} {
  check(rd_kafka_init_transactions(client_, 20'000), "init_transactions");
  check(rd_kafka_begin_transaction(client_), "begin_transaction");
  check(rd_kafka_producev(client_, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(0),
                          RD_KAFKA_V_KEY("open", 4), RD_KAFKA_V_VALUE(const_cast<char*>("x"), 1),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
        "producing");
  check(rd_kafka_flush(client_, 20'000), "flushing");
  if (!group.empty()) {
    auto* list = list_of(offsets_topic, {{0, Offset{offset, ""}}});
    auto* metadata = rd_kafka_consumer_group_metadata_new(group.c_str());
    check(rd_kafka_send_offsets_to_transaction(client_, list, metadata, 20'000), "offsets");
    rd_kafka_consumer_group_metadata_destroy(metadata);
    rd_kafka_topic_partition_list_destroy(list);
  }
}

OpenTransaction::~OpenTransaction() {
  if (is_open_) {
    if (rd_kafka_error_t* error = rd_kafka_abort_transaction(client_, 20'000); error != nullptr) {
      rd_kafka_error_destroy(error);
    }
  }
  rd_kafka_destroy(client_);
}

void OpenTransaction::commit() {
  check(rd_kafka_commit_transaction(client_, 20'000), "committing");
  is_open_ = false;
}

}  // namespace world
