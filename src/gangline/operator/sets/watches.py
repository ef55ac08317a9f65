"""Which changes of other objects concern which set. Nothing here reads more than the cache."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api.grove import ClusterTopologyBinding, PodClique, PodCliqueScalingGroup, PodGang
from gangline.api.kinds import POD_CLIQUE_SET
from gangline.api.meta import Object, Raw, as_raw, condition
from gangline.operator.desired import topology
from gangline.operator.status import BREACHED
from gangline.operator.watches import asked_again
from gangline.rules.values.times import seconds
from gangline.runtime import Key, Reader


def clique_matters(before: PodClique | None, after: PodClique | None) -> bool:
    if before is None or after is None:
        return after is None
    return asked_again(before, after) or _essence(before) != _essence(after)


def _essence(clique: PodClique) -> tuple[object, ...]:
    """What of a clique's status the set looks at."""
    status = clique.status
    breach = condition(status.conditions, BREACHED)
    return (
        status.ready_replicas,
        status.scheduled_replicas,
        status.updated_replicas,
        status.current_pod_template_hash,
        status.current_pod_clique_set_generation_hash,
        status.update_progress,
        breach and breach.status,
        breach and seconds(breach.last_transition_time),
    )


def group_matters(before: PodCliqueScalingGroup | None, after: PodCliqueScalingGroup | None) -> bool:
    if before is None or after is None:
        return after is None
    old, new = before.status, after.status
    return asked_again(before, after) or (
        old.available_replicas,
        old.updated_replicas,
        old.current_pod_clique_set_generation_hash,
        old.update_progress,
        old.conditions,
    ) != (
        new.available_replicas,
        new.updated_replicas,
        new.current_pod_clique_set_generation_hash,
        new.update_progress,
        new.conditions,
    )


def gang_matters(before: PodGang | None, after: PodGang | None) -> bool:
    return before is None or after is None or before.status != after.status


def gone_or_edited(before: Object | None, after: Object | None) -> bool:
    """A child that someone removed or changed; not every kind counts generations."""
    return after is None or (before is not None and (asked_again(before, after) or _content(before) != _content(after)))


def _content(obj: Object) -> Raw:
    """What somebody wants of an object: all but its metadata and status."""
    return {key: value for key, value in as_raw(obj).items() if key not in ("metadata", "status")}


def sets_of_binding(binding: ClusterTopologyBinding, read: Reader) -> Iterable[Key]:
    return [
        Key(pcs.namespace, pcs.name) for pcs in read.list(POD_CLIQUE_SET) if topology.topology_name(pcs) == binding.name
    ]


def sets_in_trouble(template: Object, read: Reader) -> Iterable[Key]:
    """Sets that may have waited for a ResourceClaimTemplate."""
    return [
        Key(pcs.namespace, pcs.name)
        for pcs in read.list(POD_CLIQUE_SET)
        if any(error.code == "ERR_SYNC_PCS_RESOURCE_CLAIM" for error in pcs.status.last_errors)
    ]
