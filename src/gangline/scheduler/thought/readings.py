"""Objects of the API read into records of the model, with what was decided and the watch does not show yet.

loop/feed.py looks the objects up, scheduler/objects/ reads each of them alone; here they come together. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import BindRequest, PodGroup, Queue
from gangline.api.meta import Object, as_raw
from gangline.rules import requests
from gangline.rules.gangs.bind_requests import live, order_for
from gangline.rules.gangs.priorities import Priorities
from gangline.rules.values import times
from gangline.scheduler import objects
from gangline.scheduler.model.status import Status
from gangline.scheduler.objects.reading import ObjectReading
from gangline.scheduler.records import ClaimRecord, DeviceId, GangRecord, TaskRecord
from gangline.scheduler.thought.options import SchedulerOptions

STAMPS = (
    names.STALE_SINCE,
    names.LAST_START,
    names.LAST_EVICTION,
    names.EXPECTED_RUNTIME,
    names.LAST_CHECKPOINT,
    names.CHECKPOINT_INTERVAL,
    names.MOVE,
)
"""Annotations of a PodGroup that say something about its gang."""
BUDGETS = (names.LOST_PER_HOUR, names.EVICTIONS_PER_DAY)
"""The same of a Queue."""
Promise = tuple[str, tuple[DeviceId, ...]]
"""The uid of a pod, and the devices that one of its claims gets."""


def object_reading(options: SchedulerOptions, now: float, namespaces: Mapping[str, Mapping[str, str]]) -> ObjectReading:
    """How objects are read by a scheduler with these options; `namespaces`: their labels."""
    return ObjectReading(
        now=now,
        scheduler_names=options.scheduler_names,
        node_pool_key=options.node_pool_key,
        node_pool=options.node_pool,
        stuck_releasing=options.stuck_releasing,
        reservation_app=options.reservation_app,
        scaling_app=options.scaling_app,
        mig_label=options.mig_worker_label,
        namespaces=namespaces,
        counts_succeeded=options.settings.counts_succeeded,
    )


def promises(request: BindRequest) -> tuple[Any, ...]:
    return request.uid, request.spec, request.metadata.deleting, live(request)


def read_of(group: PodGroup) -> tuple[Any, ...]:
    """All that a gang's record is made of."""
    noted, spec = group.annotations, group.spec
    conditions = group.status.scheduling_conditions if spec.scheduling_backoff is not None else ()
    return group.uid, spec, group.labels, conditions, *(noted.get(name) for name in STAMPS)


def read_of_queue(queue: Queue) -> tuple[Any, ...]:
    """All that a queue's record is made of."""
    return queue.uid, queue.spec, queue.labels, *(queue.annotations.get(name) for name in BUDGETS)


def turns(pod: Pod, stuck_releasing: float) -> float | None:
    """The moment at which time alone changes how a pod is read."""
    if pod.metadata.deleting:
        deleted = times.seconds(pod.metadata.deletion_timestamp)
        return None if deleted is None else deleted + stuck_releasing
    return times.seconds(pod.annotations.get(names.BIND_AFTER)) if not pod.spec.node_name else None


def read_task(
    pod: Pod,
    request: BindRequest | None,
    claims: list[Any],
    reading: ObjectReading,
    over: Callable[[TaskRecord], TaskRecord],
    now: float,
) -> TaskRecord:
    binding = order_for(request, pod) if request is not None and live(request) else None
    record = objects.task_record(pod, binding, [as_raw(claim) for claim in claims], reading)
    after = times.seconds(pod.annotations.get(names.BIND_AFTER)) or 0.0
    over_with = request is not None and binding is None
    if record.status is Status.PENDING and (after > now or over_with):
        record = replace(record, status=Status.GATED)
    return over(record)


def read_gang(
    group: PodGroup,
    known: Priorities,
    aliases: Mapping[str, Mapping[str, str]],
    reading: ObjectReading,
    over: Callable[[GangRecord], GangRecord],
) -> GangRecord:
    return over(objects.gang_record(group, known, aliases, reading))


def read_claim(obj: Object, promised: Promise | None) -> ClaimRecord:
    """A claim that has no devices yet has those that were promised to it."""
    record = objects.claim_record(as_raw(obj))
    if promised is None or record.allocated is not None:
        return record
    uid, devices = promised
    return replace(record, allocated=devices, reserved_for=(*record.reserved_for, uid))


def used_claims(pod: Pod) -> list[str]:
    """Claims it names, and the one made for its extended resources."""
    made = requests.extended_claim_name(pod) if pod.status.extended_resource_claim_status else ""
    return [*requests.claim_names(pod).values(), *([made] if made else [])]
