"""ClusterTopologyBinding → the topology object of each scheduler that knows topology, as it is and as it should be.

A binding without an entry for a scheduler is ours: its topology object is made, and made anew when the levels change
(they cannot be changed there). With an entry it is only compared. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gangline.api.grove import BackendTopology, ClusterTopologyBinding
from gangline.api.kai import Topology
from gangline.api.kinds import TOPOLOGY, TOPOLOGY_BINDING, reference
from gangline.api.meta import Raw
from gangline.operator.plan import Create, Step, WritePlan, delete

if TYPE_CHECKING:
    from gangline.operator.operator import Operator
    from gangline.runtime import Reader


@dataclass(frozen=True, slots=True)
class TopologyState:
    """One scheduler's topology, seen from a binding."""

    scheduler: str
    topology: str
    in_sync: bool
    message: str = ""
    generation: int | None = None
    known: bool = True
    """False: the entry names a scheduler that does not know topology."""


def schedulers(op: Operator) -> list[str]:
    """Profiles whose backend knows topology, by name."""
    return sorted(
        profile.name
        for profile in op.settings.profiles
        if op.registry.for_scheduler(profile.name).backend.capabilities.topology
    )


def think(
    op: Operator, read: Reader, binding: ClusterTopologyBinding, served: bool
) -> tuple[WritePlan, list[TopologyState]]:
    """The plan, and the topology of each scheduler; `served`: whether the cluster has topology objects at all."""
    plan, states = WritePlan(), list[TopologyState]()
    entries = {entry.scheduler_name: entry for entry in binding.spec.scheduler_topology_bindings}
    for scheduler in schedulers(op):
        entry = entries.pop(scheduler, None)
        if entry is not None:
            states.append(compare(binding, entry, read.get(TOPOLOGY, entry.topology_reference)))
        elif served:
            step, seen = keep(binding, scheduler, read.get(TOPOLOGY, binding.name))
            plan.stage(step)
            states.append(seen)
    states += [
        TopologyState(
            entry.scheduler_name,
            entry.topology_reference,
            False,
            f"{entry.scheduler_name} does not know topology",
            known=False,
        )
        for entry in entries.values()
    ]
    return plan, states


def wanted(binding: ClusterTopologyBinding) -> Raw:
    return {
        "metadata": {"name": binding.name, "ownerReferences": [reference(TOPOLOGY_BINDING, binding)]},
        "spec": {"levels": [{"nodeLabel": level.key} for level in binding.spec.levels]},
    }


def _same_levels(binding: ClusterTopologyBinding, topology: Topology) -> bool:
    return [level.node_label for level in topology.spec.levels] == [level.key for level in binding.spec.levels]


def keep(binding: ClusterTopologyBinding, scheduler: str, live: Topology | None) -> tuple[list[Step], TopologyState]:
    """A topology of our own: made where missing, removed where its levels differ (and then made again)."""
    fine = TopologyState(scheduler, binding.name, True)
    if live is None:
        return [Create(TOPOLOGY, wanted(binding))], fine
    if all(owner.uid != binding.uid for owner in live.metadata.owner_references):
        if (
            live.metadata.owner_references
            and live.metadata.controller
            and live.metadata.controller.name == binding.name
        ):
            return [], TopologyState(
                scheduler, binding.name, False, f"Topology {live.name} of an earlier binding is being removed"
            )
        return [], TopologyState(
            scheduler,
            binding.name,
            False,
            f"Topology {live.name} belongs to someone else; name it in schedulerTopologyBindings to use it",
        )
    if live.metadata.deleting or _same_levels(binding, live):
        return [], fine
    return [delete(TOPOLOGY, live)], fine


def compare(binding: ClusterTopologyBinding, entry: BackendTopology, live: Topology | None) -> TopologyState:
    if live is None:
        return TopologyState(
            entry.scheduler_name, entry.topology_reference, False, f"Topology {entry.topology_reference} does not exist"
        )
    same = _same_levels(binding, live)
    return TopologyState(
        entry.scheduler_name,
        entry.topology_reference,
        same,
        "" if same else "its levels differ from the binding's",
        live.metadata.generation,
    )
