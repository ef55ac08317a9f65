"""The Scale of an object: how it is read from wherever the kind keeps its replicas, checked, and written back.

Pure: scale.py answers requests with it.
"""

from __future__ import annotations

from typing import Any

from gangline.cluster import kinds
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.patch.apply import UntypableError
from gangline.cluster.server.patch.apply.walk import check
from gangline.cluster.server.status import bad_request, conflict, failure, internal, invalid
from gangline.cluster.server.verbs.meta import Obj
from gangline.errors import Problem

GROUP, KIND, API_VERSION = "autoscaling", "Scale", "autoscaling/v1"


SCALE = Resource(GROUP, "v1", "scales", KIND, namespaced=True)


def replica_paths(resource: Resource) -> tuple[str, str, str]:
    if resource.custom:
        paths = resource.custom.scale
        return paths["specReplicasPath"], paths["statusReplicasPath"], paths.get("labelSelectorPath") or ""
    return ".spec.replicas", ".status.replicas", ".spec.selector"


def _value_at(obj: Any, path: str) -> Any:
    for key in path.strip(".").split("."):
        obj = obj.get(key) if isinstance(obj, dict) else None
    return obj


def put_value(obj: Obj, path: str, value: Any) -> None:
    *parents, last = path.strip(".").split(".")
    for key in parents:
        obj = obj.setdefault(key, {})
    obj[last] = value


def scale_of(resource: Resource, obj: Obj, must: bool = True) -> Obj:
    """The Scale of an object; `must`: a custom resource without a number of replicas has none."""
    about = obj["metadata"]
    wanted, current, selector = replica_paths(resource)
    kept = {
        key: about[key] for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp") if key in about
    }
    replicas = _value_at(obj, wanted)
    if replicas is None and resource.custom and must:
        raise _no_replicas(wanted)
    scale: Obj = {
        "kind": KIND,
        "apiVersion": API_VERSION,
        "metadata": kept,
        "spec": {"replicas": replicas} if replicas else {},
        "status": {"replicas": _value_at(obj, current) or 0},
    }
    text = _value_at(obj, selector) if selector else None
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


def seen_through(resource: Resource, text: str) -> str:
    """Conflicts name the version of the Scale, not that of the object."""
    return text.replace(f"using {resource.api_version}", f"using {API_VERSION}")


def with_scale(resource: Resource, obj: Obj, scale: Obj) -> Obj:
    put_value(obj, replica_paths(resource)[0], (scale.get("spec") or {}).get("replicas", 0))
    return obj


def settled(call: ServerCall, old: Obj, new: Obj) -> Obj:
    """What an applied Scale makes of an object: one that names no replicas any more asks for none. A kube-apiserver
    cannot take an applied Scale back into a custom resource, and says so."""
    path = replica_paths(call.resource)[0]
    if call.resource.custom and _value_at(new, path) != _value_at(old, path):
        raise internal(
            f"failed to convert new object (/{call.name}; {API_VERSION}, Kind={KIND}) to proper version: request to "
            f"convert CR to an invalid group/version: {API_VERSION}"
        )
    if not call.resource.custom and _value_at(new, path) is None:
        put_value(new, path, 0)
    return new


def timeless(obj: Obj) -> Obj:
    """Accounts of this subresource carry no time."""
    for entry in obj["metadata"].get("managedFields") or []:
        if entry.get("subresource") == "scale":
            entry.pop("time", None)
    return obj


def check_fields(call: ServerCall, wanted: Obj) -> None:
    """Whether all that is applied is a Scale's."""
    try:
        check(kinds.rules(GROUP, "v1", KIND).schema.root, wanted)
    except UntypableError as error:
        raise internal(
            f"failed to create typed patch object (/{call.name}; {API_VERSION}, Kind={KIND}): {error}"
        ) from None


def check_scale_uid(call: ServerCall, new: Obj, obj: Obj) -> None:
    uid, present = (new.get("metadata") or {}).get("uid"), obj["metadata"]["uid"]
    if uid and uid != present:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {present}"
        raise conflict(call.resource.group, f"{call.resource.plural}/scale", call.name, why)


def check_scale_identity(call: ServerCall, new: Obj, obj: Obj) -> None:
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


def check_replicas(call: ServerCall, new: Obj) -> None:
    replicas = (new.get("spec") or {}).get("replicas", 0)
    if not isinstance(replicas, int) or isinstance(replicas, bool):
        raise bad_request(f"spec.replicas: {replicas!r} is not a whole number")
    if replicas < 0 and call.resource.custom:
        path = replica_paths(call.resource)[0]
        raise invalid(
            call.resource.group,
            call.resource.kind,
            call.name,
            [Problem(path, f"Invalid value: {replicas}: should be a non-negative integer")],
        )
    if replicas < 0:
        problem = Problem("spec.replicas", f"Invalid value: {replicas}: must be greater than or equal to 0")
        raise invalid(GROUP, KIND, call.name, [problem])
