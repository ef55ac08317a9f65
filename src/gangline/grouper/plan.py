"""The whole thought about one pod: whose it is, which grouper answers, what its group should be.

Called by the controller, possibly several times with more and more seen (see look.py). None: the pod is none of our
business."""

from __future__ import annotations

from dataclasses import replace

from gangline.api import names
from gangline.api.core import Pod
from gangline.grouper import groupers, owners
from gangline.grouper.grouping import Grouping
from gangline.grouper.look import GrouperView


def plan(pod: Pod, read: GrouperView) -> Grouping | None:
    if not ours(pod, read):
        return None
    chain = owners.walk(pod, read)
    if any(skipped(owners.annotations_of(owner)) for owner in chain.owners):
        return None
    grouper = groupers.choose(chain.top, read)
    return _with_pool(grouper.group(pod, chain.top, read, chain.owners), pod, read)


def ours(pod: Pod, read: GrouperView) -> bool:
    """Not asked to be left alone, and not a lone pod that somebody has put into a group already."""
    return (
        pod.spec.scheduler_name in read.settings.scheduler_names
        and not skipped(pod.annotations)
        and not _placed_by_hand(pod, read)
    )


def _placed_by_hand(pod: Pod, read: GrouperView) -> bool:
    """In a group that is not ours to fill: a pod without owners in any but its own, other pods in one that no grouper
    made."""
    group = pod.annotations.get(names.POD_GROUP_NAME)
    if group is None:
        return False
    live = read.pod_group(pod.namespace, group)
    if not pod.metadata.owner_references:
        lost = group == names.kai_pod_group(pod.name, pod.uid) and live is None
        return not lost or read.settings.manner.regroups_on_pod_events_only
    foreign = live is not None and names.TOP_OWNER not in live.annotations
    return foreign and not read.settings.manner.foreign_groups_ignored


def matters(before: Pod | None, after: Pod | None) -> bool:
    """Could this change of a pod change its group? Our own marks do not, nor does the status of a pod that has its
    node."""
    if before is None or after is None:
        return after is not None
    if _inputs(before) != _inputs(after) or (_marks(before)[0] is not None and _marks(before) != _marks(after)):
        return True
    return not after.spec.node_name and before.status != after.status


def _marks(pod: Pod) -> tuple[str | None, str | None]:
    return pod.annotations.get(names.POD_GROUP_NAME), pod.labels.get(names.SUB_GROUP)


def _inputs(pod: Pod) -> tuple[object, ...]:
    labels = {key: value for key, value in pod.labels.items() if key != names.SUB_GROUP}
    annotations = {key: value for key, value in pod.annotations.items() if key != names.POD_GROUP_NAME}
    return labels, annotations, pod.metadata.owner_references, pod.metadata.deleting, pod.spec.node_name


def skipped(annotations: dict[str, str]) -> bool:
    return annotations.get(names.SKIP_GROUPER) == "true"


def _with_pool(grouping: Grouping, pod: Pod, read: GrouperView) -> Grouping:
    """The group belongs to the pod's node pool unless the workload names another."""
    key = read.settings.node_pool_label
    if not key or key in grouping.labels or key not in pod.labels:
        return grouping
    return replace(grouping, labels=grouping.labels | {key: pod.labels[key]})
