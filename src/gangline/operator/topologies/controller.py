"""ClusterTopologyBinding → the topology objects of schedulers, made or only compared, and its status.

Runs whether or not sets may use topology. Pure thought: think, tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from gangline.api.grove import ClusterTopologyBinding
from gangline.api.kai import Topology
from gangline.api.kinds import TOPOLOGY, TOPOLOGY_BINDING
from gangline.errors import GanglineError
from gangline.operator.act import act, tell_events
from gangline.operator.operator import Operator
from gangline.operator.status import status_patch
from gangline.operator.topologies.tell import events_of, status_after
from gangline.operator.topologies.think import TopologyState, think
from gangline.operator.watches import asked_again, served
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself
from gangline.runtime.clock import timestamp


async def reconcile(op: Operator, ctx: Context, key: Key) -> Again | None:
    binding = ctx.read.get(TOPOLOGY_BINDING, key.name)
    if binding is None or binding.metadata.deleting:
        return None
    plan, states = think(op, ctx.read, binding, served(ctx.read, TOPOLOGY))
    failures = await act(ctx, plan)
    if failures:
        states = [TopologyState(state.scheduler, state.topology, False, str(failures[0])) for state in states]
    await _tell(ctx, binding, states, not failures)
    if failures:
        raise GanglineError(str(failures[0]))
    return None


async def _tell(ctx: Context, binding: ClusterTopologyBinding, states: list[TopologyState], done: bool) -> None:
    new = status_after(binding, states, done, timestamp(ctx.clock.now()))
    tell_events(ctx, events_of(binding, states))
    patch = status_patch(binding, new)
    if patch is not None:
        await ctx.client.patch(TOPOLOGY_BINDING, binding.name, "", patch, subresource="status")


def _bindings(topology: Topology, read: Reader) -> Iterable[Key]:
    """Bindings that own a topology or refer to it."""
    owners = [
        Key("", owner.name) for owner in topology.metadata.owner_references if owner.kind == TOPOLOGY_BINDING.kind
    ]
    return [
        *owners,
        *(
            Key("", binding.name)
            for binding in read.list(TOPOLOGY_BINDING)
            if any(entry.topology_reference == topology.name for entry in binding.spec.scheduler_topology_bindings)
            or binding.name == topology.name
        ),
    ]


def controller(op: Operator) -> Controller:
    return Controller(
        "topologybinding",
        partial(reconcile, op),
        (Watch(TOPOLOGY_BINDING, itself, asked_again), Watch(TOPOLOGY, _bindings, asked_again)),
        workers=1,
        started=op.running.append,
    )
