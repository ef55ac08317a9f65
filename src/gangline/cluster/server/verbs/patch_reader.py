"""A patch as it was sent: its form (one of four), the function it stands for, and its result read as an object again.

Pure: patches.py and scale.py carry it out. What a form cannot do to an object is refused with the codes of a
kube-apiserver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from gangline.client.wire import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from gangline.cluster.schema import Schema, WrongType
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.patch.json_patch import PatchFailed, PatchTooLong, json_patch
from gangline.cluster.server.patch.strategic import BadDirective, MisshapenPatch, strategic_merge
from gangline.cluster.server.status import bad_request, failure, internal, invalid, unsupported_media_type
from gangline.cluster.server.verbs.bodies import Refuse, admit
from gangline.cluster.server.verbs.body_kinds import not_that_kind
from gangline.cluster.server.verbs.kind_rules import rules_for
from gangline.cluster.server.verbs.meta import Obj
from gangline.cluster.server.verbs.patch_refusals import as_printed, strategic_refusal
from gangline.cluster.server.verbs.writes import Change
from gangline.cluster.server.wire.codec import duplicate_fields, has_duplicates, json_name, media_type
from gangline.errors import ApiError, Problem
from gangline.rules.values.documents import DocumentUnreadable, read_json
from gangline.rules.values.merge_patch import merge_patch

FORMS = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)


_CUSTOM_FORMS = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)


def patch_form(call: ServerCall) -> str:
    form = media_type(call.request.content_type)
    if call.resource.custom and form not in _CUSTOM_FORMS:
        raise unsupported_media_type(_CUSTOM_FORMS)
    if form not in FORMS:
        raise failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    return form


@dataclass(frozen=True, slots=True)
class ReadPatch:
    """What a patch body stands for (apply aside)."""

    make: Change
    warnings: list[str]
    """What the patch itself says that nobody knows, or says twice."""


def patcher(call: ServerCall, schema: Schema) -> ReadPatch:
    form = patch_form(call)
    body, warnings = _decode(call, form)
    if form == JSON_PATCH:
        return ReadPatch(lambda old: _json(old, body), warnings)
    if body is None and form == STRATEGIC_PATCH:
        body = {}
    if body is None:
        raise bad_request("Invalid JSON Patch")
    if not isinstance(body, dict):
        start = "" if form == STRATEGIC_PATCH else "error decoding patch: "
        raise bad_request(
            f"{start}json: cannot unmarshal {json_name(body)} into Go value of type map[string]interface {{}}"
        )
    if form == MERGE_PATCH:
        return ReadPatch(lambda old: merge_patch(old, body), warnings)
    return ReadPatch(lambda old: _strategic(old, body, schema), warnings)


_OPERATION = ("op", "path", "from", "value")


def _decode(call: ServerCall, form: str) -> tuple[Any, list[str]]:
    try:
        body = read_json(call.request.body)
    except DocumentUnreadable as error:
        raise bad_request(f"{'' if form == STRATEGIC_PATCH else 'error decoding patch: '}{error}") from None
    if call.request.argument("fieldValidation") == "Ignore":
        return body, []
    doubled = duplicate_fields(call.request.body) if has_duplicates(call.request.body, body) else []
    warnings = [f'duplicate field "{path}"' for path in doubled]
    if form == JSON_PATCH:
        return body, [f"json patch {text}" for text in [*warnings, *_odd_operations(body)]]
    return body, warnings


def _odd_operations(body: Any) -> Iterator[str]:
    """What nobody knows of the operations of a JSON patch; one that is none is refused."""
    operations = [item for item in body if isinstance(item, dict)] if isinstance(body, list) else []
    for operation in operations:
        for name in ("op", "path", "from"):
            if not isinstance(operation.get(name), str | None):
                given = json_name(operation[name])
                raise bad_request(
                    f"error decoding patch: json: cannot unmarshal {given} into Go struct field jsonPatchOp.{name} "
                    "of type string"
                )
    for index, operation in enumerate(operations):
        yield from (f'unknown field "[{index}].{name}"' for name in operation if name not in _OPERATION)


def _json(old: Obj, operations: Any) -> Any:
    try:
        return json_patch(old, operations)
    except PatchTooLong as error:
        raise failure(413, "RequestEntityTooLarge", f"Request entity too large: {error}") from None
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


def read_patched(call: ServerCall, new: Any, old: Obj, warnings: Sequence[str] = ()) -> Obj:
    """A patch's result, read as an object of its kind again; parts it shares with the stored object were read
    before."""
    resource = call.resource

    def refuse(why: str | WrongType) -> ApiError:
        if patch_form(call) == STRATEGIC_PATCH and isinstance(new, dict):
            return strategic_refusal(call, why)
        text = msgspec.json.encode(msgspec.json.encode(as_printed(new)).decode()).decode()
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
    return readmitted(call, new, old, refuse, warnings)


def readmitted(call: ServerCall, new: Obj, old: Obj, refuse: Refuse, warnings: Sequence[str] = ()) -> Obj:
    """Admitted, apart from the parts it shares with the stored object."""
    rules = rules_for(call.resource)
    shared = [name for name in ("spec", "status") if name in new and name in old and new[name] is old[name]]
    if not shared:
        return admit(call, new, rules, [*warnings], refuse)
    rest = {name: value for name, value in new.items() if name not in shared}
    accounts = _accounts(old)
    if accounts is not None and accounts is _accounts(new):
        rest["metadata"] = {name: value for name, value in new["metadata"].items() if name != "managedFields"}
        clean = admit(call, rest, rules, [*warnings], refuse, complete=False)
        clean["metadata"]["managedFields"] = accounts
    else:
        clean = admit(call, rest, rules, [*warnings], refuse, complete=False)
    clean.update((name, old[name]) for name in shared)
    rules.defaults(clean)
    return clean


def _accounts(obj: Obj) -> Any:
    about = obj.get("metadata")
    return about.get("managedFields") if isinstance(about, dict) else None


def read_applied(call: ServerCall, doubled: list[str] | None = None) -> Obj:
    """What is to be applied: an object of the kind it is sent to, with nobody's managed fields. `doubled` receives what
    is to be told of keys given twice, once it is applied."""
    body = _read_yaml(call, [] if doubled is None else doubled)
    _check_applied_kind(call, body)
    about = body.get("metadata")
    given = about.get("managedFields") if isinstance(about, dict) else None
    if isinstance(given, list) and all(isinstance(entry, dict) for entry in given):
        raise bad_request("metadata.managedFields must be nil")
    return body


def _read_yaml(call: ServerCall, doubled: list[str]) -> Obj:
    try:
        body = call.yaml_data(call.resource.kind, doubled)
    except ApiError as error:
        raise bad_request(f"error decoding YAML: {error}") from None
    strictness = call.request.argument("fieldValidation")
    if doubled and strictness == "Strict":
        raise bad_request(
            "error decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  " + "\n  ".join(doubled)
        )
    if strictness == "Ignore":
        doubled.clear()
    if body is None:
        return {}
    if not isinstance(body, dict):
        raise bad_request(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: "
            f"json: cannot unmarshal {json_name(body)} into Go value of type map[string]interface {{}}"
        )
    return body


def _check_applied_kind(call: ServerCall, body: Obj) -> None:
    kind, version = (value if isinstance(value := body.get(key), str) else "" for key in ("kind", "apiVersion"))
    if (kind, version) == (call.resource.kind, call.resource.api_version):
        return
    if version.count("/") > 1:
        kind = version = ""
    shown = version if "/" in version or not version else f"/{version}"
    raise bad_request(f"invalid object type: {shown or '/'}, Kind={kind}")
