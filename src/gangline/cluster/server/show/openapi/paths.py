"""The paths of OpenAPI documents: where a resource is served, and what may be asked there.

documents.py writes the documents that they stand in. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gangline.cluster.server.catalogue import Resource

Obj = dict[str, Any]
_QUERY = ("dryRun", "fieldManager", "fieldValidation")
_METHODS = {
    "get": ("get", "get"),
    "update": ("put", "put"),
    "patch": ("patch", "patch"),
    "delete": ("delete", "delete"),
}
_COLLECTION = {"list": ("get", "list"), "create": ("post", "post"), "deletecollection": ("delete", "deletecollection")}


def root_path(group: str, version: str) -> Obj:
    """Where the resources of a version are listed."""
    operation = {
        "description": "get available resources",
        "operationId": f"get{_words(group, version)}APIResources",
        "responses": {"200": {"description": "OK"}},
    }
    return {f"{_root(group, version)}/": {"get": operation}}


def paths_of(resource: Resource, *, v3: bool) -> Obj:
    """Every path of a resource, with its operations."""
    operations = {path: _operations(resource, sub, single, v3) for path, sub, single in _paths(resource)}
    if resource.custom or "watch" not in resource.verbs:
        return operations
    return operations | {path: {"get": _watch(resource, single)} for path, single in _watch_paths(resource)}


def gvk(resource: Resource, kind: str) -> Obj:
    return {"group": resource.group, "version": resource.version, "kind": kind}


def _root(group: str, version: str) -> str:
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def _words(group: str, version: str) -> str:
    return "".join(part.capitalize() for part in (group.split(".")[0] or "core", version))


def _paths(resource: Resource) -> Iterator[tuple[str, str, bool]]:
    """The path, the subresource, whether it names one object."""
    root = _root(resource.group, resource.version)
    if resource.namespaced:
        if "list" in resource.verbs:
            yield f"{root}/{resource.plural}", "*", False
        root += "/namespaces/{namespace}"
    yield f"{root}/{resource.plural}", "", False
    if resource.stored:
        yield f"{root}/{resource.plural}/{{name}}", "", True
    for sub in resource.subresources:
        yield f"{root}/{resource.plural}/{{name}}/{sub}", sub, True
        if sub == "proxy":
            yield f"{root}/{resource.plural}/{{name}}/{sub}/{{path}}", sub, True


def _watch_paths(resource: Resource) -> Iterator[tuple[str, bool]]:
    """The old paths of watches."""
    root = f"{_root(resource.group, resource.version)}/watch"
    yield f"{root}/{resource.plural}", False
    if resource.namespaced:
        root += "/namespaces/{namespace}"
        yield f"{root}/{resource.plural}", False
    yield f"{root}/{resource.plural}/{{name}}", True


def _watch(resource: Resource, single: bool) -> Obj:
    return {
        "operationId": f"watch{_words(resource.group, resource.version)}{resource.kind}{'' if single else 'List'}",
        "deprecated": True,
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "watch" if single else "watchlist",
        "x-kubernetes-group-version-kind": gvk(resource, resource.kind),
    }


def _operations(resource: Resource, sub: str, single: bool, v3: bool) -> Obj:
    verbs = resource.verbs if sub in ("", "*") else resource.subresources[sub].verbs
    if sub == "*":
        verbs = tuple(verb for verb in verbs if verb == "list")
    table = _METHODS if single else _COLLECTION
    if sub not in ("", "*"):
        table = {**_METHODS, "create": ("post", "post")}
    operations: Obj = {}
    for verb in verbs:
        if verb in table:
            method, action = table[verb]
            operations[method] = _operation(resource, sub, action, v3)
    return operations


def _operation(resource: Resource, sub: str, action: str, v3: bool) -> Obj:
    kind = resource.kind
    if sub not in ("", "*"):
        kind = resource.subresources[sub].kind or kind
    parameters = []
    if action in ("post", "put", "patch"):
        text = {"schema": {"type": "string", "uniqueItems": True}} if v3 else {"type": "string", "uniqueItems": True}
        parameters = [{"name": name, "in": "query", **text} for name in _QUERY]
    return {
        "operationId": f"{action}{_words(resource.group, resource.version)}{kind}{sub.strip('*').capitalize()}",
        "parameters": parameters,
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": gvk(resource, kind),
    }
