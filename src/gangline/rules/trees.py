"""A PodCliqueSet as a tree: set → scaling groups → cliques → pods, with the state of each.

`gangline tree` draws it as lines and the dashboard as a list. Pure: the caller hands the objects in. Never reads
a cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang
from gangline.api.meta import Object, condition

T = TypeVar("T", bound=Object)
SCALED = "scaling group"
Pods = dict[str, list[Pod]]
"""Pods by the name of their clique."""


class Branch(msgspec.Struct, frozen=True):
    """One thing and all that is below it."""

    kind: str
    """set, scaling group, clique, group or pod."""
    name: str
    state: str
    node: str = ""
    """Where it is, if it is a pod that has a node."""
    below: tuple[Branch, ...] = ()

    @property
    def text(self) -> str:
        what = "scaling group, " if self.kind == SCALED else ""
        return f"{self.name}  {what}{self.state}" + (f" on {self.node}" if self.node else "")


def of_set(
    pcs: PodCliqueSet,
    gangs: Sequence[PodGang],
    groups: Iterable[PodCliqueScalingGroup],
    cliques: Sequence[PodClique],
    pods: Iterable[Pod],
) -> Branch:
    """The tree of a set, or of that part of it whose objects are given."""
    mine: Pods = defaultdict(list)
    for pod in pods:
        mine[pod.labels.get(names.POD_CLIQUE, "")].append(pod)
    below = [_clique(clique, mine) for clique in cliques if names.SCALING_GROUP not in clique.labels]
    below += [_group(group, cliques, mine) for group in groups]
    phases = ", ".join(f"{gang.name} {gang.status.phase or 'Pending'}" for gang in _sorted(gangs)) or "none yet"
    state = f"{pcs.status.available_replicas}/{pcs.spec.replicas} available; gangs: {phases}"
    state += "".join(f"; {error.description}" for error in pcs.status.last_errors)
    return Branch("set", pcs.name, state, below=tuple(sorted(below, key=lambda item: item.name)))


def _group(group: PodCliqueScalingGroup, cliques: Iterable[PodClique], pods: Pods) -> Branch:
    members = [clique for clique in cliques if clique.labels.get(names.SCALING_GROUP) == group.name]
    state = f"{group.status.available_replicas}/{group.spec.replicas} available"
    return Branch(SCALED, group.name, state, below=tuple(_clique(item, pods) for item in _sorted(members)))


def _clique(clique: PodClique, pods: Pods) -> Branch:
    minimum = clique.spec.min_available if clique.spec.min_available is not None else clique.spec.replicas
    state = f"{clique.status.ready_replicas}/{clique.spec.replicas} ready, minimum {minimum}"
    fallen = condition(clique.status.conditions, "PodsFailed")
    state += f"; {fallen.message}" if fallen is not None and fallen.status == "True" else ""
    return Branch("clique", clique.name, state, below=tuple(of_pod(pod) for pod in _sorted(pods.get(clique.name, []))))


def of_pod(pod: Pod) -> Branch:
    return Branch("pod", pod.name, pod_state(pod), pod.spec.node_name)


def pod_state(pod: Pod) -> str:
    """A pod's state as people call it."""
    if pod.metadata.deleting:
        return "Terminating"
    if pod.spec.scheduling_gates:
        return f"Gated ({', '.join(gate.name for gate in pod.spec.scheduling_gates)})"
    if pod.status.phase == "Failed" and pod.status.reason:
        return f"Failed ({pod.status.reason})"
    return pod.status.phase or "Pending"


def _sorted(objects: Iterable[T]) -> list[T]:
    return sorted(objects, key=lambda item: item.name)
