"""Which changes of other objects concern which gang. Nothing here reads more than the cache."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gangline.api.core import Pod
from gangline.api.grove import ClusterTopologyBinding, PodClique, PodCliqueSet
from gangline.api.kinds import POD_CLIQUE_SET, POD_GANG, Kind
from gangline.api.meta import Object
from gangline.operator.backends.contract import Backend
from gangline.operator.desired import topology
from gangline.operator.desired.pods import ready, scheduled
from gangline.runtime import Key, Reader, Watch, owner


def gangs_of_set(pcs: PodCliqueSet, read: Reader) -> Iterable[Key]:
    return [Key(gang.namespace, gang.name) for gang in read.by(POD_GANG, "set", f"{pcs.namespace}/{pcs.name}")]


def gangs_of_binding(binding: ClusterTopologyBinding, read: Reader) -> Iterable[Key]:
    return [
        key
        for pcs in read.list(POD_CLIQUE_SET)
        if topology.topology_name(pcs) == binding.name
        for key in gangs_of_set(pcs, read)
    ]


def pod_moved(before: Pod | None, after: Pod | None) -> bool:
    if before is None or after is None:
        return True
    return (
        before.metadata.deleting != after.metadata.deleting
        or scheduled(before) != scheduled(after)
        or ready(before) != ready(after)
        or before.status.conditions != after.status.conditions
        or before.status.reason != after.status.reason
        or before.status.phase != after.status.phase
        or bool(before.spec.scheduling_gates) != bool(after.spec.scheduling_gates)
    )


def size_changed(before: PodClique | None, after: PodClique | None) -> bool:
    if before is None or after is None:
        return True
    return before.spec.replicas != after.spec.replicas or before.metadata.deleting != after.metadata.deleting


def gang_named(obj: Object, read: Reader) -> Iterable[Key]:
    """The gang that a scheduler's object is named after."""
    return [Key(obj.namespace, obj.name)] if read.get(POD_GANG, obj.name, obj.namespace) is not None else []


gang_of = owner(POD_GANG)


def watches(backends: Iterable[Backend]) -> list[Watch]:
    """What schedulers write that concerns a gang: their own objects, and those named after it."""
    known = list(backends)
    written = dict.fromkeys(kind for backend in known for kind in backend.writes)
    named = dict.fromkeys(kind for backend in known for kind in backend.reads if kind.namespaced)
    return [*(Watch(kind, gang_of) for kind in written), *(Watch(kind, gang_named) for kind in named)]


def read_only(backends: Iterable[Backend]) -> tuple[Kind[Any], ...]:
    return tuple(dict.fromkeys(kind for backend in backends for kind in backend.reads if not kind.namespaced))
