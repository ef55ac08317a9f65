"""Leader election by Lease: of several copies of a component, one works.

The others watch the lease and take over when its holder has not renewed it for its whole duration, as seen by *their*
clock, so clocks need not agree. A holder that cannot renew in time stops working before anyone else may start.
`Elected` is a Manager that works only while it leads.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from gangline.api import names
from gangline.api.builtin import Lease
from gangline.api.kinds import LEASE
from gangline.api.meta import Raw
from gangline.client import Client
from gangline.errors import AlreadyExists, ApiError, ConfigError, Conflict, GanglineError, NotFound
from gangline.runtime.clock import Clock, micro_timestamp
from gangline.runtime.manager import Manager

log = logging.getLogger(__name__)


class LeadershipLost(GanglineError):
    """The lease could not be renewed in time; whoever led must stop at once."""


def identity() -> str:
    """Unlike that of any other process: `<host>_<uuid>`."""
    return f"{os.environ.get('POD_NAME') or socket.gethostname()}_{uuid.uuid4()}"


@dataclass(frozen=True, slots=True)
class ElectionSettings:
    name: str
    namespace: str = names.KAI_NAMESPACE
    identity: str = field(default_factory=identity)
    duration: float = 15.0
    """Seconds after which a lease that was not renewed is free."""
    deadline: float = 10.0
    """Seconds within which the holder must have renewed, or stop."""
    retry: float = 5.0
    """Seconds between two tries to take or renew it."""


class Election:
    """One candidate."""

    def __init__(self, client: Client, clock: Clock, settings: ElectionSettings) -> None:
        self._client, self._clock, self.settings = client, clock, settings
        self._seen: tuple[str, str] = ("", "")
        self._seen_at = float("-inf")
        self._renewed = float("-inf")

    async def win(self) -> None:
        """Returns once the lease is ours."""
        while not await self._try():
            await self._clock.sleep(self.settings.retry)
        log.info("%s leads %s", self.settings.identity, self.settings.name)

    async def hold(self) -> None:
        """Renews the lease for ever; raises LeadershipLost when that was not possible in time."""
        while True:
            await self._clock.sleep(self.settings.retry)
            if not await self._try() and self._clock.now() - self._renewed > self.settings.deadline:
                raise LeadershipLost(f"lease {self.settings.namespace}/{self.settings.name} was not renewed for "
                                     f"{self.settings.deadline:g} s; it may belong to somebody else now")

    async def release(self) -> None:
        """Let the next one start at once."""
        try:
            lease = await self._client.get(LEASE, self.settings.name, self.settings.namespace)
            if lease.spec.holder_identity == self.settings.identity:
                await self._write(lease, {"holderIdentity": "", "leaseDurationSeconds": 1})
        except ApiError as error:
            log.info("lease %s is not released: %s", self.settings.name, error)

    async def _try(self) -> bool:
        """Take, renew or find out who holds it. True: it is ours."""
        now = self._clock.now()
        try:
            lease = await self._client.get(LEASE, self.settings.name, self.settings.namespace)
        except NotFound:
            return await self._create(now)
        except ApiError as error:
            log.warning("reading lease %s: %s", self.settings.name, error)
            return False
        ours = lease.spec.holder_identity == self.settings.identity
        if not ours and not self._is_free(lease, now):
            return False
        return await self._take(lease, ours, now)

    def _is_free(self, lease: Lease, now: float) -> bool:
        seen = (lease.spec.holder_identity or "", lease.spec.renew_time or "")
        if seen != self._seen:
            self._seen, self._seen_at = seen, now
        return not seen[0] or now - self._seen_at > float(lease.spec.lease_duration_seconds or 0)

    async def _create(self, now: float) -> bool:
        meta = {"name": self.settings.name, "namespace": self.settings.namespace}
        try:
            await self._client.create(LEASE, {"metadata": meta, "spec": self._spec(now, 0) | {"acquireTime": micro_timestamp(now)}})
        except (AlreadyExists, Conflict):
            return False
        except NotFound:
            raise ConfigError(f"lease {self.settings.name} cannot be made, there is no namespace {self.settings.namespace}: create it, "
                              "name another with --namespace, or start without election by --leader-elect=false") from None
        except ApiError as error:
            log.warning("creating lease %s: %s", self.settings.name, error)
            return False
        self._renewed = now
        return True

    async def _take(self, lease: Lease, ours: bool, now: float) -> bool:
        transitions = lease.spec.lease_transitions or 0
        spec = self._spec(now, transitions if ours else transitions + 1)
        try:
            await self._write(lease, spec if ours else spec | {"acquireTime": micro_timestamp(now)})
        except Conflict:
            return False
        except ApiError as error:
            log.warning("renewing lease %s: %s", self.settings.name, error)
            return False
        self._renewed = now
        return True

    def _spec(self, now: float, transitions: int) -> Raw:
        return {"holderIdentity": self.settings.identity, "leaseDurationSeconds": max(1, round(self.settings.duration)),
                "renewTime": micro_timestamp(now), "leaseTransitions": transitions}

    async def _write(self, lease: Lease, spec: Raw) -> None:
        """Only if nobody wrote it since we looked."""
        await self._client.patch(LEASE, lease.name, lease.namespace,
                                 {"metadata": {"resourceVersion": lease.metadata.resource_version}, "spec": spec})


class Elected:
    """Starts a component when it is elected and stops it when it is not any more; `lost` is set then. Without an election it just works."""

    def __init__(self, build: Callable[[], Manager], election: Election | None) -> None:
        self._build, self._election = build, election
        self.manager: Manager | None = None
        self.lost = asyncio.Event()
        self.refused: ConfigError | None = None
        """Why there can be no election."""
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Without an election, returns when the component works; with one, at once: it works from the day it is elected."""
        if self._election is None:
            self.manager = self._build()
            await self.manager.start()
        else:
            self._task = asyncio.create_task(self._live(self._election), name=f"election {self._election.settings.name}")

    async def _live(self, election: Election) -> None:
        try:
            await election.win()
        except ConfigError as error:
            self.refused = error
            self.lost.set()
            return
        manager = self._build()
        try:
            await manager.start()
            self.manager = manager
            await election.hold()
        except LeadershipLost as error:
            log.error("%s", error)
            self.lost.set()
        finally:
            self.manager = None
            await manager.stop()

    @property
    def leads(self) -> bool:
        return self.manager is not None

    @property
    def idle(self) -> bool:
        return self.manager is None or self.manager.idle

    def behind(self, revisions: dict[str, int]) -> bool:
        return self.manager is not None and self.manager.behind(revisions)

    async def stop(self) -> None:
        led, manager = self.leads, self.manager
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        elif manager is not None:
            self.manager = None
            await manager.stop()
        if led and self._election is not None:
            await self._election.release()
