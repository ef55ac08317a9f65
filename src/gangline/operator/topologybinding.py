"""ClusterTopologyBinding → the topology object of each scheduler that knows topology, or a look at one that others
manage.

A binding without an entry for a scheduler is ours: its topology object is made, and made anew when the levels change
(they cannot be changed there). With an entry it is only compared. Runs whether or not sets may use topology.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from gangline.api.grove import BackendTopology, ClusterTopologyBinding
from gangline.api.kai import Topology
from gangline.api.kinds import TOPOLOGY, TOPOLOGY_BINDING, reference
from gangline.api.meta import Condition, Raw, condition
from gangline.errors import GanglineError
from gangline.operator.act import act
from gangline.operator.look import Operator, asked_again, served
from gangline.operator.plan import Create, Step, WritePlan, delete, with_condition
from gangline.operator.tell import status_patch
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself
from gangline.runtime.clock import timestamp

DRIFT = "SchedulerTopologyDrift"


@dataclass(frozen=True, slots=True)
class Found:
    """One scheduler's topology, seen from a binding."""

    scheduler: str
    topology: str
    in_sync: bool
    message: str = ""
    generation: int | None = None
    known: bool = True
    """False: the entry names a scheduler that does not know topology."""


async def reconcile(op: Operator, ctx: Context, key: Key) -> Again | None:
    binding = ctx.read.get(TOPOLOGY_BINDING, key.name)
    if binding is None or binding.metadata.deleting:
        return None
    plan, founds = think(op, ctx.read, binding)
    failures = await act(ctx, plan)
    if failures:
        founds = [Found(item.scheduler, item.topology, False, str(failures[0])) for item in founds]
    await _tell(ctx, binding, founds, not failures)
    if failures:
        raise GanglineError(str(failures[0]))
    return None


def schedulers(op: Operator) -> list[str]:
    """Profiles whose backend knows topology, by name."""
    return sorted(
        profile.name
        for profile in op.settings.profiles
        if op.registry.for_scheduler(profile.name).backend.capabilities.topology
    )


def think(op: Operator, read: Reader, binding: ClusterTopologyBinding) -> tuple[WritePlan, list[Found]]:
    plan, found = WritePlan(), list[Found]()
    entries = {entry.scheduler_name: entry for entry in binding.spec.scheduler_topology_bindings}
    for scheduler in schedulers(op):
        entry = entries.pop(scheduler, None)
        if entry is not None:
            found.append(compare(binding, entry, read.get(TOPOLOGY, entry.topology_reference)))
        elif served(read, TOPOLOGY):
            step, seen = keep(binding, scheduler, read.get(TOPOLOGY, binding.name))
            plan.stage(step)
            found.append(seen)
    found += [
        Found(
            entry.scheduler_name,
            entry.topology_reference,
            False,
            f"{entry.scheduler_name} does not know topology",
            known=False,
        )
        for entry in entries.values()
    ]
    return plan, found


def wanted(binding: ClusterTopologyBinding) -> Raw:
    return {
        "metadata": {"name": binding.name, "ownerReferences": [reference(TOPOLOGY_BINDING, binding)]},
        "spec": {"levels": [{"nodeLabel": level.key} for level in binding.spec.levels]},
    }


def _same(binding: ClusterTopologyBinding, topology: Topology) -> bool:
    return [level.node_label for level in topology.spec.levels] == [level.key for level in binding.spec.levels]


def keep(binding: ClusterTopologyBinding, scheduler: str, live: Topology | None) -> tuple[list[Step], Found]:
    """A topology of our own: made where missing, removed where its levels differ (and then made again)."""
    fine = Found(scheduler, binding.name, True)
    if live is None:
        return [Create(TOPOLOGY, wanted(binding))], fine
    if all(owner.uid != binding.uid for owner in live.metadata.owner_references):
        if (
            live.metadata.owner_references
            and live.metadata.controller
            and live.metadata.controller.name == binding.name
        ):
            return [], Found(
                scheduler, binding.name, False, f"Topology {live.name} of an earlier binding is being removed"
            )
        return [], Found(
            scheduler,
            binding.name,
            False,
            f"Topology {live.name} belongs to someone else; name it in schedulerTopologyBindings to use it",
        )
    if live.metadata.deleting or _same(binding, live):
        return [], fine
    return [delete(TOPOLOGY, live)], fine


def compare(binding: ClusterTopologyBinding, entry: BackendTopology, live: Topology | None) -> Found:
    if live is None:
        return Found(
            entry.scheduler_name, entry.topology_reference, False, f"Topology {entry.topology_reference} does not exist"
        )
    same = _same(binding, live)
    return Found(
        entry.scheduler_name,
        entry.topology_reference,
        same,
        "" if same else "its levels differ from the binding's",
        live.metadata.generation,
    )


async def _tell(ctx: Context, binding: ClusterTopologyBinding, founds: list[Found], done: bool) -> None:
    now = timestamp(ctx.clock.now())
    drift = _drift(founds, binding.metadata.generation)
    new: Raw = {
        "conditions": [with_condition(binding.status.conditions, drift, now)] if drift is not None else [],
        "schedulerTopologyStatuses": [_status(item) for item in founds],
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


def _status(found: Found) -> Raw:
    status: Raw = {"schedulerName": found.scheduler, "topologyReference": found.topology, "inSync": found.in_sync}
    if found.message:
        status["message"] = found.message
    return status | (
        {"schedulerBackendTopologyObservedGeneration": found.generation} if found.generation is not None else {}
    )


def _drift(founds: list[Found], generation: int) -> Condition | None:
    def answer(status: str, reason: str, message: str) -> Condition:
        return Condition(type=DRIFT, status=status, reason=reason, message=message, observed_generation=generation)

    if not founds:
        return None
    unknown = [item for item in founds if not item.known]
    if unknown:
        return answer("Unknown", "TopologyNotFound", unknown[0].message)
    bad = [item for item in founds if not item.in_sync]
    if bad:
        return answer("True", "Drift", "; ".join(f"{item.scheduler}: {item.message}" for item in bad))
    return answer("False", "InSync", "every scheduler's topology has the binding's levels")


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
