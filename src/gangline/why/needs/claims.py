"""Device claims, templates and classes that pods name and that are missing or not theirs."""

from __future__ import annotations

from collections.abc import Container, Sequence

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.rules.values.nearest import did_you_mean
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugins.fit.volumerestrictions import NAME as VOLUME_RESTRICTIONS
from gangline.scheduler.records import ClaimRecord
from gangline.scheduler.session import Session
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.needs.single_use import single_use_cause
from gangline.why.needs.volumes import config_map_cause, volume_cause
from gangline.why.objects import ClusterObjects
from gangline.why.words.amounts import listed
from gangline.why.workloads import Subject


def missing_things(
    session: Session, objects: ClusterObjects, subject: Subject, gang: GangInfo, tasks: Sequence[TaskInfo]
) -> Cause | None:
    """What pods name and nobody has: claims, volumes, config maps."""
    for task in tasks:
        cause = (
            volume_cause(session, objects, task)
            or config_map_cause(session, task)
            or claim_cause(session, objects, gang, task)
        )
        if cause is not None:
            return cause
    return single_use_cause(session, objects, subject, gang, tasks)


def claim_cause(session: Session, objects: ClusterObjects, gang: GangInfo, task: TaskInfo) -> Cause | None:
    devices = session.cluster.devices
    for name in (*task.record.missing_claims, *task.record.claims):
        claim = devices.records.get((task.namespace, name))
        if claim is None:
            return _no_claim(session, objects, task, name)
        unknown = _unknown_class(devices.classes, claim)
        if unknown:
            made = ObjectChange(kinds.DEVICE_CLASS, unknown[0], {"spec": {}}, how="new")
            near = did_you_mean(unknown[0], devices.classes)
            do = "does" if len(unknown) == 1 else "do"
            return Cause(
                "device-class",
                f"DeviceClass {' and '.join(unknown)}, which ResourceClaim {name} asks for, {do} not exist{near}",
                (f"there are {listed(sorted(devices.classes)) or 'none'}",),
                ((made,),),
            )
    refusals = session.hooks.before_task(task, gang)
    claims = [item for item in refusals or () if "claim" in item.reason and item.plugin != VOLUME_RESTRICTIONS]
    if claims:
        return Cause("claim", claims[0].reason, fixes=_labelled_claim(session, gang, task, claims[0].reason))
    return None


def _unknown_class(classes: Container[str], claim: ClaimRecord) -> list[str]:
    """Classes of a request of which none exists; of alternatives, one that exists will do."""
    for request in claim.requests if claim.allocated is None else ():
        asked = [way.device_class for way in request.choices or (request,)]
        if not any(name in classes for name in asked):
            return list(dict.fromkeys(asked))
    return []


def _labelled_claim(
    session: Session, gang: GangInfo, task: TaskInfo, reason: str
) -> tuple[tuple[ObjectChange, ...], ...]:
    if "queue label" not in reason:
        return ()
    label = session.settings.queue_label
    return tuple(
        (ObjectChange(kinds.RESOURCE_CLAIM, name, {"metadata": {"labels": {label: gang.queue}}}, task.namespace),)
        for name in task.record.claims
    )


def _no_claim(session: Session, objects: ClusterObjects, task: TaskInfo, name: str) -> Cause:
    pod = objects.get(kinds.POD, task.name, task.namespace)
    reference = (
        next(
            (
                resource_claim
                for resource_claim in pod.spec.resource_claims
                if name in (resource_claim.name, resource_claim.resource_claim_name)
            ),
            None,
        )
        if pod
        else None
    )
    template = reference.resource_claim_template_name if reference is not None else None
    device_class = next(iter(sorted(session.cluster.devices.classes)), "gpu.nvidia.com")
    spec: Raw = {"devices": {"requests": [{"name": "device", "exactly": {"deviceClassName": device_class}}]}}
    if template and objects.raw(kinds.RESOURCE_CLAIM_TEMPLATE, template, task.namespace) is None:
        made = ObjectChange(kinds.RESOURCE_CLAIM_TEMPLATE, template, {"spec": {"spec": spec}}, task.namespace, "new")
        return Cause(
            "claim",
            f"ResourceClaimTemplate {template}, which pod {task.name} names, does not exist in namespace "
            f"{task.namespace}",
            fixes=((made,),),
            pods_change=True,
        )
    if template:
        return Cause(
            "claim",
            f"the ResourceClaim of template {template} for pod {task.name} has not been made yet",
            transient=True,
        )
    body: Raw = {
        "metadata": {"labels": {session.settings.queue_label: task.gang.queue}} if task.gang is not None else {},
        "spec": spec,
    }
    made = ObjectChange(kinds.RESOURCE_CLAIM, name, body, task.namespace, "new")
    return Cause(
        "claim",
        f"ResourceClaim {name}, which pod {task.name} names, does not exist in namespace {task.namespace}",
        fixes=((made,),),
    )
