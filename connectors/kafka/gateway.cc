#include "connectors/kafka/gateway.h"

#include <utility>

#include "connectors/kafka/group_look.h"
#include "connectors/kafka/hold.h"
#include "engine/ports/fail_point.h"

namespace flow::kafka {

using boost::asio::awaitable;

namespace {

const Duration observe_max{10'000};
const Duration hold_max{30'000};
const Duration release_max{5'000};

}  // namespace

awaitable<Result<port::Observation>> KafkaGroups::observe(port::ObserveRequest request) {
  auto work = [connection = shared_->lookups(), request = std::move(request)] {
    return look_at_groups(*connection, request, Deadline{observe_max});
  };
  co_return co_await run_blocking(*shared_->pool, std::move(work));
}

awaitable<Result<std::shared_ptr<port::Hold>>> KafkaGroups::hold(
    std::vector<port::GroupQuery> groups) {
  fail_point("held-before-join");
  auto work = [config = shared_->config,
               client_id = std::string{holder_client_id} + shared_->topic.value(),
               lookups = shared_->lookups(), groups = std::move(groups), pool = shared_->pool] {
    return GroupHold::join(config, client_id, *lookups, groups, pool, Deadline{hold_max});
  };
  auto held = co_await run_blocking(*shared_->pool, std::move(work));
  if (!held) {
    co_return held.error();
  }
  fail_point("held-joined");
  co_return std::shared_ptr<port::Hold>{std::move(held.value())};
}

awaitable<void> KafkaGroups::release(std::shared_ptr<port::Hold> hold) {
  auto groups = std::dynamic_pointer_cast<GroupHold>(std::move(hold));
  FLOW_ASSERT(groups != nullptr, "a hold of another connector");
  fail_point("held-before-leave");
  auto work = [groups = std::move(groups)] {
    groups->leave(Deadline{release_max});
    return true;
  };
  co_await run_blocking(*shared_->pool, std::move(work));
  fail_point("held-left");
}

}  // namespace flow::kafka
