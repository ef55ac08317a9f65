"""The embedded API server: one entry, `handle`, whoever carries the request.

A request is identified, understood, allowed, and given to a verb; what the verb refuses becomes a Status. http.py puts
this behind a socket, `transport` behind nothing at all. The server reads and writes only its own store; controllers are
clients like any other."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from gangline.client.wire import InProcess, Request, Response, User
from gangline.cluster.server import custom
from gangline.cluster.server.access.escalation import Escalation
from gangline.cluster.server.access.identity import Secrets, TokenIssuer, administrator, authenticate
from gangline.cluster.server.access.impersonation import impersonated
from gangline.cluster.server.access.rbac import GROUP as RBAC
from gangline.cluster.server.access.rbac import Action, Authorizer, bootstrap_roles, forbidden_text
from gangline.cluster.server.admit.certificates import Certificates
from gangline.cluster.server.admit.chain import Admission
from gangline.cluster.server.admit.limit_ranges import Limits
from gangline.cluster.server.admit.plugins import Plugins, system_classes
from gangline.cluster.server.admit.pod_groups import Groups
from gangline.cluster.server.admit.policies import Policies
from gangline.cluster.server.admit.quotas import Quotas
from gangline.cluster.server.admit.service_addresses import ServiceAddresses
from gangline.cluster.server.admit.webhooks import Webhooks
from gangline.cluster.server.call import (
    PathParts,
    ServerCall,
    as_list,
    check_timeout,
    fits_scope,
    named_by_selector,
    read_path,
    verb_of,
)
from gangline.cluster.server.catalogue import DEPRECATED, Catalogue, Resource, builtin_resources
from gangline.cluster.server.core import SYSTEM_NAMESPACES, Core, ServerSettings
from gangline.cluster.server.custom import Definitions
from gangline.cluster.server.features import is_served
from gangline.cluster.server.metrics import Metrics
from gangline.cluster.server.other_paths import Site
from gangline.cluster.server.show.answer_shapes import YAML, list_response, object_response, scale_response, watch_shape
from gangline.cluster.server.status import (
    answer,
    failure,
    forbidden,
    method_not_allowed,
    no_such_resource,
    not_found,
    success,
)
from gangline.cluster.server.store.expiry import EVENTS, Expiry
from gangline.cluster.server.store.journal import SqliteJournal, damaged
from gangline.cluster.server.store.journal_records import read_records
from gangline.cluster.server.store.store import Store
from gangline.cluster.server.store.watch import open_watch
from gangline.cluster.server.verbs import delete_options, deletes, field_owners, patches, reads, writes
from gangline.cluster.server.verbs.bodies import read_object
from gangline.cluster.server.verbs.kind_rules import RETURNING, rules_for
from gangline.cluster.server.verbs.reviews import Reviews
from gangline.cluster.server.verbs.subresources import container_output, pods
from gangline.cluster.server.verbs.subresources.scale import scale
from gangline.cluster.server.wire.codec import YAML_TYPES, encode, media_type, read_document, to_yaml
from gangline.errors import ApiError, DataFolderError

__all__ = ["Server", "ServerSettings"]
log = logging.getLogger(__name__)
SHORT = 8 * 1024
"""Longer YAML takes more than a few milliseconds to read or print: a thread does it while others are answered."""
Obj = dict[str, Any]


class Server:
    def __init__(self, settings: ServerSettings | None = None) -> None:
        self.settings = settings or ServerSettings()
        self.admission = Admission()
        self.store = Store(self.settings.history, history_bytes=self.settings.history_bytes)
        self.catalogue = Catalogue(row for row in builtin_resources() if self._is_served(row))
        self.core = Core(self.settings, self.store, self.catalogue, self.admission, self._allow)
        self.secrets = Secrets(self.settings.folder)
        fixed = {token: administrator(name) for token, name in (self.settings.tokens or {}).items()}
        self.tokens = TokenIssuer(
            self.secrets.signing_key, fixed, self._account_uid, self.settings.clock, self._bound_uid
        )
        self.authorizer: Authorizer | None = None
        self.failed = asyncio.Event()
        """Nothing can be kept any more; `store.broken` says why."""
        self._journal: SqliteJournal | None = None
        self._webhooks: Webhooks | None = None
        self._expiry: Expiry | None = None
        self._reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="yaml")
        self.metrics = Metrics()
        self._site = Site(self.core, self.metrics)

    def _is_served(self, row: Resource) -> bool:
        return is_served(row, self.settings.workload_versions, self.settings.features)

    @property
    def revision(self) -> int:
        return self.store.revision

    def transport(self, user: User) -> InProcess:
        return InProcess(self.handle, user)

    async def open(self) -> None:
        """Take up what the data folder holds, make what every cluster has, and be ready for requests."""
        if self.settings.folder is not None:
            self._open_journal(self.settings.folder)
        try:
            self._take_up()
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if self.settings.folder is None:
                raise
            raise damaged(self.settings.folder, f"an object in it cannot be understood: {error!r}") from error
        self._bootstrap()

    def _take_up(self) -> None:
        """Everybody who keeps a view of the stored objects looks at them."""
        self.authorizer = Authorizer(self.store)
        self._reviews = Reviews(self.core, self.authorizer, self.tokens)
        self._definitions = Definitions(self.core)
        Plugins(self.core).register()
        Groups(self.core)
        Limits(self.core)
        Quotas(self.core)
        Escalation(self.core, self.authorizer)
        Certificates(self.core)
        ServiceAddresses(self.core)
        Policies(self.core)
        self._webhooks = Webhooks(self.core)
        self._expiry = Expiry(self.core)

    def latest(self) -> dict[str, int]:
        """The last change of each resource that is served, by plural.group: what whoever follows it has yet to see."""
        served = self.catalogue.shelves
        return {
            f"{shelf.key[1]}.{shelf.key[0]}" if shelf.key[0] else shelf.key[1]: shelf.changes[-1].revision
            for shelf in self.store.shelves()
            if shelf.changes and shelf.key in served
        }

    async def close(self) -> None:
        self.core.closing = True
        if self._expiry is not None:
            self._expiry.close()
        for shelf in self.store.shelves():
            shelf.ring()
        self._reader.shutdown(wait=False, cancel_futures=True)
        if self._webhooks is not None:
            await self._webhooks.close()
        if self._journal is not None:
            self._journal.flush()
            await asyncio.to_thread(self._journal.close)

    def _open_journal(self, folder: Path) -> None:
        journal = self._journal = SqliteJournal(folder, self.store.settle, self._fail)
        selectable = {resource.shelf: resource for resource in self.catalogue}
        self.store.load(journal.revision(), read_records(folder, journal, selectable))
        self.store.journal = journal
        journal.start()

    def _fail(self, error: Exception) -> None:
        self.store.fail(error)
        self.failed.set()

    def _bound_uid(self, kind: str, namespace: str, name: str) -> str | None:
        record = self.store.get(("", f"{kind}s"), ("" if kind == "node" else namespace, name))
        return record.uid if record else None

    def _account_uid(self, namespace: str, name: str) -> str | None:
        record = self.store.get(("", "serviceaccounts"), (namespace, name))
        return record.uid if record else None

    def _bootstrap(self) -> None:
        for name in SYSTEM_NAMESPACES:
            self._make(
                "",
                "namespaces",
                name,
                {
                    "metadata": {"labels": {"kubernetes.io/metadata.name": name}},
                    "spec": {"finalizers": ["kubernetes"]},
                    "status": {"phase": "Active"},
                },
            )
        for name, content in system_classes():
            self._make("scheduling.k8s.io", "priorityclasses", name, content)
        for name, rules, subjects in bootstrap_roles():
            labels = {"metadata": {"labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}}
            self._make(RBAC, "clusterroles", name, {**labels, "rules": rules})
            if subjects:
                ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": name}
                self._make(RBAC, "clusterrolebindings", name, {**labels, "roleRef": ref, "subjects": subjects})

    def _make(self, group: str, plural: str, name: str, content: Obj) -> None:
        resource = self.catalogue.any_version(group, plural)
        assert resource is not None
        if self.store.get(resource.shelf, ("", name)) is None:
            about = {
                "name": name,
                "uid": self.core.new_uid(),
                "creationTimestamp": self.core.now(),
                **content.get("metadata", {}),
            }
            self.core.write(resource, ("", name), {**content, "metadata": about})

    def plant(self, group: str, plural: str, obj: Obj) -> bool:
        """Store an object as another server has it, uid and all, past every rule. False: its kind is not served
        here."""
        resource = self.catalogue.any_version(group, plural)
        if resource is not None:
            about = obj["metadata"]
            self.core.write(resource, (about.get("namespace", ""), about["name"]), {**obj, "metadata": dict(about)})
        return resource is not None

    async def handle(self, request: Request) -> Response:
        """Answer one request; never raises for what a caller did wrong."""
        try:
            return await self._answer(request)
        except ApiError as error:
            return answer(error)
        except DataFolderError as error:
            return answer(failure(500, "InternalError", f"Internal error occurred: {error}"))
        except RecursionError:
            return answer(failure(400, "BadRequest", "the request nests too deeply to be read"))
        except Exception:
            log.exception("%s %s failed", request.method, request.path)
            return answer(failure(500, "InternalError", "Internal error occurred: the request made the server fail"))

    async def _answer(self, request: Request) -> Response:
        user = self._identify(request)
        request = as_list(request) if "/watch/" in request.path else request
        parts = read_path(request.path)
        if parts.group is None:
            self._allow(user, Action(request.method.lower(), path=request.path))
            return self._site.answer(request)
        verb = verb_of(request, parts)
        name = parts.name or (named_by_selector(request) if verb in ("list", "watch") else "")
        self._allow(user, Action(verb, parts.group, parts.plural, parts.subresource, parts.namespace, name))
        call = self._understand(request, user, verb, parts)
        started = time.perf_counter()
        if len(request.body) > SHORT and media_type(request.content_type) in YAML_TYPES:
            call.document = await self._aside(read_document, request.body)
        try:
            response = await (self._in_time(call) if self.admission.calls_out else self._dispatch(call))
        except ApiError as error:
            response = answer(error)
        defined = (
            call.resource.shelf == custom.SHELF and call.verb in ("create", "update", "patch") and response.status < 300
        )
        if defined and not call.dry_run:
            self._settle_definition(call)
        if self._definitions.leaving:
            await self._clear_definitions(call)
        self.metrics.note(verb, parts.group, parts.plural, response.status, time.perf_counter() - started)
        if call.warnings:
            response.warnings = (*response.warnings, *call.warnings)
        await self.store.settled(self.store.revision)
        if response.content_type == YAML:
            response.body = await self._aside(to_yaml, response.body)
        return response

    async def _aside(self, work: Callable[[bytes], Any], data: bytes) -> Any:
        if len(data) <= SHORT:
            return work(data)
        return await asyncio.get_running_loop().run_in_executor(self._reader, work, data)

    async def _in_time(self, call: ServerCall) -> Response:
        """Only those who ask others can wait for long."""
        try:
            async with asyncio.timeout(self.settings.request_seconds):
                return await self._dispatch(call)
        except TimeoutError:
            raise failure(
                504, "Timeout", f"Timeout: request did not complete within {self.settings.request_seconds:g}s", {}
            ) from None

    def _settle_definition(self, call: ServerCall) -> None:
        if call.name:
            self._definitions.settle(call.name)
            return
        for record in self.store.shelf(custom.SHELF).listing():
            if record.revision == self.store.revision:
                self._definitions.settle(record.place[1])

    async def _clear_definitions(self, call: ServerCall) -> None:
        """Take the objects of deleted definitions away; a definition goes with its last object."""
        for name in list(self._definitions.leaving):
            for resource, place in self._definitions.instances(name):
                one = ServerCall(call.request, administrator("system:apiserver"), "delete", resource, *place)
                await deletes.delete_one(self.core, one, delete_options.DeleteOptions())
            if not self._definitions.instances(name):
                self._definitions.finish(name)

    def _identify(self, request: Request) -> User:
        user = authenticate(request, self.tokens, self.settings.anonymous)
        other = impersonated(request)
        if other is None:
            return user
        for need in other.needs:
            self._allow(user, need)
        return other.user

    def _allow(self, user: User, action: Action) -> None:
        assert self.authorizer is not None, "the server is not open"
        if not action.path and self.authorizer.allows_everywhere(user, action):
            return
        if (
            action.name
            and self.authorizer.decide(user, msgspec.structs.replace(action, name="", any_name=True)).allowed
        ):
            return  # what is allowed whatever the name needs no look at each name
        verdict = self.authorizer.decide(user, action)
        if verdict.allowed:
            return
        why = forbidden_text(user, action) + (f": {verdict.reason}" if verdict.reason else "")
        if action.path:
            raise failure(403, "Forbidden", f"forbidden: {why}", {})
        raise forbidden(action.group, action.resource, action.name, why)

    def _understand(self, request: Request, user: User, verb: str, parts: PathParts) -> ServerCall:
        group = parts.group or ""
        if group and not self.catalogue.group(group):
            raise _PageNotFound()
        resource = self.catalogue.find(group, parts.version, parts.plural)
        if resource is None:
            raise _PageNotFound() if self.catalogue.is_custom(group) else no_such_resource()
        if not fits_scope(resource, parts) or parts.rest:
            raise _PageNotFound() if resource.custom else no_such_resource()
        sub = resource.subresources.get(parts.subresource) if parts.subresource else None
        if parts.subresource and sub is None:
            raise not_found(group, parts.plural, parts.name) if resource.custom else no_such_resource()
        if not verb or request.method == "HEAD" or verb not in (sub.verbs if sub else resource.verbs):
            raise method_not_allowed()
        if (verb == "create" and not parts.subresource) == bool(parts.name) and verb not in (
            "list",
            "watch",
            "deletecollection",
        ):
            raise method_not_allowed()
        if resource.namespaced and not parts.namespace and verb in ("create", "deletecollection"):
            raise method_not_allowed()
        call = ServerCall(
            request,
            user,
            verb,
            resource,
            parts.namespace if resource.namespaced else "",
            parts.name,
            parts.subresource,
            sub,
        )
        if resource.custom and resource.custom.terminating and verb == "create" and not sub:
            raise failure(
                405,
                "MethodNotAllowed",
                "create not allowed while custom resource definition is terminating",
                {"group": group, "kind": resource.plural},
            )
        if request.query:
            check_timeout(request)
        warning = resource.custom.warning if resource.custom else DEPRECATED.get((group, resource.plural))
        if warning:
            call.warnings.append(warning)
        return call

    async def _dispatch(self, call: ServerCall) -> Response:
        if call.resource.shelf == EVENTS and self._expiry is not None:
            self._expiry.sweep()
        if call.subresource and call.subresource not in ("status", "ephemeralcontainers", "resize", "approval"):
            answerer = _SUBRESOURCES.get(call.subresource)
            if answerer is None:
                raise no_such_resource()
            return await answerer(self, call)
        if call.verb == "get":
            return object_response(self.core, call, reads.get(self.core, call))
        if call.verb == "list":
            return list_response(self.core, call, reads.listing(self.core, call))
        if call.verb == "watch":
            return Response(200, stream=open_watch(self.core, call, watch_shape(self.core, call)))
        if call.verb == "delete":
            return await self._delete(call)
        if call.verb == "deletecollection":
            return await self._delete_collection(call)
        if call.resource.shelf == ("", "bindings"):
            return await self._bind(call)
        if not call.resource.stored:
            return Response(201, encode(self._reviews.answer(call)))
        written = await _WRITES[call.verb](self.core, call)
        return object_response(self.core, call, written.record, 201 if written.created else 200)

    async def _delete(self, call: ServerCall) -> Response:
        if call.resource.shelf == custom.SHELF and not delete_options.read_options(call).dry_run:
            return self._delete_definition(call)
        record, is_gone = await deletes.delete(self.core, call)
        if is_gone and call.resource.shelf not in RETURNING:
            return Response(200, encode(success(*call.resource.shelf, call.name, record.uid)))
        return object_response(self.core, call, record)

    def _delete_definition(self, call: ServerCall) -> Response:
        reads.get(self.core, call)
        self._definitions.mark_deleted(call.name)
        return object_response(self.core, call, reads.get(self.core, call))

    async def _delete_collection(self, call: ServerCall) -> Response:
        options = delete_options.read_options(call)
        page = reads.listing(self.core, call)
        for record in page.records:
            one = ServerCall(
                call.request, call.user, "deletecollection", call.resource, record.place[0], record.place[1]
            )
            try:
                await deletes.delete_one(self.core, one, options)
            except ApiError as error:
                if error.code != 404:
                    raise
        page.revision = self.store.revision
        return list_response(self.core, call, page)

    async def _bind(self, call: ServerCall) -> Response:
        return Response(201, encode(await pods.bind(self.core, call)))

    async def _evict(self, call: ServerCall) -> Response:
        return Response(201, encode(await pods.evict(self.core, call)))

    async def _connect(self, call: ServerCall) -> Response:
        container_output.connect(self.core, call)

    async def _log(self, call: ServerCall) -> Response:
        return Response(200, container_output.log(self.core, call), "text/plain; charset=utf-8")

    async def _token(self, call: ServerCall) -> Response:
        return Response(201, encode(self._reviews.token_request(call)))

    async def _scale(self, call: ServerCall) -> Response:
        return scale_response(self.core, call, await scale(self.core, call))

    async def _finalize(self, call: ServerCall) -> Response:
        """Replace a namespace's own finalizers; without any, a namespace on its way out goes."""
        wanted = read_object(call, rules_for(call.resource))

        def finalized(namespace: Obj) -> Obj:
            finalizers = (wanted.get("spec") or {}).get("finalizers")
            new = {
                **wanted,
                "metadata": dict(wanted["metadata"]),
                "spec": {"finalizers": finalizers} if finalizers else {},
            }
            return field_owners.track(self.core, call, namespace, new)

        return object_response(self.core, call, (await writes.change(self.core, call, finalized)).record)


class _PageNotFound(ApiError):
    """A group nobody serves: plain text, not a Status."""

    def __init__(self) -> None:
        super().__init__({"message": "404 page not found", "code": 404}, 404)


_WRITES = {"create": writes.create, "update": writes.update, "patch": patches.patch}
_SUBRESOURCES: dict[str, Callable[[Server, ServerCall], Awaitable[Response]]] = {
    "attach": Server._connect,
    "binding": Server._bind,
    "eviction": Server._evict,
    "exec": Server._connect,
    "finalize": Server._finalize,
    "log": Server._log,
    "portforward": Server._connect,
    "scale": Server._scale,
    "token": Server._token,
}
