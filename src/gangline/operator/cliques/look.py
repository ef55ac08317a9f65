"""What is there of one clique: its set, its place, its pods and their gang; and its pods counted by state. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.core import ContainerStatus, Pod
from gangline.api.grove import PodClique, PodCliqueSet, PodGang
from gangline.api.kinds import POD, POD_GANG
from gangline.api.meta import condition
from gangline.config import Manner
from gangline.operator.desired.hashes import clique_hash
from gangline.operator.desired.layout import CliquePlace, place_of
from gangline.operator.desired.pods import failed, ready, scheduled
from gangline.operator.memory.lookups import set_of

if TYPE_CHECKING:
    from gangline.runtime import Reader


@dataclass(frozen=True, slots=True)
class CliqueObjects:
    """What is, for one clique."""

    clique: PodClique
    pcs: PodCliqueSet
    place: CliquePlace
    pods: Sequence[Pod]
    gang: PodGang | None
    base: PodGang | None
    expected_hash: str


def look_at_clique(read: Reader, clique: PodClique) -> CliqueObjects | None:
    pcs = set_of(read, clique)
    place = place_of(pcs, clique) if pcs is not None else None
    if pcs is None or place is None or clique.labels.get(names.MANAGED_BY) != names.GROVE_OPERATOR:
        return None
    base = clique.labels.get(names.BASE_POD_GANG, "")
    return CliqueObjects(
        clique,
        pcs,
        place,
        read.owned(POD, clique.uid),
        read.get(POD_GANG, place.gang, clique.namespace),
        read.get(POD_GANG, base, clique.namespace) if base else None,
        clique_hash(pcs, place.template),
    )


def looked_again(look: CliqueObjects) -> bool:
    """Whether upstream has looked at a clique since it made its pods: for its group, for a new spec, or for an update
    of the set."""
    return (
        look.place.group is not None
        or look.clique.metadata.generation > 1
        or look.pcs.status.update_progress is not None
    )


@dataclass(frozen=True, slots=True)
class PodCounts:
    living: int = 0
    ready: int = 0
    gated: int = 0
    scheduled: int = 0
    errored: int = 0
    started: int = 0
    """Started, not ready yet."""


def gated(pod: Pod) -> bool:
    placed = condition(pod.status.conditions, "PodScheduled")
    return placed is not None and placed.status == "False" and placed.reason == "SchedulingGated"


def errored(pod: Pod) -> bool:
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    return any(_failed(status) for status in statuses)


def _failed(status: ContainerStatus) -> bool:
    return bool(((status.last_state or {}).get("terminated") or {}).get("exitCode", 0))


def started_not_ready(pod: Pod) -> bool:
    return any(
        container_status.started and not container_status.ready for container_status in pod.status.container_statuses
    )


def count(pods: Iterable[Pod], *, terminating: bool, ended: bool = False) -> PodCounts:
    """`terminating`: pods on their way out still count as ready or scheduled; `ended`: so do those that have failed."""
    all_pods = list(pods)
    seen = [pod for pod in all_pods if (terminating or not pod.metadata.deleting) and (ended or not failed(pod))]
    living = sum(not pod.metadata.deleting for pod in all_pods)
    unready = [pod for pod in seen if not ready(pod)]
    bad = [pod for pod in unready if errored(pod)]
    return PodCounts(
        living,
        len(seen) - len(unready),
        sum(gated(pod) for pod in seen),
        sum(scheduled(pod) for pod in seen),
        len(bad),
        sum(started_not_ready(pod) for pod in unready if not errored(pod)),
    )


def count_pods(manner: Manner, pods: Sequence[Pod]) -> PodCounts:
    return count(pods, terminating=manner.count_terminating, ended=manner.failed_pods_stay)
