"""The one writer of a component: two priorities, retries, order per object, and what a conflict means.

*Urgent* writes bring something nearer to its place; *reports* only tell how things stand, and wait while many urgent
writes pass (client/lanes.py says when they have their turn). A reconcile writes and waits for the answer: `write_all`,
`report` and the `…_unless_…` methods. A cycle does not wait: `put` sends writes beside it, one after the other for the
same object, a newer one in place of one that still waits, and again when the server is in trouble. What is written is
decided elsewhere.
"""

from __future__ import annotations

import asyncio
import copy
import enum
import logging
from collections.abc import Awaitable, Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from gangline.api.kinds import Kind
from gangline.api.meta import Object, Raw
from gangline.client import Client, Lanes
from gangline.client.wire import MERGE_PATCH
from gangline.errors import AlreadyExists, ApiError, Conflict, Forbidden, NotFound, TooManyRequests, Unavailable
from gangline.rules.objects.finalizers import without_finalizer
from gangline.rules.objects.writes import (
    CONFLICT,
    DONE,
    GONE,
    REFUSED,
    TAKEN,
    Apply,
    Create,
    Delete,
    Patch,
    Step,
    WriteOutcome,
)
from gangline.runtime.background import noticed
from gangline.runtime.clock import Clock

log = logging.getLogger(__name__)
T = TypeVar("T")
R = TypeVar("R")
K = TypeVar("K", bound=Object)
AT_ONCE = 16
"""Writes of one reconcile that are on their way together."""
BESIDE = 32
"""Writes beside a cycle that are on their way together."""
TRIES = 6
"""How often an urgent write is sent to a server in trouble before it is given up."""
LONGEST_WAIT = 60.0

Work = Callable[[], Awaitable[None]]
Failed = Callable[[ApiError], None]


class Priority(enum.Enum):
    URGENT = "urgent"
    REPORT = "report"


class NotInTurn(BaseException):
    """A report came at a time at which reports wait: the reconcile ends here and is run again in turn.

    No failure, so that no `except Exception` takes it for one; only the controller's loop catches it."""


@dataclass(frozen=True, slots=True)
class WriteBeside:
    work: Work
    failed: Failed | None
    priority: Priority


@contextmanager
def timed(lanes: Lanes, clock: Clock) -> Iterator[None]:
    """Tells the lanes how the server takes a report: how long its answer took, or that it wants none now."""
    began = clock.monotonic()
    try:
        yield
    except TooManyRequests as error:
        lanes.refused(error.retry_after or 1.0)
        raise
    lanes.answered(clock.monotonic() - began)


class Writer:
    """`client` notes its writes as urgent in the lanes, `reports` does not."""

    def __init__(self, client: Client, clock: Clock, lanes: Lanes | None = None, reports: Client | None = None) -> None:
        self._client, self._reports = client, reports or client
        self._clock, self.lanes = clock, lanes or Lanes()
        self._turn = False
        self._room = asyncio.Semaphore(BESIDE)
        self._waiting: dict[Hashable, WriteBeside] = {}
        self._tasks: dict[Hashable, asyncio.Task[None]] = {}

    # --- reports ------------------------------------------------------------------------------------------------------

    def in_turn(self) -> Writer:
        """The same writer, for a reconcile that has its turn to report."""
        twin = copy.copy(self)
        twin._turn = True
        return twin

    @property
    def may_report(self) -> bool:
        return self._turn or self.lanes.calm

    def take_turn(self) -> None:
        """Go on if reports have their turn; else this reconcile ends, and is run again when they have."""
        if not self.may_report:
            raise NotInTurn

    async def report(
        self,
        kind: Kind[Any],
        name: str,
        namespace: str,
        patch: Raw,
        *,
        subresource: str = "status",
        content_type: str = MERGE_PATCH,
    ) -> bool:
        """Patch a status when reports have their turn; says whether the object is there."""
        self.take_turn()
        with timed(self.lanes, self._clock):
            return await _patched(self._reports, kind, name, namespace, patch, subresource, content_type)

    async def create_in_turn(self, kind: Kind[K], obj: Raw) -> K:
        """Create what nobody waits for, when reports have their turn."""
        self.take_turn()
        with timed(self.lanes, self._clock):
            return await self._reports.create(kind, obj)

    async def report_beside(self, key: Hashable, work: Callable[[Writer], Awaitable[None]]) -> None:
        """Do it if reports have their turn, else beside the caller when they have. `work` is given the writer to
        report with, and looks again what there is to report."""
        if self.may_report:
            await work(self.in_turn())
        else:
            self.put(key, lambda: work(self.in_turn()), priority=Priority.REPORT)

    # --- writes of a reconcile ----------------------------------------------------------------------------------------

    async def patch_unless_gone(
        self,
        kind: Kind[Any],
        name: str,
        namespace: str,
        patch: Raw,
        *,
        subresource: str = "",
        content_type: str = MERGE_PATCH,
    ) -> bool:
        """Says whether the object is there."""
        return await _patched(self._client, kind, name, namespace, patch, subresource, content_type)

    async def create_unless_there(self, kind: Kind[Any], obj: Raw) -> bool:
        """Says whether it was created: it may be there, or its namespace may be on its way out."""
        try:
            await self._client.create(kind, obj)
        except AlreadyExists:
            return False
        except Forbidden as error:
            if _namespace_terminates(error):
                return False
            raise
        return True

    async def delete_unless_gone(
        self, kind: Kind[Any], obj: Object, *, grace: int | None = None, propagation: str = ""
    ) -> bool:
        """Says whether it was there."""
        try:
            await self._client.delete(kind, obj.name, obj.namespace, uid=obj.uid, grace=grace, propagation=propagation)
        except NotFound:
            return False
        return True

    async def remove_finalizer(self, kind: Kind[Any], obj: Object, finalizer: str) -> None:
        """Unless the object is gone; if somebody wrote it meanwhile, a Conflict is raised."""
        others = without_finalizer(obj.metadata.finalizers, finalizer)
        guard = {"resourceVersion": obj.metadata.resource_version, "uid": obj.uid}
        patch = {"metadata": guard | {"finalizers": others or None}}
        await self.patch_unless_gone(kind, obj.name, obj.namespace, patch)

    async def write_all(
        self, steps: Sequence[Step], tell: Callable[[WriteOutcome], None] = lambda outcome: None
    ) -> list[WriteOutcome]:
        """Write these at once, some at a time; how each ended, in their order. `tell` hears of each when it ends."""

        async def write_and_tell(step: Step) -> WriteOutcome:
            outcome = await self._outcome(step)
            tell(outcome)
            return outcome

        return [await write_and_tell(steps[0])] if len(steps) == 1 else await together(steps, write_and_tell)

    async def _outcome(self, step: Step) -> WriteOutcome:
        began = self._clock.now()

        def ended(word: str, error: ApiError | None = None, answer: Object | None = None) -> WriteOutcome:
            return WriteOutcome(step, word, self._clock.now() - began, answer, error)

        try:
            return ended(DONE, answer=await self._send(step))
        except NotFound as error:
            return ended(GONE, None if isinstance(step, Delete) else error)
        except AlreadyExists as error:
            return ended(TAKEN, None if isinstance(step, Create) and await self._ours(step) else error)
        except Conflict as error:
            return ended(CONFLICT, error)
        except ApiError as error:
            return ended(REFUSED, error)

    async def _send(self, step: Step) -> Object | None:
        match step:
            case Create():
                created: Object = await self._client.create(step.kind, step.obj)
                return created
            case Patch():
                await self._client.patch(step.kind, step.name, step.namespace, step.patch, subresource=step.subresource)
            case Apply():
                await self._client.apply(step.kind, step.obj, manager=step.manager, force=step.force)
            case Delete():
                await self._client.delete(step.kind, step.name, step.namespace, uid=step.uid)
        return None

    async def _ours(self, step: Create) -> bool:
        """Whether the object that is there already is the one we meant to create."""
        try:
            live: Object = await self._client.get(step.kind, step.name, step.namespace)
        except NotFound:
            return False
        wanted = {owner["uid"] for owner in step.obj["metadata"].get("ownerReferences", ())}
        return not wanted or any(owner.uid in wanted for owner in live.metadata.owner_references)

    # --- writes beside a cycle ----------------------------------------------------------------------------------------

    def put(
        self, key: Hashable, work: Work, failed: Failed | None = None, priority: Priority = Priority.URGENT
    ) -> None:
        """Send it beside the caller. `failed` is called when an urgent write is given up; a report is tried until it
        is written."""
        self._waiting[key] = WriteBeside(work, failed, priority)
        if key not in self._tasks:
            self._tasks[key] = noticed(asyncio.create_task(self._send_beside(key), name=f"write of {key}"))

    def busy(self, key: Hashable) -> bool:
        return key in self._tasks

    async def _send_beside(self, key: Hashable) -> None:
        try:
            while key in self._waiting:
                if self._waiting[key].priority is Priority.REPORT:
                    await self.lanes.turn()
                write = self._waiting.pop(key)
                async with self._room:
                    await self._write_until_taken(key, write)
        finally:
            del self._tasks[key]

    async def _write_until_taken(self, key: Hashable, write: WriteBeside) -> None:
        attempt = 0
        while True:
            try:
                await write.work()
                return
            except ApiError as error:
                attempt += 1
                if not _worth_another(error, attempt, write.priority):
                    _give_up(key, error, write.failed)
                    return
                await self._clock.sleep(error.retry_after or min(0.1 * 2.0 ** min(attempt - 1, 20), LONGEST_WAIT))
            except Exception as error:
                log.exception("writing %s failed", key)
                _give_up(key, Unavailable({"message": f"{type(error).__name__}: {error}"}), write.failed)
                return

    @property
    def idle(self) -> bool:
        """No write is on its way."""
        return not self._tasks

    async def stop(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def together(things: Sequence[T], work: Callable[[T], Awaitable[R]], at_once: int = AT_ONCE) -> list[R]:
    """Do this with each of them, at most so many at a time; what came of each, in their order."""
    room = asyncio.Semaphore(at_once)

    async def in_turn(thing: T) -> R:
        async with room:
            return await work(thing)

    return await asyncio.gather(*(in_turn(thing) for thing in things))


async def _patched(
    client: Client, kind: Kind[Any], name: str, namespace: str, patch: Raw, subresource: str, content_type: str
) -> bool:
    try:
        await client.patch_only(kind, name, namespace, patch, subresource=subresource, content_type=content_type)
    except NotFound:
        return False
    return True


def _worth_another(error: ApiError, attempt: int, priority: Priority) -> bool:
    if priority is Priority.REPORT:
        return True
    return isinstance(error, Unavailable | TooManyRequests) and attempt < TRIES


def _give_up(key: Hashable, error: ApiError, failed: Failed | None) -> None:
    log.info("%s is not written: %s", key, error)
    try:
        if failed is not None:
            failed(error)
    except Exception:
        log.exception("the handler of the failed write %s failed itself", key)


def _namespace_terminates(error: Forbidden) -> bool:
    causes = (error.status.get("details") or {}).get("causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
