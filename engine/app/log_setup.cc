#include "engine/app/log_setup.h"

#include <spdlog/details/fmt_helper.h>
#include <spdlog/formatter.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <boost/json.hpp>
#include <chrono>

#include "engine/app/cli/text.h"

namespace flow::app {
namespace {

// spdlog's patterns do not escape; a message may hold anything that a broker or a record says.
class JsonFormatter : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    time_.format(message, stamp_);
    boost::json::object line;
    line["time"] = std::string_view{stamp_.data(), stamp_.size()};
    line["level"] = std::string_view{spdlog::level::to_string_view(message.level).data(),
                                     spdlog::level::to_string_view(message.level).size()};
    line["message"] = valid_utf8({message.payload.data(), message.payload.size()});
    stamp_.clear();
    const std::string text = boost::json::serialize(line) + "\n";
    out.append(text.data(), text.data() + text.size());
  }

  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonFormatter>();
  }

 private:
  spdlog::pattern_formatter time_{"%Y-%m-%dT%H:%M:%S.%eZ", spdlog::pattern_time_type::utc, ""};
  spdlog::memory_buf_t stamp_;
};

// The message on one line, whatever a broker or a record made of it.
class OneLine : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const std::string text = printable({message.payload.data(), message.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
    return std::make_unique<OneLine>();
  }
};

}  // namespace

std::shared_ptr<spdlog::logger> make_logger(const LogOptions& options) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("flow", sink);
  if (options.format == "json") {
    logger->set_formatter(std::make_unique<JsonFormatter>());
  } else {
    auto text = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
    text->add_flag<OneLine>('*').set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %*");
    logger->set_formatter(std::move(text));
  }
  logger->set_level(spdlog::level::from_str(options.level));
  logger->flush_on(spdlog::level::trace);
  return logger;
}

}  // namespace flow::app
