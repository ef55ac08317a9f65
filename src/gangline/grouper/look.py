"""What a grouper may look at: the pod's surroundings, without a network call in sight.

Pods, PodGroups and PriorityClasses are always here (the controller caches them). Objects of foreign kinds are not: the
first `get` of one raises `NotFetched`, the controller fetches it and lets the grouper think again from the start, now
with the answer. So groupers stay plain functions, and the number of rounds is the number of foreign objects they ask
for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from gangline.api.core import ConfigMap, Pod
from gangline.api.kai import PodGroup
from gangline.api.kinds import CONFIG_MAP, POD, POD_GROUP, PRIORITY_CLASS
from gangline.api.meta import Raw
from gangline.errors import ApiError
from gangline.grouper.settings import GrouperSettings

if TYPE_CHECKING:
    from gangline.runtime import Reader


class Ref(NamedTuple):
    """One object, or (without a name) all objects of a kind with some labels."""

    api_version: str
    kind: str
    namespace: str = ""
    name: str = ""
    labels: tuple[tuple[str, str], ...] = ()


class NotFetched(Exception):
    """Not fetched yet. Caught by the controller, never shown."""

    def __init__(self, ref: Ref) -> None:
        super().__init__(f"{ref.kind} {ref.name} is not fetched yet")
        self.ref = ref


Answer = list[Raw] | ApiError
"""What the server answered for a Ref: the objects (one, for a named Ref), or its refusal."""


class GrouperView:
    def __init__(self, settings: GrouperSettings, cached: Reader, seen: Mapping[Ref, Answer]) -> None:
        self.settings = settings
        self._cached, self._seen = cached, seen

    def get(self, api_version: str, kind: str, namespace: str, name: str) -> Raw:
        """One object of any kind. Raises the server's refusal (NotFound, Forbidden…) if it gave one."""
        return self._answer(Ref(api_version, kind, namespace, name))[0]

    def objects(self, api_version: str, kind: str, labels: Mapping[str, str]) -> list[Raw]:
        """All objects of a cluster-wide kind with these labels."""
        return self._answer(Ref(api_version, kind, labels=tuple(sorted(labels.items()))))

    def _answer(self, ref: Ref) -> list[Raw]:
        if ref not in self._seen:
            raise NotFetched(ref)
        answer = self._seen[ref]
        if isinstance(answer, ApiError):
            raise answer
        return answer

    def pods(self, namespace: str, labels: Mapping[str, str]) -> list[Pod]:
        """Pods of our scheduler with these labels."""
        return self._cached.list(POD, namespace, labels)

    def pod_group(self, namespace: str, name: str) -> PodGroup | None:
        return self._cached.get(POD_GROUP, name, namespace)

    def pod_groups(self, namespace: str) -> list[PodGroup]:
        return self._cached.list(POD_GROUP, namespace)

    def has_priority_class(self, name: str) -> bool:
        return bool(name) and self._cached.get(PRIORITY_CLASS, name) is not None

    def config_map(self, namespace: str, name: str) -> ConfigMap | None:
        return self._cached.get(CONFIG_MAP, name, namespace)
