"""OpenAPI documents, v2 and v3, written from the same tables and definitions the server works by.

Enough for `kubectl explain`, `apply`, `diff` and for generated clients: every served kind with its fields, and every
path with its verbs. Descriptions are those of custom resources; of built-in kinds only what all objects have in common
is described."""

from __future__ import annotations

from typing import Any

from gangline.api import notation
from gangline.api.notation import MISSING, Field, Type
from gangline.cluster.kinds.table import GROUPS
from gangline.cluster.server.catalogue import Catalogue, Resource
from gangline.cluster.server.show.openapi.index import CUSTOM_TITLE, SECURITY, TITLE
from gangline.cluster.server.show.openapi.paths import gvk, paths_of, root_path

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
    "json": {},
}
_PARTS: dict[str, tuple[str, Obj]] = {
    "time": (f"{META}.Time", {"type": "string", "format": "date-time"}),
    "microtime": (f"{META}.MicroTime", {"type": "string", "format": "date-time"}),
    "raw": ("io.k8s.apimachinery.pkg.runtime.RawExtension", {"type": "object"}),
    "quantity": ("io.k8s.apimachinery.pkg.api.resource.Quantity", {"type": "string"}),
    "intstr": ("io.k8s.apimachinery.pkg.util.intstr.IntOrString", {"type": "string", "format": "int-or-string"}),
}
"""Scalars that have a schema of their own."""
_ALTERNATIVES = {"quantity": ("string", "number"), "intstr": ("integer", "string")}
"""How v3 tells those that may be a number or a text."""
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
_ANSWERS = ("DeleteOptions", "Patch", "Status")
"""What requests for custom resources send and get beside objects."""


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
        return self._part(kind.name) if kind.name in _PARTS else dict(_SCALARS.get(kind.name, {}))

    def _part(self, name: str) -> Obj:
        full, schema = _PARTS[name]
        if name in _ALTERNATIVES and self.base.startswith("#/components"):
            schema = {"oneOf": [{"type": kind} for kind in _ALTERNATIVES[name]]}
        self.schemas.setdefault(full, schema)
        return {"$ref": self.base + full}

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


def document_v3(catalogue: Catalogue, group: str, version: str) -> Obj | None:
    resources = catalogue.group(group).get(version)
    if resources is None:
        return None
    writer, custom = SchemaWriter("#/components/schemas/"), catalogue.is_custom(group)
    paths: Obj = {} if custom else root_path(group, version)
    for plural in sorted(resources):
        resource = resources[plural]
        if _is_described(resource):
            writer.kind(resource)
        paths |= paths_of(resource, v3=True)
    for kind in _ANSWERS if custom else ():
        if kind in notation.names("meta"):
            writer.ref("meta", kind)
    return {
        "openapi": "3.0.0",
        "info": CUSTOM_TITLE if custom else TITLE,
        "paths": dict(sorted(paths.items())),
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
        if not resource.custom:
            paths |= root_path(resource.group, resource.version)
        paths |= paths_of(resource, v3=False)
    return {
        "swagger": "2.0",
        "info": TITLE,
        "paths": dict(sorted(paths.items())),
        "definitions": dict(sorted(writer.schemas.items())),
        "parameters": {},
        "security": [{"BearerToken": []}],
        "securityDefinitions": {
            "BearerToken": {"type": "apiKey", "name": "authorization", "in": "header", "description": "Bearer token"}
        },
    }
