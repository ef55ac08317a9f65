"""From a request's bytes to an object of the right kind, as far as it can be said without looking at what is stored.

Wrong kinds, undecodable values and unknown or doubled fields are found here; fieldValidation says whether the latter
refuse or warn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gangline.client.wire import JSON
from gangline.cluster import kinds
from gangline.cluster.schema import BadForm, WrongType
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.status import bad_request, invalid
from gangline.cluster.server.verbs.kind_rules import Rules
from gangline.cluster.server.wire.codec import duplicate_fields, has_duplicates, media_type
from gangline.errors import ApiError, Problem

Obj = dict[str, Any]
MANAGER_LIMIT = 128
_OPTIONS = {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}


def check_options(call: ServerCall, applying: bool = False) -> None:
    """The query arguments every write may have."""
    argument = call.request.argument
    problems = []
    manager, strictness, dry = argument("fieldManager"), argument("fieldValidation"), argument("dryRun")
    if applying and not manager:
        problems.append(Problem("fieldManager", "Required value: is required for apply patch", "FieldValueRequired"))
    if call.verb == "patch" and not applying and argument("force"):
        problems.append(Problem("force", "Forbidden: may not be specified for non-apply patch", "FieldValueForbidden"))
    if len(manager.encode()) > MANAGER_LIMIT:
        problems.append(
            Problem("fieldManager", f"Too long: may not be more than {MANAGER_LIMIT} bytes", "FieldValueTooLong")
        )
    odd = next((at for at, mark in enumerate(manager) if not mark.isprintable()), None)
    if odd is not None:
        shown = manager.encode("unicode_escape").decode()
        told = f'Invalid value: "{shown}": invalid character U+{ord(manager[odd]):04X} (at position {odd})'
        problems.append(Problem("fieldManager", told, "FieldValueInvalid"))
    if dry and dry != "All":
        problems.append(
            Problem("dryRun", f'Unsupported value: ["{dry}"]: supported values: "All"', "FieldValueNotSupported")
        )
    if strictness not in ("", "Ignore", "Strict", "Warn"):
        problems.append(
            Problem(
                "fieldValidation",
                f'Unsupported value: "{strictness}": supported values: "", "Ignore", "Strict", "Warn"',
                "FieldValueNotSupported",
            )
        )
    if problems:
        raise invalid("meta.k8s.io", _OPTIONS[call.verb], "", problems)


def read_object(call: ServerCall, rules: Rules) -> Obj:
    """The body of a POST or PUT, admitted and defaulted."""
    resource = call.resource
    doubled: list[str] = []
    body = call.data("" if resource.custom else resource.kind, doubled)
    if body is None:
        body = {}
    if not isinstance(body, dict):
        raise bad_request(
            f"the object provided is unrecognized (must be of type {resource.kind}): couldn't get version/kind; "
            "json parse error: the body is not an object"
        )
    told = [f'duplicate field "{path}"' for path in doubled_fields(call, body)]
    _check_kind(body, resource, call.request.body)
    if doubled:
        strict = call.request.argument("fieldValidation") == "Strict"
        told += ["yaml: unmarshal errors:\n  " + "\n  ".join(doubled)] if strict else doubled
    return admit(call, body, rules, told, lambda why: cannot_be_handled(resource, body, why))


def doubled_fields(call: ServerCall, data: Any) -> list[str]:
    """Keys of a JSON body that stand twice, unless nobody wants to know."""
    body = call.request.body
    if call.request.argument("fieldValidation") == "Ignore" or media_type(call.request.content_type) != JSON:
        return []
    return duplicate_fields(body) if has_duplicates(body, data) else []


def cannot_be_handled(resource: Resource, body: Obj, why: str | WrongType) -> ApiError:
    kind = body.get("kind") or resource.kind
    version = str(body.get("apiVersion") or resource.version).rpartition("/")[2]
    return bad_request(f'{kind} in version "{version}" cannot be handled as a {resource.kind}: {why}')


def _check_kind(body: Obj, resource: Resource, raw: bytes) -> None:
    kind, version = body.get("kind"), body.get("apiVersion")
    for name, value in (("kind", kind), ("apiVersion", version)):
        if value is not None and not isinstance(value, str):
            raise bad_request(
                f"the object provided is unrecognized (must be of type {resource.kind}): couldn't get version/kind; "
                f"json "
                f"parse error: json: cannot unmarshal into Go struct field .{name} of type string"
            )
    if resource.custom:
        _check_custom_kind(body, resource, raw)
        return
    kind, version = kind or resource.kind, version or resource.api_version
    if (kind, version) != (resource.kind, resource.api_version):
        old_scale = kind == "Scale" and version in _OLD_SCALES
        same = kind == resource.kind and version.rpartition("/")[0] == resource.group and _is_known(version, kind)
        if old_scale or same:
            raise _wrong_version(version, resource)
        raise cannot_be_handled(resource, body, not_that_kind({**body, "kind": kind, "apiVersion": version}, resource))
    body["kind"], body["apiVersion"] = kind, version


_OLD_SCALES = ("extensions/v1beta1", "apps/v1beta1", "apps/v1beta2")
"""Where a Scale was once, which the real server still knows."""


def _is_known(version: str, kind: str) -> bool:
    """Served, or an early version, which the real server still knows although it serves it no more."""
    group, _, number = version.rpartition("/")
    try:
        kinds.rules(group, number, kind)
    except LookupError:
        return "alpha" in number or "beta" in number
    return True


def not_that_kind(body: Obj, resource: Resource) -> str:
    """Why an object of another kind is not one of this resource."""
    kind, version = str(body.get("kind")), str(body.get("apiVersion"))
    group, _, number = version.rpartition("/")
    try:
        kinds.rules(group, number, kind).schema.admit(body)
    except LookupError:
        return f'no kind "{kind}" is registered for version "{version}" in scheme "pkg/runtime/scheme.go:111"'
    except (WrongType, BadForm) as error:
        return str(error)
    return (
        f"converting ({number}.{kind}) to ({resource.group.split('.')[0] or 'core'}.{resource.kind}): unknown "
        f"conversion"
    )


def _wrong_version(version: str, resource: Resource) -> ApiError:
    return bad_request(
        f"the API version in the data ({version}) does not match the expected API version ({resource.api_version})"
    )


def _beginning(text: str) -> str:
    return text if len(text) <= 30 else f"{text[:30]} ..."


def _check_custom_kind(body: Obj, resource: Resource, raw: bytes) -> None:
    kind, version = body.get("kind"), body.get("apiVersion")
    if not kind or not version:
        missing, text = "Kind" if not kind else "apiVersion", raw.decode("utf-8", "replace")
        raise bad_request(
            f"the object provided is unrecognized (must be of type {resource.kind}): Object '{missing}' is missing in "
            f"'{text}' ({_beginning(text)})"
        )
    if version != resource.api_version:
        raise _wrong_version(version, resource)
    if kind != resource.kind:
        about = body.get("metadata")
        name = str(about.get("name") or "") if isinstance(about, dict) else ""
        raise invalid(
            resource.group, kind, name, [Problem("kind", f'Invalid value: "{kind}": must be {resource.kind}')]
        )


Refuse = Callable[[str | WrongType], ApiError]
"""From what is wrong with a body to the error that says so."""


def admit(call: ServerCall, body: Obj, rules: Rules, told: list[str], refuse: Refuse, complete: bool = True) -> Obj:
    """Canonical, pruned and (if the object is complete) defaulted; `refuse` makes the error for what cannot be read or
    is not known under Strict."""
    meta = body.get("metadata")
    if meta is None:
        body = {**body, "metadata": {}}
    try:
        clean, unknown = rules.schema.admit(body)
    except WrongType as error:
        raise refuse(error) from None
    except BadForm as error:
        raise refuse(str(error)) from None
    if call.verb == "patch":
        unknown = sorted(unknown)
    told = [*told, *(f'unknown field "{path}"' for path in unknown)]
    strictness = call.request.argument("fieldValidation")
    if told and strictness == "Strict":
        raise refuse("strict decoding error: " + ", ".join(told))
    if told and strictness != "Ignore":
        call.warnings.extend(told)
    if not isinstance(clean.get("metadata"), dict):
        raise refuse("json: cannot unmarshal into Go struct field .metadata of type v1.ObjectMeta")
    if isinstance(meta, dict) and meta.get("managedFields") == []:
        clean["metadata"]["managedFields"] = []
    if complete:
        rules.defaults(clean)
    return clean
