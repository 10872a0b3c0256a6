#include "schemas/wire.h"
#include "schemas/wire_reader.h"

namespace flow::wire {
namespace {

template <typename Out, typename In>
std::optional<Out> opt(const flatbuffers::Optional<In>& in) {
  return in ? std::optional<Out>{Out{*in}} : std::nullopt;
}

constexpr auto read_offset = [](Reader& reader, const PartitionOffset& in) {
  flow::PartitionOffset out;
  out.at.topic = TopicName{reader.text(in.topic(), "partitions.topic")};
  out.at.partition = reader.required(in.partition(), "partitions.partition");
  out.offset = opt<std::int64_t>(in.offset());
  out.metadata = reader.text(in.metadata(), "partitions.metadata");
  return out;
};

constexpr auto read_topic = [](Reader& reader, const TopicSelection& in) {
  flow::TopicSelection out;
  out.name = TopicName{reader.text(in.name(), "topics.name")};
  out.partitions = reader.numbers(in.partitions());
  return out;
};

flow::Position read(Reader& reader, const Position& in) {
  flow::Position out;
  if (!in.kind()) {
    reader.fail(Errc::invalid, "position.kind: is missing");
    return out;
  }
  out.kind = reader.choice<flow::PositionKind>(*in.kind(), PositionKind::MAX, "position.kind");
  out.offset = opt<std::int64_t>(in.offset());
  out.instant = opt<Instant>(in.instant_ms());
  out.shift = opt<std::int64_t>(in.shift());
  out.group = reader.text(in.group(), "position.group");
  out.savepoint = reader.text(in.savepoint(), "position.savepoint");
  out.partitions = reader.each(in.partitions(), read_offset);
  return out;
}

flow::Options read(const Options& in) {
  return {in.hold(), in.atomic(), in.create_group(), in.clamp(), in.force()};
}

flow::Request read(Reader& reader, const Request& in) {
  flow::Request out;
  out.id = reader.id(in.id(), "id");
  out.asked_at = opt<Instant>(in.asked_at_ms());
  out.asked_by = reader.text(in.asked_by(), "asked_by");
  out.through = reader.choice<flow::Through>(in.through(), Through::MAX, "through");
  out.namespace_name = reader.text(in.namespace_(), "namespace");
  out.pipeline = reader.text(in.pipeline(), "pipeline");
  if (in.streamlets() != nullptr) {
    for (const auto* streamlet : *in.streamlets()) {
      out.streamlets.push_back(reader.text(streamlet, "streamlets"));
    }
  }
  if (in.groups() != nullptr) {
    for (const auto* group : *in.groups()) {
      out.groups.emplace_back(reader.text(group, "groups"));
    }
  }
  out.topics = reader.each(in.topics(), read_topic);
  out.position = read(reader, *in.position());
  if (in.options() != nullptr) {
    out.options = read(*in.options());
  }
  out.expires_at = opt<Instant>(in.expires_at_ms());
  out.never_expires = in.never_expires();
  return out;
}

flow::Cancel read(Reader& reader, const Cancel& in) {
  return {reader.id(in.id(), "id"), opt<Instant>(in.asked_at_ms()),
          reader.text(in.asked_by(), "asked_by")};
}

constexpr auto read_target = [](Reader& reader, const Target& in) {
  flow::Target out;
  out.group = GroupId{reader.text(in.group(), "targets.group")};
  out.streamlet = reader.text(in.streamlet(), "targets.streamlet");
  out.inlet = reader.text(in.inlet(), "targets.inlet");
  out.topics = reader.each(in.topics(), read_topic);
  out.cluster = reader.text(in.cluster(), "targets.cluster");
  return out;
};

constexpr auto read_reason = [](Reader& reader, const Reason& in) {
  flow::Reason out;
  out.text = reader.text(in.text(), "reasons.text");
  out.since = Instant{in.since_ms()};
  out.until = opt<Instant>(in.until_ms());
  out.group = GroupId{reader.text(in.group(), "reasons.group")};
  out.permanent = in.permanent();
  return out;
};

constexpr auto read_member = [](Reader& reader, const Member& in) {
  flow::Member out;
  out.client_id = reader.text(in.client_id(), "members.client_id");
  out.host = reader.text(in.host(), "members.host");
  out.member_id = reader.text(in.member_id(), "members.member_id");
  out.instance_id = reader.text(in.instance_id(), "members.instance_id");
  return out;
};

constexpr auto read_group_seen = [](Reader& reader, const GroupSeen& in) {
  flow::GroupSeen out;
  out.group = GroupId{reader.text(in.group(), "seen.groups.group")};
  out.state = reader.text(in.state(), "seen.groups.state");
  out.members = reader.each(in.members(), read_member);
  return out;
};

constexpr auto read_workload = [](Reader& reader, const WorkloadSeen& in) {
  flow::WorkloadSeen out;
  out.streamlet = reader.text(in.streamlet(), "seen.workloads.streamlet");
  out.replicas = opt<std::int32_t>(in.replicas());
  out.pods = opt<std::int32_t>(in.pods());
  return out;
};

flow::Guard read(Reader& reader, const Guard& in, const RecordKey& key) {
  flow::Guard out;
  out.id = key.id;
  if (in.request() != nullptr) {
    out.request = read(reader, *in.request());
  }
  out.digest = reader.text(in.digest(), "digest");
  out.targets = reader.each(in.targets(), read_target);
  out.verdict = reader.choice<flow::Verdict>(in.verdict(), Verdict::MAX, "verdict");
  out.reasons = reader.each(in.reasons(), read_reason);
  if (in.seen() != nullptr) {
    out.seen =
        flow::Seen{Instant{in.seen()->at_ms()}, reader.each(in.seen()->groups(), read_group_seen),
                   reader.each(in.seen()->workloads(), read_workload)};
  }
  return out;
}

std::optional<flow::Committed> read(Reader& reader, const Committed* in) {
  if (in == nullptr) {
    return std::nullopt;
  }
  return flow::Committed{in->offset(), reader.text(in->metadata(), "metadata")};
}

constexpr auto read_move = [](Reader& reader, const PartitionMove& in) {
  flow::PartitionMove out;
  out.at = {TopicName{reader.text(in.topic(), "moves.topic")}, in.partition()};
  out.before = read(reader, in.before());
  out.asked = opt<std::int64_t>(in.asked());
  out.after = read(reader, in.after());
  out.remark = reader.text(in.remark(), "moves.remark");
  return out;
};

constexpr auto read_partition_identity = [](Reader&, const PartitionIdentity& in) {
  return flow::PartitionIdentity{in.partition(), in.start(), in.end(),
                                 opt<std::int64_t>(in.record_offset()),
                                 opt<Instant>(in.record_timestamp_ms())};
};

constexpr auto read_identity = [](Reader& reader, const TopicIdentity& in) {
  return flow::TopicIdentity{TopicName{reader.text(in.topic(), "identities.topic")},
                             reader.each(in.partitions(), read_partition_identity)};
};

flow::GroupResult read(Reader& reader, const Result& in) {
  flow::GroupResult out;
  out.id = reader.id(in.id(), "id");
  out.group = GroupId{reader.text(in.group(), "group")};
  out.leader = LeaderNumber{in.leader()};
  out.moves = reader.each(in.moves(), read_move);
  out.identities = reader.each(in.identities(), read_identity);
  out.failure = reader.text(in.failure(), "failure");
  out.request_digest = reader.text(in.request_digest(), "request_digest");
  return out;
}

constexpr auto read_result = [](Reader& reader, const Result& in) { return read(reader, in); };

flow::Intent read(Reader& reader, const Intent& in) {
  return {reader.id(in.id(), "id"),
          reader.text(in.cluster(), "cluster"),
          reader.text(in.step(), "step"),
          Instant{in.at_ms()},
          reader.each(in.groups(), read_result),
          in.withdrawn()};
}

flow::Done read(Reader& reader, const Done& in) {
  flow::Done out;
  out.id = reader.id(in.id(), "id");
  out.leader = LeaderNumber{in.leader()};
  out.outcome = reader.choice<flow::DoneOutcome>(reader.required(in.outcome(), "outcome"),
                                                 Outcome::MAX, "outcome");
  out.reason = reader.text(in.reason(), "reason");
  out.at = Instant{in.at_ms()};
  out.engine = reader.text(in.engine(), "engine");
  return out;
}

flow::Verified read(Reader& reader, const Verified& in) {
  flow::Verified out;
  out.id = reader.id(in.id(), "id");
  out.group = GroupId{reader.text(in.group(), "group")};
  out.standing = reader.choice<flow::Standing>(reader.required(in.standing(), "standing"),
                                               Standing::MAX, "standing");
  out.last = in.last();
  out.at = Instant{in.at_ms()};
  out.contested = in.contested();
  out.unstable = in.unstable();
  out.members = reader.each(in.members(), read_member);
  out.offsets = reader.each(in.offsets(), read_offset);
  return out;
}

flow::EngineStarted read(Reader& reader, const Engine& in) {
  return {reader.text(in.engine(), "engine"), reader.text(in.host(), "host"),
          reader.text(in.version(), "version"), Instant{in.since_ms()},
          reader.text(in.stop_older_than(), "stop_older_than")};
}

flow::LogBorn read(Reader& reader, const Log& in) {
  return {reader.text(in.birth(), "birth"), Instant{in.at_ms()}};
}

// Reads the body into `record`, and holds what the key names against it.
void read_body(Reader& reader, const Envelope& envelope, const RecordKey& key,
               std::optional<Record>& record) {
  switch (envelope.body_type()) {
    case Body::Request:
      reader.own_id(envelope.body_as_Request()->id());
      record = read(reader, *envelope.body_as_Request());
      return;
    case Body::Cancel:
      reader.own_id(envelope.body_as_Cancel()->id());
      record = read(reader, *envelope.body_as_Cancel());
      return;
    case Body::Guard:
      // A guard record has no id of its own, only its request's.
      if (const auto* request = envelope.body_as_Guard()->request()) {
        reader.own_id(request->id());
      }
      record = read(reader, *envelope.body_as_Guard(), key);
      return;
    case Body::Intent:
      reader.own_id(envelope.body_as_Intent()->id());
      reader.own_name(envelope.body_as_Intent()->cluster(), "cluster");
      record = read(reader, *envelope.body_as_Intent());
      return;
    case Body::Result:
      reader.own_id(envelope.body_as_Result()->id());
      reader.own_name(envelope.body_as_Result()->group(), "group");
      reader.own_leader(envelope.body_as_Result()->leader());
      record = read(reader, *envelope.body_as_Result());
      return;
    case Body::Done:
      reader.own_id(envelope.body_as_Done()->id());
      reader.own_leader(envelope.body_as_Done()->leader());
      record = read(reader, *envelope.body_as_Done());
      return;
    case Body::Verified:
      reader.own_id(envelope.body_as_Verified()->id());
      reader.own_name(envelope.body_as_Verified()->group(), "group");
      record = read(reader, *envelope.body_as_Verified());
      return;
    case Body::Engine:
      record = read(reader, *envelope.body_as_Engine());
      return;
    case Body::Log:
      record = read(reader, *envelope.body_as_Log());
      return;
    case Body::Annotations:
      record = AnnotationsSettled{envelope.body_as_Annotations()->settled(),
                                  Instant{envelope.body_as_Annotations()->at_ms()}};
      return;
    case Body::Savepoint:
    case Body::Step:
    case Body::Schedule:
      reader.fail(Errc::refused, "body_type: this kind is of a newer version of flow");
      return;
    case Body::NONE:
      break;
  }
  reader.fail(Errc::invalid, "body: is missing");
}

// All that must hold before a body is read.
std::optional<Error> envelope_problem(const Envelope& envelope, const RecordKey& key) {
  if (envelope.body_type() > Body::MAX) {
    return error(Errc::refused, "body_type: this kind is of a newer version of flow");
  }
  if (envelope.body_type() == Body::NONE || envelope.body() == nullptr) {
    return error(Errc::invalid, "body: is missing");
  }
  if (envelope.body_type() != body_of(key.kind)) {
    return error(Errc::invalid, "body_type: is not the kind '" + std::string{to_string(key.kind)} +
                                    "' that the key names");
  }
  return std::nullopt;
}

}  // namespace

flow::Result<Record> from_wire(const Envelope& envelope, const RecordKey& key) {
  if (auto problem = envelope_problem(envelope, key)) {
    return *std::move(problem);
  }
  Reader reader{Mode::copy, key};
  std::optional<Record> record;
  read_body(reader, envelope, key, record);
  if (reader.problem) {
    return *std::move(reader.problem);
  }
  FLOW_ASSERT(key_of(*record) == key, encode_key(key));
  return *std::move(record);
}

bool can_read(const Envelope& envelope, const RecordKey& key) {
  if (envelope_problem(envelope, key)) {
    return false;
  }
  Reader reader{Mode::check, key};
  std::optional<Record> record;
  read_body(reader, envelope, key, record);
  return !reader.problem;
}

}  // namespace flow::wire
