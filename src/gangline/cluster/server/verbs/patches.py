"""PATCH in its four forms: each becomes a function from the stored object to the wanted one, and then an ordinary
update.

Server-side apply may also create. What a form cannot do to an object is refused with the codes of a kube-apiserver.
"""

from __future__ import annotations

from typing import Any

import msgspec

from gangline.client.wire import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from gangline.cluster.schema import Schema, WrongType
from gangline.cluster.server.access.rbac import Action
from gangline.cluster.server.call import ServerCall, truth
from gangline.cluster.server.core import Core
from gangline.cluster.server.patch.apply import ApplyConflict, Untypable
from gangline.cluster.server.patch.apply import apply as server_side_apply
from gangline.cluster.server.patch.json_patch import PatchFailed, json_patch, merge_patch
from gangline.cluster.server.patch.strategic import BadDirective, MisshapenPatch, go_text, strategic_merge
from gangline.cluster.server.status import bad_request, failure, internal, invalid, not_found, unsupported_media_type
from gangline.cluster.server.verbs.bodies import Refuse, admit, check_options, not_that_kind
from gangline.cluster.server.verbs.kind_rules import rules_for
from gangline.cluster.server.verbs.meta import Obj
from gangline.cluster.server.verbs.writes import (
    Change,
    WrittenRecord,
    change,
    check_name,
    check_namespace,
    create_object,
    deduplicate_owners,
    track,
)
from gangline.cluster.server.wire.codec import duplicate_fields, has_duplicates, media_type
from gangline.errors import ApiError, Problem
from gangline.rules.values.documents import DocumentUnreadable, read_json

FORMS = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)
_CUSTOM_FORMS = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)


async def patch(core: Core, call: ServerCall) -> WrittenRecord:
    form = patch_form(call)
    check_options(call, applying=form == APPLY_PATCH)
    if form == APPLY_PATCH:
        return await _apply(core, call)
    make = patcher(call, rules_for(call.resource).schema)

    def patched(old: Obj) -> Obj:
        new = read_patched(call, make(old), old)
        _check_patched(call, new, old)
        deduplicate_owners(call, new)
        return track(core, call, old, new)

    return await change(core, call, patched, in_place=False)


def patch_form(call: ServerCall) -> str:
    form = media_type(call.request.content_type)
    if form not in FORMS:
        raise failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    if call.resource.custom and form == STRATEGIC_PATCH:
        raise unsupported_media_type(_CUSTOM_FORMS)
    return form


def patcher(call: ServerCall, schema: Schema) -> Change:
    """The function a patch body stands for (apply aside)."""
    form, body = patch_form(call), _decode(call)
    if form == JSON_PATCH:
        return lambda old: _json(old, body)
    if not isinstance(body, dict):
        told = "array" if isinstance(body, list) else type(body).__name__
        raise bad_request(
            f"error decoding patch: json: cannot unmarshal {told} into Go value of type map[string]interface {{}}"
        )
    if form == MERGE_PATCH:
        return lambda old: merge_patch(old, body)
    return lambda old: _strategic(old, body, schema)


def _decode(call: ServerCall) -> Any:
    try:
        body = read_json(call.request.body)
    except DocumentUnreadable as error:
        raise bad_request(f"error decoding patch: {error}") from None
    if call.request.argument("fieldValidation") != "Ignore" and has_duplicates(call.request.body, body):
        doubled = [f'duplicate field "{path}"' for path in duplicate_fields(call.request.body)]
        if doubled and call.request.argument("fieldValidation") == "Strict":
            raise bad_request("error decoding patch: strict decoding error: " + ", ".join(doubled))
        call.warnings.extend(doubled)
    return body


def _json(old: Obj, operations: Any) -> Any:
    try:
        return json_patch(old, operations)
    except PatchFailed as error:
        if error.malformed:
            raise bad_request(f"error decoding patch: {error}") from None
        raise failure(422, "Invalid", "the server rejected our request due to an error in our request", {}) from None


def _strategic(old: Obj, body: Obj, schema: Schema) -> Obj:
    try:
        return strategic_merge(old, body, schema)
    except MisshapenPatch as error:
        raise bad_request(str(error)) from None
    except BadDirective as error:
        raise internal(str(error)) from None


def read_patched(call: ServerCall, new: Any, old: Obj) -> Obj:
    """A patch's result, read as an object of its kind again; parts it shares with the stored object were read
    before."""
    resource = call.resource

    def refuse(why: str | WrongType) -> ApiError:
        if patch_form(call) == STRATEGIC_PATCH and isinstance(new, dict):
            return _strategic_refusal(call, why)
        text = msgspec.json.encode(msgspec.json.encode(_as_told(new)).decode()).decode()
        return invalid("", "", "", [Problem("patch", f"Invalid value: {text}: {why}")])

    if not isinstance(new, dict):
        raise refuse("the result of a patch must be an object")
    if patch_form(call) == STRATEGIC_PATCH:
        new = {**new, "apiVersion": resource.api_version, "kind": resource.kind}
    elif not resource.custom and not new.get("kind") and new.get("apiVersion") == resource.api_version:
        new = {**new, "kind": resource.kind}
    if (new.get("kind"), new.get("apiVersion")) != (resource.kind, resource.api_version):
        if resource.custom:
            raise bad_request(
                f"the patch would change the object's kind or apiVersion to {new.get('kind')}, {new.get('apiVersion')}"
            )
        raise refuse(not_that_kind(new, resource))
    return _readmitted(call, new, old, refuse)


def _readmitted(call: ServerCall, new: Obj, old: Obj, refuse: Refuse) -> Obj:
    """Admitted, apart from the parts it shares with the stored object."""
    rules = rules_for(call.resource)
    shared = [name for name in ("spec", "status") if name in new and name in old and new[name] is old[name]]
    if not shared:
        return admit(call, new, rules, [], refuse)
    rest = {name: value for name, value in new.items() if name not in shared}
    accounts = _accounts(old)
    if accounts is not None and accounts is _accounts(new):
        rest["metadata"] = {name: value for name, value in new["metadata"].items() if name != "managedFields"}
        clean = admit(call, rest, rules, [], refuse, complete=False)
        clean["metadata"]["managedFields"] = accounts
    else:
        clean = admit(call, rest, rules, [], refuse, complete=False)
    clean.update((name, old[name]) for name in shared)
    rules.defaults(clean)
    return clean


def _accounts(obj: Obj) -> Any:
    about = obj.get("metadata")
    return about.get("managedFields") if isinstance(about, dict) else None


def _strategic_refusal(call: ServerCall, why: str | WrongType) -> ApiError:
    """A strategic patch is told by its own text; of a wrong type only what was found and what was wanted."""
    told = _conversion_refusal(why.given, why.wanted) if isinstance(why, WrongType) else why
    text = msgspec.json.encode(go_text(msgspec.json.decode(call.request.body))).decode()
    return invalid("", "", "", [Problem("patch", f"Invalid value: {text}: {told}")])


_GO_KINDS = {
    "string": "string",
    "integer": "int64",
    "number": "float64",
    "boolean": "bool",
    "object": "map",
    "array": "slice",
}
_GO_RESTORED = {"an object": "struct from:", "a list": "slice from", "a map": "map from"}


def _conversion_refusal(given: str, wanted: str) -> str:
    """What the real server's converter says about a value of the wrong type."""
    go_kind = _GO_KINDS.get(given, given)
    if wanted in _GO_RESTORED:
        return f"cannot restore {_GO_RESTORED[wanted]} {go_kind}"
    target = _GO_KINDS.get(wanted, wanted)
    if (given, target) == ("integer", "string") or (given == "number" and target in ("int32", "int64")):
        return f"cannot convert {go_kind} to {target}"
    if target == "quantity":
        return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    return f"unrecognized type: {target}"


_META_ORDER = (
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)


def _as_told(obj: Any) -> Any:
    """An object in the order in which a refusal prints it."""
    if not isinstance(obj, dict) or not isinstance(obj.get("metadata"), dict):
        return obj
    meta = obj["metadata"]
    ordered = {key: meta[key] for key in _META_ORDER if key in meta} | meta
    return {key: ordered if key == "metadata" else obj[key] for key in sorted(obj)}


def _check_patched(call: ServerCall, new: Obj, old: Obj) -> None:
    check_name(call, new)
    about = new["metadata"]
    if call.resource.namespaced:
        about.setdefault("namespace", call.namespace)
    check_namespace(call, new)


async def _apply(core: Core, call: ServerCall) -> WrittenRecord:
    resource, rules = call.resource, rules_for(call.resource)
    absent = core.store.get(resource.shelf, call.place) is None
    if absent and call.subresource:
        raise not_found(resource.shelf[0], resource.plural, call.name)
    if absent:
        core.allow(call.user, Action("create", resource.group, resource.plural, "", call.namespace, call.name))
    applied = read_applied(call)
    force = truth(call.request.argument("force"))

    def merged(live: Obj | None) -> Obj:
        try:
            result = server_side_apply(
                live,
                applied,
                call.manager,
                force,
                rules.schema,
                core.now(),
                call.subresource,
                resource.api_version,
                rules.reset(call.subresource),
            )
        except ApplyConflict as error:
            raise failure(409, "Conflict", str(error), {"causes": error.causes}) from None
        except Untypable as error:
            what = f"{_go_place(call)}; {resource.group}/{resource.version}, Kind={resource.kind}"
            raise internal(f"failed to create typed patch object ({what}): {error}") from None
        return _readmitted(call, result, live or {}, lambda why: bad_request(f"failed to convert merged object: {why}"))

    if absent:
        new = merged(None)
        new["metadata"].pop("resourceVersion", None)
        if new["metadata"].get("uid"):
            raise failure(
                409,
                "Conflict",
                "uid mismatch: the provided object specified uid "
                f"{new['metadata']['uid']}, and no existing object was found",
                {},
            )
        return await create_object(core, call, new)

    def updated(old: Obj) -> Obj:
        new = merged(old)
        check_namespace(call, new)
        return new

    return await change(core, call, updated, in_place=False)


def _go_place(call: ServerCall) -> str:
    return f"/{call.name}"


def read_applied(call: ServerCall) -> Obj:
    resource = call.resource
    doubled: list[str] = []
    try:
        body = call.yaml_data(resource.kind, doubled)
    except ApiError as error:
        raise bad_request(f"error decoding YAML: {error}") from None
    strictness = call.request.argument("fieldValidation")
    if doubled and strictness == "Strict":
        raise bad_request(
            "error decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  " + "\n  ".join(doubled)
        )
    if strictness != "Ignore":
        call.warnings.extend(doubled)
    if not isinstance(body, dict):
        raise bad_request("error decoding YAML: the body is not an object")
    kind, version = str(body.get("kind") or ""), str(body.get("apiVersion") or "")
    if (kind, version) != (resource.kind, resource.api_version):
        shown = version if "/" in version or not version else f"/{version}"
        raise bad_request(f"invalid object type: {shown or '/'}, Kind={kind}")
    about = body.get("metadata")
    if about is None:
        about = body["metadata"] = {}
    if not isinstance(about, dict):
        raise bad_request(f"error decoding YAML: metadata is {type(about).__name__}, not an object")
    check_name(call, body) if about.get("name") else about.update(name=call.name)
    check_namespace(call, body)
    if about.get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    return body
