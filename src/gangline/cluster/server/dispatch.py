"""From a request that is understood and allowed to the verb that carries it out, and to its answer.

server.py calls `dispatch` for each request. Verbs know nothing of answers; show/ prints what they give."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from gangline.client.wire import Response
from gangline.cluster.server import custom
from gangline.cluster.server.access.identity import administrator
from gangline.cluster.server.assembly import ServerParts
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.show.answer_shapes import (
    list_response,
    list_shape,
    object_response,
    object_shape,
    plain_response,
    scale_response,
    watch_form,
)
from gangline.cluster.server.show.negotiation import AnswerShape, read_accept, read_plain_accept
from gangline.cluster.server.show.protobuf_answers import is_sliced, joined, slices
from gangline.cluster.server.status import no_such_resource, success
from gangline.cluster.server.store.expiry import EVENTS
from gangline.cluster.server.store.watch_stream import open_watch
from gangline.cluster.server.verbs import delete_options, deletes, field_owners, patch_reader, patches, reads, writes
from gangline.cluster.server.verbs.bodies import read_object
from gangline.cluster.server.verbs.kind_rules import RETURNING, rules_for
from gangline.cluster.server.verbs.subresources import container_output, pods
from gangline.cluster.server.verbs.subresources.scale import scale
from gangline.cluster.server.verbs.usage.answers import usage
from gangline.cluster.server.verbs.usage.metrics import GROUP as METRICS
from gangline.cluster.server.verbs.write_checks import check_name, check_namespace
from gangline.cluster.server.wire.codec import encode
from gangline.errors import ApiError

Obj = dict[str, Any]
DEFINES = ("create", "update", "patch")
"""Verbs after which a CRD has to be looked at."""


class Dispatcher:
    """The verbs of one server."""

    def __init__(self, parts: ServerParts) -> None:
        self._core, self._store = parts.core, parts.store
        self._reviews, self._definitions, self._expiry = parts.reviews, parts.definitions, parts.expiry

    async def follow_definitions(self, call: ServerCall, status: int) -> None:
        """After a write to a CRD, and while one is being deleted: what is served follows."""
        is_definition = call.resource.shelf == custom.SHELF and call.verb in DEFINES
        if is_definition and status < 300 and not call.dry_run:
            self._definitions.settle_written(call.name)
        if self._definitions.leaving:
            await self._clear_definitions(call)

    async def _clear_definitions(self, call: ServerCall) -> None:
        """Take the objects of deleted definitions away; a definition goes with its last object. What stands in the way
        of one is no business of who asks: it is tried again at the next request."""
        for name in list(self._definitions.leaving):
            with suppress(ApiError):
                for resource, place in self._definitions.instances(name):
                    deletion = ServerCall(call.request, administrator("system:apiserver"), "delete", resource, *place)
                    await deletes.delete_one(self._core, deletion, delete_options.DeleteOptions())
            if not self._definitions.instances(name):
                self._definitions.finish(name)

    async def dispatch(self, call: ServerCall) -> Response:
        if call.resource.shelf == EVENTS and self._expiry is not None:
            self._expiry.sweep()
        if call.verb == "patch":
            patch_reader.patch_form(call)
        if call.subresource and call.subresource not in ("status", "ephemeralcontainers", "resize", "approval"):
            answerer = _SUBRESOURCES.get(call.subresource)
            if answerer is None:
                raise no_such_resource()
            return await answerer(self, call)
        if call.resource.group == METRICS:
            return Response(200, encode(usage(self._core, call)))
        if call.verb == "list":
            reads.check_list_options(call)
            shape = list_shape(call)
            return await self._listed(call, shape, await self._read(call))
        if call.verb == "watch":
            form = watch_form(self._core, call)
            shelf = await self._core.views.shelf(call.resource)
            return Response(200, content_type=form.content_type, stream=open_watch(self._core, call, shelf, form))
        if call.verb == "deletecollection":
            return await self._delete_collection(call)
        if call.resource.shelf == ("", "bindings"):
            return await self._bind(call)
        if not call.resource.stored:
            return plain_response(call, self._reviews.answer(call), 201)
        return await self._one(call, object_shape(call))

    async def _one(self, call: ServerCall, shape: AnswerShape) -> Response:
        """What is done to one object."""
        if call.verb == "get":
            record = await self._core.views.shown(call.resource, reads.get(self._core, call))
            return object_response(self._core, call, shape, record)
        if call.verb == "delete":
            return await self._delete(call, shape)
        written = await _WRITES[call.verb](self._core, call)
        return object_response(self._core, call, shape, written.record, 201 if written.created else 200)

    async def _delete(self, call: ServerCall, shape: AnswerShape) -> Response:
        if call.resource.shelf == custom.SHELF and not delete_options.read_options(call).dry_run:
            return self._delete_definition(call, shape)
        record, is_gone = await deletes.delete(self._core, call)
        if is_gone and call.resource.shelf not in RETURNING:
            return plain_response(call, success(call.resource.group, call.resource.plural, call.name, record.uid), 200)
        return object_response(self._core, call, shape, record)

    def _delete_definition(self, call: ServerCall, shape: AnswerShape) -> Response:
        reads.get(self._core, call)
        self._definitions.mark_deleted(call.name)
        return object_response(self._core, call, shape, reads.get(self._core, call))

    async def _delete_collection(self, call: ServerCall) -> Response:
        reads.check_list_options(call)
        options, shape = delete_options.read_options(call), list_shape(call)
        page = await self._read(call)
        for record in page.records:
            deletion = ServerCall(
                call.request, call.user, "deletecollection", call.resource, record.place[0], record.place[1]
            )
            try:
                await deletes.delete_one(self._core, deletion, options)
            except ApiError as error:
                if error.code != 404:
                    raise
        page.revision = self._store.revision
        return await self._listed(call, shape, page)

    async def _read(self, call: ServerCall) -> reads.ListPage:
        return reads.listing(self._core, call, await self._core.views.shelf(call.resource))

    async def _listed(self, call: ServerCall, shape: AnswerShape, page: reads.ListPage) -> Response:
        """Others are answered between the slices of a long list."""
        if not is_sliced(shape):
            return list_response(self._core, call, shape, page)
        items: list[bytes] = []
        for part in slices(call.resource, shape, page):
            if items:
                await asyncio.sleep(0)
            items.append(part)
        return joined(call.resource, shape, page, items)

    async def _bind(self, call: ServerCall) -> Response:
        read_plain_accept(call.request.accept, by_route=True)
        return plain_response(call, await pods.bind(self._core, call), 201)

    async def _evict(self, call: ServerCall) -> Response:
        read_plain_accept(call.request.accept, by_route=True)
        return plain_response(call, await pods.evict(self._core, call), 201)

    async def _connect(self, call: ServerCall) -> Response:
        container_output.connect(self._core, call)

    async def _proxy(self, call: ServerCall) -> Response:
        container_output.proxy(self._core, call)

    async def _log(self, call: ServerCall) -> Response:
        text = container_output.log(self._core, call)
        return Response(204, content_type="") if text is None else Response(200, text, "text/plain; charset=utf-8")

    async def _token(self, call: ServerCall) -> Response:
        read_plain_accept(call.request.accept, by_route=True)
        return plain_response(call, self._reviews.token_request(call), 201)

    async def _scale(self, call: ServerCall) -> Response:
        shape = read_accept(call.request.accept, streams=False)
        return scale_response(self._core, call, shape, await scale(self._core, call))

    async def _finalize(self, call: ServerCall) -> Response:
        """Replace a namespace's own finalizers; without any, a namespace on its way out goes."""
        wanted, shape = read_object(call, rules_for(call.resource)), object_shape(call)
        check_namespace(call, wanted)
        check_name(call, wanted)

        def finalized(namespace: Obj) -> Obj:
            finalizers = (wanted.get("spec") or {}).get("finalizers")
            new = {
                **wanted,
                "metadata": dict(wanted["metadata"]),
                "spec": {"finalizers": finalizers} if finalizers else {},
            }
            return field_owners.track(self._core, call, namespace, new)

        return object_response(self._core, call, shape, (await writes.change(self._core, call, finalized)).record)


_WRITES = {"create": writes.create, "update": writes.update, "patch": patches.patch}
_SUBRESOURCES: dict[str, Callable[[Dispatcher, ServerCall], Awaitable[Response]]] = {
    "attach": Dispatcher._connect,
    "binding": Dispatcher._bind,
    "eviction": Dispatcher._evict,
    "exec": Dispatcher._connect,
    "finalize": Dispatcher._finalize,
    "log": Dispatcher._log,
    "portforward": Dispatcher._connect,
    "proxy": Dispatcher._proxy,
    "scale": Dispatcher._scale,
    "token": Dispatcher._token,
}
