"""The one async client: verbs on kinds, for the embedded server and for a real one alike.

Reads give typed views; writes take plain data (a create, a patch, or server-side apply of the fields we own), so
nothing that we do not know is lost. Errors are members of the family in errors.py. Nothing here caches;
runtime/cache.py does."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, cast

import msgspec

from gangline.api.kinds import POD, Kind
from gangline.api.meta import Model, Raw
from gangline.api.selectors import Selector, equals, print_labels
from gangline.client.lanes import Lanes
from gangline.client.typed_views import (
    STATUS,
    UNREADABLE,
    F,
    T,
    UnreadObject,
    decode,
    metadata_of,
    plain,
    plain_items,
    read_as,
    unreadable,
    view,
)
from gangline.client.watch_events import LARGE, EventBatch, WatchEvent, batch_of, own_batch, shared_batch, whole_lines
from gangline.client.wire import APPLY_PATCH, JSON, MERGE_PATCH, Request, Response, Transport
from gangline.errors import ApiError, TooManyRequests, Unavailable, api_error

Raws: TypeAlias = list[Raw]
Labels: TypeAlias = Selector | Mapping[str, str] | str | None
PAGE = 500
PAGES = 10_000
"""Of one list: five million objects. A server that has yet another page has no end."""


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    items: list[T]
    revision: str
    unread: tuple[UnreadObject, ...] = ()


class _ListMeta(Model, frozen=True):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _RawList(Model, frozen=True):
    metadata: _ListMeta = _ListMeta()
    items: tuple[msgspec.Raw, ...] | None = ()


_LIST = msgspec.json.Decoder(_RawList)


def label_query(labels: Labels) -> str:
    if labels is None or isinstance(labels, str):
        return labels or ""
    return print_labels(labels if isinstance(labels, Selector) else equals(labels))


class Client:
    """Verbs on kinds. `manager` names us as owner of the fields we write; `lanes` count every write, unless it
    is a report; `may_write` is asked before each write is sent, and raises what keeps it. `alone`: nobody else in this
    process watches, so nothing that was decoded is kept for others."""

    def __init__(
        self,
        transport: Transport,
        manager: str = "gangline",
        retries: int = 4,
        lanes: Lanes | None = None,
        may_write: Callable[[], None] | None = None,
        alone: bool = False,
    ) -> None:
        self.transport = transport
        self.manager = manager
        self._retries = retries
        self._lanes = lanes
        self._may_write = may_write
        self._alone = alone

    def urgent(self, lanes: Lanes) -> Client:
        """The same, for writes that reports have to wait for."""
        return Client(self.transport, self.manager, self._retries, lanes, self._may_write, self._alone)

    def fenced(self, may_write: Callable[[], None]) -> Client:
        """The same, for who may write only while something holds."""
        return Client(self.transport, self.manager, self._retries, self._lanes, may_write, self._alone)

    # --- reading ------------------------------------------------------------------------------------------------------

    async def get(self, kind: Kind[T], name: str, namespace: str = "") -> T:
        path = kind.path(namespace, name)
        return view(kind, (await self.send("GET", path)).body, f"GET {path}")

    async def get_raw(self, kind: Kind[Any], name: str, namespace: str = "") -> Raw:
        return await self.get_path(kind.path(namespace, name))

    async def get_path(self, path: str) -> Raw:
        """Whatever map a path answers with."""
        return plain((await self.send("GET", path)).body, f"GET {path}")

    async def get_as(self, path: str, form: type[F]) -> F:
        """What a path answers with, in a form that it must have."""
        return read_as(form, (await self.send("GET", path)).body, f"GET {path}")

    async def list(self, kind: Kind[T], namespace: str = "", labels: Labels = None, fields: str = "") -> Listing[T]:
        """All objects, page by page, on one consistent revision."""
        items: list[T] = []
        unread: list[UnreadObject] = []
        token = revision = ""
        for _ in range(PAGES):
            answer = await self.send(
                "GET",
                kind.path(namespace),
                query=_query(
                    limit=str(PAGE), labelSelector=label_query(labels), fieldSelector=fields, **{"continue": token}
                ),
            )
            try:
                page = _LIST.decode(answer.body)
            except UNREADABLE as error:
                raise unreadable(f"GET {kind.path(namespace)}", error) from error
            for raw in page.items or ():
                try:
                    items.append(decode(kind, raw))
                except UNREADABLE as error:
                    unread.append(UnreadObject(metadata_of(raw), str(error)))
            revision, last, token = page.metadata.resource_version, token, page.metadata.continue_
            if token and token == last:
                raise unreadable(f"GET {kind.path(namespace)}", ValueError("the next page is the one we were given"))
            if not token:
                return Listing(items, revision, tuple(unread))
        raise unreadable(f"GET {kind.path(namespace)}", ValueError(f"it has more than {PAGES} pages"))

    async def list_raw(self, kind: Kind[Any], namespace: str = "", labels: Labels = None, fields: str = "") -> Raws:
        answer = await self.send(
            "GET", kind.path(namespace), query=_query(labelSelector=label_query(labels), fieldSelector=fields)
        )
        items = plain_items(answer.body, f"GET {kind.path(namespace)}")
        return [{"apiVersion": kind.api_version, "kind": kind.kind, **item} for item in items]

    async def watch(
        self,
        kind: Kind[T],
        since: str,
        namespace: str = "",
        labels: Labels = None,
        fields: str = "",
        seconds: int = 300,
    ) -> AsyncIterator[WatchEvent[T]]:
        """Events after a revision, until the server ends the stream. Raises `Gone` when the revision is no longer
        kept."""
        batches = self.watch_batches(kind, since, namespace, labels, fields, seconds)
        async with contextlib.aclosing(cast("AsyncGenerator[Sequence[WatchEvent[T]], None]", batches)):
            async for batch in batches:
                for event in batch:
                    yield event

    async def watch_batches(
        self,
        kind: Kind[T],
        since: str,
        namespace: str = "",
        labels: Labels = None,
        fields: str = "",
        seconds: int = 300,
    ) -> AsyncIterator[Sequence[WatchEvent[T]]]:
        """The same, as many events at a time as the server sent together."""
        answer = await self.send(
            "GET",
            kind.path(namespace),
            query=_query(
                watch="true",
                resourceVersion=since,
                allowWatchBookmarks="true",
                timeoutSeconds=str(seconds),
                labelSelector=label_query(labels),
                fieldSelector=fields,
            ),
        )
        if answer.stream is None:
            raise Unavailable({"message": f"the server did not answer a watch of {kind.resource} with a stream"})
        async for lines in whole_lines(answer.stream):
            batch = self._batch(kind, lines)
            if batch.events:
                yield batch.events
            if batch.failure is not None:
                raise api_error(batch.failure)

    def _batch(self, kind: Kind[Any], lines: bytes) -> EventBatch:
        if self._alone:
            return own_batch(kind, lines)
        return shared_batch(kind, lines) if len(lines) < LARGE else batch_of(kind, lines)

    # --- writing ------------------------------------------------------------------------------------------------------

    async def create(self, kind: Kind[T], obj: Raw, namespace: str = "", *, dry_run: bool = False) -> T:
        answer = await self._create(kind, obj, namespace, dry_run)
        return view(kind, answer.body, f"POST {kind.path(namespace)}")

    async def create_only(self, kind: Kind[Any], obj: Raw, namespace: str = "") -> None:
        """Create, and leave the answer unread."""
        await self._create(kind, obj, namespace, False)

    async def _create(self, kind: Kind[Any], obj: Raw, namespace: str, dry_run: bool) -> Response:
        namespace = namespace or obj.get("metadata", {}).get("namespace", "")
        body = msgspec.json.encode({"apiVersion": kind.api_version, "kind": kind.kind, **obj})
        return await self.send(
            "POST", kind.path(namespace), body, query=_query(fieldManager=self.manager, dryRun="All" if dry_run else "")
        )

    async def patch(
        self,
        kind: Kind[T],
        name: str,
        namespace: str,
        patch: Any,
        *,
        subresource: str = "",
        content_type: str = MERGE_PATCH,
    ) -> T:
        answer = await self._patch(kind, name, namespace, patch, subresource, content_type)
        return view(kind, answer.body, f"PATCH {kind.path(namespace, name, subresource)}")

    async def patch_only(
        self,
        kind: Kind[Any],
        name: str,
        namespace: str,
        patch: Any,
        *,
        subresource: str = "",
        content_type: str = MERGE_PATCH,
    ) -> None:
        """Patch, and leave the answer unread."""
        await self._patch(kind, name, namespace, patch, subresource, content_type)

    async def _patch(
        self, kind: Kind[Any], name: str, namespace: str, patch: Any, subresource: str, content_type: str
    ) -> Response:
        return await self.send(
            "PATCH",
            kind.path(namespace, name, subresource),
            msgspec.json.encode(patch),
            content_type=content_type,
            query=(("fieldManager", self.manager),),
        )

    async def apply(
        self, kind: Kind[T], obj: Raw, *, force: bool = True, subresource: str = "", manager: str = ""
    ) -> T:
        """Server-side apply: we own exactly the fields given."""
        meta = obj["metadata"]
        body = msgspec.json.encode({"apiVersion": kind.api_version, "kind": kind.kind, **obj})
        answer = await self.send(
            "PATCH",
            kind.path(meta.get("namespace", ""), meta["name"], subresource),
            body,
            content_type=APPLY_PATCH,
            query=_query(fieldManager=manager or self.manager, force="true" if force else ""),
        )
        return view(kind, answer.body, f"PATCH {kind.path(meta.get('namespace', ''), meta['name'], subresource)}")

    async def replace(self, kind: Kind[T], obj: Raw, *, subresource: str = "") -> T:
        meta = obj["metadata"]
        body = msgspec.json.encode({"apiVersion": kind.api_version, "kind": kind.kind, **obj})
        answer = await self.send(
            "PUT",
            kind.path(meta.get("namespace", ""), meta["name"], subresource),
            body,
            query=_query(fieldManager=self.manager),
        )
        return view(kind, answer.body, f"PUT {kind.path(meta.get('namespace', ''), meta['name'], subresource)}")

    async def delete(
        self,
        kind: Kind[Any],
        name: str,
        namespace: str = "",
        *,
        uid: str = "",
        revision: str = "",
        grace: int | None = None,
        propagation: str = "",
    ) -> None:
        options: Raw = {"apiVersion": "v1", "kind": "DeleteOptions"}
        conditions = {key: value for key, value in (("uid", uid), ("resourceVersion", revision)) if value}
        if conditions:
            options["preconditions"] = conditions
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        if propagation:
            options["propagationPolicy"] = propagation
        await self.send("DELETE", kind.path(namespace, name), msgspec.json.encode(options))

    async def bind(
        self, pod: str, namespace: str, node: str, *, uid: str = "", annotations: Mapping[str, str] | None = None
    ) -> None:
        meta: Raw = {"name": pod, "namespace": namespace} | ({"uid": uid} if uid else {})
        if annotations:
            meta["annotations"] = dict(annotations)
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": meta,
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        await self.send("POST", POD.path(namespace, pod, "binding"), msgspec.json.encode(body))

    async def evict(self, pod: str, namespace: str, *, grace: int | None = None, uid: str = "") -> None:
        body: Raw = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": namespace}}
        options: Raw = {} if grace is None else {"gracePeriodSeconds": grace}
        options |= {"preconditions": {"uid": uid}} if uid else {}
        if options:
            body["deleteOptions"] = options
        await self.send("POST", POD.path(namespace, pod, "eviction"), msgspec.json.encode(body))

    # --- the wire -----------------------------------------------------------------------------------------------------

    async def send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        query: tuple[tuple[str, str], ...] = (),
        content_type: str = JSON,
    ) -> Response:
        """One request. Overload and, for reads, passing faults are tried again with back-off."""
        request = Request(method, path, query, body, content_type)
        if method == "GET" or self._lanes is None:
            return await self._send(request)
        self._lanes.begin()
        try:
            return await self._send(request)
        finally:
            self._lanes.end()

    async def _send(self, request: Request) -> Response:
        for attempt in range(self._retries + 1):
            try:
                if self._may_write is not None and request.method != "GET":
                    self._may_write()
                answer = await self.transport.send(request)
                if answer.status < 300:
                    return answer
                raise _error(answer)
            except (TooManyRequests, Unavailable) as error:
                if attempt == self._retries or (request.method != "GET" and not isinstance(error, TooManyRequests)):
                    raise
                await asyncio.sleep(error.retry_after or 0.1 * 2**attempt)
        raise AssertionError("unreachable")

    async def close(self) -> None:
        await self.transport.close()


def _query(**arguments: str) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in arguments.items() if value)


def _error(answer: Response) -> ApiError:
    try:
        status = STATUS.decode(answer.body)
    except UNREADABLE:
        status = {"message": answer.body.decode(errors="replace")[:500]}
    return api_error(status, answer.status)
