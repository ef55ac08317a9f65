"""What must hold of a write before it is tried: its names, its namespace, its revision, its owners.

writes.py, patches.py and scale.py ask; each refusal has the words of a kube-apiserver. Nothing is written here.
"""

from __future__ import annotations

import msgspec

from gangline.cluster.server.call import ServerCall, is_digits, is_number
from gangline.cluster.server.core import Core
from gangline.cluster.server.status import (
    bad_request,
    forbidden,
    internal,
    invalid,
    modified,
    not_found,
    storage_conflict,
)
from gangline.cluster.server.store.shelf import is_deleting
from gangline.cluster.server.verbs.kind_rules import rules_for
from gangline.cluster.server.verbs.meta import Obj
from gangline.errors import Problem


def check_namespace(call: ServerCall, obj: Obj) -> None:
    """An object that is in no namespace loses the one it names; any other is in that of its request."""
    if not call.resource.namespaced:
        obj["metadata"].pop("namespace", None)
        return
    given = obj["metadata"].get("namespace") or ""
    if given and given != call.namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    obj["metadata"]["namespace"] = call.namespace


def deduplicate_owners(call: ServerCall, obj: Obj) -> None:
    owners = obj["metadata"].get("ownerReferences")
    if not owners or len(owners) < 2:
        return
    kept: dict[bytes, Obj] = {}
    doubled: list[str] = []
    for owner in owners:
        mark = msgspec.json.encode(owner, order="deterministic")
        if mark in kept:
            doubled.append(owner.get("uid", ""))
        kept.setdefault(mark, owner)
    if doubled:
        obj["metadata"]["ownerReferences"] = list(kept.values())
        call.warnings.append(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and "
            "may reject such "
            f"requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
            f"{', '.join(dict.fromkeys(doubled))}"
        )


def check_namespace_lives(core: Core, call: ServerCall, name: str) -> None:
    record = core.store.get(("", "namespaces"), ("", call.namespace))
    if record is None:
        raise not_found("", "namespaces", call.namespace)
    if not is_deleting(record):
        return
    why = f"unable to create new content in namespace {call.namespace} because it is being terminated"
    error = forbidden(call.resource.group, call.resource.plural, name, why)
    error.status["details"]["causes"] = [
        {
            "reason": "NamespaceTerminating",
            "field": "metadata.namespace",
            "message": f"namespace {call.namespace} is being terminated",
        }
    ]
    raise error


def check_name(call: ServerCall, obj: Obj) -> None:
    name = obj["metadata"].get("name") or ""
    if not name:
        raise bad_request(
            f"the name of the object ({call.name} based on URL) was undeterminable: name must be provided"
        )
    if name != call.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")


def check_revision_of_new(obj: Obj) -> None:
    """What is created has no revision yet; one that is no number is passed over."""
    text = obj["metadata"].get("resourceVersion") or ""
    if is_number(text) and int(text):
        raise internal("resourceVersion should not be set on objects to be created")


def check_revision_readable(obj: Obj) -> None:
    text = obj["metadata"].get("resourceVersion") or ""
    if is_digits(text) and not is_number(text):
        raise bad_request(f'strconv.ParseUint: parsing "{text}": value out of range')
    if text and not is_number(text):
        raise internal(f'strconv.ParseUint: parsing "{text}": invalid syntax')


def check_revision_given(call: ServerCall, obj: Obj) -> None:
    resource, rules = call.resource, rules_for(call.resource)
    check_revision_readable(obj)
    text = obj["metadata"].get("resourceVersion") or ""
    if not rules.unconditional_update and text in ("", "0"):
        problem = Problem("metadata.resourceVersion", "Invalid value: 0: must be specified for an update")
        raise invalid(resource.shelf[0], resource.plural, call.name, [problem])


def check_identity(call: ServerCall, new: Obj, old: Obj) -> None:
    resource, about, before = call.resource, new.setdefault("metadata", {}), old["metadata"]
    revision = about.get("resourceVersion")
    if revision and revision != "0" and revision != before["resourceVersion"]:
        raise modified(resource.group, resource.plural, call.name)


def check_uid(call: ServerCall, new: Obj, present: str) -> None:
    """A put names the object it is about; `present` is the uid of the stored one, empty if there is none."""
    uid = new["metadata"].get("uid")
    if uid and uid != present:
        why = f"UID in precondition: {uid}, UID in object meta: {present}"
        raise storage_conflict(call.resource, call.place, why)
