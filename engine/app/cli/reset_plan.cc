#include "engine/app/cli/reset_plan.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include "engine/app/cli/text.h"
#include "engine/app/duration.h"
#include "engine/app/settings.h"
#include "engine/decide/resolve.h"
#include "schemas/suggestion.h"

namespace flow::app {
namespace {

constexpr Duration timeout_default{5 * 60 * 1'000};
constexpr Duration expiry_default{24 * 3'600 * 1'000};

Error usage(std::string text) { return error(Errc::invalid, std::move(text)); }

template <typename T>
Result<T> named(const char* option, Result<T> result) {
  if (result) return result;
  return usage(std::string{option} + ": " + result.error().detail);
}

std::optional<std::string> name_problem(const std::string& name) {
  if (name.empty()) return "is empty";
  if (!is_utf8(name) || name.find('\0') != std::string::npos) return "is not UTF-8 text";
  return std::nullopt;
}

Result<void> check_names(const char* option, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const auto& name : names) {
    if (const auto problem = name_problem(name)) {
      return usage(std::string{option} + ": '" + name + "' " + *problem);
    }
    if (!seen.insert(name).second) {
      return usage(std::string{option} + ": '" + name + "' is given twice");
    }
  }
  return boost::outcome_v2::success();
}

Result<void> check_targets(const ResetWords& words) {
  const bool by_pipeline = !words.pipeline.empty();
  if (by_pipeline && !words.groups.empty()) {
    if (!words.wait.empty() && words.pipeline == "verified") return usage(wait_needs_equals);
    return usage("name a PIPELINE or groups with --group, not both");
  }
  if (!by_pipeline && words.groups.empty()) {
    return usage(words.topics.empty() ? "name what to reset: a PIPELINE, or --group with --topic"
                                      : "--topic goes with --group");
  }
  if (by_pipeline && !words.topics.empty()) {
    return usage("--topic goes with --group; a PIPELINE's topics are in its topology");
  }
  if (!by_pipeline && words.topics.empty()) {
    return usage("--group needs --topic: name the topics to reset, --topic T or --topic T:0,2");
  }
  if (!by_pipeline && !words.streamlets.empty()) {
    return usage("--streamlet goes with a PIPELINE");
  }
  if (!by_pipeline && !words.namespace_name.empty()) {
    return usage("--namespace goes with a PIPELINE");
  }
  if (!by_pipeline && !words.to_earliest) {
    return usage("--group needs a position: --to-earliest");
  }
  if (by_pipeline) {
    if (const auto problem = name_problem(words.pipeline)) {
      return usage("PIPELINE: '" + words.pipeline + "' " + *problem);
    }
  }
  BOOST_OUTCOME_TRY(check_names("--streamlet", words.streamlets));
  return check_names("--group", words.groups);
}

// Two selections of one topic become one, of the partitions of both.
Result<std::vector<TopicSelection>> topics_of(const std::vector<std::string>& words) {
  std::vector<TopicSelection> topics;
  for (const auto& word : words) {
    BOOST_OUTCOME_TRY(auto topic, named("--topic", parse_topic(word)));
    const auto same = std::find_if(topics.begin(), topics.end(),
                                   [&](const auto& known) { return known.name == topic.name; });
    if (same == topics.end()) {
      topics.push_back(std::move(topic));
      continue;
    }
    if (same->partitions.empty() || topic.partitions.empty()) {
      return usage("--topic: '" + topic.name.value() + "' is given twice");
    }
    same->partitions.insert(same->partitions.end(), topic.partitions.begin(),
                            topic.partitions.end());
    std::sort(same->partitions.begin(), same->partitions.end());
    if (std::adjacent_find(same->partitions.begin(), same->partitions.end()) !=
        same->partitions.end()) {
      return usage("--topic: a partition of '" + topic.name.value() + "' is given twice");
    }
  }
  return topics;
}

Result<WaitFor> wait_of(const ResetWords& words) {
  if (words.wait == "done") return WaitFor::done;
  if (words.wait == "verified") return WaitFor::verified;
  if (!words.wait.empty()) {
    return usage("--wait: '" + words.wait + "' is not known; write --wait or --wait=verified");
  }
  if (!words.timeout.empty()) return usage("--timeout goes with --wait");
  return WaitFor::nothing;
}

Result<void> set_expiry(const std::string& word, Request& request) {
  if (word == "never") {
    request.never_expires = true;
    return boost::outcome_v2::success();
  }
  Duration after = expiry_default;
  if (!word.empty()) {
    BOOST_OUTCOME_TRY(after, named("--expire-after", parse_duration(word)));
  }
  request.expires_at = *request.asked_at + after;
  return boost::outcome_v2::success();
}

Result<RequestId> id_of(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  auto id = parse_request_id(word);
  if (!id) {
    return usage("--id: '" + word +
                 "' is no UUID (8-4-4-4-12 hexadecimal digits, as uuidgen prints)");
  }
  return *id;
}

// Whether a request for this pipeline may mean that one. A pipeline without a namespace is in any.
bool is_meant(const Request& request, const port::Pipeline& pipeline) {
  return pipeline.name == request.pipeline &&
         (request.namespace_name.empty() || pipeline.namespace_name.empty() ||
          pipeline.namespace_name == request.namespace_name);
}

// Of the first streamlet that the pipeline does not have; empty where it has them all.
std::string streamlet_hint(const Request& request, const port::Pipeline& pipeline) {
  std::vector<std::string> known;
  for (const auto& streamlet : pipeline.streamlets) known.push_back(streamlet.name);
  const auto unknown = std::find_if(
      request.streamlets.begin(), request.streamlets.end(), [&](const std::string& name) {
        return std::find(known.begin(), known.end(), name) == known.end();
      });
  if (unknown == request.streamlets.end() || known.empty()) return {};
  return "; " + suggestion(*unknown, known);
}

}  // namespace

Result<TopicSelection> parse_topic(const std::string& text) {
  const auto colon = text.find(':');
  TopicSelection topic{TopicName{text.substr(0, colon)}, {}};
  if (auto problem = topic_name_problem(topic.name.value()); !problem.empty()) {
    return usage(std::move(problem));
  }
  if (colon == std::string::npos) return topic;
  std::string_view rest{text};
  rest.remove_prefix(colon + 1);
  for (bool more = true; more;) {
    const auto comma = rest.find(',');
    const auto word = rest.substr(0, comma);
    std::int32_t partition = -1;
    const auto [end, wrong] = std::from_chars(word.data(), word.data() + word.size(), partition);
    if (wrong != std::errc{} || end != word.data() + word.size() || word.front() == '-') {
      return usage("'" + text + "': '" + std::string{word} +
                   "' is no partition number; write TOPIC or TOPIC:0,2");
    }
    topic.partitions.push_back(partition);
    more = comma != std::string_view::npos;
    rest.remove_prefix(more ? comma + 1 : rest.size());
  }
  std::sort(topic.partitions.begin(), topic.partitions.end());
  if (std::adjacent_find(topic.partitions.begin(), topic.partitions.end()) !=
      topic.partitions.end()) {
    return usage("'" + text + "': a partition is given twice");
  }
  return topic;
}

Result<ResetPlan> plan_reset(const ResetWords& words, const Asking& asking) {
  BOOST_OUTCOME_TRY(check_targets(words));
  ResetPlan plan;
  BOOST_OUTCOME_TRY(plan.wait_for, wait_of(words));
  plan.timeout = timeout_default;
  if (!words.timeout.empty()) {
    BOOST_OUTCOME_TRY(plan.timeout, named("--timeout", parse_duration(words.timeout)));
  }
  plan.when_stopped = words.when_stopped;
  plan.own_id = !words.id.empty();
  auto& request = plan.request;
  request.id = asking.fresh_id;
  if (plan.own_id) {
    BOOST_OUTCOME_TRY(request.id, id_of(words.id));
  }
  request.asked_at = asking.now;
  request.asked_by = asking.by;
  request.through = Through::cli;
  request.namespace_name = words.namespace_name;
  request.pipeline = words.pipeline;
  request.streamlets = words.streamlets;
  for (const auto& group : words.groups) {
    request.groups.emplace_back(group);
  }
  BOOST_OUTCOME_TRY(request.topics, topics_of(words.topics));
  request.position.kind = PositionKind::earliest;
  request.options.hold = words.hold;
  request.options.atomic = words.atomic;
  request.options.create_group = words.create_group;
  BOOST_OUTCOME_TRY(set_expiry(words.expire_after, request));
  return plan;
}

Result<std::vector<Target>> resolve_names(const Request& request, const port::Topology& topology) {
  auto resolution = decide::resolve(request, topology);
  if (resolution.problem.empty()) return std::move(resolution.targets);
  std::vector<const port::Pipeline*> meant;
  std::vector<std::string> namespaces;
  for (const auto& pipeline : topology.pipelines) {
    if (!is_meant(request, pipeline)) continue;
    meant.push_back(&pipeline);
    namespaces.push_back("'" + pipeline.namespace_name + "'");
  }
  if (meant.empty()) return error(Errc::refused, no_pipeline_text(request, topology));
  if (meant.size() > 1) {
    return error(Errc::refused, "pipeline '" + request.pipeline + "' is in several namespaces: " +
                                    joined(namespaces, ", ") + "; name one with -n");
  }
  return error(Errc::refused, resolution.problem + streamlet_hint(request, *meant.front()));
}

std::string no_pipeline_text(const Request& request, const port::Topology& topology) {
  const auto named = [&](const std::string& name, const std::string& in) {
    return request.namespace_name.empty() || in.empty() ? name : name + " -n " + in;
  };
  std::set<std::string> known;
  for (const auto& pipeline : topology.pipelines) {
    known.insert(named(pipeline.name, pipeline.namespace_name));
  }
  const std::string text =
      decide::resolve(request, topology).problem + "; topology '" + topology.source + "'";
  if (known.empty()) return text + " has no pipelines";
  return text + ": " +
         suggestion(named(request.pipeline, request.namespace_name), {known.begin(), known.end()});
}

std::string asked_for(const Request& request) {
  if (!request.pipeline.empty()) return "'" + request.pipeline + "'";
  if (request.groups.size() == 1) return "group '" + request.groups.front().value() + "'";
  return std::to_string(request.groups.size()) + " groups";
}

}  // namespace flow::app
