"""Which changes of other objects concern which scaling group. Nothing here reads more than the cache."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet
from gangline.api.kinds import SCALING_GROUP
from gangline.api.meta import Object, condition
from gangline.operator.status import BREACHED, SCHEDULED, TERMINATING, on_delete, update_open, update_target
from gangline.operator.watches import asked_again
from gangline.rules import wishes
from gangline.runtime import Key, Reader


def groups_of_set(pcs: PodCliqueSet, read: Reader) -> Iterable[Key]:
    return [Key(group.namespace, group.name) for group in read.owned(SCALING_GROUP, pcs.uid)]


def set_changed(before: PodCliqueSet | None, after: PodCliqueSet | None) -> bool:
    return update_moves(before, after) or (
        before is not None
        and after is not None
        and (
            before.metadata.generation != after.metadata.generation
            or wishes.ends_gangs(before.annotations) != wishes.ends_gangs(after.annotations)
        )
    )


def update_moves(before: PodCliqueSet | None, after: PodCliqueSet | None) -> bool:
    if before is None or after is None:
        return before is None
    by_hand = on_delete(after) and after.status.update_progress is not None
    return (
        by_hand
        or update_target(before) != update_target(after)
        or before.status.current_generation_hash != after.status.current_generation_hash
    )


def clique_matters(before: PodClique | None, after: PodClique | None) -> bool:
    if before is None or after is None:
        return True
    old, new = before.status, after.status
    return (
        asked_again(before, after) or _essence(before) != _essence(after) or old.update_progress != new.update_progress
    )


def _essence(clique: PodClique) -> tuple[object, ...]:
    status = clique.status
    return (
        status.ready_replicas,
        status.scheduled_replicas,
        status.updated_replicas,
        status.current_pod_template_hash,
        status.current_pod_clique_set_generation_hash,
        condition(status.conditions, BREACHED),
        condition(status.conditions, SCHEDULED),
    )


def conditions_changed(before: PodCliqueScalingGroup | None, after: PodCliqueScalingGroup | None) -> bool:
    """The set's controller writes one condition here; an update goes on when its choice is seen, or enough replicas are
    available again."""
    if before is None or after is None or before.status.update_progress != after.status.update_progress:
        return True
    recovered = (
        update_open(after.status.update_progress) and after.status.available_replicas > before.status.available_replicas
    )
    return (
        recovered
        or asked_again(before, after)
        or condition(before.status.conditions, TERMINATING) != condition(after.status.conditions, TERMINATING)
    )


def groups_in_trouble(template: Object, read: Reader) -> Iterable[Key]:
    return [
        Key(group.namespace, group.name)
        for group in read.list(SCALING_GROUP)
        if any(error.code == "ERR_SYNC_PCSG_RESOURCE_CLAIM" for error in group.status.last_errors)
    ]
