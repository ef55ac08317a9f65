"""When a pod is marked as a member of its group, and whether its group can wait.

A pod whose group is known without a mark (rules/gangs/memberships.py) is marked by its bind, and by the grouper only
when it has to wait for a node. Pure; controller.py writes the mark."""

from __future__ import annotations

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.meta import condition
from gangline.grouper import write
from gangline.grouper.groupers.pod import is_spark
from gangline.grouper.grouping import Grouping, OwnerGone, OwnerUnknown
from gangline.grouper.settings import GrouperSettings
from gangline.grouper.singles import stands_for_itself
from gangline.rules.gangs.memberships import OWNED, candidates, own_group, owners_group
from gangline.rules.values import times

ORPHANED = 10.0
"""Seconds after which a pod whose owner is not there is worth a warning."""


def possible_groups(pod: Pod) -> list[str]:
    return [f"{pod.namespace}/{name}" for name in candidates(pod)]


def before_mark(pod: Pod, grouping: Grouping, settings: GrouperSettings, now: float) -> float:
    """Seconds to wait before the pod is marked; 0: now, if it is to be marked at all."""
    if write.pod_change(pod, grouping) is None or not known_without_mark(pod, grouping):
        return 0.0
    created = times.seconds(pod.metadata.creation_timestamp)
    at_once = settings.manner.marks_every_pod or pod.spec.node_name or _refused(pod)
    if at_once or created is None:
        return 0.0
    return max(min(created + settings.mark_after - now, settings.mark_after), 0.0)


def known_without_mark(pod: Pod, grouping: Grouping) -> bool:
    """Such a pod needs no mark to be placed: the scheduler finds its group by name, and the bind marks it."""
    whole = grouping.annotations.get(names.MEMBERS) == OWNED and grouping.name == owners_group(pod)
    return (whole or grouping.name == own_group(pod)) and not grouping.leaf


def can_wait(pod: Pod, grouping: Grouping, settings: GrouperSettings) -> bool:
    """Whether nobody waits for the group to be written: the scheduler places a pod that stands for itself without
    (singles.py), unless it found no node; then the verdict needs the group."""
    return stands_for_itself(pod, grouping) and not settings.manner.decides_as_upstream and not _refused(pod)


def group_can_wait(pod: Pod, settings: GrouperSettings) -> bool:
    """The same, before the group is worked out: a pod without owners has a group of its own, unless it is Spark's."""
    alone = not pod.metadata.owner_references and not is_spark(pod)
    return alone and not settings.manner.decides_as_upstream and not _refused(pod)


def is_settled(pod: Pod, grouping: Grouping) -> bool:
    """Whether a pod that stands for itself was marked for its group by its bind: the group stays as it is from then."""
    return pod.annotations.get(names.POD_GROUP_NAME) == grouping.name and stands_for_itself(pod, grouping)


def _refused(pod: Pod) -> bool:
    """Whether the scheduler found no node for the pod."""
    scheduled = condition(pod.status.conditions, "PodScheduled")
    return scheduled is not None and scheduled.status == "False"


def goes_with_owner(error: Exception, pod: Pod, settings: GrouperSettings, grouped: bool) -> bool:
    """Whether a pod lacks only its owner, and was grouped while that was there: both go, and that is no warning."""
    known = grouped or bool(pod.spec.node_name) or names.POD_GROUP_NAME in pod.annotations
    return isinstance(error, OwnerGone) and known and not settings.manner.lost_owner_warns


def goes_soon(error: Exception, waited: float, settings: GrouperSettings) -> bool:
    """Whether a pod lacks an owner that could be there, so that it is likely to be collected yet: a large Job was
    deleted while its pods came."""
    gone = isinstance(error, OwnerGone) and not isinstance(error, OwnerUnknown)
    return gone and waited < ORPHANED and not settings.manner.lost_owner_warns
