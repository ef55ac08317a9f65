"""Is a body an object of the resource it is sent to? What a kube-apiserver answers where it is not.

bodies.py and patch_reader.py ask; nothing is read or written here.
"""

from __future__ import annotations

from typing import Any

from gangline.cluster import kinds
from gangline.cluster.schema import BadForm, WrongType
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.status import bad_request, invalid
from gangline.cluster.server.verbs.write_checks import check_namespace
from gangline.cluster.server.wire.codec import json_name, summary
from gangline.errors import ApiError, Problem

Obj = dict[str, Any]
_NAMES = ("kind", "apiVersion")
"""Where an object says what it is; read in any case, as Go reads JSON, before the rest is read to the letter."""
_READ_AS = {name.lower(): name for name in _NAMES}
_OLD_SCALES = ("extensions/v1beta1", "apps/v1beta1", "apps/v1beta2")
"""Where a Scale was once, which the real server still knows."""
_OPTION_KINDS = frozenset(f"{verb}Options" for verb in ("Create", "Delete", "Get", "List", "Patch", "Update"))
_CORE_KINDS = frozenset(("APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "List", "Status"))


def check_kind(call: ServerCall, body: Obj) -> None:
    """A body says of which kind it is, or leaves it to the path."""
    resource, raw = call.resource, call.request.body
    stated: Obj = dict.fromkeys(_NAMES)
    for key, value in body.items():
        name = _READ_AS.get(key.lower())
        if name:
            stated[name] = value
    kind, version = stated["kind"], stated["apiVersion"]
    why = unreadable_kind(stated)
    if why:
        raise bad_request(
            f"the object provided is unrecognized (must be of type {resource.kind}): {why} ({summary(raw)})"
        )
    if resource.custom:
        _check_custom_kind(call, body)
        return
    kind, version = kind or resource.kind, version or resource.api_version
    if (kind, version) != (resource.kind, resource.api_version):
        old_scale = kind == "Scale" and version in _OLD_SCALES
        same = kind == resource.kind and version.rpartition("/")[0] == resource.group and _is_known(version, kind)
        if old_scale or same:
            raise _wrong_version(version, resource)
        completed = {**body, "kind": kind, "apiVersion": version}
        raise cannot_be_handled(resource, completed, not_that_kind(completed, resource))
    body["kind"], body["apiVersion"] = kind, version


def unreadable_kind(body: Obj) -> str:
    """Kind and version are texts, or are left out."""
    for name in _NAMES:
        value = body.get(name)
        if value is not None and not isinstance(value, str):
            what = f"cannot unmarshal {json_name(value)} into Go struct field .{name} of type string"
            return f"couldn't get version/kind; json parse error: json: {what}"
    return ""


def cannot_be_handled(resource: Resource, body: Obj, why: str | WrongType) -> ApiError:
    kind = body.get("kind") or resource.kind
    version = str(body.get("apiVersion") or resource.version).rpartition("/")[2]
    return bad_request(f'{kind} in version "{version}" cannot be handled as a {resource.kind}: {why}')


def _is_known(version: str, kind: str) -> bool:
    """Served, or an early version, which the real server still knows although it serves it no more."""
    group, _, number = version.rpartition("/")
    return _is_kind(group, number, kind) or "alpha" in number or "beta" in number


def _is_kind(group: str, number: str, kind: str) -> bool:
    try:
        kinds.rules(group, number, kind)
    except LookupError:
        return False
    return True


def not_that_kind(body: Obj, resource: Resource) -> str:
    """Why an object of another kind is not one of this resource."""
    kind, version = str(body.get("kind")), str(body.get("apiVersion"))
    group, _, number = version.rpartition("/")
    if not _is_no_object(group, number, kind):
        try:
            kinds.rules(group, number, kind).schema.admit(body)
        except LookupError:
            return f'no kind "{kind}" is registered for version "{version}" in scheme "pkg/runtime/scheme.go:111"'
        except (WrongType, BadForm) as error:
            return str(error)
    home = resource.group.split(".")[0] or "core"
    return f"converting ({number}.{kind}) to ({home}.{resource.kind}): unknown conversion"


def _is_no_object(group: str, number: str, kind: str) -> bool:
    """Kinds of lists, options and answers, which the real server knows beside those of objects."""
    if (group, number) == ("", "v1") and kind in _CORE_KINDS:
        return True
    if kind in _OPTION_KINDS or kind == "WatchEvent":
        return kinds.has_version(group, number)
    return kind.endswith("List") and _is_kind(group, number, kind.removesuffix("List"))


def _wrong_version(version: str, resource: Resource) -> ApiError:
    return bad_request(
        f"the API version in the data ({version}) does not match the expected API version ({resource.api_version})"
    )


def _check_custom_kind(call: ServerCall, body: Obj) -> None:
    resource, raw = call.resource, call.request.body
    kind, version = body.get("kind"), body.get("apiVersion")
    if not kind:
        text = raw.decode("utf-8", "replace")
        raise bad_request(
            f"the object provided is unrecognized (must be of type {resource.kind}): Object 'Kind' is missing in "
            f"'{text}' ({summary(raw)})"
        )
    if version != resource.api_version:
        raise _wrong_version(version or "", resource)
    if kind != resource.kind:
        about = body.get("metadata")
        named = {**about} if isinstance(about, dict) else {}
        check_namespace(call, {"metadata": named})
        name = str(named.get("name") or "")
        raise invalid(
            resource.group, kind, name, [Problem("kind", f'Invalid value: "{kind}": must be {resource.kind}')]
        )
