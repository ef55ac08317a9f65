"""The scale subresource: how many replicas, read from and written to wherever the kind keeps them."""

from __future__ import annotations

import copy
from typing import Any

from gangline.apiserver.admission import Face
from gangline.apiserver.call import Call
from gangline.apiserver.codec import decode_body
from gangline.apiserver.core import Core, whole
from gangline.apiserver.meta import Obj
from gangline.apiserver.patches import patcher
from gangline.apiserver.reads import get
from gangline.apiserver.resources import Resource
from gangline.apiserver.status import bad_request, conflict, invalid
from gangline.apiserver.writes import change, track
from gangline.errors import Problem
from gangline.schema import compile_schema

GROUP, KIND = "autoscaling", "Scale"
SCALE = compile_schema({"type": "object", "x-kubernetes-preserve-unknown-fields": True})


def _paths(resource: Resource) -> tuple[str, str, str]:
    if resource.custom:
        found = resource.custom.scale
        return found["specReplicasPath"], found["statusReplicasPath"], found.get("labelSelectorPath") or ""
    return ".spec.replicas", ".status.replicas", ".spec.selector"


def _look(obj: Any, path: str) -> Any:
    for key in path.strip(".").split("."):
        obj = obj.get(key) if isinstance(obj, dict) else None
    return obj


def _put(obj: Obj, path: str, value: Any) -> None:
    *parents, last = path.strip(".").split(".")
    for key in parents:
        obj = obj.setdefault(key, {})
    obj[last] = value


def scale_of(resource: Resource, obj: Obj, must: bool = True) -> Obj:
    """The Scale of an object; `must`: a custom resource without a number of replicas has none."""
    about = obj["metadata"]
    wanted, found, selector = _paths(resource)
    kept = {key: about[key] for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp") if key in about}
    replicas = _look(obj, wanted)
    if replicas is None and resource.custom and must:
        raise _no_replicas(wanted)
    scale: Obj = {"kind": KIND, "apiVersion": "autoscaling/v1", "metadata": kept,
                  "spec": {"replicas": replicas} if replicas else {}, "status": {"replicas": _look(obj, found) or 0}}
    text = _look(obj, selector) if selector else None
    if isinstance(text, dict):
        text = selector_text(text)
    if text:
        scale["status"]["selector"] = text
    return scale


def _no_replicas(path: str) -> Exception:
    from gangline.apiserver.status import failure

    return failure(500, "InternalError", f'Internal error occurred: the spec replicas field "{path}" does not exist',
                   {"causes": [{"message": f'the spec replicas field "{path}" does not exist'}]})


def selector_text(selector: Obj) -> str:
    """A label selector in one line, keys in order."""
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        return ",".join(f"{key}={value}" for key, value in sorted(selector.items()) if isinstance(value, str))
    terms = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    for term in selector.get("matchExpressions") or []:
        key, values = term["key"], ",".join(sorted(term.get("values") or []))
        text = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}.get(term["operator"], f"!{key}")
        terms.append((key, text))
    return ",".join(text for _, text in sorted(terms))


async def scale(core: Core, call: Call) -> Obj:
    """Get, put or patch the scale of an object."""
    resource = call.resource
    if call.verb == "get":
        return scale_of(resource, whole(resource, get(core, call)))
    call.face = Face(lambda obj: scale_of(resource, obj, must=False), lambda obj, face: _scaled(resource, obj, face))
    make = patcher(call, SCALE) if call.verb == "patch" else None
    body = None if make else _read(call)

    def scaled(obj: Obj) -> Obj:
        now = scale_of(resource, obj, must=False)
        new = make(now) if make else body
        assert isinstance(new, dict)
        _check(call, new, obj)
        old = copy.deepcopy(obj) if not resource.custom else obj
        wanted = _scaled(resource, obj, new)
        return wanted if resource.custom else _timeless(track(core, call, old, wanted))

    written = await change(core, call, scaled)
    return scale_of(resource, whole(resource, written.record))


def _scaled(resource: Resource, obj: Obj, scale: Obj) -> Obj:
    _put(obj, _paths(resource)[0], (scale.get("spec") or {}).get("replicas", 0))
    return obj


def _timeless(obj: Obj) -> Obj:
    """Accounts of this subresource carry no time."""
    for entry in obj["metadata"].get("managedFields") or []:
        if entry.get("subresource") == "scale":
            entry.pop("time", None)
    return obj


def _read(call: Call) -> Obj:
    body = decode_body(call.request.body, call.request.content_type, KIND)
    if not isinstance(body, dict):
        raise bad_request("the body of a scale update must be an object")
    return body


def _check(call: Call, new: Obj, obj: Obj) -> None:
    about = new.get("metadata") or {}
    if about.get("name") and about["name"] != call.name:
        raise bad_request(f"the name of the object ({about['name']}) does not match the name on the URL ({call.name})")
    revision = about.get("resourceVersion")
    if revision and revision != obj["metadata"]["resourceVersion"]:
        raise conflict(call.resource.group, call.resource.plural, call.name,
                       "the object has been modified; please apply your changes to the latest version and try again")
    replicas = (new.get("spec") or {}).get("replicas", 0)
    if not isinstance(replicas, int) or isinstance(replicas, bool):
        raise bad_request(f"spec.replicas: {replicas!r} is not a whole number")
    if replicas < 0 and call.resource.custom:
        path = _paths(call.resource)[0]
        raise invalid(call.resource.group, call.resource.kind, call.name,
                      [Problem(path, f"Invalid value: {replicas}: should be a non-negative integer")])
    if replicas < 0:
        problem = Problem("spec.replicas", f"Invalid value: {replicas}: must be greater than or equal to 0")
        raise invalid(GROUP, KIND, call.name, [problem])
