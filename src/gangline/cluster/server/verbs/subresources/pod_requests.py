"""A Binding and an Eviction as they were sent: read, checked, and checked against the pod they are about.

Pure: pods.py carries them out.
"""

from __future__ import annotations

from gangline.cluster import kinds
from gangline.cluster.schema import BadForm, WrongType
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.status import bad_request, conflict, internal, storage_conflict
from gangline.cluster.server.verbs.delete_options import DeleteOptions
from gangline.cluster.server.verbs.meta import Obj


def read_request(call: ServerCall, kind: str) -> Obj:
    body = call.data(kind) or {}
    if not isinstance(body, dict):
        raise bad_request(f"the object provided is unrecognized (must be of type {kind}): it is not an object")
    try:
        clean, _ = kinds.rules("policy" if kind == "Eviction" else "", "v1", kind).schema.admit(body)
    except (WrongType, BadForm) as error:
        raise bad_request(f'{kind} in version "v1" cannot be handled as a {kind}: {error}') from None
    return clean


def check_target(target: Obj) -> None:
    if target.get("kind") not in (None, "", "Node"):
        raise bad_request(f'target.kind: Unsupported value: "{target["kind"]}": supported values: "Node", "<empty>"')
    if not target.get("name"):
        raise internal("target.name: Required value")


def check_bindable(call: ServerCall, wanted: Obj, pod: Obj) -> None:
    about, spec, name = pod["metadata"], pod["spec"], call.name
    if wanted.get("uid") and wanted["uid"] != about["uid"]:
        raise storage_conflict(
            call.resource, call.place, f"UID in precondition: {wanted['uid']}, UID in object meta: {about['uid']}"
        )
    revision = wanted.get("resourceVersion")
    if revision and revision != about["resourceVersion"]:
        raise storage_conflict(
            call.resource,
            call.place,
            f"ResourceVersion in precondition: {revision}, ResourceVersion in object meta: {about['resourceVersion']}",
        )
    if about.get("deletionTimestamp"):
        raise conflict("", "pods/binding", name, f"pod {name} is being deleted, cannot be assigned to a host")
    if spec.get("nodeName"):
        raise conflict("", "pods/binding", name, f'pod {name} is already assigned to node "{spec["nodeName"]}"')
    if spec.get("schedulingGates"):
        raise conflict("", "pods/binding", name, f"pod {name} has non-empty .spec.schedulingGates")


def set_condition(pod: Obj, condition: Obj, now: str) -> None:
    """Put a condition in place of an older one of its type."""
    conditions = [
        item for item in pod.setdefault("status", {}).get("conditions") or [] if item.get("type") != condition["type"]
    ]
    pod["status"]["conditions"] = [*conditions, {**condition, "lastProbeTime": None, "lastTransitionTime": now}]


def eviction_options(call: ServerCall, given: Obj) -> DeleteOptions:
    wanted = given.get("preconditions") or {}
    return DeleteOptions(
        given.get("gracePeriodSeconds"),
        given.get("propagationPolicy") or "",
        None,
        wanted.get("uid") or "",
        wanted.get("resourceVersion") or "",
        call.dry_run or bool(given.get("dryRun")),
        raw=given,
    )
