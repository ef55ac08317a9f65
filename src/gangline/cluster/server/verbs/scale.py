"""The scale subresource: how many replicas, read from and written to wherever the kind keeps them."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from gangline.client.wire import APPLY_PATCH
from gangline.cluster import kinds
from gangline.cluster.server.admit.chain import Face
from gangline.cluster.server.call import ServerCall, truth
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.core import Core, whole
from gangline.cluster.server.patch.apply import ApplyConflict
from gangline.cluster.server.patch.apply import apply as server_side_apply
from gangline.cluster.server.status import bad_request, conflict, failure, invalid
from gangline.cluster.server.verbs.bodies import check_options, read_object
from gangline.cluster.server.verbs.kind_rules import rules_for
from gangline.cluster.server.verbs.meta import Obj
from gangline.cluster.server.verbs.patches import patch_form, patcher, read_applied, read_patched
from gangline.cluster.server.verbs.reads import get
from gangline.cluster.server.verbs.writes import Change, change, track
from gangline.errors import Problem

GROUP, KIND, API_VERSION = "autoscaling", "Scale", "autoscaling/v1"
SCALE = Resource(GROUP, "v1", "scales", KIND, namespaced=True)


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
    kept = {
        key: about[key] for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp") if key in about
    }
    replicas = _look(obj, wanted)
    if replicas is None and resource.custom and must:
        raise _no_replicas(wanted)
    scale: Obj = {
        "kind": KIND,
        "apiVersion": API_VERSION,
        "metadata": kept,
        "spec": {"replicas": replicas} if replicas else {},
        "status": {"replicas": _look(obj, found) or 0},
    }
    text = _look(obj, selector) if selector else None
    if isinstance(text, dict):
        text = selector_text(text)
    if text:
        scale["status"]["selector"] = text
    return scale


def _no_replicas(path: str) -> Exception:
    return failure(
        500,
        "InternalError",
        f'Internal error occurred: the spec replicas field "{path}" does not exist',
        {"causes": [{"message": f'the spec replicas field "{path}" does not exist'}]},
    )


def selector_text(selector: Obj) -> str:
    """A label selector in one line, keys in order."""
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        return ",".join(f"{key}={value}" for key, value in sorted(selector.items()) if isinstance(value, str))
    terms = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    for term in selector.get("matchExpressions") or []:
        key, values = term["key"], ",".join(sorted(term.get("values") or []))
        text = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}.get(
            term["operator"], f"!{key}"
        )
        terms.append((key, text))
    return ",".join(text for _, text in sorted(terms))


async def scale(core: Core, call: ServerCall) -> Obj:
    """Get, put or patch the scale of an object."""
    resource = call.resource
    if call.verb == "get":
        return scale_of(resource, whole(resource, get(core, call)))
    call.face = Face(lambda obj: scale_of(resource, obj, must=False), lambda obj, face: _scaled(resource, obj, face))
    applying = call.verb == "patch" and patch_form(call) == APPLY_PATCH
    check_options(call, applying)
    written = await change(core, call, _applied(core, call) if applying else _changed(core, call))
    return scale_of(resource, whole(resource, written.record))


def _changed(core: Core, call: ServerCall) -> Change:
    """A put or a patch: the Scale it makes of the present one, written back, with who wrote it."""
    resource, about = call.resource, replace(call, resource=SCALE)
    rules = kinds.rules(GROUP, "v1", KIND)
    make = patcher(call, rules.schema) if call.verb == "patch" else None
    body = None if make else read_object(about, rules)

    def scaled(obj: Obj) -> Obj:
        now = scale_of(resource, obj, must=False)
        new = read_patched(about, make(now), now) if make else body
        assert isinstance(new, dict)
        _check(call, new, obj)
        old = copy.deepcopy(obj)
        return _timeless(track(core, call, old, _scaled(resource, obj, new)))

    return scaled


def _applied(core: Core, call: ServerCall) -> Change:
    """Server-side apply: it owns the number of replicas of the object behind the Scale."""
    resource, rules = call.resource, rules_for(call.resource)
    wanted = read_applied(replace(call, resource=SCALE))
    mine: Obj = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": call.name}}
    if (wanted.get("spec") or {}).get("replicas") is not None:
        _put(mine, _paths(resource)[0], wanted["spec"]["replicas"])

    def applied(obj: Obj) -> Obj:
        _check(call, wanted, obj)
        try:
            return _timeless(
                server_side_apply(
                    obj,
                    mine,
                    call.manager,
                    truth(call.request.argument("force")),
                    rules.schema,
                    core.now(),
                    call.subresource,
                    resource.api_version,
                )
            )
        except ApplyConflict as error:
            seen = [cause | {"message": _through(resource, cause["message"])} for cause in error.causes]
            raise failure(409, "Conflict", _through(resource, str(error)), {"causes": seen}) from None

    return applied


def _through(resource: Resource, text: str) -> str:
    """Conflicts name the version of the Scale, not that of the object."""
    return text.replace(f"using {resource.api_version}", f"using {API_VERSION}")


def _scaled(resource: Resource, obj: Obj, scale: Obj) -> Obj:
    _put(obj, _paths(resource)[0], (scale.get("spec") or {}).get("replicas", 0))
    return obj


def _timeless(obj: Obj) -> Obj:
    """Accounts of this subresource carry no time."""
    for entry in obj["metadata"].get("managedFields") or []:
        if entry.get("subresource") == "scale":
            entry.pop("time", None)
    return obj


def _check(call: ServerCall, new: Obj, obj: Obj) -> None:
    about = new.get("metadata") or {}
    if about.get("name") and about["name"] != call.name:
        raise bad_request(f"the name of the object ({about['name']}) does not match the name on the URL ({call.name})")
    revision = about.get("resourceVersion")
    if revision and revision != obj["metadata"]["resourceVersion"]:
        raise conflict(
            call.resource.group,
            call.resource.plural,
            call.name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    replicas = (new.get("spec") or {}).get("replicas", 0)
    if not isinstance(replicas, int) or isinstance(replicas, bool):
        raise bad_request(f"spec.replicas: {replicas!r} is not a whole number")
    if replicas < 0 and call.resource.custom:
        path = _paths(call.resource)[0]
        raise invalid(
            call.resource.group,
            call.resource.kind,
            call.name,
            [Problem(path, f"Invalid value: {replicas}: should be a non-negative integer")],
        )
    if replicas < 0:
        problem = Problem("spec.replicas", f"Invalid value: {replicas}: must be greater than or equal to 0")
        raise invalid(GROUP, KIND, call.name, [problem])
