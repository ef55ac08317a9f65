"""A copy of a cluster in memory: its objects under their own uids on an embedded server, its nodes played, the
components at work.

Only reads the cluster. What would reach out of the copy or act by itself there (webhooks, secrets, autoscalers,
clean-up of what was left out) is not copied or does not run. Time on the copy's nodes is short: pods start and stop at
once, and Jobs that run go on running. It also passes only when `passes` says so, and then at once: nobody who asks
waits for what a controller would do in a few seconds."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence

from gangline.api import names
from gangline.api.kinds import CRD, NODE, Kind
from gangline.api.meta import Object, Raw
from gangline.client import Client
from gangline.cluster.world.component import components
from gangline.cluster.world.settings import NodePace, WorldSettings
from gangline.components.options import ComponentOptions
from gangline.errors import ApiError
from gangline.local import PlatformSettings
from gangline.runtime import ManualClock
from gangline.whatif.prepared import PreparedPlatform

LEFT_OUT = frozenset(
    {"events", "secrets", "leases", "endpoints", "endpointslices", "horizontalpodautoscalers", "componentstatuses"}
)
CLOSED_GROUPS = frozenset(
    {
        "admissionregistration.k8s.io",
        "apiregistration.k8s.io",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "certificates.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "rbac.authorization.k8s.io",
        "metrics.k8s.io",
    }
)
"""Groups whose objects would reach out of the copy, or say nothing about a workload."""
TEAM = ("operator", "grouper", "scheduler", "binder", "podgroup-controller", "queue-controller")
FOREVER = 1e9
WORLD = WorldSettings(
    nodes=(),
    needs=False,
    pace=NodePace(job=FOREVER),
    off=frozenset(
        {
            "nodes",
            "heart",
            "lifecycle",
            "garbage",
            "namespaces",
            "cronjobs",
            "hpa",
            "tokens",
            "endpoints",
            "autoscaler",
            "karpenter",
        }
    ),
)


class PlatformCopy:
    """`async with Copy(...) as copy`: settled when it is entered, gone when it is left. `prepare` changes the copied
    objects before any component looks at them."""

    def __init__(
        self,
        source: Client,
        kinds: Sequence[Kind[Object]],
        options: ComponentOptions | None = None,
        prepare: Callable[[Client], Awaitable[None]] | None = None,
    ) -> None:
        self._source, self._prepare = source, prepare
        self._kinds = [kind for kind in kinds if kind.plural not in LEFT_OUT and kind.group not in CLOSED_GROUPS]
        self._clock = ManualClock(time.time())
        self.platform = PreparedPlatform(
            PlatformSettings(components=TEAM, clock=self._clock, options=options or ComponentOptions(period=0.0))
        )
        self.copied: Counter[str] = Counter()

    @property
    def client(self) -> Client:
        return self.platform.admin

    async def __aenter__(self) -> PlatformCopy:
        await self.platform.open()
        try:
            await self._set_up()
        except BaseException:
            await self.platform.stop()
            raise
        return self

    async def _set_up(self) -> None:
        for kind in sorted(self._kinds, key=lambda kind: kind != CRD):
            await self._copy(kind)
        if self._prepare is not None:
            await self._prepare(self.client)
        await self.platform.start_components()
        for component in components(WORLD):
            await self.platform.hire(component)
        await self.settles()

    async def __aexit__(self, *failure: object) -> None:
        await self.platform.stop()

    async def settles(self, seconds: float = 60.0) -> None:
        with contextlib.suppress(TimeoutError):
            await self.platform.settles(seconds)

    def passes(self, seconds: float) -> None:
        """So much time passes there; what follows from it is done once the copy `settles`."""
        self._clock.advance(seconds)

    async def _copy(self, kind: Kind[Object]) -> None:
        """All objects of a kind the source lets us read and the copy serves."""
        try:
            objects = await self._source.list_raw(kind)
        except ApiError:
            return
        self.copied[kind.plural] += sum(
            self.platform.server.plant(kind.group, kind.plural, obj) for obj in _prepared(kind, objects)
        )


def _prepared(kind: Kind[Object], objects: Iterable[Raw]) -> Iterable[Raw]:
    """Nodes are marked as simulated, so that somebody plays them."""
    for obj in objects:
        meta = obj["metadata"]
        if kind == NODE:
            meta = meta | {"labels": {**(meta.get("labels") or {}), names.SIMULATED: "true"}}
        yield obj | {"metadata": meta}
