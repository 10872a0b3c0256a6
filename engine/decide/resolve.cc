#include "engine/decide/resolve.h"

#include <algorithm>
#include <utility>

#include "schemas/utf8.h"

namespace flow::decide {
namespace {

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) {
    text += text.empty() ? "[" + name + "]" : ", [" + name + "]";
  }
  return text;
}

std::vector<const port::Pipeline*> pipelines_named(const Request& request,
                                                   const port::Topology& topology) {
  std::vector<const port::Pipeline*> found;
  for (const auto& pipeline : topology.pipelines) {
    const bool same_namespace = request.namespace_name.empty() || pipeline.namespace_name.empty() ||
                                pipeline.namespace_name == request.namespace_name;
    if (pipeline.name == request.pipeline && same_namespace) {
      found.push_back(&pipeline);
    }
  }
  return found;
}

// Takes in another selection of topics: one entry a topic, its partitions once each and in order.
void add_topics(std::vector<TopicSelection>& topics, const std::vector<TopicSelection>& more) {
  for (const auto& topic : more) {
    const auto same = std::find_if(topics.begin(), topics.end(), [&](const TopicSelection& known) {
      return known.name == topic.name;
    });
    if (same == topics.end()) {
      topics.push_back(topic);
    } else if (topic.partitions.empty() || same->partitions.empty()) {
      same->partitions.clear();  // all of them
    } else {
      same->partitions.insert(same->partitions.end(), topic.partitions.begin(),
                              topic.partitions.end());
    }
  }
  for (auto& topic : topics) {
    std::sort(topic.partitions.begin(), topic.partitions.end());
    const auto rest = std::unique(topic.partitions.begin(), topic.partitions.end());
    topic.partitions.erase(rest, topic.partitions.end());
  }
}

// Two inlets may read with one group; the group moves once, with the topics of both.
void add_target(std::vector<Target>& targets, Target target) {
  const auto same = std::find_if(targets.begin(), targets.end(), [&](const Target& known) {
    return known.group == target.group && known.cluster == target.cluster;
  });
  const auto topics = std::exchange(target.topics, {});
  add_topics(same == targets.end() ? targets.emplace_back(std::move(target)).topics : same->topics,
             topics);
}

void add_inlets(std::vector<Target>& targets, const port::Pipeline& pipeline,
                const port::Streamlet& streamlet) {
  for (const auto& inlet : streamlet.inlets) {
    const GroupId derived{pipeline.name + "." + streamlet.name + "." + inlet.name};
    add_target(targets, Target{inlet.group.value_or(derived),
                               streamlet.name,
                               inlet.name,
                               {TopicSelection{inlet.topic, {}}},
                               inlet.cluster});
  }
}

Resolution resolve_streamlets(const Request& request, const port::Pipeline& pipeline) {
  Resolution resolution;
  std::vector<std::string> unknown;
  std::vector<std::string> without_inlets;
  for (const auto& name : request.streamlets) {
    const auto found =
        std::find_if(pipeline.streamlets.begin(), pipeline.streamlets.end(),
                     [&](const port::Streamlet& streamlet) { return streamlet.name == name; });
    if (found == pipeline.streamlets.end()) {
      unknown.push_back(name);
    } else if (found->inlets.empty()) {
      without_inlets.push_back(name);
    } else {
      add_inlets(resolution.targets, pipeline, *found);
    }
  }
  if (!unknown.empty()) {
    resolution.problem = "cannot reset offsets: no streamlet " + list_of(unknown);
  } else if (!without_inlets.empty()) {
    resolution.problem = "cannot reset offsets: streamlet " + list_of(without_inlets) +
                         " has no inlets, so no consumer groups to reset";
  }
  return resolution;
}

// A name that the control topic cannot hold would be another name once it is read back.
std::string name_problem(const std::vector<Target>& targets) {
  const auto is_name = [](const std::string& name) {
    return !name.empty() && is_utf8(name) && name.find('\0') == std::string::npos;
  };
  for (const auto& target : targets) {
    if (!is_name(target.group.value())) {
      return "streamlet [" + to_line(target.streamlet, 64) + "]: '" +
             to_line(target.group.value(), 64) + "' is no name of a group";
    }
    for (const auto& topic : target.topics) {
      if (!is_name(topic.name.value())) {
        return target.group.value() + ": '" + to_line(topic.name.value(), 64) +
               "' is no name of a topic";
      }
    }
  }
  return {};
}

Resolution resolve_pipeline(const Request& request, const port::Topology& topology) {
  Resolution resolution;
  const auto found = pipelines_named(request, topology);
  if (found.empty()) {
    resolution.problem =
        "no pipeline '" + request.pipeline + "'" +
        (request.namespace_name.empty() ? "" : " in namespace '" + request.namespace_name + "'");
  } else if (found.size() > 1) {
    resolution.problem = "pipeline '" + request.pipeline + "' is in " +
                         std::to_string(found.size()) + " namespaces; name one (-n)";
  } else if (!request.streamlets.empty()) {
    resolution = resolve_streamlets(request, *found.front());
  } else {
    for (const auto& streamlet : found.front()->streamlets) {
      add_inlets(resolution.targets, *found.front(), streamlet);
    }
    if (resolution.targets.empty()) {
      resolution.problem =
          "pipeline " + request.pipeline + " has no streamlets with inlets to reset";
    }
  }
  if (resolution.problem.empty()) {
    resolution.problem = name_problem(resolution.targets);
  }
  if (resolution.problem.empty()) {
    return resolution;
  }
  resolution.targets.clear();
  resolution.permanent = topology.whole;
  if (!topology.whole && !topology.problem.empty()) {
    resolution.problem += " (" + topology.problem + ")";
  }
  return resolution;
}

}  // namespace

Resolution resolve(const Request& request, const port::Topology& topology) {
  if (!request.pipeline.empty()) {
    return resolve_pipeline(request, topology);
  }
  Resolution resolution;
  for (const auto& group : request.groups) {
    add_target(resolution.targets, Target{group, {}, {}, request.topics, {}});
  }
  return resolution;
}

std::string content_problem(const Request& request) {
  const bool by_pipeline = !request.pipeline.empty();
  if (by_pipeline && (!request.groups.empty() || !request.topics.empty())) {
    return "a request names a pipeline, or groups and topics, not both";
  }
  if (!by_pipeline && request.groups.empty()) {
    return "a request names a pipeline, or groups and topics; this one names neither";
  }
  if (!by_pipeline && request.topics.empty()) {
    return "a request that names groups names their topics too; this one names none";
  }
  if (!by_pipeline && !request.streamlets.empty()) {
    return "streamlets belong to a pipeline; this request names none";
  }
  for (const auto& group : request.groups) {
    if (group.value().empty()) {
      return "a group's name is empty";
    }
  }
  for (const auto& topic : request.topics) {
    if (topic.name.value().empty()) {
      return "a topic's name is empty";
    }
    for (const auto partition : topic.partitions) {
      if (partition < 0) {
        return "topic '" + topic.name.value() + "': partition " + std::to_string(partition) +
               " is negative";
      }
    }
  }
  return {};
}

bool is_supported(const Position& position) { return position.kind == PositionKind::earliest; }

std::string_view to_string(PositionKind kind) {
  switch (kind) {
    case PositionKind::earliest:
      return "earliest";
    case PositionKind::latest:
      return "latest";
    case PositionKind::offset:
      return "offset";
    case PositionKind::instant:
      return "instant";
    case PositionKind::shift:
      return "shift";
    case PositionKind::current:
      return "current";
    case PositionKind::group:
      return "group";
    case PositionKind::savepoint:
      return "savepoint";
    case PositionKind::file:
      return "file";
  }
  return "unknown";
}

}  // namespace flow::decide
