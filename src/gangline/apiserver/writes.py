"""Create, update and patch: from a request body to a committed record.

Each write runs the same stations: read the body, default it, let admission change it, stamp its metadata, check it, let admission refuse
it, commit. An update is tried again from the stored object when somebody else was faster, unless the caller named a revision.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from gangline.apiserver import meta
from gangline.apiserver.admission import CREATE, UPDATE, Review
from gangline.apiserver.call import Call
from gangline.apiserver.codec import decode_body, decode_json, duplicate_fields
from gangline.apiserver.core import Core, unstored, whole
from gangline.apiserver.meta import Obj
from gangline.apiserver.resources import Resource
from gangline.apiserver.rules import rules_for
from gangline.apiserver.status import (
    already_exists,
    bad_request,
    conflict,
    forbidden,
    internal,
    invalid,
    method_not_allowed,
    modified,
    not_found,
    unsupported_media_type,
)
from gangline.apiserver.store import Record
from gangline.client.wire import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from gangline.errors import Problem

RETRIES = 16
Change = Callable[[Obj], Obj]
"""From the stored object (a fresh copy) to the wanted one."""


@dataclass(slots=True)
class Written:
    record: Record
    created: bool = False


def read_object(call: Call, resource: Resource) -> Obj:
    """The body of a POST or PUT as an object of the resource's kind."""
    body = decode_body(call.request.body, call.request.content_type, resource.kind)
    if body is None:
        body = {}
    if not isinstance(body, dict):
        raise bad_request(f"the object provided is unrecognized (must be of type {resource.kind}): couldn't get version/kind; "
                          "json parse error: json: cannot unmarshal into an object")
    strict_fields(call, resource)
    kind, version = body.get("kind") or resource.kind, body.get("apiVersion") or resource.api_version
    if kind != resource.kind or version != resource.api_version:
        raise _wrong_kind(resource, kind, version)
    if not isinstance(body.get("metadata") or {}, dict):
        raise bad_request(f'{kind} in version "{resource.version}" cannot be handled as a {kind}: metadata is not an object')
    body["kind"], body["apiVersion"] = kind, version
    if not body.get("metadata"):
        body["metadata"] = {}
    return body


def strict_fields(call: Call, resource: Resource) -> None:
    if call.request.argument("fieldValidation") == "Strict":
        doubled = duplicate_fields(call.request.body)
        if doubled:
            told = ", ".join(f'duplicate field "{path}"' for path in doubled)
            raise bad_request(f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: '
                              f"strict decoding error: {told}")


def _wrong_kind(resource: Resource, kind: str, version: str) -> Exception:
    if resource.custom:
        return bad_request(f"the object provided is unrecognized (must be of type {resource.kind}): {kind} of {version}")
    return bad_request(f'{kind} in version "{resource.version}" cannot be handled as a {resource.kind}: no kind "{kind}" is registered '
                       f'for version "{version}" in scheme "pkg/runtime/scheme.go:111"')


def _check_namespace(call: Call, obj: Obj) -> None:
    given = obj["metadata"].get("namespace") or ""
    wanted = call.namespace if call.resource.namespaced else ""
    if given and given != wanted:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")


async def create(core: Core, call: Call) -> Written:
    obj = read_object(call, call.resource)
    return await create_object(core, call, obj)


async def create_object(core: Core, call: Call, obj: Obj) -> Written:
    resource, rules = call.resource, rules_for(call.resource)
    _check_namespace(call, obj)
    rules.default(obj)
    namespace = call.namespace if resource.namespaced else ""
    if resource.namespaced:
        _check_namespace_lives(core, call, obj)
    if obj["metadata"].get("resourceVersion"):
        raise internal("resourceVersion should not be set on objects to be created")
    meta.fill_new(obj, namespace, core.new_uid(), core.now(), core.suffix)
    name = obj["metadata"].get("name") or ""
    review = Review(CREATE, resource, namespace, name, obj, None, call.user, dry_run=call.dry_run, warnings=call.warnings)
    await core.admission.mutate(review)
    obj = review.object or obj
    rules.default(obj)
    rules.prepare_create(obj)
    meta.tidy(obj)
    problems = meta.check(obj, resource.namespaced, rules.name_problems) + rules.validate(obj)
    if problems:
        raise invalid(resource.group, resource.kind, name, problems)
    review.object = obj
    await core.admission.validate(review)
    place = (namespace, name)
    if core.store.get(resource.shelf, place) is not None:
        raise already_exists(resource.group, resource.plural, name)
    if call.dry_run:
        return Written(unstored(resource, place, obj, 0), True)
    return Written(core.write(resource, place, obj), True)


def _check_namespace_lives(core: Core, call: Call, obj: Obj) -> None:
    record = core.store.get(("", "namespaces"), ("", call.namespace))
    if record is None:
        raise not_found("", "namespaces", call.namespace)
    namespace = record.object()
    if namespace["metadata"].get("deletionTimestamp"):
        name = obj["metadata"].get("name") or ""
        why = f"unable to create new content in namespace {call.namespace} because it is being terminated"
        error = forbidden(call.resource.group, call.resource.plural, name, why)
        error.status["details"]["causes"] = [{
            "reason": "NamespaceTerminating", "field": "metadata.namespace",
            "message": f"namespace {call.namespace} is being terminated"}]
        raise error


async def update(core: Core, call: Call) -> Written:
    obj = read_object(call, call.resource)
    _check_namespace(call, obj)
    name = obj["metadata"].get("name") or ""
    if not name:
        obj["metadata"]["name"] = call.name
    elif name != call.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")
    if call.resource.namespaced:
        obj["metadata"]["namespace"] = call.namespace
    _check_revision_given(call, obj)

    return await change(core, call, lambda old: copy.deepcopy(obj), obj)


def _check_revision_given(call: Call, obj: Obj) -> None:
    resource, rules = call.resource, rules_for(call.resource)
    text = obj["metadata"].get("resourceVersion") or ""
    if text and not text.isdigit():
        raise internal(f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax')
    if not rules.unconditional_update and text in ("", "0") and not rules.create_on_update:
        problem = Problem("metadata.resourceVersion", "Invalid value: 0: must be specified for an update", "FieldValueInvalid")
        raise invalid(resource.group, resource.kind, call.name, [problem])


async def change(core: Core, call: Call, make: Change, absent: Obj | None = None) -> Written:
    """Replace the stored object by what `make` turns it into; `absent` is created where the kind allows that."""
    resource, rules, place = call.resource, rules_for(call.resource), call.place
    for _ in range(RETRIES):
        current = core.store.get(resource.shelf, place)
        if current is None:
            if absent is not None and rules.create_on_update:
                return await create_object(core, call, absent)
            raise not_found(resource.group, resource.plural, call.name)
        old = whole(resource, current)
        new = make(whole(resource, current))
        written = await _attempt(core, call, current, old, new)
        if written is not None:
            return written
    raise modified(resource.group, resource.plural, call.name)


async def _attempt(core: Core, call: Call, current: Record, old: Obj, new: Obj) -> Written | None:
    """One try; None when the stored object changed meanwhile."""
    resource, rules = call.resource, rules_for(call.resource)
    _check_identity(call, new, old)
    rules.default(new)
    review = Review(UPDATE, resource, call.place[0], call.name, new, old, call.user, call.subresource, call.dry_run, call.warnings)
    await core.admission.mutate(review)
    new = review.object or new
    rules.default(new)
    meta.keep_identity(new, old)
    if call.subresource not in ("binding", "finalize"):
        rules.prepare_update(new, old, call.subresource)
    new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
    meta.tidy(new)
    problems = (meta.check_update(new, old) + meta.check(new, resource.namespaced, rules.name_problems)
                + rules.validate_update(new, old, call.subresource))
    if problems:
        raise invalid(resource.group, resource.kind, call.name, problems)
    review.object = new
    await core.admission.validate(review)
    if core.store.get(resource.shelf, call.place) is not current:
        return None
    if new == old:
        return Written(current)
    if call.dry_run:
        return Written(unstored(resource, call.place, new, current.revision))
    return Written(finish(core, resource, call.place, new))


def finish(core: Core, resource: Resource, place: tuple[str, str], new: Obj) -> Record:
    """Commit an update; an object whose deletion waited only for its last finalizer goes."""
    about = new["metadata"]
    done = about.get("deletionTimestamp") and not about.get("finalizers") and not about.get("deletionGracePeriodSeconds")
    if done and not (resource.kind == "Namespace" and (new.get("spec") or {}).get("finalizers")):
        return core.remove(resource, place, new)
    return core.write(resource, place, new)


def _check_identity(call: Call, new: Obj, old: Obj) -> None:
    resource, about, before = call.resource, new.setdefault("metadata", {}), old["metadata"]
    revision = about.get("resourceVersion")
    if revision and revision != "0" and revision != before["resourceVersion"]:
        raise modified(resource.group, resource.plural, call.name)
    uid = about.get("uid")
    if uid and uid != before["uid"] and call.verb == "update":
        raise conflict(resource.group, resource.plural, call.name,
                       f"Precondition failed: UID in precondition: {uid}, UID in object meta: {before['uid']}")


async def patch(core: Core, call: Call) -> Written:
    make = patcher(call)
    if call.request.content_type.split(";")[0] == APPLY_PATCH:
        return await apply(core, call)

    def checked(old: Obj) -> Obj:
        before = old["metadata"]
        new = make(old)
        if not isinstance(new, dict) or not isinstance(new.get("metadata"), dict):
            raise bad_request("the patched object is not an object with metadata")
        name = new["metadata"].get("name")
        if name != call.name:
            raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")
        if call.resource.namespaced and new["metadata"].get("namespace", before.get("namespace")) != call.namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
        return new

    return await change(core, call, checked)


def patcher(call: Call) -> Change:
    """The function a patch body stands for."""
    kind = call.request.content_type.split(";")[0].strip()
    if kind in (MERGE_PATCH, STRATEGIC_PATCH):
        body = decode_json(call.request.body, "")
        return lambda old: merge(old, body)
    if kind == JSON_PATCH:
        operations = decode_json(call.request.body, "")
        return lambda old: json_patch(old, operations)
    if kind == APPLY_PATCH:
        return lambda old: old
    raise unsupported_media_type((JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH))


def merge(target: Any, change_: Any) -> Any:
    """RFC 7396."""
    if not isinstance(change_, dict):
        return change_
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in change_.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def json_patch(target: Any, operations: list[dict[str, Any]]) -> Any:
    """The operations add, replace, remove and test of RFC 6902."""
    for operation in operations:
        *path, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        parent = target
        for part in path:
            parent = parent[int(part)] if isinstance(parent, list) else parent[part]
        _apply_one(parent, last, operation)
    return target


def _apply_one(parent: Any, last: str, operation: dict[str, Any]) -> None:
    name = operation["op"]
    if isinstance(parent, list):
        index = len(parent) if last == "-" else int(last)
        if name == "add":
            parent.insert(index, operation["value"])
        elif name == "replace":
            parent[index] = operation["value"]
        elif name == "remove":
            del parent[index]
    elif name in ("add", "replace"):
        parent[last] = operation["value"]
    elif name == "remove":
        del parent[last]
    if name == "test" and (parent[int(last)] if isinstance(parent, list) else parent.get(last)) != operation["value"]:
        raise invalid("", "", "", [Problem("patch", f"test failed for path {operation['path']}")])


async def apply(core: Core, call: Call) -> Written:
    body = decode_body(call.request.body, "application/yaml", call.resource.kind)
    if not isinstance(body, dict):
        raise bad_request("the body of an apply patch must be an object")
    body.setdefault("metadata", {})["name"] = call.name
    if core.store.get(call.resource.shelf, call.place) is None and not call.subresource:
        return await create_object(core, call, body)
    return await change(core, call, lambda old: merge(old, body))


Write = Callable[[Core, Call], Awaitable[Written]]
WRITES: dict[str, Write] = {"create": create, "update": update, "patch": patch}


def writer(verb: str) -> Write:
    found = WRITES.get(verb)
    if found is None:
        raise method_not_allowed()
    return found
