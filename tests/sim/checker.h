#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/ports/values.h"
#include "schemas/keys.h"
#include "schemas/records.h"
#include "tests/sim/broker.h"

namespace flow::sim {

// Holds what the cluster committed against what was promised. Knows nothing of the engine's store
// and decisions: it keeps a book of its own from what the broker did, and reads records with the
// codec alone.
class Checker {
 public:
  // `violated` is told the first broken promise; `erased`: whether groups may lose their offsets;
  // `skew`: by how much engines' clocks may be off; `prompt`: whether nothing takes long.
  struct Terms {
    bool erased = false;
    Duration skew;
    bool prompt = true;
  };
  Checker(Broker& broker, Terms terms, std::function<void(std::string)> violated)
      : broker_(broker), terms_(terms), violated_(std::move(violated)) {}

  // A record of somebody else can be read from now on.
  void on_record(std::int64_t position, const port::EncodedRecord& record, Instant now);
  // Somebody wrote over keys of this request: it may stay open or be damaged from now on.
  void on_meddled(const RequestId& id) { book_[id].meddled = true; }
  // A transaction of the engines is decided to be committed.
  void on_transaction(const Transaction& transaction, Instant now);

  void on_told(int process, port::Role role) { roles_[process] = role; }
  // A process that has applied the log up to there is about to begin a transaction.
  void on_commit_asked(int process, const port::Transaction& transaction, std::int64_t applied);
  // A look that ended at `at`, by a process that had applied the log up to there.
  void on_observed(int process, Instant at, std::int64_t applied);

  bool is_done(const RequestId& id) const;
  // Keys under which the engines wrote of this request.
  const std::set<std::string>& keys_of(const RequestId& id) { return book_[id].keys; }
  // For people: what is still to come, apart from what nobody can promise. Empty: nothing.
  std::vector<std::string> not_done() const;
  std::vector<std::string> not_verified() const;
  int dones() const { return dones_; }
  int moves() const { return moves_; }

 private:
  struct Copy {
    std::int64_t position = 0;
    Instant timestamp;
    std::optional<Request> content;  // nothing: cannot be read
  };
  struct Entry {
    std::vector<Copy> copies;
    std::optional<std::int64_t> cancelled_at;
    std::optional<Guard> accepted;  // the first guard record
    std::int64_t accepted_at = 0;   // its position
    bool resolved = false;          // a guard record names its targets
    std::optional<Done> done;
    int moves = 0;
    std::map<GroupId, GroupResult> moved;
    std::set<GroupId> verified;  // with the last record
    std::set<std::string> keys;
    bool meddled = false;
  };
  // What one transaction says of one request.
  struct Part {
    std::optional<Guard> guard;
    std::int64_t guard_at = 0;
    std::vector<GroupResult> results;
    std::vector<Done> dones;
  };
  using Parts = std::map<RequestId, Part>;

  Parts sort(const Transaction& transaction);
  void take(const Written& written, Parts& parts);
  void check_verified(const Verified& verified) const;
  void check_guard(const RequestId& id, const Part& part);
  void check_part(const RequestId& id, const Part& part, const Transaction& transaction,
                  Instant now);
  void check_done(const RequestId& id, const Part& part, Instant now);
  void check_groups(const RequestId& id, const Part& part);
  void check_results(const Parts& parts, const Transaction& transaction);
  void check_moved(const GroupResult& result, const SentOffsets& sent);
  void check_order(const RequestId& id, const Part& part, int process);
  bool comes_before(const RequestId& first, const RequestId& id, const GroupId& group,
                    std::int64_t applied) const;
  void violate(const RequestId& id, const std::string& what) const;

  Broker& broker_;
  Terms terms_;
  std::function<void(std::string)> violated_;
  std::map<RequestId, Entry> book_;
  std::map<int, port::Role> roles_;
  std::map<std::pair<int, Instant>, std::int64_t> observed_;
  int dones_ = 0;
  int moves_ = 0;
};

}  // namespace flow::sim
