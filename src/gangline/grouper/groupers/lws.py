"""LeaderWorkerSet: one group per replica, with its leader and its workers as sub-groups, or cut into segments.

With `LeaderReady` the leader starts alone and the workers follow. A segmented replica has one leaf per segment; the
leader either joins the first one (which then becomes a parent of `leader` and `workers`) or stands beside them
(`LeaderExcluded`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper import fields, owners
from gangline.grouper.groupers import segments
from gangline.grouper.groupers.base import base
from gangline.grouper.groupers.contract import Grouper
from gangline.grouper.grouping import Grouping, GroupPart, Ungroupable
from gangline.grouper.look import GrouperView

PREFIX = "leaderworkerset.sigs.k8s.io"
SIZE, GROUP_INDEX, WORKER_INDEX = f"{PREFIX}/size", f"{PREFIX}/group-index", f"{PREFIX}/worker-index"
TEMPLATE = ("spec", "leaderWorkerTemplate")
LEADER_CREATED, LEADER_READY = "LeaderCreated", "LeaderReady"
LEADER_WORKER, LEADER_EXCLUDED = "LeaderWorker", "LeaderExcluded"
LEADER, WORKERS = "leader", "workers"


class LeaderWorkerSetGrouper(Grouper):
    kinds = ("leaderworkerset.x-k8s.io/v1 LeaderWorkerSet",)
    reads = ("apps/v1 StatefulSet",)

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        grouping = base(pod, owner, read)
        members = _members(pod, owner)
        parts, leaf = _parts(pod, owner, members, read)
        replica = fields.whole(pod.labels.get(GROUP_INDEX, ""))
        name = grouping.name if replica is None else f"{grouping.name}-group-{replica}"
        return replace(grouping, name=name, minimum=members, parts=parts, leaf=leaf)


def _members(pod: Pod, owner: Raw) -> int:
    """How many pods of a replica must start together, as far as this pod shows."""
    size = fields.integer(owner, *TEMPLATE, "size")
    if size is None or size <= 0:
        raise Ungroupable(f"spec.leaderWorkerTemplate.size of {owners.title(owner)} must be at least 1, not {size}")
    policy = fields.text(owner, "spec", "startupPolicy")
    _check_index(pod)
    if policy in (None, LEADER_CREATED):
        return size
    if policy != LEADER_READY:
        raise Ungroupable(
            f"spec.startupPolicy of {owners.title(owner)} must be {LEADER_CREATED} or {LEADER_READY}, not {policy!r}"
        )
    if _is_leader(pod) and not pod.spec.node_name:
        return 1
    current = fields.whole(pod.annotations.get(SIZE, ""))
    return size if current is None else current


def _check_index(pod: Pod) -> None:
    text = pod.labels.get(WORKER_INDEX)
    index = None if text is None else fields.whole(text)
    if text is not None and (index is None or index < 0):
        raise Ungroupable(
            f"label {WORKER_INDEX} of pod {pod.namespace}/{pod.name} must be a number from 0 up, not {text!r}"
        )


def _is_leader(pod: Pod) -> bool:
    return pod.labels.get(WORKER_INDEX) == "0"


def _parts(pod: Pod, owner: Raw, members: int, read: GrouperView) -> tuple[tuple[GroupPart, ...], str]:
    """The sub-groups, and the one this pod belongs to."""
    size = _segment_size(owner)
    if size is None:
        return _undivided_parts(pod, members)
    alone = members == 1 and _is_leader(pod)
    if alone and not read.settings.manner.waiting_leader_refused:
        return _undivided_parts(pod, members)
    if size > members:
        raise Ungroupable(
            f"segments of {size} pods do not fit into the {members} of {owners.title(owner)} that start together"
        )
    cut = SegmentCut(members, size, one_more=read.settings.manner.lone_segment_needs_one_more)
    segments.check_count(cut.count)
    template = fields.mapping(owner, *TEMPLATE, "workerTemplate")
    placed = segments.placement(pod, template, owner) if template is not None else None
    pieces = tuple(GroupPart(f"segment-{at}", cut.pods_in(at), placement=placed) for at in range(cut.count))
    policy = fields.text(owner, *TEMPLATE, "subGroupPolicy", "subGroupPolicyType") or LEADER_WORKER
    return _arranged(policy, pieces, cut, pod)


def _undivided_parts(pod: Pod, members: int) -> tuple[tuple[GroupPart, ...], str]:
    leader, workers = GroupPart(LEADER, 1), GroupPart(WORKERS, members - 1)
    parts = (leader, workers) if members > 1 else (leader,)
    leaf = LEADER if _is_leader(pod) else WORKERS
    return parts, leaf if leaf in [part.name for part in parts] else ""


def _segment_size(owner: Raw) -> int | None:
    """From the sub-group policy, else the owner's annotation, else the worker template's."""
    size = fields.integer(owner, *TEMPLATE, "subGroupPolicy", "subGroupSize")
    if size is None:
        text = owners.annotations_of(owner).get(names.SEGMENT_SIZE)
        if text is None:
            text = _template_size(owner)
        if text is None:
            return None
        size = fields.whole(text)
    if size is None or size <= 1:
        raise Ungroupable(
            f"segments of {owners.title(owner)} must have a whole number of pods above 1 "
            f"(subGroupPolicy.subGroupSize or annotation {names.SEGMENT_SIZE})"
        )
    return size


def _template_size(owner: Raw) -> str | None:
    try:
        return fields.text(owner, *TEMPLATE, "workerTemplate", "metadata", "annotations", names.SEGMENT_SIZE)
    except Ungroupable:
        return None


@dataclass(frozen=True, slots=True)
class SegmentCut:
    """Pods 0 … members-1, pod 0 the leader, cut into segments. If the workers divide evenly, the leader is extra to the
    first."""

    members: int
    size: int
    one_more: bool = False
    """Count the leader as a worker of a lone segment, as upstream does."""

    @property
    def even(self) -> bool:
        return (self.members - 1) % self.size == 0

    @property
    def count(self) -> int:
        return self.segment_of(self.members - 1) + 1

    def segment_of(self, index: int) -> int:
        if index == 0:
            return 0
        return (index - 1) // self.size if self.even else index // self.size

    def pods_in(self, segment: int) -> int:
        """Pods of a segment, the extra leader not counted."""
        if segment < self.count - 1:
            return self.size
        if self.even:
            return self.size + 1 if self.one_more and self.count == 1 else self.size
        return self.members - segment * self.size


def _arranged(
    policy: str, pieces: tuple[GroupPart, ...], cut: SegmentCut, pod: Pod
) -> tuple[tuple[GroupPart, ...], str]:
    segment = _segment_of(pod, cut)
    own = pieces[segment].name
    if policy == LEADER_WORKER:
        first = pieces[0]
        workers = first.minimum - (0 if cut.even else 1)
        inside = (GroupPart(LEADER, 1, parent=first.name), GroupPart(WORKERS, workers, parent=first.name))
        place = WORKERS if segment == 0 else own
        leaf = LEADER if _is_leader(pod) else place
        return (replace(first, minimum=0, children=len(inside)), *pieces[1:], *inside), leaf
    if policy == LEADER_EXCLUDED:
        if not cut.even:
            raise Ungroupable(
                f"with {LEADER_EXCLUDED} the {cut.members - 1} workers must divide into segments of {cut.size}"
            )
        return (GroupPart(LEADER, 1), *pieces), LEADER if _is_leader(pod) else own
    return pieces, own


def _segment_of(pod: Pod, cut: SegmentCut) -> int:
    text = pod.labels.get(WORKER_INDEX)
    index = None if text is None else fields.whole(text)
    if index is None or cut.segment_of(index) >= cut.count:
        raise Ungroupable(
            f"label {WORKER_INDEX} of pod {pod.namespace}/{pod.name} must be below {cut.members}, "
            f"not {text!r}: without it the pod's segment is unknown"
        )
    return cut.segment_of(index)
