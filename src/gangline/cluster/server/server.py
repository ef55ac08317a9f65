"""The embedded API server: one entry, `handle`, whoever carries the request.

A request is identified, understood, allowed, and given to a verb; what the verb refuses becomes a Status. http.py puts
this behind a socket, `transport` behind nothing at all. The server reads and writes only its own store; controllers are
clients like any other."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial

from gangline.client.wire import JSON, InProcess, Request, Response, User
from gangline.cluster.schema import BadForm
from gangline.cluster.server.access.rbac import Action
from gangline.cluster.server.assembly import ServerParts
from gangline.cluster.server.audit.log import AuditLog
from gangline.cluster.server.bootstrap import bootstrap
from gangline.cluster.server.call import ServerCall, as_list, named_by_selector, read_path, verb_of
from gangline.cluster.server.convert.conversion_plan import plan_of
from gangline.cluster.server.core import ServerSettings
from gangline.cluster.server.custom import SHELF as DEFINITIONS
from gangline.cluster.server.dispatch import Dispatcher
from gangline.cluster.server.printing import GZIP_BYTES, SHORT, AnswerPrinter
from gangline.cluster.server.request_target import understand
from gangline.cluster.server.status import answer, bad_request, failure, too_large_body
from gangline.cluster.server.store.journal import damaged
from gangline.cluster.server.wire.codec import YAML, YAML_TYPES, media_type, read_document
from gangline.errors import ApiError, DataFolderError

__all__ = ["Server", "ServerSettings"]
log = logging.getLogger(__name__)


class Server(ServerParts):
    """`open`, then `handle` as many requests as there are, then `close`."""

    def __init__(self, settings: ServerSettings | None = None) -> None:
        super().__init__(settings)
        self._printer = AnswerPrinter()
        self._audit: AuditLog | None = None

    def transport(self, user: User) -> InProcess:
        return InProcess(self.handle, user)

    async def open(self) -> None:
        """Take up what the data folder holds, make what every cluster has, and be ready for requests."""
        if self.settings.audit_log is not None:
            self._audit = AuditLog(self.settings.audit_log, self.identify, self.core.new_uid)
            self._audit.open()
        if self.settings.folder is not None:
            self.open_journal(self.settings.folder)
        try:
            self.take_up()
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if self.settings.folder is None:
                raise
            raise damaged(self.settings.folder, f"an object in it cannot be understood: {error!r}") from error
        self._verbs = Dispatcher(self)
        bootstrap(self.core)

    async def close(self) -> None:
        self.core.closing = True
        if self.expiry is not None:
            self.expiry.close()
        for shelf in self.store.shelves():
            shelf.ring()
        self._printer.close()
        if self._audit is not None:
            self._audit.close()
        await self.caller.close()
        if self.journal is not None:
            self.journal.flush()
            await asyncio.to_thread(self.journal.close)

    async def handle(self, request: Request) -> Response:
        """Answer one request; never raises for what a caller did wrong."""
        if self._audit is None:
            return await self._handle(request)
        came = self.settings.clock()
        response = await self._handle(request)
        self._audit.note(request, response, (came, self.settings.clock()))
        return response

    async def _handle(self, request: Request) -> Response:
        response = await self._outcome(request, self._answer)
        if response.stream is None and (request.accept != JSON or len(response.body) > GZIP_BYTES):
            return await self._outcome(request, partial(self._printer.finish, response))
        return response

    async def _outcome(self, request: Request, act: Callable[[Request], Awaitable[Response]]) -> Response:
        """What comes of a step, or why nothing does."""
        try:
            return await act(request)
        except ApiError as error:
            return answer(error)
        except DataFolderError as error:
            return answer(failure(500, "InternalError", f"Internal error occurred: {error}"))
        except BadForm as error:
            return answer(bad_request(str(error)))
        except RecursionError:
            return answer(failure(400, "BadRequest", "the request nests too deeply to be read"))
        except Exception:
            log.exception("%s %s failed", request.method, request.path)
            return answer(failure(500, "InternalError", "Internal error occurred: the request made the server fail"))

    async def _answer(self, request: Request) -> Response:
        user = self.identify(request)
        request = as_list(request) if "/watch/" in request.path else request
        parts = read_path(request.path)
        if parts.group is None:
            self.allow(user, Action(request.method.lower(), path=request.path))
            return self.site.answer(request)
        verb = verb_of(request, parts)
        name = parts.name or (named_by_selector(request) if verb in ("list", "watch") else "")
        self.allow(user, Action(verb, parts.group, parts.plural, parts.subresource, parts.namespace, name))
        call = understand(self.catalogue, request, user, verb, parts)
        if len(request.body) > self.settings.body_limit:
            raise too_large_body(self.settings.body_limit)
        started = time.perf_counter()
        if len(request.body) > SHORT[YAML] and media_type(request.content_type) in YAML_TYPES:
            call.document = await self._printer.aside(read_document, request.body)
        try:
            waits = self.admission.calls_out or plan_of(call.resource) is not None
            response = await (self._in_time(call) if waits else self._verbs.dispatch(call))
        except ApiError as error:
            response = answer(error)
        if call.resource.shelf == DEFINITIONS or self.definitions.leaving:
            await self._verbs.follow_definitions(call, response.status)
        self.metrics.note(verb, parts.group, parts.plural, response.status, time.perf_counter() - started)
        if call.warnings:
            response.warnings = (*response.warnings, *call.warnings)
        unsettled = self.store.unsettled(self.store.revision)
        if unsettled is not None:
            await unsettled
        return response

    async def _in_time(self, call: ServerCall) -> Response:
        """Only those who ask others can wait for long."""
        try:
            async with asyncio.timeout(self.settings.request_seconds):
                return await self._verbs.dispatch(call)
        except TimeoutError:
            raise failure(
                504, "Timeout", f"Timeout: request did not complete within {self.settings.request_seconds:g}s", {}
            ) from None
