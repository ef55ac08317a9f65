"""Everything that is not a resource: discovery, OpenAPI, health, version, metrics."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from gangline.client.wire import Request, Response
from gangline.cluster.server.core import Core
from gangline.cluster.server.metrics import Metrics
from gangline.cluster.server.show import discovery, openapi, openapi_index
from gangline.cluster.server.show.negotiation import check_takes_json, plain_media, read_discovery_accept
from gangline.cluster.server.status import method_not_allowed, no_such_resource
from gangline.cluster.server.wire.codec import encode

TEXT = "text/plain; charset=utf-8"
UNNEGOTIATED = ("/", "/version")
"""Documents that are no objects: they are told in JSON only."""
_ANY_METHOD = re.compile(r"/(apis(/[^/]+)?)?")
"""Documents that a real server gives whatever the method is."""
_HEALTH = frozenset(
    f"/{name}{check}" for name in ("healthz", "livez", "readyz") for check in ("", "/ping", "/log", "/etcd")
)


class Site:
    def __init__(self, core: Core, metrics: Metrics) -> None:
        self._core = core
        self._metrics = metrics
        self._documents: dict[tuple[str, int], tuple[bytes, str]] = {}

    def answer(self, request: Request) -> Response:
        path = request.path.rstrip("/") or "/"
        catalogue = self._core.catalogue
        if path in _HEALTH:
            return self._health()
        if path == "/metrics":
            return Response(200, self._metrics.text(self._core.store), "text/plain; version=0.0.4; charset=utf-8")
        if path in ("/api", "/apis"):
            shape = read_discovery_accept(request.accept)
            if shape.kind:
                every_group = encode(discovery.aggregated(catalogue, path == "/apis"))
                return Response(200, every_group, f"{shape.media}{discovery.AGGREGATED}")
        if path == "/openapi/v2" or path.startswith("/openapi/v3"):
            return self._openapi(path, request.headers.get("if-none-match", ""))
        document = self._discovery(path)
        if document is None:
            return Response(404, b"404 page not found\n", TEXT)
        if request.method != "GET" and not _ANY_METHOD.fullmatch(path):
            raise method_not_allowed()
        if path == "/version":
            check_takes_json(request.accept)
        if path in UNNEGOTIATED:
            return Response(200, encode(document))
        return Response(200, encode(document), plain_media(request.accept))

    def _health(self) -> Response:
        broken = self._core.store.broken
        if broken is not None:
            return Response(500, f"[-]journal failed: {broken}\n".encode(), TEXT)
        return Response(200, b"ok", TEXT)

    def _discovery(self, path: str) -> dict[str, Any] | None:
        catalogue, pieces = self._core.catalogue, path.strip("/").split("/")
        if path == "/":
            return discovery.root_paths(catalogue)
        if path == "/version":
            return discovery.server_version()
        if path in ("/api", "/apis"):
            return discovery.core_versions() if path == "/api" else discovery.group_list(catalogue)
        if pieces[0] == "apis" and len(pieces) == 2:
            return discovery.one_group(catalogue, pieces[1])
        if pieces[0] == "api" or (pieces[0] == "apis" and len(pieces) == 3 and catalogue.group(pieces[1])):
            resources = discovery.resource_list(catalogue, "" if pieces[0] == "api" else pieces[1], pieces[-1])
            if resources is None:
                raise no_such_resource()
            return resources
        return None

    def _openapi(self, path: str, known: str) -> Response:
        """Documents are kept until the catalogue changes. Who has a document already is told so by its ETag alone."""
        if path == "/openapi/v3":
            return Response(200, encode(openapi_index.index_v3(self._core.catalogue)), "text/plain; charset=utf-8")
        key = (path, self._core.catalogue.generation)
        kept = self._documents.get(key)
        if kept is None:
            document = self._document(path)
            if document is None:
                return Response(404, b"", "")
            body = encode(document)
            kept = body, f'"{hashlib.sha512(body).hexdigest().upper()}"'
            self._documents = {old: text for old, text in self._documents.items() if old[1] == key[1]} | {key: kept}
        body, tag = kept
        if tag in (part.strip().removeprefix("W/") for part in known.split(",")):
            return Response(304, b"", "", {"ETag": tag})
        return Response(200, body, headers={"ETag": tag})

    def _document(self, path: str) -> dict[str, Any] | None:
        catalogue, pieces = self._core.catalogue, path.strip("/").split("/")
        if path == "/openapi/v2":
            return openapi.document_v2(catalogue)
        if pieces[:3] == ["openapi", "v3", "api"] and len(pieces) == 4:
            return openapi.document_v3(catalogue, "", pieces[3])
        if pieces[:3] == ["openapi", "v3", "apis"] and len(pieces) == 5:
            return openapi.document_v3(catalogue, pieces[3], pieces[4])
        return openapi_index.small_document(catalogue, pieces[2:]) if pieces[1] == "v3" and pieces[2:] else None
