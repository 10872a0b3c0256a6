#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/app/cli/report.h"
#include "engine/ports/topology.h"
#include "schemas/records.h"

// From the words of `flow reset` to the request. Pure.
namespace flow::app {

struct ResetWords {
  std::string pipeline;
  std::string namespace_name;
  std::vector<std::string> streamlets;
  std::vector<std::string> groups;
  std::vector<std::string> topics;  // "orders" or "orders:0,2"
  bool to_earliest = false;
  std::string wait;     // empty: no --wait; "done" for --wait alone
  std::string timeout;  // empty: 5m
  bool when_stopped = false;
  bool hold = false;
  bool atomic = false;
  bool create_group = false;
  std::string expire_after;  // empty: 24h
  std::string id;            // empty: a new one
};

// Who asks, and when.
struct Asking {
  Instant now;
  std::string by;
  RequestId fresh_id;
};

struct ResetPlan {
  Request request;
  bool own_id = false;  // --id was given
  bool when_stopped = false;
  WaitFor wait_for = WaitFor::nothing;
  Duration timeout;
};

// What to say of "--wait verified": an optional value only follows an equals sign, or a PIPELINE
// behind --wait would be taken for one.
inline constexpr const char* wait_needs_equals = "--wait takes its value with '=': --wait=verified";

// Errc::invalid: what is wrong with the words, naming the option and its value.
Result<ResetPlan> plan_reset(const ResetWords& words, const Asking& asking);

// Takes "orders" or "orders:0,2"; Errc::invalid: no topic name, or no partition number.
Result<TopicSelection> parse_topic(const std::string& text);

// Takes a request for a pipeline that the topology does not have; returns what to say of it, with
// the names that it has.
std::string no_pipeline_text(const Request& request, const port::Topology& topology);

// Takes a request for a pipeline and a topology; returns why its names stand for nothing
// (Errc::refused), or the groups that they stand for.
Result<std::vector<Target>> resolve_names(const Request& request, const port::Topology& topology);

// "'cart'", "group 'g'", "3 groups", as in "reset requested for ...".
std::string asked_for(const Request& request);

}  // namespace flow::app
