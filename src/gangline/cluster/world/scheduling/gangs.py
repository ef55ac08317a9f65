"""Which pods start together: the units that place.py is given, from the Workload API in whichever generation the server
has.

1.35: a pod names a Workload and one of its pod groups. 1.36 and 1.37: it names a PodGroup. In 1.37 that may be a leaf
of a tree of CompositePodGroups, and the whole tree is one unit. Pure: objects are read from what scheduler.py follows;
nothing is placed here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gangline.api.builtin import Untyped
from gangline.api.core import Pod
from gangline.api.kinds import COMPOSITE_POD_GROUP, KUBE_POD_GROUP, KUBE_POD_GROUP_V1ALPHA2, WORKLOAD, Kind
from gangline.api.meta import Object, Raw
from gangline.cluster.world.scheduling.place import PodUnit

if TYPE_CHECKING:
    from gangline.runtime import Reader

KINDS: tuple[Kind[Any], ...] = (WORKLOAD, KUBE_POD_GROUP, KUBE_POD_GROUP_V1ALPHA2, COMPOSITE_POD_GROUP)
"""What says which pods are a gang, in all generations."""
BY_PARENT = "parent"


def group_name(pod: Pod) -> str:
    """The PodGroup that a pod names; empty: none."""
    return str((pod.spec.scheduling_group or {}).get("podGroupName") or "")


def gang_key(pod: Pod) -> str:
    """Pods with the same key are one gang, or one group of it; empty: the pod stands for itself."""
    link = pod.spec.workload_ref
    if link:
        return "/".join(
            (pod.namespace, str(link.get("name")), str(link.get("podGroup")), str(link.get("podGroupReplicaKey") or ""))
        )
    group = group_name(pod)
    return f"{pod.namespace}/{group}" if group else ""


def minimum(pod: Pod, workload: Sequence[Raw] | None) -> tuple[int, str]:
    """How many pods the gang needs by the pod groups of its Workload, or why that is not known yet."""
    link: Mapping[str, Any] = pod.spec.workload_ref or {}
    if workload is None:
        return 0, f"waiting for Workload {link.get('name')}"
    group = next((item for item in workload if item.get("name") == link.get("podGroup")), None)
    if group is None:
        return 0, f"waiting for pod group {link.get('podGroup')} of Workload {link.get('name')}"
    gang = (group.get("policy") or {}).get("gang")
    return (int(gang["minCount"]) if gang else 1), ""


def needs(group: Untyped) -> int:
    """How many pods a PodGroup needs, or how many of its children a CompositePodGroup; one, where it says no number."""
    gang = ((group.spec or {}).get("schedulingPolicy") or {}).get("gang") or {}
    return int(gang.get("minCount") or gang.get("minGroupCount") or 1)


def level(group: Untyped) -> str:
    """The label of nodes that all pods of the group must agree in; empty: they may go anywhere."""
    topology = ((group.spec or {}).get("schedulingConstraints") or {}).get("topology") or ()
    return str(topology[0].get("key") or "") if topology else ""


def parent(group: Untyped) -> str:
    return str((group.spec or {}).get("parentCompositePodGroupName") or "")


def by_parent(group: Untyped) -> list[str]:
    return [f"{group.namespace}/{parent(group)}"] if parent(group) else []


@dataclass(frozen=True, slots=True)
class WorkloadGangs:
    """The objects that say what a gang is, and where pods of gangs are already."""

    read: Reader
    followed: frozenset[Kind[Any]]
    """Of KINDS, those that the server has."""
    nodes: Callable[[str], tuple[str, ...]]
    """Key of a gang → a node for each of its pods that has one."""

    def units(self, pods: Iterable[Pod]) -> list[PodUnit]:
        """The units of these waiting pods, in the order of their first pods."""
        waiting: dict[str, list[Pod]] = {}
        for pod in pods:
            waiting.setdefault(gang_key(pod) or f"pod {pod.namespace}/{pod.name}", []).append(pod)
        units: list[PodUnit] = []
        covered: dict[str, None] = {}
        for key, members in waiting.items():
            if key not in covered:
                units.append(self._unit(key, members, waiting))
                covered |= dict.fromkeys(gang_key(pod) for pod in units[-1].all_pods())
        return units

    @property
    def kind(self) -> Kind[Untyped] | None:
        """The kind of PodGroup that pods name here."""
        return next((kind for kind in (KUBE_POD_GROUP, KUBE_POD_GROUP_V1ALPHA2) if kind in self.followed), None)

    def group(self, namespace: str, name: str) -> Untyped | None:
        return self.read.get(self.kind, name, namespace) if self.kind is not None else None

    def _unit(self, key: str, pods: list[Pod], waiting: Mapping[str, list[Pod]]) -> PodUnit:
        first = pods[0]
        if first.spec.workload_ref:
            return self._of_workload(key, pods)
        name = group_name(first)
        if not name:
            return PodUnit(key, tuple(pods))
        group = self.group(first.namespace, name)
        if group is None:
            return PodUnit(key, tuple(pods), hold=f"waiting for PodGroup {name}")
        root, hold = self._root(group)
        if hold:
            return PodUnit(key, tuple(pods), hold=hold)
        return self._leaf(group, waiting) if root is None else self._tree(root, waiting)

    def _of_workload(self, key: str, pods: list[Pod]) -> PodUnit:
        first = pods[0]
        name = str((first.spec.workload_ref or {}).get("name"))
        workload = self.read.get(WORKLOAD, name, first.namespace) if WORKLOAD in self.followed else None
        least, hold = minimum(first, workload.spec.pod_groups if workload is not None else None)
        return PodUnit(key, tuple(pods), least - len(self.nodes(key)), hold)

    def _root(self, group: Untyped) -> tuple[Untyped | None, str]:
        """The composite at the top of a group's tree, or why it is not known; None: the group stands alone."""
        top: Untyped | None = None
        seen: list[str] = []
        name = parent(group) if COMPOSITE_POD_GROUP in self.followed else ""
        while name:
            if name in seen:
                return None, f"CompositePodGroup {name} is above itself"
            seen.append(name)
            top = self.read.get(COMPOSITE_POD_GROUP, name, group.namespace)
            if top is None:
                return None, f"waiting for CompositePodGroup {name}"
            name = parent(top)
        return top, ""

    def _leaf(self, group: Untyped, waiting: Mapping[str, list[Pod]], noun: str = "gang") -> PodUnit:
        key = f"{group.namespace}/{group.name}"
        taken = self.nodes(key)
        return PodUnit(
            key,
            tuple(waiting.get(key, ())),
            needs(group) - len(taken),
            level=level(group),
            taken=taken,
            called=f"{noun} {key}",
        )

    def _tree(self, top: Untyped, waiting: Mapping[str, list[Pod]], noun: str = "gang") -> PodUnit:
        key = f"{top.namespace}/{top.name}"
        parts = [self._tree(child, waiting, "group") for child in self._children(COMPOSITE_POD_GROUP, key)]
        parts += [self._leaf(child, waiting, "group") for child in self._children(KUBE_POD_GROUP, key)]
        taken = tuple(node for part in parts for node in part.taken)
        return PodUnit(
            f"tree {key}", (), needs(top), parts=tuple(parts), level=level(top), taken=taken, called=f"{noun} {key}"
        )

    def _children(self, kind: Kind[Untyped], key: str) -> list[Untyped]:
        return sorted(self.read.by(kind, BY_PARENT, key), key=_name) if kind in self.followed else []


def _name(obj: Object) -> str:
    return obj.name
