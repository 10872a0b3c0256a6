#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace world {

// A TCP proxy in front of the broker that knows Kafka's frames: it can strike at one request of a
// kind. Clients that reach the broker through it stay with it, since it writes its own port into
// the broker's answers.
class Proxy {
 public:
  enum class Strike {
    cut_before,  // the request never reaches the broker: kept, the client's connection closed
    cut_after,   // the request reaches the broker, the client's connection is closed before the
                 // answer
    hold,        // the request is kept, the connection stays open and answers nothing more
  };

  Proxy();
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // Strikes at the `nth` request with this API key from now on, once.
  void arm(std::int16_t api_key, Strike strike, int nth = 1);
  bool has_struck() const { return has_struck_; }

  // Delivers the request that was kept, on the connection it came for, and waits until the broker
  // has answered it. Returns the answer's frame.
  std::string deliver_kept();

 private:
  struct Link {
    int client = -1;
    int broker = -1;
    std::string from_client;
    std::string from_broker;
    std::string kept;
    bool awaits_kept = false;
    std::string kept_answer;
  };

  void run();
  void accept_link();
  bool pump_client(Link& link);
  bool pump_broker(Link& link);
  bool forward(Link& link, const std::string& frame);

  int listener_ = -1;
  int port_ = 0;
  int bell_[2] = {-1, -1};
  std::atomic<bool> stop_{false};
  std::atomic<bool> has_struck_{false};
  std::mutex mutex_;
  std::optional<std::int16_t> armed_;
  Strike strike_ = Strike::cut_before;
  int countdown_ = 0;
  std::list<Link> links_;
  std::thread thread_;
};

// Kafka's API keys.
inline constexpr std::int16_t produce = 0;
inline constexpr std::int16_t offset_fetch = 9;
inline constexpr std::int16_t find_coordinator = 10;
inline constexpr std::int16_t describe_groups = 15;
inline constexpr std::int16_t add_partitions_to_txn = 24;
inline constexpr std::int16_t add_offsets_to_txn = 25;
inline constexpr std::int16_t end_txn = 26;
inline constexpr std::int16_t txn_offset_commit = 28;

}  // namespace world
