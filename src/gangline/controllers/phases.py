"""How far a PodGroup has come, from its pods: its phase and conditions, as they stand in `status.conditions`.

That list is the field that upstream's definition keeps, and upstream writes nothing into it: the phase is the reason of
condition `Phase`. A group runs when its minimum holds nodes, as its resources say in the same write: whether containers
are up is the pods' own status, and would cost a write of its own. The text never holds a count that moves with
every pod. Why a group waits is the scheduler's to say (`status.schedulingConditions`). Pure: podgroup.py reads and
writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import PodGroupSpec, SubGroup
from gangline.api.meta import Raw

PENDING, RUNNING, SUCCEEDED, FAILED = "Pending", "Running", "Succeeded", "Failed"
PHASE, SCHEDULED = "Phase", "Scheduled"
"""Types of the conditions."""
SAYS = {
    PENDING: "fewer pods than its minimum have a node",
    RUNNING: "its minimum has nodes",
    SUCCEEDED: "all pods have ended, and its minimum succeeded",
    FAILED: "all pods have ended, and fewer than its minimum succeeded",
}


class PodStanding(NamedTuple):
    """One pod: its sub-group, and how far it has come, in the words of phases."""

    part: str
    state: str


def standing(pod: Pod) -> PodStanding:
    phase = pod.status.phase
    started = RUNNING if phase == RUNNING or pod.spec.node_name else PENDING
    state = phase if phase in (SUCCEEDED, FAILED) else started
    return _shared_standing(pod.labels.get(names.SUB_GROUP, ""), state)


@lru_cache(maxsize=1024)
def _shared_standing(part: str, state: str) -> PodStanding:
    """Pods that stand alike share it."""
    return PodStanding(part, state)


@dataclass(slots=True)
class PodStandings:
    """The pods of one group, counted; a change of one pod costs the same however many there are."""

    pods: dict[Hashable, PodStanding] = field(default_factory=dict)
    counts: Counter[PodStanding] = field(default_factory=Counter)

    def put(self, pod: Hashable, now: PodStanding | None) -> None:
        """None: it is no member any longer."""
        before = self.pods.pop(pod, None)
        if before is not None:
            self.counts[before] -= 1
        if now is not None:
            self.pods[pod] = now
            self.counts[now] += 1

    def by_part(self, states: Iterable[str]) -> Counter[str]:
        counter: Counter[str] = Counter()
        for (part, state), count in self.counts.items():
            if state in states:
                counter[part] += count
        return counter


def phase(spec: PodGroupSpec, pods: PodStandings) -> str:
    there = len(pods.pods)
    if there and sum(pods.by_part((SUCCEEDED, FAILED)).values()) == there:
        return SUCCEEDED if _reached(spec, pods, (SUCCEEDED,)) else FAILED
    return RUNNING if _reached(spec, pods, (RUNNING, SUCCEEDED)) else PENDING


def _reached(spec: PodGroupSpec, pods: PodStandings, states: Sequence[str]) -> bool:
    """Whether the pods that have come so far make up the minimum; a minimum of none needs one pod all the same."""
    counts = pods.by_part(states)
    return any(counts.values()) and met(spec, counts)


def met(spec: PodGroupSpec, counts: Mapping[str, int]) -> bool:
    """Whether pods, counted by sub-group, make up the minimum of a group: of pods, or of the tree of its sub-groups."""
    if not spec.sub_groups:
        return sum(counts.values()) >= (1 if spec.min_member is None else spec.min_member)
    below: dict[str, list[SubGroup]] = {}
    for sub_group in spec.sub_groups:
        below.setdefault((sub_group.parent or "").lower(), []).append(sub_group)

    def good(part: SubGroup) -> bool:
        if part.name not in below:
            return counts.get(part.name, 0) >= (part.min_member or 0)
        return enough(below[part.name], part.min_sub_group)

    def enough(parts: Sequence[SubGroup], least: int | None) -> bool:
        return sum(good(part) for part in parts) >= (len(parts) if least is None else least)

    return enough(below.get("", ()), spec.min_sub_group)


def conditions(
    before: Sequence[Raw], spec: PodGroupSpec, pods: PodStandings, now: str, written: Sequence[Raw] = ()
) -> list[Raw]:
    """All conditions as they should stand; those of others stay. A group that never had a pod is not spoken of.
    `written`: what we wrote last, which a cache may not show yet."""
    if not pods.pods and not before:
        return []
    current = phase(spec, pods)
    placed = current in (RUNNING, SUCCEEDED)
    new = [
        _condition(PHASE, True, current, f"{SAYS[current]}; {minimum(spec)}"),
        _condition(SCHEDULED, placed, "MinimumScheduled" if placed else "MinimumNotScheduled", minimum(spec)),
    ]
    others = [item for item in before if item.get("type") not in (PHASE, SCHEDULED)]
    return [*others, *(_since([*written, *before], item, now) for item in new)]


def minimum(spec: PodGroupSpec) -> str:
    """In words."""
    if not spec.sub_groups:
        return f"minimum: {1 if spec.min_member is None else spec.min_member} pods"
    needed = "" if spec.min_sub_group is None else f"{spec.min_sub_group} of "
    parts = [
        f"{sub_group.name} {sub_group.min_member}"
        if sub_group.min_member is not None
        else sub_group.name
        + (f" ({sub_group.min_sub_group} sub-groups)" if sub_group.min_sub_group is not None else "")
        for sub_group in spec.sub_groups
        if not sub_group.parent
    ]
    return f"minimum: {needed}{', '.join(parts)}"


def _condition(kind: str, holds: bool, reason: str, message: str) -> Raw:
    return {"type": kind, "status": str(holds), "reason": reason, "message": message}


def _since(before: Sequence[Raw], new: Raw, now: str) -> Raw:
    """With the time of its last transition: of the status, and of the phase."""
    old = next((item for item in before if item.get("type") == new["type"]), None)
    same = old is not None and (old.get("status"), old.get("reason")) == (new["status"], new["reason"])
    return new | {
        "lastTransitionTime": old["lastTransitionTime"] if same and old and old.get("lastTransitionTime") else now
    }
