"""The group of a pod that stands for itself, as the grouper will write it: so that the scheduler need not wait for it.

The same thought as the controller's (plan.py) without anything to fetch, since such a pod has no owner. components/
hands it to the scheduler; nothing here writes. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.grouper import write
from gangline.grouper.grouping import Grouping, Ungroupable
from gangline.grouper.look import GrouperView, NotFetched
from gangline.grouper.plan import plan
from gangline.grouper.settings import GrouperSettings
from gangline.rules.gangs.memberships import own_group

if TYPE_CHECKING:
    from gangline.runtime import Reader


def group_of_single(settings: GrouperSettings) -> Callable[[Pod, Reader], PodGroup | None]:
    def group(pod: Pod, read: Reader) -> PodGroup | None:
        try:
            grouping = plan(pod, GrouperView(settings, read, {}))
        except (Ungroupable, NotFetched):
            return None
        if grouping is None or not stands_for_itself(pod, grouping):
            return None
        written = write.new_object(grouping)
        written["metadata"]["creationTimestamp"] = pod.metadata.creation_timestamp
        return msgspec.convert(written, PodGroup)

    return group


def stands_for_itself(pod: Pod, grouping: Grouping) -> bool:
    """Whether the pod is the whole group, and known to be: the group carries its name and uid."""
    alone = not pod.metadata.owner_references and grouping.name == own_group(pod)
    return alone and not grouping.leaf and not grouping.parts
