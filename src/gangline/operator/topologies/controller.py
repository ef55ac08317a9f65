"""ClusterTopologyBinding → the topology objects of schedulers, made or only compared, and its status.

Runs whether or not sets may use topology. Pure thought: think, tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from gangline.api.grove import ClusterTopologyBinding
from gangline.api.kai import Topology
from gangline.api.kinds import TOPOLOGY, TOPOLOGY_BINDING
from gangline.api.meta import Raw, condition
from gangline.errors import GanglineError
from gangline.operator.act import act
from gangline.operator.operator import Operator
from gangline.operator.plan import with_condition
from gangline.operator.status import status_patch
from gangline.operator.topologies.tell import DRIFT, drift_condition, topology_status
from gangline.operator.topologies.think import TopologyState, think
from gangline.operator.watches import asked_again
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself
from gangline.runtime.clock import timestamp


async def reconcile(op: Operator, ctx: Context, key: Key) -> Again | None:
    binding = ctx.read.get(TOPOLOGY_BINDING, key.name)
    if binding is None or binding.metadata.deleting:
        return None
    plan, founds = think(op, ctx.read, binding)
    failures = await act(ctx, plan)
    if failures:
        founds = [TopologyState(item.scheduler, item.topology, False, str(failures[0])) for item in founds]
    await _tell(ctx, binding, founds, not failures)
    if failures:
        raise GanglineError(str(failures[0]))
    return None


async def _tell(ctx: Context, binding: ClusterTopologyBinding, founds: list[TopologyState], done: bool) -> None:
    now = timestamp(ctx.clock.now())
    drift = drift_condition(founds, binding.metadata.generation)
    new: Raw = {
        "conditions": [with_condition(binding.status.conditions, drift, now)] if drift is not None else [],
        "schedulerTopologyStatuses": [topology_status(item) for item in founds],
        "observedGeneration": binding.metadata.generation if done else binding.status.observed_generation,
    }
    before = condition(binding.status.conditions, DRIFT)
    if drift is not None and (before is None or before.status != drift.status):
        bad = drift.status != "False"
        ctx.events.tell(
            TOPOLOGY_BINDING, binding, "TopologyDriftDetected" if bad else "TopologyInSync", drift.message, warning=bad
        )
    patch = status_patch(TOPOLOGY_BINDING, binding, new)
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
