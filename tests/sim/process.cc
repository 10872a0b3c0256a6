#include "tests/sim/process.h"

#include <boost/asio/co_spawn.hpp>
#include <utility>

#include "tests/sim/world.h"

namespace flow::sim {

using boost::asio::awaitable;

namespace {

constexpr int calls_in_second_max = 600;

}  // namespace

// A waiting coroutine's place in its process; stands in the coroutine's frame.
struct Process::Ticket {
  Ticket(Process& process_in, boost::asio::steady_timer& timer_in)
      : process(process_in), timer(timer_in), number(process_in.next_ticket_++) {
    process.tickets_.emplace(number, this);
  }
  ~Ticket() { process.tickets_.erase(number); }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  Process& process;
  boost::asio::steady_timer& timer;
  std::uint64_t number;
  bool fired = false;
};

Instant ProcessClock::now() const { return process_.world().clock.instant() + process_.skew(); }

awaitable<void> ProcessClock::sleep_until(Instant at) {
  auto& clock = process_.world().clock;
  process_.count_call();
  const Micros skew = process_.skew().value() * ms;
  co_await process_.pass(Clockwork::at(at) - skew - clock.now() + clock.between(0, 2 * ms));
}

Process::Process(World& world, int number, Disk& disk)
    : world_(world),
      number_(number),
      name_("e" + std::to_string(number)),
      tables_(disk),
      log_(*this),
      disk_(disk),
      leadership_(*this),
      groups_(*this),
      clock_(*this),
      skew_(world.clock.between(-world.plan.skew.value(), world.plan.skew.value())) {
  engine_ = std::make_unique<engine::Engine>(
      world.engine_settings(number),
      engine::Ports{log_, leadership_, groups_, world.topology(), clock_}, tables_,
      world.make_logger(name_));
}

Process::~Process() = default;

void Process::start() {
  world_.say(name_, "starts");
  boost::asio::co_spawn(world_.clock.loop(), run(), [this](std::exception_ptr thrown) {
    if (thrown) {
      world_.clock.stop(name_ + " threw");
    }
  });
}

awaitable<void> Process::run() {
  const auto result = co_await engine_->run();
  ended_ = true;
  world_.say(name_, result ? "ended" : "ended: " + result.error().detail);
  world_.on_ended(*this, result);
}

// What cannot end in time is left as it is, as the program does it.
void Process::stop() {
  if (is_gone() || stopping_) {
    return;
  }
  if (is_paused()) {
    world_.clock.after(1 * seconds, [this] { stop(); });
    return;
  }
  world_.say(name_, "SIGTERM");
  stopping_ = true;
  engine_->stop();
  world_.clock.after(9 * seconds, [this] { crash(); });
}

void Process::crash() {
  if (!is_gone()) {
    world_.say(name_, "CRASH");
    crashed_ = true;
    end_sessions_after_a_while();
    world_.on_crash(*this);
  }
}

void Process::pause(Micros span) {
  world_.say(name_, "PAUSE " + std::to_string(span / ms) + " ms");
  paused_until_ = std::max(paused_until_, world_.clock.now() + span);
  world_.on_pause();
  end_sessions_after_a_while();
}

void Process::cut_off(Micros span) {
  world_.say(name_, "CUT OFF " + std::to_string(span / ms) + " ms");
  cut_off_until_ = std::max(cut_off_until_, world_.clock.now() + span);
  end_sessions_after_a_while();
}

void Process::recover() {
  paused_until_ = std::min(paused_until_, world_.clock.now());
  cut_off_until_ = std::min(cut_off_until_, world_.clock.now());
}

bool Process::is_paused() const { return world_.clock.now() < paused_until_; }

bool Process::reaches_broker() const {
  return world_.broker.is_up && world_.clock.now() >= cut_off_until_;
}

// What is not heard of for session.timeout.ms is no member any more.
void Process::end_sessions_after_a_while() {
  const Micros session = world_.clock.between(5 * seconds, 7 * seconds);
  world_.clock.after(session, [this] {
    const bool silent = crashed_ || is_paused() || world_.clock.now() < cut_off_until_;
    if (silent) {
      world_.end_sessions(number_);
    }
  });
}

awaitable<bool> Process::pass(Micros delay) {
  boost::asio::steady_timer timer{co_await boost::asio::this_coro::executor};
  timer.expires_at(boost::asio::steady_timer::time_point::max());
  const Ticket ticket{*this, timer};
  world_.clock.after(delay, [this, number = ticket.number] { fire(number); });
  boost::system::error_code ignored;
  co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  co_return ticket.fired;
}

void Process::fire(std::uint64_t number) {
  const auto found = tickets_.find(number);
  if (crashed_ || found == tickets_.end()) {
    return;
  }
  if (is_paused()) {
    world_.clock.after(
        std::min(paused_until_ - world_.clock.now() + world_.clock.between(0, 1 * ms), 500 * ms),
        [this, number] { fire(number); });
    return;
  }
  found->second->fired = true;
  found->second->timer.cancel();
}

awaitable<bool> Process::step(const char* name) {
  count_call();
  auto& clock = world_.clock;
  const auto& faults = world_.faults();
  Micros delay = clock.between(50, 2 * ms);
  if (world_.meets(faults.slow)) {
    delay = clock.between(10 * ms, 2 * seconds);
  }
  if (world_.may_crash() && world_.meets(faults.crash)) {
    world_.say(name_, std::string{"at "} + name);
    crash();
  } else if (world_.may_pause() && world_.meets(faults.pause)) {
    world_.say(name_, std::string{"at "} + name);
    pause(clock.random().chance(50) ? clock.between(100 * ms, 3 * seconds)
                                    : clock.between(3 * seconds, 25 * seconds));
  } else if (world_.may_pause() && world_.meets(faults.cut_off)) {
    cut_off(clock.between(1 * seconds, 12 * seconds));
  }
  co_return co_await pass(delay);
}

Micros Process::patience() { return world_.clock.between(200 * ms, 4 * seconds); }

Fate Process::draw_fate(bool may_come_late) {
  const auto& faults = world_.faults();
  if (!world_.meets(faults.lose)) {
    return Fate::answered;
  }
  const auto which = world_.clock.random().below(may_come_late ? 3 : 2);
  return which == 0 ? Fate::lost : which == 1 ? Fate::answer_lost : Fate::late;
}

void Process::note_fate(const char* name, Fate fate) {
  if (fate != Fate::answered) {
    world_.say(name_, std::string{name} + (fate == Fate::lost          ? ": request lost"
                                           : fate == Fate::answer_lost ? ": answer lost"
                                                                       : ": comes late"));
  }
}

void Process::arrive_late(const char* name, std::function<void()> request) {
  world_.hold_back(name_ + " " + name, std::move(request));
}

void Process::may_deliver_late() { world_.may_deliver_late(); }

void Process::wake_reader() {
  if (reading_ != 0) {
    world_.clock.after(world_.clock.between(20, 1 * ms),
                       [this, number = reading_] { fire(number); });
    reading_ = 0;
  }
}

awaitable<bool> Process::wait_for_log(Micros at_most) {
  reading_ = next_ticket_;
  co_return co_await pass(at_most);
}

void Process::count_call() {
  ++calls_;
  const Micros second = world_.clock.now() / seconds;
  if (second != second_) {
    second_ = second;
    calls_in_second_ = 0;
  }
  busiest_second_ = std::max(busiest_second_, calls_in_second_ + 1);
  if (++calls_in_second_ > calls_in_second_max) {
    world_.clock.stop(name_ + ": more than " + std::to_string(calls_in_second_max) +
                      " calls of ports in one second");
  }
}

}  // namespace flow::sim
