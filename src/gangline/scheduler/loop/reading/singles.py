"""Pods that stand for themselves and have no PodGroup yet: each is placed as a gang of its own.

Its group is the one that the grouper will write (grouper/singles.py thinks it, components/ hands it in), so a crowd of
singles is bound before anybody writes a PodGroup for each. Once the PodGroup is there, it alone counts. Only looks."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.kinds import POD_GROUP
from gangline.rules.gangs.memberships import own_group
from gangline.runtime import Cache, Key, key_of
from gangline.scheduler.objects.gangs import gang_uid
from gangline.scheduler.thought.options import GroupOfSingle


class UngroupedSingles:
    """`group_of`: None where nobody is placed before its group is there."""

    def __init__(self, cache: Cache, group_of: GroupOfSingle | None) -> None:
        self._cache, self._group_of = cache, group_of
        self._placed_as: dict[Key, str] = {}
        """Gangs that are in the model without a PodGroup, by pod."""

    def group(self, pod: Pod) -> PodGroup | None:
        """The group of a single that has none yet."""
        if self._group_of is None or pod.metadata.owner_references:
            return None
        name = own_group(pod)
        if pod.annotations.get(names.POD_GROUP_NAME, name) != name:
            return None
        if self._cache.get(POD_GROUP, name, pod.namespace) is not None:
            return None
        return self._group_of(pod, self._cache)

    def note(self, pod: Pod, group: PodGroup | None) -> None:
        """How a pod is read from now on."""
        if group is None:
            self._placed_as.pop(key_of(pod), None)
        else:
            self._placed_as[key_of(pod)] = gang_uid(group.namespace, group.name)

    def leave(self, key: Key) -> str | None:
        """A pod is gone: the gang that goes with it, if nobody has written its PodGroup."""
        gang = self._placed_as.pop(key, None)
        if gang is None or self._cache.get(POD_GROUP, gang.partition("/")[2], key.namespace) is not None:
            return None
        return gang

    @property
    def pods(self) -> Iterable[Key]:
        return list(self._placed_as)

    def of_lost_group(self, group: PodGroup) -> Iterable[Key]:
        """A PodGroup is gone: the pod that stands for itself without it."""
        if self._group_of is None:
            return []
        owners = group.metadata.owner_references
        return [Key(group.namespace, owner.name) for owner in owners if owner.kind == "Pod"]
