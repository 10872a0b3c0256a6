#pragma once

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

// The real broker of the contract tests, seen by a client of the tests' own: plain librdkafka calls
// that share no code with the connector. Every failure here ends the test that asked.
namespace world {

// host:port from FLOW_TEST_BROKER.
std::string broker();

// A name that no other test and no other run uses.
std::string fresh(const std::string& stem);

void create_topic(const std::string& name, int partitions,
                  const std::map<std::string, std::string>& settings = {});
void delete_topic(const std::string& name);
void delete_group(const std::string& group);

// Writes `count` records to each of the topic's partitions.
void fill(const std::string& topic, int partitions, int count);

struct Offset {
  std::int64_t offset = -1;  // -1: none
  std::string metadata;
  friend bool operator==(const Offset&, const Offset&) = default;
};

// Commits as nobody, as tools and assign()ing consumers do.
void commit(const std::string& group, const std::string& topic,
            const std::map<int, Offset>& offsets);

// The stable committed offsets, by partition; waits while a transaction is pending.
std::map<int, Offset> committed(const std::string& group, const std::string& topic, int partitions);

struct LogLine {
  std::int64_t offset = 0;
  std::string key;
  std::string value;
};

// Every committed record of partition 0, from its start to its stable end.
std::vector<LogLine> read_all(const std::string& topic);

// A consumer that subscribes and polls on a thread of its own until it is destroyed, then leaves.
class LiveMember {
 public:
  LiveMember(const std::string& group, const std::string& topic,
             const std::string& client_id = "live-member", const std::string& instance_id = "");
  ~LiveMember();
  LiveMember(const LiveMember&) = delete;
  LiveMember& operator=(const LiveMember&) = delete;

  bool has_assignment() const { return has_assignment_; }
  // Waits until it has an assignment; fails the test after 20 s.
  void await_assignment() const;

 private:
  void run();

  rd_kafka_t* client_ = nullptr;
  std::atomic<bool> has_assignment_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// A producer with a transaction open on `topic` until it is destroyed; with a record, and offsets
// for `group`.
class OpenTransaction {
 public:
  OpenTransaction(const std::string& topic, const std::string& group,
                  const std::string& offsets_topic, std::int64_t offset);
  ~OpenTransaction();
  OpenTransaction(const OpenTransaction&) = delete;
  OpenTransaction& operator=(const OpenTransaction&) = delete;
  void commit();

 private:
  rd_kafka_t* client_ = nullptr;
  bool is_open_ = true;
};

}  // namespace world
