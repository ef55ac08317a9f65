"""The index of OpenAPI v3, and the small documents of paths that are no version's: /api, /apis, a group, /version.

documents.py writes those of versions, from the same catalogue. Pure."""

from __future__ import annotations

import hashlib
from typing import Any

from gangline.cluster.server.catalogue import Catalogue
from gangline.cluster.server.show.negotiation import OFFERED

Obj = dict[str, Any]
TITLE = {"title": "Kubernetes", "version": "1.35"}
CUSTOM_TITLE = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}
SECURITY = {
    "BearerToken": {
        "type": "apiKey",
        "description": "Bearer Token authentication",
        "name": "authorization",
        "in": "header",
    }
}
_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_TEXT = {"type": "string", "default": ""}
_TEXTS = {"type": "array", "items": _TEXT}


def index_v3(catalogue: Catalogue) -> Obj:
    """Where each document is; the address changes when the document does."""
    keys = ["version", "api", "apis", *(path.strip("/") for path in ISSUER_PATHS)]
    for group in catalogue.groups():
        if group and not catalogue.is_custom(group):
            keys.append(f"apis/{group}")
        keys += [f"apis/{group}/{version}" if group else f"api/{version}" for version in catalogue.group(group)]
    return {"paths": {key: {"serverRelativeURL": _address(key, catalogue.generation)} for key in sorted(keys)}}


def _address(key: str, generation: int) -> str:
    return f"/openapi/v3/{key}?hash={hashlib.sha512(f'{key} {generation}'.encode()).hexdigest().upper()}"


def small_document(catalogue: Catalogue, pieces: list[str]) -> Obj | None:
    """The document of /version, /api, /apis, /apis/GROUP or one about the issuer of tokens."""
    if (path := f"/{'/'.join(pieces)}/") in ISSUER_PATHS:
        return _issuer_document(path)
    if pieces == ["version"]:
        operation = _operation("version", "get the version information for this server", "getCodeVersion")
        return _document("/version/", operation, "io.k8s.apimachinery.pkg.version.Info", _VERSION, OFFERED[:1])
    if pieces == ["api"]:
        operation = _operation("core", "get available API versions", "getCoreAPIVersions")
        return _document("/api/", operation, f"{_META}.APIVersions", _VERSIONS, OFFERED)
    if pieces == ["apis"]:
        operation = _operation("apis", "get available API versions", "getAPIVersions")
        return _document("/apis/", operation, f"{_META}.APIGroupList", _GROUPS, OFFERED)
    group = pieces[1] if pieces[0] == "apis" and len(pieces) == 2 else ""
    if not group or not catalogue.group(group) or catalogue.is_custom(group):
        return None
    name = group.removesuffix(".k8s.io").replace(".", "_")
    called = f"get{''.join(part.capitalize() for part in group.removesuffix('.k8s.io').split('.'))}APIGroup"
    return _document(
        f"/apis/{group}/", _operation(name, "get information of a group", called), f"{_META}.APIGroup", _GROUP, OFFERED
    )


ISSUER_PATHS = {
    "/.well-known/openid-configuration/": ("getServiceAccountIssuerOpenIDConfiguration", "application/json"),
    "/openid/v1/jwks/": ("getServiceAccountIssuerOpenIDKeyset", "application/jwk-set+json"),
}
"""What is told of the issuer of service account tokens, and in which form."""


def _issuer_document(path: str) -> Obj:
    called, media = ISSUER_PATHS[path]
    content = {media: {"schema": {"type": "string"}}}
    responses = {"200": {"description": "OK", "content": content}, "401": {"description": "Unauthorized"}}
    return {
        "openapi": "3.0.0",
        "info": TITLE,
        "paths": {path: {"get": {"operationId": called, "responses": responses}}},
        "components": {"securitySchemes": SECURITY},
    }


def _operation(tag: str, description: str, called: str) -> Obj:
    return {"tags": [tag], "description": description, "operationId": called}


def _document(path: str, operation: Obj, kind: str, schema: Obj, media: tuple[str, ...]) -> Obj:
    content = {name: {"schema": {"$ref": f"#/components/schemas/{kind}"}} for name in sorted(media)}
    responses = {"200": {"description": "OK", "content": content}, "401": {"description": "Unauthorized"}}
    return {
        "openapi": "3.0.0",
        "info": TITLE,
        "paths": {path: {"get": {**operation, "responses": responses}}},
        "components": {"schemas": {kind: schema}, "securitySchemes": SECURITY},
    }


def _object(required: tuple[str, ...], **properties: Obj) -> Obj:
    return {"type": "object", "required": list(required), "properties": properties}


_GROUP_VERSION = _object(("groupVersion", "version"), groupVersion=_TEXT, version=_TEXT)
_ADDRESS = _object(("clientCIDR", "serverAddress"), clientCIDR=_TEXT, serverAddress=_TEXT)
_ADDRESSES = {"type": "array", "items": _ADDRESS}
_TYPED = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}
_GROUP = _object(
    ("name", "versions"),
    **_TYPED,
    name=_TEXT,
    preferredVersion=_GROUP_VERSION,
    serverAddressByClientCIDRs=_ADDRESSES,
    versions={"type": "array", "items": _GROUP_VERSION},
)
_GROUPS = _object(("groups",), **_TYPED, groups={"type": "array", "items": _GROUP})
_VERSIONS = _object(
    ("versions", "serverAddressByClientCIDRs"), **_TYPED, versions=_TEXTS, serverAddressByClientCIDRs=_ADDRESSES
)
_MORE = ("emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor")
_BUILD = ("major", "minor", "gitVersion", "gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform")
_VERSION = _object(_BUILD, **dict.fromkeys(_BUILD, _TEXT), **{name: {"type": "string"} for name in _MORE})
