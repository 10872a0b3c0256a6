#pragma once

#include <array>
#include <string_view>

// Named places at which a test build can be killed, stopped or slowed. The product links the empty
// implementation (fail_point_off.cc), the binary flow-faulty the other one (fail_point_on.cc),
// which reads FLOW_FAIL_POINT="<name>=<action>[@<nth hit>]" with the actions kill (SIGKILL to
// itself), stop (SIGSTOP to itself) and sleep:<ms>.
namespace flow {

inline constexpr std::array<std::string_view, 20> fail_point_names{
    "engine-record-committed",  // after the engine record's transaction, before it came back
    "before-look",              // design 1, step 1
    "after-look",               // steps 1 and 2 done
    "before-begin",             // step 3
    "after-begin",              // a transaction is open, nothing in it
    "after-produce",            // records handed over
    "after-delivery",           // records delivered
    "between-groups",           // offsets of the first group sent, of the next not
    "after-offsets",            // step 4: offsets sent
    "after-reread",             // befores read again
    "before-commit",            // step 5
    "after-commit",             // committed, nothing else done
    "before-read-back",         // step 6
    "after-read-back",          // step 6 done
    "before-verified",          // before the verified record's transaction
    "after-verified",           // after it
    "held-before-join",         // held mode: before joining
    "held-joined",              // every group is ours
    "held-before-leave",        // about to leave
    "held-left",                // left
};

// Called by the engine and the Kafka connector where the name says. `name` is one of
// fail_point_names.
void fail_point(std::string_view name);

}  // namespace flow
