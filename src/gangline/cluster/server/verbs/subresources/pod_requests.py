"""A Binding and an Eviction as they were sent: read, checked, and checked against the pod they are about.

Pure: pods.py carries them out.
"""

from __future__ import annotations

from dataclasses import replace

from gangline.cluster import kinds
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.status import conflict, internal, storage_conflict
from gangline.cluster.server.verbs.bodies import check_options as check_request_options
from gangline.cluster.server.verbs.bodies import read_object
from gangline.cluster.server.verbs.delete_options import DeleteOptions
from gangline.cluster.server.verbs.meta import Obj
from gangline.cluster.server.verbs.write_checks import check_namespace

_BINDING = Resource("", "v1", "bindings", "Binding", namespaced=True)
_EVICTION = Resource("policy", "v1", "evictions", "Eviction", namespaced=True)


def read_binding(call: ServerCall) -> Obj:
    return _read(call, _BINDING)


def read_eviction(call: ServerCall) -> Obj:
    """An Eviction, also in the version that is otherwise served no more."""
    body = call.data("Eviction")
    early = isinstance(body, dict) and body.get("apiVersion") == "policy/v1beta1"
    return _read(call, replace(_EVICTION, version="v1beta1") if early else _EVICTION)


def _read(call: ServerCall, resource: Resource) -> Obj:
    sent = call.about(resource)
    check_request_options(sent)
    body = read_object(sent, kinds.rules(resource.group, "v1", resource.kind))
    check_namespace(sent, body)
    return body


def check_target(target: Obj) -> None:
    if target.get("kind") not in (None, "", "Node"):
        raise internal(f'target.kind: Unsupported value: "{target["kind"]}": supported values: "Node", "<empty>"')
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
        given.get("propagationPolicy"),
        None,
        wanted.get("uid") or "",
        wanted.get("resourceVersion") or "",
        call.dry_run or bool(given.get("dryRun")),
        given.get("dryRun") or [],
        given,
    )
