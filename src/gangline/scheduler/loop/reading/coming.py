"""Gangs whose pods are still coming: a new pod of one need not wake the scheduler at once, for nothing can be placed
before the last of them is there. Only looks."""

from __future__ import annotations

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import POD, POD_GROUP
from gangline.runtime import Cache

MARKED = "marked"
"""Index of pods by the group that they are marked for."""


def marked_for(pod: Pod) -> list[str]:
    group = pod.annotations.get(names.POD_GROUP_NAME)
    return [f"{pod.namespace}/{group}"] if group else []


class ComingGangs:
    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    @staticmethod
    def prepare(cache: Cache) -> None:
        cache.informer(POD).add_index(MARKED, marked_for)

    def lacks_others(self, pod: Pod) -> bool:
        """Whether the pod's gang has fewer pods than it needs."""
        name = pod.annotations.get(names.POD_GROUP_NAME, "")
        group = self._cache.get(POD_GROUP, name, pod.namespace) if name else None
        if group is None:
            return False
        return self._cache.count(POD, MARKED, f"{pod.namespace}/{name}") < (group.spec.min_member or 0)
