#include <unistd.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <exception>
#include <optional>

#include "connectors/kafka/engine_ports.h"
#include "connectors/kafka/log.h"
#include "connectors/topology/file_source.h"
#include "engine/app/log_setup.h"
#include "engine/app/serve.h"
#include "engine/app/system_clock.h"
#include "engine/app/version.h"
#include "engine/runtime/engine.h"
#include "schemas/codec.h"

namespace flow::app {
namespace {

// Without a file nothing is known of any pipeline, and nothing is refused because of that.
class NoTopology : public port::TopologySource {
 public:
  const port::Topology& current() override { return topology_; }

 private:
  port::Topology topology_{
      false, "none", "this engine has no topology; start it with --topology", {}};
};

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// librdkafka's threads outlive the server, and the logger with them.
void log_what_the_connector_says(std::shared_ptr<spdlog::logger> logger) {
  kafka::set_log_sink(
      [logger = std::move(logger)](int level, std::string_view client, std::string_view text) {
        constexpr int warning = 4;
        constexpr int info = 6;
        if (level <= warning) {
          logger->warn("{}", text);
        } else {
          logger->log(level <= info ? spdlog::level::debug : spdlog::level::trace, "{}: {}", client,
                      text);
        }
      });
}

// The process's whole life on one thread.
class Server {
 public:
  explicit Server(const ServeOptions& options)
      : options_(options),
        log_(make_logger(options.log)),
        tables_(options.store),
        signals_(context_, SIGTERM, SIGINT),
        patience_(context_) {
    log_what_the_connector_says(log_);
    settings_.engine_id = random_uuid();
    settings_.host = host_name();
    settings_.version = version;
    settings_.verify_for = options.verify_for;
    if (!options.topology.empty()) {
      file_.emplace(options.topology);
    }
  }

  int run() {
    auto made =
        kafka::EnginePorts::make(context_.get_executor(), options_.kafka,
                                 {options_.control_topic, settings_.host, settings_.engine_id});
    if (!made) {
      log_->error("{}", made.error().detail);
      return 2;
    }
    kafka_ = std::move(made).value();
    engine_.emplace(
        settings_,
        engine::Ports{kafka_->log(), kafka_->leadership(), kafka_->groups(), topology(), clock_},
        tables_, log_);
    wait_for_signal();
    boost::asio::co_spawn(context_, drive(), [this](std::exception_ptr thrown) {
      if (thrown) {
        failed(thrown);
      }
    });
    context_.run();
    return exit_code_;
  }

 private:
  port::TopologySource& topology() {
    if (file_) {
      return *file_;
    }
    return none_;
  }

  void wait_for_signal() {
    signals_.async_wait([this](boost::system::error_code problem, int) {
      if (problem) {
        return;
      }
      log_->info("stopping");
      engine_->stop();
      // What cannot end in time is safe to leave: an open transaction is aborted by the next leader
      // or by its own time-out, and nothing was decided that the log does not hold.
      patience_.expires_after(std::chrono::seconds{8});
      patience_.async_wait([this](boost::system::error_code cancelled) {
        if (!cancelled) {
          log_->warn("stopped in the middle of a call to the broker; the next leader settles it");
          std::_Exit(exit_code_);
        }
      });
    });
  }

  boost::asio::awaitable<void> drive() {
    const auto result = co_await engine_->run();
    if (!result) {
      log_->error("{}", result.error().detail);
      exit_code_ = 1;
    } else {
      log_->info("stopped");
    }
    end();
  }

  // Coroutines are still waiting then; the log has everything, so nothing is lost by leaving them.
  [[noreturn]] void failed(const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& exception) {
      log_->critical("internal error: {}", exception.what());
    }
    std::_Exit(1);
  }

  void end() {
    signals_.cancel();
    patience_.cancel();
    context_.stop();
  }

  const ServeOptions& options_;
  std::shared_ptr<spdlog::logger> log_;
  engine::Settings settings_;
  engine::RocksSource tables_;
  SystemClock clock_;
  NoTopology none_;
  std::optional<topology::FileTopology> file_;
  boost::asio::io_context context_{1};
  boost::asio::signal_set signals_;
  boost::asio::steady_timer patience_;
  std::unique_ptr<kafka::EnginePorts> kafka_;
  std::optional<engine::Engine> engine_;
  int exit_code_ = 0;
};

}  // namespace

int run_engine(const ServeOptions& options) {
  // A file that may not grow (ulimit -f) is a full disk, which is waited for; no reason to die.
  std::signal(SIGXFSZ, SIG_IGN);
  return Server{options}.run();
}

}  // namespace flow::app
