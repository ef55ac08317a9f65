"""When a pod is marked as a member of its group.

A pod whose group is known without a mark (rules/gangs/memberships.py) is marked by its bind, and by the grouper only
when it has to wait for a node. Pure; controller.py writes the mark."""

from __future__ import annotations

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.meta import condition
from gangline.grouper import write
from gangline.grouper.grouping import Grouping
from gangline.grouper.settings import GrouperSettings
from gangline.rules.gangs.memberships import OWNED, candidates, own_group, owners_group
from gangline.rules.values import times


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


def _refused(pod: Pod) -> bool:
    """Whether the scheduler has said that it has no node for the pod."""
    scheduled = condition(pod.status.conditions, "PodScheduled")
    return scheduled is not None and scheduled.status == "False"
