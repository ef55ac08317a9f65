"""What the dashboard answers: the page at an address as HTML or as data, and how well the cluster can be read.

Between service.py, which hears the cluster and the browser, and pages.py, which makes the pages. Hears nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

import msgspec

from gangline.dashboard.look import ClusterView
from gangline.dashboard.model import MissingPage
from gangline.dashboard.page_data import PageSource
from gangline.dashboard.pages import KnownPast, page
from gangline.dashboard.views import document
from gangline.dashboard.writing.sheet import DIGEST, HEADERS, KEPT, SCRIPTS
from gangline.errors import NotFound
from gangline.runtime.health import HttpPage
from gangline.runtime.watching.informer import Informer

HTML, JSON, TEXT = "text/html; charset=utf-8", "application/json", "text/plain; charset=utf-8"
SCRIPT = "text/javascript; charset=utf-8"


def asset_reply(path: Sequence[str]) -> HttpPage:
    """A script: `path` is the digest in its address and its name."""
    if len(path) != 2 or path[1] not in SCRIPTS:
        return plain_reply(404, "There is no such file.")
    return HttpPage(SCRIPTS[path[1]], SCRIPT, 200, KEPT if path[0] == DIGEST else HEADERS)


def parts_of(path: str) -> list[str]:
    """The parts of an address, unquoted."""
    return [unquote(part) for part in path.strip("/").split("/") if part]


def reply(view: ClusterView, path: str, query: Mapping[str, str], past: KnownPast | None = None) -> HttpPage:
    parts = parts_of(path)
    if parts[:1] == ["assets"]:
        return asset_reply(parts[1:])
    shown = page(view, parts, query, past)
    status = 404 if isinstance(shown, MissingPage) else 200
    if query.get("format") == "json":
        return HttpPage(msgspec.json.encode(shown), JSON, status, HEADERS)
    if query.get("format", "html") != "html":
        return plain_reply(400, "There is ?format=json and ?format=html.")
    return HttpPage(document(shown).encode(errors="replace"), HTML, status, HEADERS)


def plain_reply(status: int, text: str, headers: Mapping[str, str] | None = None) -> HttpPage:
    return HttpPage(f"{text}\n".encode(errors="replace"), TEXT, status, {**HEADERS, **(headers or {})})


def source_of(
    server: str, now: float, heard: float | None, problem: str, informers: Sequence[Informer[Any]]
) -> PageSource:
    """`heard`: when the cluster answered last; kinds that it does not serve are absent, others may be in trouble."""
    absent = [informer for informer in informers if isinstance(informer.trouble, NotFound)]
    troubled = [informer for informer in informers if informer.trouble is not None and informer not in absent]
    reading = [informer for informer in informers if not informer.synced.is_set() and informer.trouble is None]
    return PageSource(
        server=server,
        now=now,
        heard=heard,
        problem=problem,
        reading=tuple(informer.kind.resource for informer in reading),
        absent=tuple(informer.kind.resource for informer in absent),
        troubles=tuple(f"{informer.kind.resource}: {informer.trouble}" for informer in troubled),
    )
