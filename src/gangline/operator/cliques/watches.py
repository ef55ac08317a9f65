"""Which changes of other objects concern which clique. Nothing here reads more than the cache."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api import names
from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang
from gangline.api.kinds import POD, POD_CLIQUE
from gangline.operator.cliques.rollout import selected_pods
from gangline.operator.gangs.look import held_by_backend, initialized, is_scheduled
from gangline.operator.status import update_target
from gangline.operator.watches import asked_again
from gangline.runtime import Key, Reader


def cliques_with_gang(gang: PodGang, read: Reader) -> Iterable[Key]:
    value = f"{gang.namespace}/{gang.name}"
    cliques = [*read.by(POD_CLIQUE, "gang", value), *read.by(POD_CLIQUE, "base gang", value)]
    return [Key(clique.namespace, clique.name) for clique in cliques]


def cliques_of_set(pcs: PodCliqueSet, read: Reader) -> Iterable[Key]:
    return [Key(clique.namespace, clique.name) for clique in read.by(POD_CLIQUE, "set", f"{pcs.namespace}/{pcs.name}")]


def listening_cliques(pcs: PodCliqueSet, read: Reader) -> Iterable[Key]:
    """The set's cliques outside of groups, and those whose pods are still held back: these look again all the time."""
    return [
        Key(clique.namespace, clique.name)
        for clique in read.by(POD_CLIQUE, "set", f"{pcs.namespace}/{pcs.name}")
        if names.SCALING_GROUP not in clique.labels
        or any(pod.spec.scheduling_gates for pod in read.owned(POD, clique.uid))
    ]


def cliques_of_group(group: PodCliqueScalingGroup, read: Reader) -> Iterable[Key]:
    return [Key(clique.namespace, clique.name) for clique in read.owned(POD_CLIQUE, group.uid)]


def group_moved(before: PodCliqueScalingGroup | None, after: PodCliqueScalingGroup | None) -> bool:
    """The group follows another template of its set, or aims at one."""
    if before is None or after is None:
        return False
    old, new = (
        (
            item.status.current_pod_clique_set_generation_hash,
            (item.status.update_progress or {}).get("podCliqueSetGenerationHash"),
        )
        for item in (before, after)
    )
    return old != new


def gang_changed(before: PodGang | None, after: PodGang | None) -> bool:
    if before is None or after is None:
        return True
    return (
        before.spec != after.spec
        or initialized(before) != initialized(after)
        or is_scheduled(before) != is_scheduled(after)
        or held_by_backend(before) != held_by_backend(after)
        or before.labels.get(names.SCHEDULER_BACKEND) != after.labels.get(names.SCHEDULER_BACKEND)
    )


def set_changed(before: PodCliqueSet | None, after: PodCliqueSet | None) -> bool:
    if before is None or after is None:
        return before is None
    return (
        before.metadata.generation != after.metadata.generation
        or before.status.current_generation_hash != after.status.current_generation_hash
        or update_target(before) != update_target(after)
    )


def cliques_with_sharing(template: object, read: Reader) -> Iterable[Key]:
    """Cliques whose claims may come from a template that appeared or changed."""
    return [
        Key(clique.namespace, clique.name)
        for clique in read.list(POD_CLIQUE)
        if any(error.code == "ERR_SYNC_PCLQ_RESOURCE_CLAIM" for error in clique.status.last_errors)
    ]


def chosen_or_asked(before: PodClique | None, after: PodClique | None) -> bool:
    """A choice of ours that the cache shows now, or something new that is wanted."""
    if before is None or after is None:
        return True
    return asked_again(before, after) or selected_pods(before.status.update_progress) != selected_pods(
        after.status.update_progress
    )
