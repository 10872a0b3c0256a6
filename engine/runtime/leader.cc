#include "engine/runtime/leader.h"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "engine/decide/conclude.h"
#include "engine/ports/fail_point.h"
#include "schemas/codec.h"

namespace flow::engine {

using boost::asio::awaitable;

namespace {

// Ends with the engine; the role itself has no deadline.
awaitable<std::optional<port::Role>> changed_role(Context& context, port::Role role) {
  using boost::asio::experimental::awaitable_operators::operator||;
  auto first = co_await (context.ports.leadership.changed_from(role) || context.stop.wait());
  if (first.index() == 0) {
    co_return std::get<0>(first);
  }
  co_return std::nullopt;
}

}  // namespace

void Leader::say(const std::string& line) {
  if (line != said_) {
    said_ = line;
    context_.log->info("{}", line);
  }
}

awaitable<void> Leader::watch_role() {
  while (!context_.stopping) {
    const auto role = co_await changed_role(context_, role_);
    if (!role) {
      continue;
    }
    role_ = *role;
    if (role_ == port::Role::follower) {
      context_.term.reset();
    }
    context_.leading.notify();
  }
}

awaitable<Result<LogPosition>> Leader::append(Record record) {
  // The role may have gone while this engine waited for its producer or for an earlier record.
  if (context_.stopping || role_ == port::Role::follower) {
    co_return error(Errc::cancelled, "no longer leading");
  }
  port::Transaction transaction;
  transaction.records = encode_all({std::move(record)});
  auto outcome = co_await context_.ports.log.commit(std::move(transaction));
  if (outcome.status == port::CommitStatus::committed && outcome.positions.size() == 1) {
    co_return outcome.positions.front();
  }
  context_.fenced = context_.fenced || outcome.status == port::CommitStatus::fenced;
  co_return outcome.error.value_or(error(Errc::unknown, "append to the control topic: no answer"));
}

// A foreign transaction that is open on the topic hides what was committed behind it; its own
// time-out ends it, within 15 minutes by Kafka's default.
awaitable<Result<void>> Leader::wait_until_applied(LogPosition position) {
  const Instant began = context_.ports.clock.now();
  Instant told = began;
  while (context_.keeper.store().next() <= position) {
    if (context_.stopping || role_ == port::Role::follower) {
      co_return error(Errc::cancelled, "no longer leading");
    }
    co_await wait_for(context_, context_.applied, context_.ports.clock.now() + Duration{1'000});
    const Instant now = context_.ports.clock.now();
    if ((now - told).value() >= 3'000 && context_.caught_up) {
      told = now;
      context_.log->warn(
          "waiting for position {} of the control topic to become readable, at {} now: a "
          "transaction of another producer is open before it; it ends by its own time-out",
          position.value(), context_.keeper.store().next().value());
    }
  }
  co_return boost::outcome_v2::success();
}

awaitable<Result<void>> Leader::write_birth() {
  if (context_.keeper.store().birth()) {
    co_return boost::outcome_v2::success();
  }
  Record born = LogBorn{random_uuid(), context_.ports.clock.now()};
  BOOST_OUTCOME_CO_TRY(const auto position, co_await append(std::move(born)));
  co_return co_await wait_until_applied(position);
}

awaitable<Result<port::GuardSupport>> Leader::probe() {
  co_return co_await context_.ports.leadership.probe_guard();
}

awaitable<Result<void>> Leader::begin_term() {
  const auto lock = co_await context_.producer.lock();
  context_.term.reset();
  context_.fenced = false;
  BOOST_OUTCOME_CO_TRY(co_await context_.ports.log.open_producer());
  context_.settle_wanted = false;
  const Instant now = context_.ports.clock.now();
  const auto& settings = context_.settings;
  // Named: g++ 12 copies an aggregate made inside a co_await expression byte by byte.
  Record started = EngineStarted{settings.engine_id, settings.host, settings.version, now, {}};
  BOOST_OUTCOME_CO_TRY(const auto position, co_await append(std::move(started)));
  fail_point("engine-record-committed");
  BOOST_OUTCOME_CO_TRY(co_await wait_until_applied(position));
  BOOST_OUTCOME_CO_TRY(co_await write_birth());
  BOOST_OUTCOME_CO_TRY(const auto guard, co_await probe());
  const auto& leader = context_.keeper.store().leader();
  if (!leader || leader->number != LeaderNumber{position.value()}) {
    context_.fenced = true;
    co_return error(Errc::fenced, "another engine began to lead");
  }
  if (role_ != port::Role::leader || context_.settle_wanted || context_.stopping) {
    co_return error(Errc::retriable, "this engine's role changed while it began to lead");
  }
  context_.book.drop_hands();
  context_.term = Term{++terms_, {settings.engine_id, leader->number}, guard};
  co_return boost::outcome_v2::success();
}

// A fenced producer proves nothing: a lone engine that was paused beyond its transaction's time-out
// is fenced too, and a woken one still believes that it owns partition 0. The group's coordinator
// knows.
awaitable<void> Leader::prove() {
  const auto confirmed = co_await context_.ports.leadership.confirm(context_.keeper.store().next());
  if (confirmed && confirmed.value()) {
    context_.fenced = false;
    context_.log->info("the producer was fenced, but this engine still owns the control topic");
    co_return;
  }
  say(confirmed ? "fenced: another engine leads; following"
                : "cannot find out who leads: " + confirmed.error().detail);
  co_await wait_for(context_, context_.leading,
                    context_.ports.clock.now() + decide::backoff(++failures_));
}

awaitable<void> Leader::lead_or_wait() {
  auto begun = co_await begin_term();
  if (!begun) {
    if (begun.error().errc != Errc::cancelled) {
      context_.log->warn("cannot lead yet: {}", begun.error().detail);
    }
    co_await wait_for(context_, context_.leading,
                      context_.ports.clock.now() + decide::backoff(failures_++));
    co_return;
  }
  failures_ = 0;
  said_.clear();
  context_.log->info("leading leader_number={} engine={} open={}",
                     context_.term->self.leader.value(), context_.settings.engine_id,
                     context_.book.open_count());
  if (context_.term->guard == port::GuardSupport::unchecked) {
    context_.log->error(
        "this broker does not check the member of a guarded commit: only requests with --hold "
        "are carried out");
  }
  context_.wake_workers();
}

awaitable<void> Leader::run() {
  while (!context_.stopping) {
    if (!context_.caught_up) {
      co_await context_.leading.wait();
    } else if (role_ == port::Role::follower) {
      context_.term.reset();
      say("following engine=" + context_.settings.engine_id);
      co_await context_.leading.wait();
    } else if (context_.fenced) {
      context_.term.reset();
      co_await prove();
    } else if (!context_.term || context_.settle_wanted) {
      co_await lead_or_wait();
    } else {
      co_await context_.leading.wait();
    }
  }
}

}  // namespace flow::engine
