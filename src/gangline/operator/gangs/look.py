"""What is there of one gang: its set, cliques, pods, and the objects that its backend wrote.

Also what its conditions say, which decides about the gates of its pods. Pure: reads the cache only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodCliqueSet, PodGang
from gangline.api.kinds import POD, POD_CLIQUE, Kind
from gangline.api.meta import Object, condition
from gangline.operator.backends import KEPT, NoBackend, Selection
from gangline.operator.backends.contract import Facts
from gangline.operator.memory.lookups import set_of
from gangline.operator.status import is_true

if TYPE_CHECKING:
    from gangline.operator.operator import Operator
    from gangline.runtime import Reader


@dataclass(frozen=True, slots=True)
class GangObjects:
    gang: PodGang
    pcs: PodCliqueSet
    pods: Sequence[Pod]
    cliques: dict[str, PodClique]
    live: list[tuple[Kind[Any], Object]]
    selection: Selection
    facts: Facts
    asked: str = ""
    """The backend that the set asks for now, while the gang stays with its own."""


def look_at_gang(op: Operator, read: Reader, gang: PodGang) -> GangObjects | None:
    pcs = set_of(read, gang)
    if pcs is None or pcs.metadata.deleting:
        return None
    try:
        selection = selection_of(op, read, pcs, gang)
    except NoBackend:
        return None
    asked = op.registry.for_set(pcs).backend.name if selection.source == KEPT else ""
    cliques = {clique.name: clique for clique in cliques_of_gang(read, gang)}
    return GangObjects(
        gang,
        pcs,
        current_pods(read, gang),
        cliques,
        live_objects(op, read, gang),
        selection,
        op.registry.facts(op.facts(read), selection),
        asked,
    )


def pods_of_gang(read: Reader, gang: Object) -> list[Pod]:
    return read.by(POD, "gang", f"{gang.namespace}/{gang.name}")


def cliques_of_gang(read: Reader, gang: Object) -> list[PodClique]:
    return living(read.by(POD_CLIQUE, "gang", f"{gang.namespace}/{gang.name}"))


def current_pods(read: Reader, gang: Object) -> list[Pod]:
    """The pods of the gang's present cliques. Pods of a deleted clique may still be there, but do not count."""
    uids = {clique.uid for clique in cliques_of_gang(read, gang)}
    return [
        pod for pod in pods_of_gang(read, gang) if any(owner.uid in uids for owner in pod.metadata.owner_references)
    ]


def living(objects: Iterable[PodClique]) -> list[PodClique]:
    return [obj for obj in objects if not obj.metadata.deleting]


def initialized(gang: PodGang) -> bool:
    return is_true(gang.status.conditions, "Initialized")


def is_scheduled(gang: PodGang) -> bool:
    return is_true(gang.status.conditions, "Scheduled")


NOT_READY, NOT_RUNNING = "BackendNotReady", "BackendNotRunning"
"""Why a gang that may be whole is not let go: its backend says no, or there is none that could say yes."""


def held_by_backend(gang: PodGang) -> str:
    """Why its backend holds the gates of a gang, whatever else is true of it; empty: it does not."""
    initialized = condition(gang.status.conditions, "Initialized")
    return (
        initialized.message
        if initialized is not None and initialized.status == "False" and initialized.reason in (NOT_READY, NOT_RUNNING)
        else ""
    )


def bound(pods: Iterable[Pod]) -> bool:
    return any(pod.spec.node_name and not pod.metadata.deleting for pod in pods)


def selection_of(op: Operator, read: Reader, pcs: PodCliqueSet, gang: PodGang | None) -> Selection:
    """The backend of a gang: its set's, but a gang that has bound pods stays with the one that it started with."""
    chosen = op.registry.for_set(pcs)
    was = gang.labels.get(names.SCHEDULER_BACKEND, "") if gang is not None else ""
    if gang is None or was in ("", chosen.backend.name) or not bound(pods_of_gang(read, gang)):
        return chosen
    return op.registry.kept(was, gang.labels.get(names.SCHEDULER_NAME, "")) or chosen


def live_objects(op: Operator, read: Reader, gang: PodGang) -> list[tuple[Kind[Any], Object]]:
    """What any backend has written for a gang."""
    return [(kind, obj) for kind in op.written for obj in read.owned(kind, gang.uid)]
