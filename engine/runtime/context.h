#pragma once

#include <spdlog/logger.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/decide/effect.h"
#include "engine/ports/clock.h"
#include "engine/ports/control_log.h"
#include "engine/ports/group_gateway.h"
#include "engine/ports/topology.h"
#include "engine/runtime/settings.h"
#include "engine/runtime/signal.h"
#include "engine/runtime/store_keeper.h"
#include "engine/runtime/work.h"

namespace flow::engine {

// All the outside that an engine has.
struct Ports {
  port::ControlLog& log;
  port::Leadership& leadership;
  port::GroupGateway& groups;
  port::TopologySource& topology;
  port::Clock& clock;
};

// What this engine may do while it leads. A new one begins with each producer.
struct Term {
  std::int64_t number = 0;  // counts terms of this process
  decide::Self self;
  port::GuardSupport guard = port::GuardSupport::checked;
};

// What the engine's coroutines share. One loop thread; nothing here is held across a co_await
// without being looked at again after it.
struct Context {
  Context(const Settings& settings_in, Ports ports_in, TablesSource& tables,
          std::shared_ptr<spdlog::logger> log_in)
      : settings(settings_in),
        ports(ports_in),
        log(std::move(log_in)),
        keeper(tables, [logger = log](const std::string& line) { logger->warn("{}", line); }) {}

  Settings settings;
  Ports ports;
  std::shared_ptr<spdlog::logger> log;
  StoreKeeper keeper;
  WorkBook book;

  std::optional<Term> term;    // set: leading, and everything before the term's record was applied
  AsyncMutex producer;         // one transaction, or one new producer, at a time
  bool settle_wanted = false;  // the producer is spent, or an outcome is unknown
  bool fenced = false;         // another engine may lead
  bool caught_up = false;      // the log's end was reached once
  bool stopping = false;
  bool verifier_gives_way = false;  // it waits for the reconciler to have nothing due
  std::optional<Error> failure;     // why the engine ends by itself

  Signal applied;      // for the leader: records were applied
  Signal leading;      // for the leader: role, settle_wanted, fenced or stopping changed
  Signal open_work;    // for the reconciler
  Signal held_work;    // for the held lane
  Signal verify_work;  // for the verifier
  Signal stop;         // for whoever watches the role
  Signal reading;      // for the replayer: stopping
  Signal ended;        // for run: stopping or failure

  void wake_workers() {
    open_work.notify();
    held_work.notify();
    verify_work.notify();
  }

  // Ends the term: nothing is decided until a new one has begun.
  void end_term() {
    term.reset();
    leading.notify();
  }

  void request_stop() {
    stopping = true;
    applied.notify();
    leading.notify();
    stop.notify();
    reading.notify();
    ended.notify();
    wake_workers();
  }

  void fail(Error why) {
    if (!failure) {
      failure = std::move(why);
    }
    request_stop();
  }
};

// Commits `transaction` in `term`, or says aborted because the term has ended, or because one of
// `decided` stands no more by the time the transaction can begin: a cancel that was applied while
// another transaction was in hand counts. Remembers a spent producer.
boost::asio::awaitable<port::CommitOutcome> transact(Context& context, Term term,
                                                     std::vector<Standpoint> decided,
                                                     port::Transaction transaction);

// Sleeps until `at`, or until `signal` is notified.
boost::asio::awaitable<void> wait_for(Context& context, Signal& signal, std::optional<Instant> at);

std::vector<port::EncodedRecord> encode_all(const std::vector<Record>& records);

}  // namespace flow::engine
