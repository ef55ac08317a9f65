"""Which PodGroup a pod is in: the one it is marked for, or one that is known without a mark.

A pod that stands for itself has a group that carries its name and uid. A group that says so (annotation
`gangline.io/members`) has every pod that its owner owns. Such pods need no mark to be placed: the bind
writes it. Read by the grouper, the scheduler and explain; who only counts what groups ask for and hold (the PodGroup
controller) waits for the mark. Pure."""

from __future__ import annotations

from collections.abc import Callable

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.kinds import POD

OWNED = "owned"


def own_group(pod: Pod) -> str:
    """The group of a pod that stands for itself."""
    return names.kai_pod_group(pod.name, pod.uid)


def goes_with_a_pod(group: PodGroup) -> bool:
    """Whether a pod that stands for itself owns its group, so that the group is collected with it."""
    return any(owner.kind == POD.kind for owner in group.metadata.owner_references)


def is_collected(group: PodGroup, find: Callable[[str], Pod | None]) -> bool:
    """Whether the group goes with its pod, and that is gone: the garbage collector removes what nobody has to write on.
    `find`: a pod of its namespace by name."""
    owners = [owner for owner in group.metadata.owner_references if owner.kind == POD.kind]
    return bool(owners) and all((pod := find(owner.name)) is None or pod.uid != owner.uid for owner in owners)


def owners_group(pod: Pod) -> str:
    """The group of the pod's owner; empty: it has none, or the pod asks to be left alone."""
    owners = pod.metadata.owner_references
    if not owners or pod.annotations.get(names.SKIP_GROUPER) == "true":
        return ""
    return names.kai_pod_group(owners[0].name, owners[0].uid)


def candidates(pod: Pod) -> list[str]:
    """The groups that the pod may be in, by what it says itself."""
    if names.POD_GROUP_NAME in pod.annotations:
        marked = pod.annotations[names.POD_GROUP_NAME]
        return [marked] if marked else []
    return [name for name in (own_group(pod), owners_group(pod)) if name]


def unmarked_for(pod: Pod) -> list[str]:
    """Index of pods without a mark by the groups they may be in."""
    marked = names.POD_GROUP_NAME in pod.annotations
    return [] if marked else [f"{pod.namespace}/{name}" for name in candidates(pod)]


def is_member(pod: Pod, group: PodGroup) -> bool:
    if group.namespace != pod.namespace or group.name not in candidates(pod):
        return False
    if names.POD_GROUP_NAME in pod.annotations or group.name == own_group(pod):
        return True
    return group.annotations.get(names.MEMBERS) == OWNED


def group_name_of(pod: Pod, find: Callable[[str], PodGroup | None]) -> str:
    """The name of the pod's group; empty: it is in none yet. A mark counts even if there is no such group."""
    if names.POD_GROUP_NAME in pod.annotations:
        return pod.annotations[names.POD_GROUP_NAME]
    groups = (find(name) for name in candidates(pod))
    return next((group.name for group in groups if group is not None and is_member(pod, group)), "")
