#pragma once

#include <boost/asio/awaitable.hpp>

#include "engine/ports/values.h"

namespace flow::port {

// Consumer groups of the control topic's cluster. Calls may run side by side, from the loop thread.
class GroupGateway {
 public:
  virtual ~GroupGateway() = default;

  // Looks at groups, their offsets on the selected partitions and those partitions' bounds; changes
  // nothing. What goes wrong with one group stands in its view; an error is returned only where
  // nothing could be seen at all (Errc::unreachable). Within 10 s.
  virtual boost::asio::awaitable<Result<Observation>> observe(ObserveRequest request) = 0;

  // Joins every group as its only member, with all partitions, paused. Takes the broker's
  // group.initial.rebalance.delay.ms, all groups side by side; gives up after 30 s.
  // Errc::retriable: somebody else is or came in; Errc::refused: one of them can never be held (no
  // consumer group, not authorised). The hold ends with release or with its last owner.
  virtual boost::asio::awaitable<Result<std::shared_ptr<Hold>>> hold(
      std::vector<GroupQuery> groups) = 0;

  // Leaves the groups. Within 5 s.
  virtual boost::asio::awaitable<void> release(std::shared_ptr<Hold> hold) = 0;
};

}  // namespace flow::port
