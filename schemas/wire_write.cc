#include "schemas/utf8.h"
#include "schemas/wire.h"

namespace flow::wire {
namespace {

flatbuffers::Optional<std::int64_t> opt(const std::optional<std::int64_t>& value) {
  return value ? flatbuffers::Optional<std::int64_t>{*value} : flatbuffers::nullopt;
}
flatbuffers::Optional<std::int64_t> opt(const std::optional<Instant>& at) {
  return at ? flatbuffers::Optional<std::int64_t>{at->value()} : flatbuffers::nullopt;
}
flatbuffers::Optional<std::int32_t> opt(const std::optional<std::int32_t>& value) {
  return value ? flatbuffers::Optional<std::int32_t>{*value} : flatbuffers::nullopt;
}

// Applies `write` to each element and collects what FlatBuffers' object API wants: unique pointers.
template <typename In, typename Write>
auto each(const std::vector<In>& in, Write write) {
  std::vector<std::unique_ptr<decltype(write(in.front()))>> out;
  out.reserve(in.size());
  for (const auto& element : in) {
    out.push_back(std::make_unique<decltype(write(element))>(write(element)));
  }
  return out;
}

constexpr auto write_offset = [](const flow::PartitionOffset& in) {
  PartitionOffsetT out;
  out.topic = to_utf8(in.at.topic.value());
  out.partition = in.at.partition;
  out.offset = opt(in.offset);
  out.metadata = to_utf8(in.metadata);
  return out;
};
constexpr auto write_topic = [](const flow::TopicSelection& in) {
  TopicSelectionT out;
  out.name = to_utf8(in.name.value());
  out.partitions = in.partitions;
  return out;
};

PositionT write(const flow::Position& in) {
  PositionT out;
  out.kind = static_cast<PositionKind>(in.kind);
  out.offset = opt(in.offset);
  out.instant_ms = opt(in.instant);
  out.shift = opt(in.shift);
  out.group = to_utf8(in.group);
  out.savepoint = to_utf8(in.savepoint);
  out.partitions = each(in.partitions, write_offset);
  return out;
}

OptionsT write(const flow::Options& in) {
  OptionsT out;
  out.hold = in.hold;
  out.atomic = in.atomic;
  out.create_group = in.create_group;
  out.clamp = in.clamp;
  out.force = in.force;
  return out;
}

RequestT write(const flow::Request& in) {
  RequestT out;
  out.id = to_utf8(in.id.value());
  out.asked_at_ms = opt(in.asked_at);
  out.asked_by = to_utf8(in.asked_by);
  out.through = static_cast<Through>(in.through);
  out.namespace_ = to_utf8(in.namespace_name);
  out.pipeline = to_utf8(in.pipeline);
  for (const auto& streamlet : in.streamlets) {
    out.streamlets.push_back(to_utf8(streamlet));
  }
  for (const auto& group : in.groups) {
    out.groups.push_back(to_utf8(group.value()));
  }
  out.topics = each(in.topics, write_topic);
  out.position = std::make_unique<PositionT>(write(in.position));
  out.options = std::make_unique<OptionsT>(write(in.options));
  out.expires_at_ms = opt(in.expires_at);
  out.never_expires = in.never_expires;
  return out;
}

CancelT write(const flow::Cancel& in) {
  CancelT out;
  out.id = to_utf8(in.id.value());
  out.asked_at_ms = opt(in.asked_at);
  out.asked_by = to_utf8(in.asked_by);
  return out;
}

constexpr auto write_target = [](const flow::Target& in) {
  TargetT out;
  out.group = to_utf8(in.group.value());
  out.streamlet = to_utf8(in.streamlet);
  out.inlet = to_utf8(in.inlet);
  out.topics = each(in.topics, write_topic);
  out.cluster = to_utf8(in.cluster);
  return out;
};

constexpr auto write_reason = [](const flow::Reason& in) {
  ReasonT out;
  out.text = to_utf8(in.text);
  out.since_ms = in.since.value();
  out.until_ms = opt(in.until);
  out.group = to_utf8(in.group.value());
  out.permanent = in.permanent;
  return out;
};

constexpr auto write_member = [](const flow::Member& in) {
  MemberT out;
  out.client_id = to_utf8(in.client_id);
  out.host = to_utf8(in.host);
  out.member_id = to_utf8(in.member_id);
  out.instance_id = to_utf8(in.instance_id);
  return out;
};

constexpr auto write_group_seen = [](const flow::GroupSeen& in) {
  GroupSeenT out;
  out.group = to_utf8(in.group.value());
  out.state = to_utf8(in.state);
  out.members = each(in.members, write_member);
  return out;
};

constexpr auto write_workload = [](const flow::WorkloadSeen& in) {
  WorkloadSeenT out;
  out.streamlet = to_utf8(in.streamlet);
  out.replicas = opt(in.replicas);
  out.pods = opt(in.pods);
  return out;
};

SeenT write(const flow::Seen& in) {
  SeenT out;
  out.at_ms = in.at.value();
  out.groups = each(in.groups, write_group_seen);
  out.workloads = each(in.workloads, write_workload);
  return out;
}

GuardT write(const flow::Guard& in) {
  GuardT out;
  if (in.request) {
    out.request = std::make_unique<RequestT>(write(*in.request));
  }
  out.digest = to_utf8(in.digest);
  out.targets = each(in.targets, write_target);
  out.verdict = static_cast<Verdict>(in.verdict);
  out.reasons = each(in.reasons, write_reason);
  if (in.seen) {
    out.seen = std::make_unique<SeenT>(write(*in.seen));
  }
  return out;
}

std::unique_ptr<CommittedT> write(const std::optional<flow::Committed>& in) {
  if (!in) {
    return nullptr;
  }
  auto out = std::make_unique<CommittedT>();
  out->offset = in->offset;
  out->metadata = to_utf8(in->metadata);
  return out;
}

constexpr auto write_move = [](const flow::PartitionMove& in) {
  PartitionMoveT out;
  out.topic = to_utf8(in.at.topic.value());
  out.partition = in.at.partition;
  out.before = write(in.before);
  out.asked = opt(in.asked);
  out.after = write(in.after);
  out.remark = to_utf8(in.remark);
  return out;
};

constexpr auto write_partition_identity = [](const flow::PartitionIdentity& in) {
  PartitionIdentityT out;
  out.partition = in.partition;
  out.start = in.start;
  out.end = in.end;
  out.record_offset = opt(in.record_offset);
  out.record_timestamp_ms = opt(in.record_timestamp);
  return out;
};

constexpr auto write_identity = [](const flow::TopicIdentity& in) {
  TopicIdentityT out;
  out.topic = to_utf8(in.topic.value());
  out.partitions = each(in.partitions, write_partition_identity);
  return out;
};

ResultT write(const flow::GroupResult& in) {
  ResultT out;
  out.id = to_utf8(in.id.value());
  out.group = to_utf8(in.group.value());
  out.leader = in.leader.value();
  out.moves = each(in.moves, write_move);
  out.identities = each(in.identities, write_identity);
  out.failure = to_utf8(in.failure);
  out.request_digest = to_utf8(in.request_digest);
  return out;
}

constexpr auto write_result = [](const flow::GroupResult& in) { return write(in); };

IntentT write(const flow::Intent& in) {
  IntentT out;
  out.id = to_utf8(in.id.value());
  out.cluster = to_utf8(in.cluster);
  out.step = to_utf8(in.step);
  out.at_ms = in.at.value();
  out.groups = each(in.groups, write_result);
  out.withdrawn = in.withdrawn;
  return out;
}

DoneT write(const flow::Done& in) {
  DoneT out;
  out.id = to_utf8(in.id.value());
  out.leader = in.leader.value();
  out.outcome = static_cast<Outcome>(in.outcome);
  out.reason = to_utf8(in.reason);
  out.at_ms = in.at.value();
  out.engine = to_utf8(in.engine);
  return out;
}

VerifiedT write(const flow::Verified& in) {
  VerifiedT out;
  out.id = to_utf8(in.id.value());
  out.group = to_utf8(in.group.value());
  out.standing = static_cast<Standing>(in.standing);
  out.last = in.last;
  out.at_ms = in.at.value();
  out.contested = in.contested;
  out.unstable = in.unstable;
  out.members = each(in.members, write_member);
  out.offsets = each(in.offsets, write_offset);
  return out;
}

EngineT write(const flow::EngineStarted& in) {
  EngineT out;
  out.engine = to_utf8(in.engine);
  out.host = to_utf8(in.host);
  out.version = to_utf8(in.version);
  out.since_ms = in.since.value();
  out.stop_older_than = to_utf8(in.stop_older_than);
  return out;
}

LogT write(const flow::LogBorn& in) {
  LogT out;
  out.birth = to_utf8(in.birth);
  out.at_ms = in.at.value();
  return out;
}

AnnotationsT write(const flow::AnnotationsSettled& in) {
  AnnotationsT out;
  out.settled = in.settled;
  out.at_ms = in.at.value();
  return out;
}

}  // namespace

EnvelopeT to_wire(const Record& record) {
  EnvelopeT envelope;
  std::visit([&](const auto& body) { envelope.body.Set(write(body)); }, record);
  return envelope;
}

Body body_of(Kind kind) {
  switch (kind) {
    case Kind::request:
      return Body::Request;
    case Kind::cancel:
      return Body::Cancel;
    case Kind::guard:
      return Body::Guard;
    case Kind::intent:
      return Body::Intent;
    case Kind::result:
      return Body::Result;
    case Kind::done:
      return Body::Done;
    case Kind::verified:
      return Body::Verified;
    case Kind::engine:
      return Body::Engine;
    case Kind::log:
      return Body::Log;
    case Kind::annotations:
      return Body::Annotations;
    case Kind::savepoint:
      return Body::Savepoint;
    case Kind::step:
      return Body::Step;
    case Kind::schedule:
      return Body::Schedule;
  }
  return Body::NONE;
}

}  // namespace flow::wire
