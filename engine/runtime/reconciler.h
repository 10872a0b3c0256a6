#pragma once

#include <map>
#include <vector>

#include "engine/runtime/context.h"

namespace flow::engine {

// Decides open requests and carries out what was decided: the only coroutine that begins a guarded
// move.
class Reconciler {
 public:
  explicit Reconciler(Context& context) : context_(context) {}

  // Until the engine stops.
  boost::asio::awaitable<void> run();

 private:
  struct Decided {
    Standpoint from;
    decide::Effect effect;
  };

  boost::asio::awaitable<void> round(Term term);
  boost::asio::awaitable<std::vector<Decided>> look(Term term, std::vector<Decided> wanted);
  boost::asio::awaitable<void> write_all(Term term, std::vector<Decided> writes);
  boost::asio::awaitable<void> move_all(Term term, std::vector<Decided> moves);
  boost::asio::awaitable<void> each_alone(Term term, std::vector<Decided> moves);
  boost::asio::awaitable<bool> carry_out(Term term, std::vector<Decided> some);
  bool goes_alone(const Decided& one) const;

  Context& context_;
};

// Takes what one work's decision needs beside its facts; returns the effect. `seen` may be null.
decide::Effect decide_work(Context& context, const Term& term, Work& work,
                           const port::Observation* seen, bool held);

// Notes on a transaction's works what `outcome` means for them.
void settle_works(Context& context, const std::vector<RequestId>& ids,
                  const port::CommitOutcome& outcome);

}  // namespace flow::engine
