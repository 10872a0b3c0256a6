#include <algorithm>

#include "schemas/codec.h"
#include "tests/sim/actors.h"
#include "tests/sim/world.h"
#include "tests/support/builders.h"

namespace flow::sim {
namespace {

// Not in the order in which they are asked: ties of asked-at are broken by the id.
RequestId id_number(int number) { return test::id_of((number * 37) % 101 + 1); }

}  // namespace

void Actors::plan_requests() {
  auto& random = world_.clock.random();
  for (int number = 1; number <= world_.plan.requests; ++number) {
    const Micros latest = std::max(world_.plan.active - 1 * seconds, 1 * seconds);
    later(0, latest, [this, number] { ask(draw_request(number)); });
    if (random.chance(30)) {
      // Several come together.
      const Micros at = random.between(0, latest);
      later(at, at + 50 * ms, [this, number] { ask(draw_request(number + 20)); });
    }
  }
}

Request Actors::draw_request(int number) {
  auto& random = world_.clock.random();
  Request request;
  request.id = id_number(number);
  const Instant now = world_.clock.instant();
  if (random.chance(80)) {
    request.asked_at = now + Duration{-random.between(0, 3) * 1'000};
  }
  request.asked_by = "somebody";
  if (random.chance(20)) {
    request.namespace_name = "shop";
    request.pipeline = "cart";
    if (random.chance(50)) {
      request.streamlets = {random.chance(50) ? "router" : "sink"};
    }
  } else {
    auto groups = geography::groups;
    random.shuffle(groups);
    groups.resize(static_cast<std::size_t>(random.between(1, 3)));
    request.groups = groups;
    request.topics = {{TopicName{"orders"}, {}}};
    if (random.chance(20)) {
      request.topics.front().partitions = {0, 2};
    }
    if (random.chance(20)) {
      request.topics.push_back({TopicName{"stock"}, {}});
    }
  }
  request.options.hold = random.chance(!world_.plan.checks_guard ? 80 : 20);
  request.options.atomic = random.chance(15);
  request.options.create_group = random.chance(20);
  if (random.chance(15)) {
    request.expires_at = now + Duration{random.between(500, 15'000)};
  } else if (random.chance(20)) {
    request.never_expires = true;
  }
  if (!world_.plan.checks_guard && !request.options.hold) {
    // Nothing but its expiry ends one that this broker does not let be carried out.
    request.expires_at = now + Duration{random.between(500, 15'000)};
    request.never_expires = false;
  }
  if (world_.plan.odd_requests && random.chance(50)) {
    make_odd(request);
  }
  return request;
}

void Actors::make_odd(Request& request) {
  auto& random = world_.clock.random();
  const bool by_groups = request.pipeline.empty();
  switch (random.below(8)) {
    case 0:
      request.position.kind = PositionKind::latest;  // not yet
      request.expires_at = world_.clock.instant() + Duration{random.between(500, 15'000)};
      request.never_expires = false;
      break;
    case 1:
      request.topics.clear();
      request.groups = {GroupId{"g0"}};
      break;
    case 2:
      request = Request{request.id, {}, {}, {}, "shop", "unknown", {}, {}, {}, {}, {}, {}, {}};
      break;
    case 3:
      request.streamlets = {"source", "router"};
      break;
    case 4:
      if (by_groups) {
        request.groups.push_back(geography::share_group);
        request.options.create_group = random.chance(70);
      }
      break;
    case 5:
      if (by_groups) {
        request.groups.push_back(geography::secret_group);
      }
      break;
    case 6:
      if (by_groups) {
        request.groups.push_back(geography::new_group);
      }
      break;
    case 7:
      if (by_groups) {
        request.topics = {{TopicName{"nowhere"}, {}}};
      }
      break;
  }
}

void Actors::ask(const Request& request) {
  auto& random = world_.clock.random();
  asked_.insert_or_assign(request.id, request);
  if (world_.plan.bad_records && random.chance(10)) {
    append(port::EncodedRecord{encode_key(key_of(request)), random.bytes(20)});
  } else if (random.chance(20)) {
    append(port::EncodedRecord{encode_key(key_of(request)), to_json(request)});
  } else {
    append(request);
  }
  if (random.chance(15)) {
    later(0, 5 * seconds, [this, id = request.id] {
      append(Cancel{id, world_.clock.instant(), "somebody else"});
    });
  }
  if (world_.plan.repeats) {
    const auto times = random.below(3);
    for (std::uint64_t i = 0; i < times; ++i) {
      later(0, 6 * seconds, [this, request] { repeat(request); });
    }
  }
}

// The same again, or other content under the same id.
void Actors::repeat(const Request& request) {
  auto& random = world_.clock.random();
  Request again = request;
  if (random.chance(50)) {
    auto groups = geography::groups;
    random.shuffle(groups);
    groups.resize(static_cast<std::size_t>(random.between(1, 2)));
    if (again.pipeline.empty()) {
      again.groups = groups;
    } else {
      again.options.atomic = !again.options.atomic;
    }
  } else if (random.chance(50)) {
    again.asked_at = world_.clock.instant();
    again.asked_by = "somebody else";
  }
  append(again);
}

void Actors::append_rubbish() {
  auto& random = world_.clock.random();
  const auto id = id_number(static_cast<int>(random.between(50, 60)));
  switch (random.below(5)) {
    case 0:
      append(port::EncodedRecord{random.bytes(random.below(50)), random.bytes(random.below(100))});
      break;
    case 1:
      append(port::EncodedRecord{id.value() + "/request", random.bytes(random.below(50))});
      break;
    case 2:
      append(port::EncodedRecord{id.value() + "/verified/g0", random.bytes(5)});
      break;
    case 3:
      append(port::EncodedRecord{"engine", random.bytes(8)});
      break;
    case 4:
      append(Cancel{id, {}, {}});
      break;
  }
}

void Actors::on_transaction(const Transaction& transaction) {
  if (ended_) {
    return;
  }
  for (const auto& written : transaction.records) {
    const auto key = decode_key(written.record.key);
    if (!key || key->kind != Kind::done) {
      continue;
    }
    const auto asked = asked_.find(key->id);
    if (asked != asked_.end() && world_.plan.repeats && world_.clock.random().chance(50)) {
      later(0, 8 * seconds, [this, request = asked->second] { repeat(request); });
    }
    if (world_.plan.meddling && world_.clock.random().chance(50)) {
      later(2 * seconds, 10 * seconds, [this, id = key->id] { meddle(id); });
    }
  }
}

// Tombstones and rubbish over keys of a request that is done. Its guard record or its done is never
// erased together with the other: nobody could know then that it ever was.
void Actors::meddle(const RequestId& id) {
  auto& random = world_.clock.random();
  world_.checker.on_meddled(id);
  bool erased_end = false;
  auto keys = world_.checker.keys_of(id);
  keys.insert(id.value() + "/request");
  for (const auto& key : keys) {
    const auto kind = decode_key(key)->kind;
    const bool ends = kind == Kind::guard || kind == Kind::done;
    if (!random.chance(40)) {
      continue;
    }
    const bool erases = random.chance(50) && !(ends && erased_end);
    erased_end = erased_end || (ends && erases);
    append(port::EncodedRecord{
        key, erases ? std::nullopt : std::optional{random.bytes(random.below(30))}});
  }
}

}  // namespace flow::sim
