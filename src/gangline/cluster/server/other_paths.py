"""Everything that is not a resource: discovery, OpenAPI, health, version, metrics."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

from gangline.client.wire import JSON, Request, Response
from gangline.cluster.server.call import NO_GROUP
from gangline.cluster.server.core import Core
from gangline.cluster.server.metrics import Metrics
from gangline.cluster.server.show import discovery
from gangline.cluster.server.show.negotiation import (
    OFFERED,
    check_consumed,
    check_takes_json,
    read_discovery_accept,
    read_plain_accept,
    takes_json,
)
from gangline.cluster.server.show.openapi import documents, index
from gangline.cluster.server.show.openapi.protobuf import ASKED, FORM, document_v2_protobuf
from gangline.cluster.server.status import method_not_allowed, no_such_resource
from gangline.cluster.server.wire.codec import encode

TEXT = "text/plain; charset=utf-8"
UNNEGOTIATED = ("/", "/version")
"""Documents that are no objects: they are served in JSON only."""
_VERSION = re.compile(r"/api/[^/]+|/apis/(?P<group>[^/]+)/[^/]+")
_ISSUER = ("/.well-known/openid-configuration", "/openid/v1/jwks")
_ANY_METHOD = re.compile(r"/(apis(/(?!apiregistration\.k8s\.io$)[^/]+)?)?")
"""Documents that a real server gives whatever the method is."""
_HEALTH = frozenset(
    f"/{name}{check}" for name in ("healthz", "livez", "readyz") for check in ("", "/ping", "/log", "/etcd")
)


class Site:
    def __init__(self, core: Core, metrics: Metrics) -> None:
        self._core = core
        self._metrics = metrics
        self._documents: dict[tuple[str, str, int], tuple[bytes, str]] = {}

    def answer(self, request: Request) -> Response:
        if request.path.startswith(NO_GROUP):
            return Response(404, b"404 page not found\n", TEXT)
        path = request.path.rstrip("/") or "/"
        if path in _HEALTH:
            return self._health()
        if request.method == "GET" and self._by_route(path):
            check_consumed(request.content_type, OFFERED if path != "/version" else (JSON,))
        if path == "/metrics":
            return Response(200, self._metrics.text(self._core.store), "text/plain; version=0.0.4; charset=utf-8")
        if path in ("/api", "/apis"):
            shape = read_discovery_accept(request.accept, path == "/api")
            if shape.kind:
                return self._aggregated(request, path, shape.media)
        if path in _ISSUER:
            return self._issuer(request, path)
        if path == "/openapi/v2" or path.startswith("/openapi/v3"):
            return self._openapi(request, path)
        return self._plain(request, path)

    def _plain(self, request: Request, path: str) -> Response:
        """A document of discovery, of one group or version at a time."""
        document = self._discovery(path)
        if document is None:
            return Response(404, b"404 page not found\n", TEXT)
        if request.method != "GET" and not _ANY_METHOD.fullmatch(path):
            raise method_not_allowed()
        return Response(200, encode(document), self._form(request, path))

    def _form(self, request: Request, path: str) -> str:
        """In which form a document is told."""
        if path == "/version":
            check_takes_json(request.accept)
        if path in UNNEGOTIATED:
            return JSON
        return read_plain_accept(request.accept, self._by_route(path))

    def _by_route(self, path: str) -> bool:
        """Whether a real server finds the document as it finds the verbs of built-in kinds, which looks at headers
        first."""
        of_version = _VERSION.fullmatch(path)
        built_in = of_version is not None and not self._core.catalogue.is_custom(of_version["group"] or "")
        return built_in or path in ("/api", "/version")

    def _aggregated(self, request: Request, path: str, media: str) -> Response:
        """All groups at once, which everybody may keep."""
        named, form = path == "/apis", f"{media}{discovery.AGGREGATED}"
        cached = {"Cache-Control": "public"}
        written = self._kept(
            request, path, lambda: encode(discovery.aggregated(self._core.catalogue, named)), form, **cached
        )
        assert written is not None
        return written

    def _issuer(self, request: Request, path: str) -> Response:
        """Who signs the tokens of service accounts. Only this server can check them: there is no key to publish."""
        if request.method != "GET":
            raise method_not_allowed()
        if path != _ISSUER[0]:
            return Response(200, encode({"keys": []}), "application/jwk-set+json")
        return Response(200, encode(discovery.issuer_configuration(request.headers.get("host", ""))))

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
            if resources is None and (pieces[0] == "api" or not catalogue.is_custom(pieces[1])):
                raise no_such_resource()
            return resources
        return None

    def _openapi(self, request: Request, path: str) -> Response:
        if request.path.endswith("/"):
            return Response(404, b"", "")
        if path == "/openapi/v2" and request.accept in ASKED:
            return self._in_protobuf(request)
        if path == "/openapi/v3":
            return Response(200, encode(index.index_v3(self._core.catalogue)), "text/plain; charset=utf-8")
        document = self._kept(request, path, lambda: self._document(path))
        if document is None:
            return Response(404, b"", "")
        return document if takes_json(request.accept) else Response(406, b"", "")

    def _in_protobuf(self, request: Request) -> Response:
        def write() -> bytes:
            return document_v2_protobuf(documents.document_v2(self._core.catalogue))

        written = self._kept(request, "/openapi/v2", write, FORM)
        assert written is not None
        return written

    def _kept(
        self, request: Request, key: str, write: Callable[[], bytes | None], form: str = JSON, **headers: str
    ) -> Response | None:
        """A document that stays the same until the catalogue changes; who has it already is told so. None: there is
        none."""
        generation = self._core.catalogue.generation
        kept = self._documents.get((key, form, generation))
        if kept is None:
            body = write()
            if body is None:
                return None
            kept = body, f'"{hashlib.sha512(body + form.encode()).hexdigest().upper()}"'
            same = {old: text for old, text in self._documents.items() if old[2] == generation}
            self._documents = same | {(key, form, generation): kept}
        body, tag = kept
        headers = {"ETag": tag, "Vary": "Accept", **headers}
        known = request.headers.get("if-none-match", "")
        if tag in (part.strip().removeprefix("W/") for part in known.split(",")):
            return Response(304, b"", "", headers)
        return Response(200, body, form, headers)

    def _document(self, path: str) -> bytes | None:
        catalogue, pieces = self._core.catalogue, path.strip("/").split("/")
        document = None
        if path == "/openapi/v2":
            document = documents.document_v2(catalogue)
        elif pieces[:3] == ["openapi", "v3", "api"] and len(pieces) == 4:
            document = documents.document_v3(catalogue, "", pieces[3])
        elif pieces[:3] == ["openapi", "v3", "apis"] and len(pieces) == 5:
            document = documents.document_v3(catalogue, pieces[3], pieces[4])
        elif pieces[1] == "v3" and pieces[2:]:
            document = index.small_document(catalogue, pieces[2:])
        return None if document is None else encode(document)
