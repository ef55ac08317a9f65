"""What every verb needs: the store, the catalogue of resources, admission, the clock, and the two ways to write a
record.

The server builds one `Core`; verbs take it as their first argument. Chance and time enter here and nowhere else.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gangline.client.wire import User
from gangline.cluster.server.access.rbac import Action
from gangline.cluster.server.catalogue import Catalogue, Resource
from gangline.cluster.server.convert.conversion_plan import plan_of
from gangline.cluster.server.selectors import selectable_values
from gangline.cluster.server.status import out_of_space, too_large_body
from gangline.cluster.server.store.shelf import Place, Record
from gangline.cluster.server.store.store import Store
from gangline.cluster.server.verbs.meta import SUFFIX_LETTERS, Obj
from gangline.cluster.server.wire.codec import encode
from gangline.errors import ApiError
from gangline.rules.values.times import timestamp

if TYPE_CHECKING:
    from gangline.cluster.server.admit.chain import Admission
    from gangline.cluster.server.convert.version_views import VersionViews

_UID_KEPT = ~((0xF << 76) | (0x3 << 62))
_UID_FIXED = (0x4 << 76) | (0x2 << 62)
"""Version and variant of a random uid (RFC 9562)."""
SYSTEM_NAMESPACES = ("kube-system", "kube-public", "default", "kube-node-lease")
LAST_SECOND = 253_402_300_799
"""Of the year 9999."""
OBJECT_LIMIT = 3 * 1024 * 1024
"""Bytes of one object as it is stored: as many as one request may have, however many requests it grows by."""
GROWS = 64 * 1024
"""Bytes by which an object may grow where there is no more space: what controllers write about it is far below."""


@dataclass(slots=True)
class ServerSettings:
    """Every switch of the embedded server."""

    folder: Path | None = None
    """Where the journal lives; None keeps everything in memory."""
    service_account_admission: bool = False
    """Give pods their namespace's `default` service account, and refuse pods whose account is absent."""
    anonymous: bool = False
    """Let requests without credentials in as system:anonymous instead of refusing them."""
    tokens: dict[str, str] | None = None
    """Static bearer tokens: token → user name (member of system:masters)."""
    history: int = 8192
    """Changes remembered per resource, at least; a watch from before them is answered with 410."""
    history_bytes: int = 256 * 1024 * 1024
    """Bytes that all remembered changes may take together; beyond them, even fewer are remembered."""
    space: int = 512 * 1024 * 1024
    """Bytes that all objects may take together, as etcd has a quota: beyond them nothing new is kept, and nothing grows
    by much. What is there can be changed and deleted."""
    body_limit: int = 3 * 1024 * 1024
    request_seconds: float = 60.0
    bookmark_seconds: float = 60.0
    service_range: str = "10.0.0.0/24"
    node_ports: tuple[int, int] = (30000, 32767)
    workload_versions: tuple[str, ...] = ("v1alpha1",)
    """Which versions of scheduling.k8s.io serve the Workload API: one of features.WORKLOAD_GENERATIONS."""
    features: frozenset[str] = frozenset()
    """Feature gates of Kubernetes that are on beyond its defaults (features.py)."""
    resource_metrics: bool = False
    """Serve metrics.k8s.io for simulated nodes, as if a metrics-server ran."""
    audit_log: Path | None = None
    """Where every request is written down; None: nowhere."""
    clock: Callable[[], float] = time.time


class Core:
    def __init__(
        self,
        settings: ServerSettings,
        store: Store,
        catalogue: Catalogue,
        admission: Admission,
        allow: Callable[[User, Action], None],
    ) -> None:
        self.settings = settings
        self.store = store
        self.catalogue = catalogue
        self.admission = admission
        self.allow = allow
        self.logs: Callable[[Obj, str], bytes] = lambda pod, container: b""
        """What a container of a pod has written; whoever simulates pods may set it."""
        self.service_address: Callable[[str, str, int], str | None] = lambda namespace, name, port: None
        """Where a service of the cluster is reached from here, as host:port; whoever runs webhooks may set it."""
        self.views: VersionViews
        """How objects are shown in other versions than they are stored in; the server sets it."""
        self.closing = False
        self._second = -1
        self._second_text = ""

    def may(self, user: User, action: Action) -> bool:
        try:
            self.allow(user, action)
        except ApiError:
            return False
        return True

    def now(self, ahead: float = 0) -> str:
        """The time as objects carry it, in whole seconds; one that no calendar has is the last that there is."""
        second = min(int(self.settings.clock() + ahead), LAST_SECOND)
        if second != self._second:
            self._second = second
            self._second_text = timestamp(second)
        return self._second_text

    def new_uid(self) -> str:
        digits = f"{secrets.randbits(128) & _UID_KEPT | _UID_FIXED:032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    def suffix(self) -> str:
        return "".join(secrets.choice(SUFFIX_LETTERS) for _ in range(5))

    def read(self, resource: Resource, place: Place) -> Obj | None:
        """A fresh copy of a stored object, with apiVersion and kind."""
        record = self.store.get(resource.shelf, place)
        return None if record is None else whole(resource, record)

    def write(self, resource: Resource, place: Place, obj: Obj) -> Record:
        """Store an object under the next revision. The object's apiVersion and kind are taken off."""
        record = self.stamp(resource, place, obj)
        self.store.commit(resource.shelf, record)
        return record

    def save(self, resource: Resource, place: Place, obj: Obj) -> Record:
        """Store what a caller wrote, unless it is too large to be kept."""
        record = self.stamp(resource, place, obj)
        if len(record.body) > OBJECT_LIMIT:
            raise too_large_body(OBJECT_LIMIT)
        before = self.store.get(resource.shelf, place)
        grows = len(record.body) - (len(before.body) if before else 0)
        if self.store.bytes + grows > self.settings.space and (before is None or grows > GROWS):
            raise out_of_space(resource.shelf[0], resource.plural, place[1], self.settings.space)
        self.store.commit(resource.shelf, record)
        return record

    def remove(self, resource: Resource, place: Place, obj: Obj) -> Record:
        record = self.stamp(resource, place, obj)
        self.store.remove(resource.shelf, record)
        return record

    def stamp(self, resource: Resource, place: Place, obj: Obj) -> Record:
        revision = self.store.next_revision
        obj["metadata"]["resourceVersion"] = str(revision)
        return unstored(resource, place, obj, revision)


def unstored(resource: Resource, place: Place, obj: Obj, revision: int) -> Record:
    """A record as it would be stored (a dry run ends here)."""
    obj.pop("apiVersion", None)
    obj.pop("kind", None)
    if resource.conversion is not None:
        obj = resource.conversion.to_stored(obj)
    if resource.custom and resource.custom.stored is not None:
        obj = resource.custom.stored.schema.admit(obj)[0]
    if plan_of(resource) is not None:
        obj = {"apiVersion": resource.api_version, **obj}
    meta: dict[str, Any] = obj["metadata"]
    return Record(
        place, revision, meta.get("uid", ""), encode(obj), meta.get("labels") or {}, selectable_values(resource, obj)
    )


def whole(resource: Resource, record: Record) -> Obj:
    """A fresh copy with apiVersion and kind, read through the present schema if it was stored under another."""
    obj = record.object()
    if resource.custom and record.revision <= resource.custom.since:
        obj = resource.custom.seen(obj)
    if resource.conversion is not None:
        obj = resource.conversion.from_stored(obj)
    obj["apiVersion"] = resource.api_version
    obj["kind"] = resource.kind
    return obj
