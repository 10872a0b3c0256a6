#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

#include "schemas/codec.h"
#include "tests/bench/client.h"
#include "tests/bench/programs.h"

namespace flow::bench {
namespace {

constexpr int answer_ms = 30'000;
// As an engine does: up to 8 requests that are ready together share a transaction, and up to 32
// last looks.
constexpr int moves_together = 8;
constexpr int looks_together = 32;
constexpr std::int32_t partitions = 1;
constexpr std::int64_t end = 20'000;

Request request_of(const std::string& group) {
  Request request;
  request.id = *parse_request_id(random_uuid());
  request.asked_at = now();
  request.asked_by = "ci";
  request.through = Through::cli;
  request.groups = {GroupId{group}};
  request.topics = {{TopicName{"cart.v1"}, {}}};
  return request;
}

Guard guard_of(const Request& request) {
  Guard guard;
  guard.id = request.id;
  guard.request = request;
  guard.digest = content_digest(request);
  guard.targets = {{request.groups.front(), {}, {}, request.topics, {}}};
  guard.verdict = Verdict::passed;
  guard.seen = Seen{now(), {{request.groups.front(), "Empty", {}}}, {}};
  return guard;
}

GroupResult result_of(const Request& request, const Guard& guard) {
  GroupResult result{request.id, request.groups.front(), LeaderNumber{0}, {}, {}, {}, guard.digest};
  const auto& topic = request.topics.front().name;
  TopicIdentity identity{topic, {}};
  for (std::int32_t partition = 0; partition < partitions; ++partition) {
    result.moves.push_back({{topic, partition}, Committed{end, {}}, 0, Committed{0, {}}, {}});
    identity.partitions.push_back({partition, 0, end, end - 1, request.asked_at});
  }
  result.identities = {identity};
  return result;
}

Done done_of(const Request& request) {
  return {request.id, LeaderNumber{0}, DoneOutcome::completed,
          {},         now(),           "c0ffee00-0000-4000-8000-000000000000"};
}

Verified verified_of(const Request& request) {
  return {request.id, request.groups.front(), Standing::stands, true, now(), false, false, {}, {}};
}

// Writes batches of finished requests until `left` has none.
void write_some(const std::string& bootstrap, const std::string& topic, int number,
                std::atomic<int>& left) {
  const Client asking = connect(RD_KAFKA_PRODUCER, bootstrap, {{"linger.ms", "0"}});
  const Client engine = connect(RD_KAFKA_PRODUCER, bootstrap,
                                {{"transactional.id", "flow-bench-" + std::to_string(number)},
                                 {"linger.ms", "0"},
                                 {"retry.backoff.ms", "5"}});
  check(rd_kafka_init_transactions(engine.get(), answer_ms), "init transactions");
  const auto in_transaction = [&](const std::vector<Record>& records) {
    check(rd_kafka_begin_transaction(engine.get()), "begin");
    for (const auto& record : records) {
      produce(engine.get(), topic, record);
    }
    check(rd_kafka_commit_transaction(engine.get(), answer_ms), "commit");
  };
  for (int n = left.fetch_sub(looks_together); n > 0; n = left.fetch_sub(looks_together)) {
    std::vector<Record> moved;
    std::vector<Record> verified;
    for (int i = 1; i <= std::min(n, looks_together); ++i) {
      const auto request = request_of("cart-" + std::to_string((n - i) % 100));
      produce(asking.get(), topic, request);
      const auto guard = guard_of(request);
      moved.insert(moved.end(), {guard, result_of(request, guard), done_of(request)});
      verified.emplace_back(verified_of(request));
      if (i % moves_together == 0 || i == std::min(n, looks_together)) {
        rd_kafka_flush(asking.get(), answer_ms);
        in_transaction(std::exchange(moved, {}));
      }
    }
    in_transaction(verified);
  }
}

}  // namespace

int fill(const Arguments& arguments) {
  const auto began = Clock::now();
  std::atomic<int> left{std::stoi(arguments[2])};
  std::vector<std::thread> writers;
  for (int i = 0; i < std::stoi(arguments[3]); ++i) {
    writers.emplace_back(write_some, arguments[0], arguments[1], i, std::ref(left));
  }
  for (auto& writer : writers) {
    writer.join();
  }
  std::printf("{\"ms\": %.0f}\n", ms_since(began));
  return 0;
}

}  // namespace flow::bench
