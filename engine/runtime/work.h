#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "engine/decide/decide.h"
#include "engine/ports/topology.h"
#include "engine/ports/values.h"
#include "store/facts.h"

namespace flow::engine {

// One request that the engine has something left to do for. Kept in memory only: a new process, and
// a new leader number, begin from the facts.
struct Work {
  store::RequestFacts facts;
  std::uint64_t revision = 0;  // another one whenever the facts are applied anew
  std::vector<GroupId> groups;
  Instant asked_at;
  Instant next_at;  // not to be decided before
  std::optional<LogPosition>
      in_hand;           // a transaction's last record: not decided before it was read back
  bool joining = false;  // the held lane has it
  std::vector<port::GroupQuery> to_hold;  // by the held lane: without those that can never move
  bool alone = false;  // a transaction that it shared came to nothing: it goes by itself
  int failures = 0;    // attempts in a row that came to nothing
  std::vector<port::GroupRefusal> refusals;
  std::string failing;               // why the last attempt came to nothing
  std::optional<Instant> last_look;  // verification

  bool is_free(Instant now) const { return !in_hand && !joining && next_at <= now; }
};

// What a request was decided from: which facts, and behind whom.
struct Standpoint {
  RequestId id;
  std::uint64_t revision = 0;
  std::optional<RequestId> behind;
};

// All of them, and the order among those that share a group: (asked at, id).
class WorkBook {
 public:
  // Takes a request's facts as they are now: begins, changes or ends its work. `topology` tells the
  // groups of one that is not accepted yet.
  void update(const store::RequestFacts& facts, const port::Topology& topology);

  // Finds the groups of pipelines again that no guard record has fixed yet: the topology may name
  // others by now, and who waits behind whom depends on them.
  void resolve_again(const port::Topology& topology);

  // The records up to `next` have been read back.
  void read_back(LogPosition next);

  // A new leader number: what was in hand is decided again from its facts.
  void drop_hands();

  // Everything is to be decided again at once.
  void wake_all();

  Work* find(const RequestId& id);
  // What is decided of `work` now is decided from this.
  Standpoint standpoint(const Work& work) const;
  // Whether it would still be decided from that.
  bool stands(const Standpoint& standpoint) const;

  // The first open request before `id` that shares a group with it.
  std::optional<RequestId> ahead_of(const RequestId& id) const;
  // Groups of a closed request that a later one has moved.
  std::set<GroupId> moved_again(const Work& work) const;

  // The first open request that the held lane is to carry out.
  std::optional<RequestId> first_joining() const;

  // Ids that can be decided at `now`, in the order of (asked at, id), at most `most`.
  std::vector<RequestId> due_open(Instant now, std::size_t most) const;
  std::vector<RequestId> due_unverified(Instant now, std::size_t most) const;
  // When the next one is due; nothing where none is.
  std::optional<Instant> next_open() const;
  std::optional<Instant> next_unverified() const;

  std::size_t open_count() const { return open_.size(); }

 private:
  using Place = std::pair<Instant, RequestId>;

  void note_moves(const store::RequestFacts& facts);
  void forget_moves(const store::RequestFacts& facts);
  void leave_queues(const Work& work);
  void enter_queues(const Work& work);

  std::map<RequestId, Work> works_;
  std::uint64_t revisions_ = 0;
  std::set<Place> open_;
  std::set<RequestId> unverified_;
  std::set<RequestId> unresolved_;  // open, and the topology tells their groups
  std::map<GroupId, std::set<Place>> queues_;
  std::map<GroupId, std::set<Place>> moved_;  // by unverified requests: (done at, id)
};

}  // namespace flow::engine
