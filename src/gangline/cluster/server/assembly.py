"""The parts of a server: how they are made, and how they hang together.

server.py makes them answer requests. Here nothing waits and nobody is asked; views of the stored objects are taken up
once, before the first request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from gangline.client.wire import Request, User
from gangline.cluster.server.access.escalation import Escalation
from gangline.cluster.server.access.identity import Secrets, TokenIssuer, administrator, authenticate
from gangline.cluster.server.access.impersonation import impersonated
from gangline.cluster.server.access.rbac import Action, Authorizer, forbidden_text
from gangline.cluster.server.admit.certificates import Certificates
from gangline.cluster.server.admit.chain import Admission
from gangline.cluster.server.admit.limit_ranges import Limits
from gangline.cluster.server.admit.plugins import Plugins
from gangline.cluster.server.admit.pod_groups import Groups
from gangline.cluster.server.admit.policies import Policies
from gangline.cluster.server.admit.quotas import Quotas
from gangline.cluster.server.admit.service_addresses import ServiceAddresses
from gangline.cluster.server.admit.webhook_calls import WebhookCaller
from gangline.cluster.server.admit.webhooks import Webhooks
from gangline.cluster.server.catalogue import Catalogue, Resource, builtin_resources
from gangline.cluster.server.convert.version_views import VersionViews
from gangline.cluster.server.core import Core, ServerSettings
from gangline.cluster.server.custom import Definitions
from gangline.cluster.server.features import is_served
from gangline.cluster.server.metrics import Metrics
from gangline.cluster.server.other_paths import Site
from gangline.cluster.server.status import failure, forbidden
from gangline.cluster.server.store.expiry import Expiry
from gangline.cluster.server.store.journal import SqliteJournal
from gangline.cluster.server.store.journal_records import read_records
from gangline.cluster.server.store.store import Store
from gangline.cluster.server.verbs.reviews import Reviews
from gangline.cluster.server.verbs.usage.metrics import SERVED as METRICS

Obj = dict[str, Any]


class ServerParts:
    def __init__(self, settings: ServerSettings | None = None) -> None:
        self.settings = settings or ServerSettings()
        self.admission = Admission()
        self.store = Store(self.settings.history, history_bytes=self.settings.history_bytes)
        rows = [*builtin_resources(), *(METRICS if self.settings.resource_metrics else ())]
        self.catalogue = Catalogue(row for row in rows if self._is_served(row))
        self.core = Core(self.settings, self.store, self.catalogue, self.admission, self.allow)
        self.secrets = Secrets(self.settings.folder)
        fixed = {token: administrator(name) for token, name in (self.settings.tokens or {}).items()}
        self.tokens = TokenIssuer(
            self.secrets.signing_key, fixed, self._account_uid, self.settings.clock, self._bound_uid
        )
        self.authorizer: Authorizer | None = None
        self.failed = asyncio.Event()
        """Nothing can be kept any more; `store.broken` says why."""
        self.on_failure: list[Callable[[], None]] = []
        """Called then, before those who wait go on."""
        self.journal: SqliteJournal | None = None
        self.caller = WebhookCaller(self.core)
        self.core.views = VersionViews(self.core, self.caller)
        self.expiry: Expiry | None = None
        self.metrics = Metrics()
        self.site = Site(self.core, self.metrics)

    def _is_served(self, row: Resource) -> bool:
        return is_served(row, self.settings.workload_versions, self.settings.features)

    @property
    def revision(self) -> int:
        return self.store.revision

    def latest(self) -> dict[str, int]:
        """The last change of each resource that is served, by plural.group: what whoever follows it has yet to see."""
        served = self.catalogue.shelves
        return {
            f"{shelf.key[1]}.{shelf.key[0]}" if shelf.key[0] else shelf.key[1]: shelf.changes[-1].revision
            for shelf in self.store.shelves()
            if shelf.changes and shelf.key in served
        }

    def take_up(self) -> None:
        """Everybody who keeps a view of the stored objects looks at them."""
        self.authorizer = Authorizer(self.store)
        self.reviews = Reviews(self.core, self.authorizer, self.tokens)
        self.definitions = Definitions(self.core)
        Plugins(self.core).register()
        Groups(self.core)
        Limits(self.core)
        Quotas(self.core)
        Escalation(self.core, self.authorizer)
        Certificates(self.core)
        ServiceAddresses(self.core)
        Policies(self.core)
        Webhooks(self.core, self.caller)
        self.expiry = Expiry(self.core)

    def open_journal(self, folder: Path) -> None:
        journal = self.journal = SqliteJournal(folder, self.store.settle, self._fail)
        by_own_group = sorted(self.catalogue, key=lambda resource: resource.group == resource.shelf[0])
        selectable = {resource.shelf: resource for resource in by_own_group}  # events are kept as those of the core
        self.store.load(journal.revision(), read_records(folder, journal, selectable))
        self.store.journal = journal
        journal.start()

    def _fail(self, error: Exception) -> None:
        for react in self.on_failure:
            react()
        self.store.fail(error)
        self.failed.set()

    def _bound_uid(self, kind: str, namespace: str, name: str) -> str | None:
        record = self.store.get(("", f"{kind}s"), ("" if kind == "node" else namespace, name))
        return record.uid if record else None

    def _account_uid(self, namespace: str, name: str) -> str | None:
        record = self.store.get(("", "serviceaccounts"), (namespace, name))
        return record.uid if record else None

    def plant(self, group: str, plural: str, obj: Obj) -> bool:
        """Store an object as another server has it, uid and all, past every rule. False: its kind is not served
        here."""
        resource = self.catalogue.any_version(group, plural)
        if resource is not None:
            about = obj["metadata"]
            self.core.write(resource, (about.get("namespace", ""), about["name"]), {**obj, "metadata": dict(about)})
        return resource is not None

    def identify(self, request: Request) -> User:
        user = authenticate(request, self.tokens, self.settings.anonymous)
        other = impersonated(request)
        if other is None:
            return user
        for need in other.needs:
            self.allow(user, need)
        return other.user

    def allow(self, user: User, action: Action) -> None:
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
