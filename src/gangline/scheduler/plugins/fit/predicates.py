"""What a node must be for a task: kind of GPUs, free pod slots, ready, tolerated taints, matching affinity, free ports,
reachable volumes.

Before a task is tried on any node, `before_task` asks whether it could run anywhere at all (largest node, config maps,
volumes). Texts are what users search for, so they are upstream's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gangline.errors import Refusal
from gangline.scheduler.matching import node_matches, untolerated
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import CPU, GPU, MEMORY, PODS, Vector, at
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.place import choose_gpus
from gangline.scheduler.placing.storage import Storage
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.plugins.fit.affinity import AffinityCounts, required_counts, required_refusal

if TYPE_CHECKING:
    from gangline.scheduler.session import Session

GPU_WORKER = "node-role.kubernetes.io/gpu-worker"
CPU_WORKER = "node-role.kubernetes.io/cpu-worker"


class PredicatesPlugin(Plugin):
    name = "predicates"

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._session = session
        self._cluster = session.cluster
        self._skips_affinity: set[str] = set()
        self._affinity: tuple[str, AffinityCounts] | None = None
        self._largest: Vector | None = None
        self._invariants: dict[str, list[str]] = {}
        self._fitting_shapes: set[int] = set()
        self._storage = Storage(session)

    # ── before any node ──

    def before_task(self, task: TaskInfo, gang: GangInfo) -> Refusal | None:
        """Run every check that needs no node; all failures are given together."""
        self._prepare_affinity(task)
        problems = self._problems(task)
        if not problems:
            return None
        lines = "".join(f"{problem}.\n" for problem in problems)
        text = f"Scheduling conditions were not met for pod {task.full_name}:\n{lines}"
        return Refusal(self.name, text, resolvable=False)

    def victim_invariant(self, task: TaskInfo, gang: GangInfo) -> Refusal | None:
        """Checks that no eviction can change."""
        problems = self._problems(task)
        return Refusal(self.name, problems[0].partition(": ")[2], resolvable=False) if problems else None

    def _problems(self, task: TaskInfo) -> list[str]:
        """Kept per task; a shape that some node could hold, with nothing else to look up, has none."""
        shape = task.shape
        if shape.plain and shape.number in self._fitting_shapes:
            return []
        invariant = self._invariants.get(task.uid)
        if invariant is None:
            invariant = self._invariants[task.uid] = [
                *self._volume_problems(task),
                *self._size_problems(task),
                *self._map_problems(task),
            ]
        if not invariant and shape.plain:
            self._fitting_shapes.add(shape.number)
        return invariant

    def _volume_problems(self, task: TaskInfo) -> list[str]:
        for name in task.record.volumes:
            claim = self._cluster.volume_claims.get((task.namespace, name))
            if claim is None:
                return [f'VolumeBinding: persistentvolumeclaim "{name}" not found']
            if claim.deleted:
                return [f'VolumeBinding: persistentvolumeclaim "{name}" is being deleted']
            if not claim.bound and not claim.waits:
                return ["VolumeBinding: pod has unbound immediate PersistentVolumeClaims"]
        return []

    def _map_problems(self, task: TaskInfo) -> list[str]:
        maps = self._cluster.config_maps
        missing = [name for name in task.record.config_maps if (task.namespace, name) not in maps]
        return [f"ConfigMap: Missing required configmaps: [{' '.join(missing)}]"] if missing else []

    def _size_problems(self, task: TaskInfo) -> list[str]:
        """A request that is larger than the largest node can never be met."""
        largest = self._largest_node()
        for place in (GPU, CPU, MEMORY, *range(PODS + 1, len(task.request))):
            if task.request[place] > at(largest, place) and (place == GPU or place not in task.backed):
                return [f"MaxNodePoolResources: {self._size_text(task, place, at(largest, place))}"]
        return []

    def _largest_node(self) -> Vector:
        if self._largest is None:
            kept = self._cluster.memo.get("largest offers")
            now = (self._cluster.generation, len(self._cluster.names))
            if kept is None or kept[0] != now:
                rooms = [node.allocatable for node in self._cluster.nodes.values()]
                largest = tuple([max((at(room, place) for room in rooms), default=0) for place in range(now[1])])
                kept = self._cluster.memo["largest offers"] = (now, largest)
            self._largest = kept[1]
        return self._largest

    def _size_text(self, task: TaskInfo, place: int, largest: float) -> str:
        pool = self._session.settings.node_pool or "default"
        word, unit, suffix = _SHOWN.get(place, (self._cluster.names.names[place], 1, ""))
        asks = f"The pod {task.full_name} requires {describe(task)}. "
        if not largest:
            return f"{asks}No node in the {pool} node-pool has {word} resources"
        return (
            f"{asks}Max {word} resources available in a single node in the {pool} node-pool is topped at "
            f"{short(largest / unit)}{suffix}"
        )

    def _prepare_affinity(self, task: TaskInfo) -> None:
        """A task that nobody minds and that minds nobody at its first try is not looked at again in this cycle."""
        record = task.record
        if task.uid in self._skips_affinity:
            return
        if not (record.pod_affinity or record.pod_anti_affinity or self._cluster.shunning):
            self._skips_affinity.add(task.uid)
            return
        counts = required_counts(self._cluster, task)
        if not (record.pod_affinity or record.pod_anti_affinity or counts.shunned):
            self._skips_affinity.add(task.uid)
        else:
            self._affinity = (task.uid, counts)

    # ── on a node ──

    def never(self, task: TaskInfo, node: NodeInfo) -> bool:
        """Refusals that depend on the node itself only."""
        return not node.ready or self._kind(task, node) is not None or self._labels(task, node) is not None

    def predicate(self, task: TaskInfo, node: NodeInfo) -> Refusal | None:
        """All checks in order; the first refusal counts."""
        text = (
            self._kind(task, node)
            or self._memory_known(task, node)
            or self._slots(task, node)
            or (None if node.ready else node.record.ready_reason or "node(s) were not ready")
            or self._ports(task, node)
            or self._labels(task, node)
            or self._affinity_text(task, node)
            or self._volumes(task, node)
        )
        return None if text is None else Refusal(self.name, text)

    def _kind(self, task: TaskInfo, node: NodeInfo) -> str | None:
        """Whole, shared, MIG and DRA GPUs each want their kind of node."""
        mig = task.gpu.kind == "MigInstance"
        if task.gpu.legacy_mig:
            return f"Legacy MIG jobs cannot be scheduled on node {node.name}"
        if not task.needs_gpu:
            return None
        if task.shared and node.dra_gpus:
            return "fractional GPU requests cannot be scheduled on nodes with GPUs managed by DRA"
        if not node.mig_enabled:
            return "MIG job cannot be scheduled on non-MIG node" if mig else None
        if mig and node.legacy_mig:
            names = " ".join(sorted(node.placed[uid].task.full_name for uid in node.legacy_mig))
            return f"MIG job cannot be scheduled on node with legacy MIG jobs: <[{names}]>"
        if node.record.mig_strategy == "single" and task.gpu.kind != "Regular":
            return "only whole gpu jobs can run on a node with MigStrategy='single'"
        if node.record.mig_strategy == "mixed" and not mig:
            return "non MIG jobs cant run on a node with MigStrategy='mixed'"
        return None

    def _memory_known(self, task: TaskInfo, node: NodeInfo) -> str | None:
        if task.gpu.memory > 0 and not node.record.gpu_memory_synced:
            return (
                f"node is not a gpu node or the gpu memory count on the node was not synced yet, task: "
                f"<{task.full_name}>, "
                f"node: <{node.name}>"
            )
        return None

    def _slots(self, task: TaskInfo, node: NodeInfo) -> str | None:
        """A pod needs a slot; opening a device for sharing needs another one, for its reservation."""
        free = node.later[PODS]
        if not task.shared:
            return None if free > 0 else "node(s) pod number exceeded"
        return "node(s) pod number exceeded" if free < 2 and self._opens_device(task, node) else None

    def _opens_device(self, task: TaskInfo, node: NodeInfo) -> bool:
        gpus = choose_gpus(self._session, task, node, simulation=False)
        if gpus is None or gpus[1]:
            gpus = choose_gpus(self._session, task, node, simulation=True)
        return gpus is None or any(not node.shared.used.get(group) for group in gpus[0])

    def _ports(self, task: TaskInfo, node: NodeInfo) -> str | None:
        wanted = task.record.host_ports
        if not wanted:
            return None
        taken = [
            port for placed in node.placed.values() if placed.task is not task for port in placed.task.record.host_ports
        ]
        everywhere = ("", "0.0.0.0")
        clash = any(
            mine.port == other.port
            and mine.protocol == other.protocol
            and (mine.ip == other.ip or mine.ip in everywhere or other.ip in everywhere)
            for mine in wanted
            for other in taken
        )
        return "node(s) didn't have free ports for the requested pod ports" if clash else None

    def _labels(self, task: TaskInfo, node: NodeInfo) -> str | None:
        """Taints, node selector and affinity, worker labels."""
        record = task.record
        if node.record.taints:
            taint = untolerated(node.record.taints, record.tolerations)
            if taint is not None:
                return f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
        if any(node.labels.get(key) != value for key, value in record.node_selector.items()):
            return "node(s) didn't match Pod's node affinity/selector"
        if record.node_affinity is not None and not node_matches(record.node_affinity, node):
            return "node(s) didn't match Pod's node affinity/selector"
        if not self._session.settings.restrict_nodes:
            return None
        kind, label = ("gpu", GPU_WORKER) if task.needs_gpu else ("cpu", CPU_WORKER)
        return (
            None
            if label in node.labels
            else f"{kind} task: <{task.full_name}> can't run on non {kind} nodes, node: <{node.name}>"
        )

    def _affinity_text(self, task: TaskInfo, node: NodeInfo) -> str | None:
        if task.uid in self._skips_affinity:
            return None
        if self._affinity is None or self._affinity[0] != task.uid:
            self._prepare_affinity(task)
            if task.uid in self._skips_affinity or self._affinity is None:
                return None
        return required_refusal(self._affinity[1], task, node)

    def _volumes(self, task: TaskInfo, node: NodeInfo) -> str | None:
        for name in task.record.volumes:
            claim = self._cluster.volume_claims.get((task.namespace, name))
            if claim is not None and claim.nodes is not None and not node_matches(claim.nodes, node):
                return (
                    "node(s) had volume node affinity conflict"
                    if claim.bound
                    else "node(s) did not have enough free storage"
                )
        return None if self._storage.has_room(task, node) else "node(s) did not have enough free storage"

    # ── following allocations ──

    def allocated(self, task: TaskInfo) -> None:
        self._storage.allocated(task)

    def deallocated(self, task: TaskInfo) -> None:
        self._storage.deallocated(task)


_SHOWN = {GPU: ("GPU", 1, ""), CPU: ("CPU", 1000, " cores"), MEMORY: ("memory", 1e9, " GB")}


def short(number: float) -> str:
    """At most three decimals, no trailing zeros."""
    return f"{number:.3f}".rstrip("0").rstrip(".")


def describe(task: TaskInfo) -> str:
    """What the task asks for, in words."""
    cpu, memory = short(task.request[CPU] / 1000), short(task.request[MEMORY] / 1e9)
    return f"GPU: {short(task.quota_gpus)}, CPU: {cpu} (cores), memory: {memory} (GB)"
