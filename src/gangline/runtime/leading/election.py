"""Leader election by Lease: of several copies of a component, one works.

A candidate takes the lease once it has not changed for its whole duration (lease.py). A holder counts from before it
sent its last renewal that was answered, and stops earlier than that: at the deadline `check` refuses its writes,
whatever else still runs or hangs. What was sent before and is still under way cannot be called back. `Elected` is a
Manager that works only while it leads."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from gangline.api.builtin import Lease
from gangline.api.kinds import LEASE
from gangline.api.meta import Raw
from gangline.client import Client
from gangline.errors import AlreadyExists, ApiError, ConfigError, Conflict, GanglineError, NotFound, Unavailable
from gangline.runtime.clock import Clock, within
from gangline.runtime.leading.lease import ElectionSettings, LeadershipLost, LeaseSight, held_spec, taken_spec
from gangline.runtime.manager import Manager

log = logging.getLogger(__name__)
READY = "ready"
T = TypeVar("T")


class Election:
    """One candidate."""

    def __init__(self, client: Client, clock: Clock, settings: ElectionSettings) -> None:
        self._client, self._clock, self.settings = client, clock, settings
        self._sight = LeaseSight(settings)
        self._renewed = float("-inf")
        self._written: Lease | None = None
        """As we wrote it last: renewed without a look, where nobody else wrote it since."""

    @property
    def holds(self) -> bool:
        """The lease is ours for sure: nobody else can have taken it yet."""
        return self._seconds_left > 0

    @property
    def _seconds_left(self) -> float:
        return self._renewed + self.settings.deadline - self._clock.monotonic()

    def check(self) -> None:
        """Asked before each write of the leader."""
        if not self.holds:
            raise Unavailable({"message": f"not sent: {self._late()}", "reason": "ServiceUnavailable", "code": 503})

    def _late(self) -> str:
        return f"{self} was not renewed for {self.settings.deadline:g} s; it may belong to somebody else now"

    def __str__(self) -> str:
        return f"lease {self.settings.namespace}/{self.settings.name}"

    async def win(self, behind: Callable[[str], None] = lambda holder: None) -> None:
        """Returns once the lease is ours; until then `behind` is called with its holder, each time that is another."""
        holder: str | None = None
        while not await self._try_to_lead():
            if self._sight.holder and self._sight.holder != holder:
                holder = self._sight.holder
                behind(holder)
            await self._clock.sleep(self.settings.retry)
        log.info("%s leads %s", self.settings.identity, self.settings.name)

    async def hold(self) -> None:
        """Renews the lease for ever; raises LeadershipLost when it could not in time, or somebody else has it."""
        while True:
            try:
                await within(self._clock, self._seconds_left, self._renew())
            except TimeoutError:
                raise LeadershipLost(self._late()) from None

    async def _renew(self) -> None:
        """The time that the last answer took counts: from a slow server, the next one is asked for at once."""
        renewed = self._renewed
        wait = max(renewed + self.settings.retry - self._clock.monotonic(), 0.0)
        while self._renewed == renewed:
            await self._clock.sleep(wait)
            wait = self.settings.retry
            if not await self._try_to_lead() and self._sight.holder is not None:
                self._renewed = float("-inf")
                raise LeadershipLost(f"{self} belongs to {self._sight.holder or 'nobody'} now")

    async def release(self) -> None:
        """Let the next one start at once; not if that takes long, for the lease runs out by itself."""
        held, self._renewed = self.holds, float("-inf")
        try:
            if held:
                await within(self._clock, self.settings.patience, self._release())
        except (ApiError, TimeoutError) as error:
            log.info("%s is not released: %s", self, error)

    async def _release(self) -> None:
        lease = await self._client.get(LEASE, self.settings.name, self.settings.namespace)
        if lease.spec.holder_identity == self.settings.identity:
            await self._write(lease, {"holderIdentity": "", "leaseDurationSeconds": 1})

    async def _try_to_lead(self) -> bool:
        """Take, renew or find out who holds it. True: it is ours. A failure is logged; there is a next time."""
        try:
            return await self._renew_unread() or await self._take_or_look()
        except ConfigError:
            raise
        except (AlreadyExists, Conflict):
            log.info("%s was written by somebody else at the same moment", self)
        except ApiError as error:
            log.warning("%s cannot be read or written: %s", self, error)
        except TimeoutError:
            log.warning("%s cannot be read or written: no answer for %g s", self, self.settings.patience)
        except Exception:
            log.exception("%s cannot be read or written", self)
        return False

    async def _renew_unread(self) -> bool:
        lease, self._written = self._written, None
        if lease is None:
            return False
        try:
            await self._take(lease, True)
        except (Conflict, NotFound):
            return False
        return True

    async def _take_or_look(self) -> bool:
        asked = self._clock.monotonic()
        try:
            lease = await self._in_time(self._client.get(LEASE, self.settings.name, self.settings.namespace))
        except NotFound:
            await self._create()
            return True
        ours = lease.spec.holder_identity == self.settings.identity
        if not ours and not self._sight.is_free(lease, asked, self._clock.monotonic()):
            return False
        await self._take(lease, ours)
        return True

    async def _in_time(self, request: Awaitable[T]) -> T:
        return await within(self._clock, self.settings.patience, request)

    async def _create(self) -> None:
        sent = self._clock.monotonic()
        meta = {"name": self.settings.name, "namespace": self.settings.namespace}
        try:
            spec = taken_spec(self.settings, 0, self._clock.now())
            made = await self._in_time(self._client.create(LEASE, {"metadata": meta, "spec": spec}))
        except NotFound:
            raise ConfigError(
                f"lease {self.settings.name} cannot be made, there is no namespace {self.settings.namespace}: "
                "create it, name another with --namespace, or start without election by --leader-elect=false"
            ) from None
        self._is_ours(made, sent)

    async def _take(self, lease: Lease, ours: bool) -> None:
        sent, transitions = self._clock.monotonic(), lease.spec.lease_transitions or 0
        now = self._clock.now()
        spec = held_spec(self.settings, transitions, now) if ours else taken_spec(self.settings, transitions + 1, now)
        self._is_ours(await self._in_time(self._write(lease, spec)), sent)

    def _is_ours(self, written: Lease, sent: float) -> None:
        """Counted from before it was sent: other candidates see the change later than that."""
        self._written, self._renewed = written, sent
        self._sight.forget()

    async def _write(self, lease: Lease, spec: Raw) -> Lease:
        """Only if nobody wrote it since we looked."""
        guard = {"resourceVersion": lease.metadata.resource_version}
        return await self._client.patch(LEASE, lease.name, lease.namespace, {"metadata": guard, "spec": spec})


class Elected:
    """Starts a component when it is elected and stops it when it is not any more; `lost` is set then. Without an
    election it just works. `tell` is given a line when it works, and when it has to stand by."""

    def __init__(
        self, build: Callable[[], Manager], election: Election | None, tell: Callable[[str], None] = lambda line: None
    ) -> None:
        self._build, self._election, self._tell = build, election, tell
        self.manager: Manager | None = None
        self.lost = asyncio.Event()
        self.refused: GanglineError | None = None
        """Why it does not work and will not: there can be no election, or it failed."""
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Without an election, returns when the component works; with one, at once: it works from the day it is
        elected."""
        if self._election is None:
            self.manager = self._build()
            await self.manager.start()
            self._tell(READY)
        else:
            self._task = asyncio.create_task(
                self._live(self._election), name=f"election {self._election.settings.name}"
            )

    async def _live(self, election: Election) -> None:
        """However it ends other than by `stop`, `lost` says so."""
        try:
            await election.win(lambda holder: self._tell(f"stands by: {election} is held by {holder}"))
            await self._lead(election)
        except LeadershipLost as error:
            log.error("%s", error)
        except GanglineError as error:
            self.refused = error
        except Exception as error:
            log.exception("%s failed", election)
            self.refused = GanglineError(f"{type(error).__name__}: {error}; the log says where")
        self.lost.set()

    async def _lead(self, election: Election) -> None:
        """The lease is renewed while the component starts as well, however long that takes."""
        manager = self._build()
        manager.may_write = election.check
        working = asyncio.create_task(self._work(manager), name=f"leader {election.settings.name}")
        holding = asyncio.create_task(election.hold(), name=f"lease {election.settings.name}")
        try:
            await asyncio.wait({working, holding}, return_when=asyncio.FIRST_COMPLETED)
            for ended in (holding, working):
                if ended.done():
                    ended.result()
        finally:
            self.manager = None
            holding.cancel()
            working.cancel()
            await asyncio.gather(holding, working, return_exceptions=True)
            await manager.stop()

    async def _work(self, manager: Manager) -> None:
        """Until it is cancelled."""
        await manager.start()
        self.manager = manager
        self._tell(READY)
        await asyncio.get_running_loop().create_future()

    @property
    def leads(self) -> bool:
        return self.manager is not None and (self._election is None or self._election.holds)

    @property
    def idle(self) -> bool:
        return self.manager is None or self.manager.idle

    def behind(self, revisions: dict[str, int]) -> bool:
        return self.manager is not None and self.manager.behind(revisions)

    async def stop(self) -> None:
        manager = self.manager
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        elif manager is not None:
            self.manager = None
            await manager.stop()
        if self._election is not None:
            await self._election.release()
