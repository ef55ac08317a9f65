"""Whether the components that a gang needs are at work: whose lease is how old, which shard serves a node pool."""

from __future__ import annotations

from collections.abc import Sequence

from gangline.api import kinds, names
from gangline.api.builtin import Lease
from gangline.api.meta import Raw
from gangline.rights import LEASES
from gangline.rules.gangs.bind_requests import orders
from gangline.rules.schedulers import SERVED
from gangline.rules.values import times
from gangline.rules.values.times import spoken
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects, dig
from gangline.why.workloads import Subject

QUIET = 3.0
"""Seconds after which a gang for which there is room has been overlooked."""


def lease_of(objects: ClusterObjects, lease_names: Sequence[str]) -> Lease | None:
    return next((lease for lease in objects.all(kinds.LEASE) if lease.name in lease_names), None)


def lease_age(objects: ClusterObjects, lease: Lease) -> float | None:
    renewed = times.seconds(lease.spec.renew_time)
    return None if renewed is None else objects.now - renewed


def lapsed(objects: ClusterObjects, lease: Lease) -> bool:
    age = lease_age(objects, lease)
    return age is not None and age > (lease.spec.lease_duration_seconds or 15)


def lease_text(objects: ClusterObjects, lease_names: Sequence[str]) -> str:
    lease = lease_of(objects, lease_names)
    if lease is None and kinds.LEASE.resource in objects.unread:
        return "you may not read Leases of the whole cluster, which would tell"
    if lease is None:
        return f"there is no Lease {lease_names[0]}"
    age = lease_age(objects, lease)
    ago = f"was renewed {spoken(max(age, 0))} ago" if age is not None else "was never renewed"
    return f"Lease {lease.namespace}/{lease.name} {ago} by {lease.spec.holder_identity or 'nobody'}"


def scheduler_leases(pool: str) -> tuple[str, ...]:
    return tuple(f"{name}-{pool}" if pool else name for name in SERVED)


def no_scheduler(objects: ClusterObjects, pool: str) -> Cause | None:
    """The scheduler's lease has lapsed: nobody decides."""
    lease = lease_of(objects, scheduler_leases(pool))
    if lease is None or not lapsed(objects, lease):
        return None
    return Cause(
        "no-scheduler",
        f"no scheduler is running: {lease_text(objects, scheduler_leases(pool))}, and it is valid for "
        f"{lease.spec.lease_duration_seconds or 15} s",
        ("start it (`gangline run scheduler`)",),
    )


def no_shard(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """A gang in a node pool that no scheduler serves."""
    pool = pool_of(subject)
    if not pool or subject.group is None or kinds.SCHEDULING_SHARD.resource in objects.unread:
        return None
    served = {str(dig(raw, "spec", "partitionLabelValue") or "") for raw in objects.raws(kinds.SCHEDULING_SHARD)}
    if pool in served or lease_of(objects, scheduler_leases(pool)) is not None:
        return None
    there = ", ".join(sorted(served - {""})) or "none"
    return Cause(
        "no-shard",
        f"no scheduler serves node pool {pool} (label {names.NODE_POOL}): there is no SchedulingShard for it",
        (f"node pools with a SchedulingShard: {there}",),
        ((out_of_pool(subject),),),
    )


def out_of_pool(subject: Subject, pool: str = "default") -> ObjectChange:
    """The gang in another node pool; by default in the one without a label."""
    assert subject.group is not None
    body: Raw = {"metadata": {"labels": {names.NODE_POOL: None if pool == "default" else pool}}}
    return ObjectChange(kinds.POD_GROUP, subject.group.name, body, subject.namespace, word=subject.group_word)


def pool_of(subject: Subject) -> str:
    return subject.group.labels.get(names.NODE_POOL, "") if subject.group is not None else ""


def overlooked(objects: ClusterObjects, subject: Subject) -> Cause:
    """There is room, and yet it waits: for the next cycle, or for a scheduler that is not there."""
    made = max([times.seconds(pod.metadata.creation_timestamp) or 0.0 for pod in subject.pods], default=0.0)
    waited = objects.now - made
    note = lease_text(objects, scheduler_leases(pool_of(subject)))
    if waited < QUIET:
        known = lease_of(objects, scheduler_leases(pool_of(subject))) is not None
        running = "" if known else f", if a scheduler is running: {note}"
        fact = note if known else "`gangline run scheduler` starts one"
        return Cause("next", f"there is room for it, the next cycle places it{running}", (fact,), transient=True)
    return Cause(
        "no-scheduler",
        f"there is room for it, but no scheduler has placed it for {spoken(waited)}: is one running? {note}",
        ("`gangline run scheduler` starts one",),
    )


def binding(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """Pods that were given a node and wait for the binder."""
    mine = {pod.name: pod for pod in subject.pods if not pod.spec.node_name}
    asked = [
        (request, order)
        for request in objects.all(kinds.BIND_REQUEST, subject.namespace)
        for order in orders(request)
        if order.pod_name in mine
    ]
    if not asked or len(asked) < len(mine):
        return None
    request, order = asked[0]
    age = objects.now - (times.seconds(request.metadata.creation_timestamp) or objects.now)
    tries = f", {request.status.failed_attempts} tries failed" if request.status.failed_attempts else ""
    why = (
        f"{len(asked)} of its pods {'was given a node' if len(asked) == 1 else 'were given nodes'} "
        f"(pod {order.pod_name}: {order.selected_node}) and "
        f"{'has' if len(asked) == 1 else 'have'} waited {spoken(age)} for the binder{tries}"
    )
    leases = (LEASES["binder"], "gangline-binder")
    note, lease = lease_text(objects, leases), lease_of(objects, leases)
    at_work = lease is not None and not lapsed(objects, lease)
    facts = (note,) if at_work else (note, "is it running? `gangline run binder` starts it")
    return Cause("binding", why + (f": {note}" if age >= QUIET else ""), facts, state="is starting", transient=True)
