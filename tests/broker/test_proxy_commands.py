"""Commands that reach the broker through the proxy, while the engine reaches it directly."""
import itertools
import uuid

import pytest

from support.flow import Flow
from support.proxy import Api, How, Side
from support.scenario import check_moved_once, reset_arguments

STRIKES = list(itertools.product(Side, [How.CUT, How.TORN, How.SLOW, How.HALF_OPEN]))


@pytest.mark.parametrize("api", [Api.METADATA, Api.DESCRIBE_CONFIGS, Api.LIST_OFFSETS, Api.FETCH, Api.PRODUCE,
                                 Api.FIND_COORDINATOR, Api.DESCRIBE_GROUPS, Api.OFFSET_FETCH],
                         ids=lambda api: api.name.lower())
def test_trouble_at_a_request_of_a_command(api, world, flow, control, orders, engine, proxy, rng, scaled):
    """A command ends with its word, and the same one with the same id ends well; nothing is asked twice."""
    command = Flow(proxy.address, flow.control_topic, flow.home)
    for side, how in rng.sample(STRIKES, scaled(4)):
        group, request = orders.group(), str(uuid.uuid4())
        reset = reset_arguments([group], orders.topic, "--id", request, "--wait")
        for arguments in (reset, rng.choice([["history", request], ["status"], ["cancel", request]])):
            proxy.arm(api, side, how)
            done = command.run(*arguments, timeout_s=60)
            assert done.code in ((1, 2) if arguments[0] == "cancel" else (0, 2)), (side, how, arguments, done)
            assert done.code == 0 or done.err, (side, how, arguments)
            assert flow.run(*reset).code == 0, (side, how)
        assert len(control.facts(request, "request")) == 1, (side, how)
        check_moved_once(world, control, request, [group], orders, may_repeat=True)
