"""OpenAPI documents, v2 and v3, written from the same tables and definitions the server works by.

Enough for `kubectl explain`, `apply`, `diff` and for generated clients: every served kind with its fields, and every
path with its verbs. Descriptions are those of custom resources; of built-in kinds only what all objects have in common
is described."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gangline.api import notation
from gangline.api.notation import MISSING, Field, Type
from gangline.cluster.kinds.table import GROUPS
from gangline.cluster.server.catalogue import Catalogue, Resource
from gangline.cluster.server.show.discovery import server_version
from gangline.cluster.server.show.openapi_index import SECURITY, TITLE

Obj = dict[str, Any]
META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_SPECIAL = {
    "meta": META,
    "apiextensions": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1",
    "apiregistration": "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1",
}
_SCALARS: dict[str, Obj] = {
    "str": {"type": "string"},
    "int": {"type": "integer", "format": "int32"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "float": {"type": "number", "format": "double"},
    "bool": {"type": "boolean"},
    "bytes": {"type": "string", "format": "byte"},
    "time": {"type": "string", "format": "date-time"},
    "microtime": {"type": "string", "format": "date-time"},
    "raw": {"type": "object"},
    "json": {},
    "quantity": {"type": "string"},
    "intstr": {"type": "string", "format": "int-or-string"},
}
_CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
_METADATA = f"Standard object's metadata. More info: {_CONVENTIONS}#metadata"
_LIST_METADATA = f"Standard list metadata. More info: {_CONVENTIONS}#types-kinds"
_TYPED: dict[str, Obj] = {
    "apiVersion": {
        "type": "string",
        "description": "APIVersion defines the versioned schema of this representation of an object. Servers "
        "should convert recognized schemas to the latest internal value, and may reject unrecognized values. More "
        "info: "
        f"{_CONVENTIONS}#resources",
    },
    "kind": {
        "type": "string",
        "description": "Kind is a string value representing the REST resource this object represents. Servers may "
        "infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: "
        f"{_CONVENTIONS}#types-kinds",
    },
}
"""What every object has, in the words a kube-apiserver publishes."""
_VERSIONS = {table: f"{group.split('.')[0] or 'core'}.{version}" for (group, version), table in GROUPS.items()}
_QUERY = ("dryRun", "fieldManager", "fieldValidation")
_METHODS = {
    "get": ("get", "get"),
    "update": ("put", "put"),
    "patch": ("patch", "patch"),
    "delete": ("delete", "delete"),
}
_COLLECTION = {"list": ("get", "list"), "create": ("post", "post"), "deletecollection": ("delete", "deletecollection")}


class SchemaWriter:
    """Schemas of one document; `base` is where its references point."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.schemas: dict[str, Obj] = {}

    def ref(self, table: str, name: str) -> Obj:
        full = schema_name(table, name)
        if full not in self.schemas:
            self.schemas[full] = {}
            self.schemas[full].update(self._struct(table, name))
        return {"$ref": self.base + full}

    def _struct(self, table: str, name: str) -> Obj:
        struct = notation.struct(table, name)
        properties: Obj = {}
        if struct.typed:
            properties |= _TYPED
        if struct.meta:
            properties["metadata"] = {**self._wrapped(self.ref("meta", "ObjectMeta")), "description": _METADATA}
        for field in struct.fields:
            properties[field.name] = self._field(field)
        schema: Obj = {"type": "object", "properties": properties}
        required = [field.name for field in struct.fields if field.required]
        if required:
            schema["required"] = required
        return schema

    def _field(self, field: Field) -> Obj:
        schema = self._wrapped(self.of(field.type)) if "$ref" in self.of(field.type) else dict(self.of(field.type))
        if field.list_type and field.type.form == "list":
            schema["x-kubernetes-list-type"] = field.list_type
        if field.list_type == "map":
            schema["x-kubernetes-list-map-keys"] = list(field.keys)
        if field.merge:
            schema["x-kubernetes-patch-strategy"] = "merge"
            if field.merge_key:
                schema["x-kubernetes-patch-merge-key"] = field.merge_key
        if field.default is not MISSING:
            schema["default"] = field.default
        return schema

    def _wrapped(self, schema: Obj) -> Obj:
        """v3 lets nothing stand beside a reference."""
        return {"allOf": [schema]} if self.base.startswith("#/components") else dict(schema)

    def of(self, kind: Type) -> Obj:
        if kind.form == "list":
            assert kind.inner is not None
            return {"type": "array", "items": self.of(kind.inner)}
        if kind.form == "map":
            assert kind.inner is not None
            return {"type": "object", "additionalProperties": self.of(kind.inner)}
        if kind.form == "struct":
            return self.ref(kind.table, kind.name)
        return dict(_SCALARS.get(kind.name, {}))

    def kind(self, resource: Resource) -> str:
        """Add a resource's kind and its list; the kind's name in the document."""
        if resource.custom:
            return self._custom(resource)
        table = GROUPS[resource.group, resource.version]
        name = schema_name(table, resource.kind)
        self.ref(table, resource.kind)
        self.schemas[name]["x-kubernetes-group-version-kind"] = [gvk(resource, resource.kind)]
        if resource.stored:
            self._list(resource, name, name + "List")
        return name

    def _custom(self, resource: Resource) -> str:
        name = ".".join([*reversed(resource.group.split(".")), resource.version, resource.kind])
        schema = _published((resource.custom.version.get("schema") or {}).get("openAPIV3Schema") or {"type": "object"})
        schema.setdefault("properties", {})
        schema["properties"] |= {
            **_TYPED,
            "metadata": {**self._wrapped(self.ref("meta", "ObjectMeta")), "description": _METADATA},
        }
        schema["x-kubernetes-group-version-kind"] = [gvk(resource, resource.kind)]
        self.schemas[name] = schema
        self._list(resource, name, ".".join(name.split(".")[:-1]) + "." + resource.list_kind)
        return name

    def _list(self, resource: Resource, name: str, list_name: str) -> None:
        self.schemas[list_name] = {
            "description": f"{resource.list_kind} is a list of {resource.kind}",
            "type": "object",
            "required": ["items"],
            "properties": {
                **_TYPED,
                "items": {
                    "type": "array",
                    "items": {"$ref": self.base + name},
                    "description": f"List of {resource.plural}. More info: {_CONVENTIONS}",
                },
                "metadata": {**self._wrapped(self.ref("meta", "ListMeta")), "description": _LIST_METADATA},
            },
            "x-kubernetes-group-version-kind": [gvk(resource, resource.list_kind)],
        }


def _published(schema: Any) -> Any:
    """A definition's schema as clients see it: what may be a number or a string says so."""
    if isinstance(schema, list):
        return [_published(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    published = {key: _published(value) for key, value in schema.items() if key != "x-kubernetes-validations"}
    if published.get("x-kubernetes-int-or-string") is True and "anyOf" not in published:
        published["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    return published


def schema_name(table: str, name: str) -> str:
    if table in _SPECIAL:
        return f"{_SPECIAL[table]}.{name}"
    return f"io.k8s.api.{_VERSIONS.get(table, table)}.{name}"


def gvk(resource: Resource, kind: str) -> Obj:
    return {"group": resource.group, "version": resource.version, "kind": kind}


def _paths(resource: Resource) -> Iterator[tuple[str, str, bool]]:
    """Paths of a resource: the path, the subresource, whether it names one object."""
    root = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    if resource.namespaced:
        if "list" in resource.verbs:
            yield f"{root}/{resource.plural}", "*", False
        root += "/namespaces/{namespace}"
    yield f"{root}/{resource.plural}", "", False
    if resource.stored:
        yield f"{root}/{resource.plural}/{{name}}", "", True
    for sub in resource.subresources:
        yield f"{root}/{resource.plural}/{{name}}/{sub}", sub, True


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
    words = "".join(part.capitalize() for part in (resource.group.split(".")[0] or "core", resource.version))
    return {
        "operationId": f"{action}{words}{kind}{sub.strip('*').capitalize()}",
        "parameters": parameters,
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": gvk(resource, kind),
    }


def document_v3(catalogue: Catalogue, group: str, version: str) -> Obj | None:
    resources = catalogue.group(group).get(version)
    if resources is None:
        return None
    writer = SchemaWriter("#/components/schemas/")
    paths: Obj = {}
    for plural in sorted(resources):
        resource = resources[plural]
        if _is_described(resource):
            writer.kind(resource)
        for path, sub, single in _paths(resource):
            paths[path] = _operations(resource, sub, single, True)
    return {
        "openapi": "3.0.0",
        "info": TITLE,
        "paths": paths,
        "components": {"schemas": dict(sorted(writer.schemas.items())), "securitySchemes": SECURITY},
    }


def _is_described(resource: Resource) -> bool:
    return bool(resource.custom) or (
        (resource.group, resource.version) in GROUPS
        and resource.kind in notation.names(GROUPS[resource.group, resource.version])
    )


def document_v2(catalogue: Catalogue) -> Obj:
    writer = SchemaWriter("#/definitions/")
    paths: Obj = {}
    for resource in catalogue:
        if _is_described(resource):
            writer.kind(resource)
        for path, sub, single in _paths(resource):
            paths[path] = _operations(resource, sub, single, False)
    return {
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": server_version()["gitVersion"]},
        "paths": paths,
        "definitions": dict(sorted(writer.schemas.items())),
        "parameters": {},
        "security": [{"BearerToken": []}],
        "securityDefinitions": {
            "BearerToken": {"type": "apiKey", "name": "authorization", "in": "header", "description": "Bearer token"}
        },
    }
