"""Pods that stand for themselves and have no PodGroup yet: each is placed as a gang of its own.

Its group is the one that the grouper will write (grouper/singles.py thinks it, components/ hands it in), so a crowd of
singles is bound before the grouper writes a PodGroup for each. It is thought once for each pod, not at every change of
its status. Once the PodGroup is there, it alone counts. Only looks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.kinds import POD_GROUP
from gangline.rules.gangs.memberships import own_group
from gangline.runtime import Cache, Key, key_of
from gangline.scheduler.objects.gangs import gang_uid
from gangline.scheduler.thought.options import GroupOfSingle

WRITTEN_BY_BIND = (names.POD_GROUP_NAME, names.PLACED, names.RECEIVED_TYPE)
"""Annotations that change nothing of the group."""


@dataclass(frozen=True, slots=True)
class ThoughtGroup:
    """A group, and what of its pod it was made from that may change."""

    pod: str
    """The uid."""
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    group: PodGroup | None

    def is_of(self, pod: Pod) -> bool:
        return self.pod == pod.uid and self.labels == pod.labels and self.annotations == _noted(pod)


class UngroupedSingles:
    """`group_of`: None where nobody is placed before its group is there."""

    def __init__(self, cache: Cache, group_of: GroupOfSingle | None) -> None:
        self._cache, self._group_of = cache, group_of
        self._placed_as: dict[Key, str] = {}
        """Gangs that are in the model without a PodGroup, by pod."""
        self._thought: dict[Key, ThoughtGroup] = {}
        self._read: dict[Key, PodGroup] = {}
        """Groups as the model has them."""

    def group(self, pod: Pod) -> PodGroup | None:
        """The group of a single that has none yet."""
        if self._group_of is None or pod.metadata.owner_references:
            return None
        name = own_group(pod)
        if pod.annotations.get(names.POD_GROUP_NAME, name) != name:
            return None
        if self._cache.get(POD_GROUP, name, pod.namespace) is not None:
            return None
        known = self._thought.get(key_of(pod))
        if known is None or not known.is_of(pod):
            group = self._group_of(pod, self._cache)
            known = self._thought[key_of(pod)] = ThoughtGroup(pod.uid, pod.labels, _noted(pod), group)
        return known.group

    def note(self, pod: Pod, group: PodGroup | None) -> bool:
        """How a pod is read from now on; says whether its group is another than the model has."""
        key = key_of(pod)
        if group is None:
            self._forget(key)
            return False
        known = self._read.get(key) is group
        self._placed_as[key], self._read[key] = gang_uid(group.namespace, group.name), group
        return not known

    def _forget(self, key: Key) -> str | None:
        """The gang that the pod was placed as."""
        self._thought.pop(key, None)
        self._read.pop(key, None)
        return self._placed_as.pop(key, None)

    def leave(self, key: Key) -> str | None:
        """A pod is gone: the gang that goes with it, if nobody has written its PodGroup."""
        gang = self._forget(key)
        if gang is None or self._cache.get(POD_GROUP, gang.partition("/")[2], key.namespace) is not None:
            return None
        return gang

    def think_anew(self) -> Iterable[Key]:
        """What else groups are made from has changed: the pods whose groups may be others."""
        self._thought.clear()
        self._read.clear()
        return list(self._placed_as)

    def of_lost_group(self, group: PodGroup) -> Iterable[Key]:
        """A PodGroup is gone: the pod that stands for itself without it."""
        if self._group_of is None:
            return []
        owners = group.metadata.owner_references
        pods = [Key(group.namespace, owner.name) for owner in owners if owner.kind == "Pod"]
        for key in pods:
            self._read.pop(key, None)
        return pods


def _noted(pod: Pod) -> dict[str, str]:
    return {key: value for key, value in pod.annotations.items() if key not in WRITTEN_BY_BIND}
