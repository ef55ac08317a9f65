"""Events for people: written once, counted after that, and never in a component's way.

`tell` only puts the event aside; a task of its own writes it when reports have their turn. Equal events of one object
are joined into a count. A component that stops takes a moment to write what is left."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from collections import OrderedDict
from dataclasses import dataclass

from gangline.api.kinds import EVENT, Kind
from gangline.api.meta import Object, Raw
from gangline.client import Client, Lanes
from gangline.errors import ApiError, NotFound
from gangline.runtime import background
from gangline.runtime.clock import Clock, timestamp
from gangline.runtime.metrics import EVENTS_DROPPED
from gangline.runtime.writer import timed

log = logging.getLogger(__name__)
REMEMBERED = 4096
WAITING = 50_000
LAST_WORDS = 2.0
"""Seconds that a component that stops has for events it has not written."""


@dataclass(frozen=True, slots=True)
class ToldEvent:
    kind: Kind[Object]
    namespace: str
    name: str
    uid: str
    type: str
    reason: str
    message: str
    annotations: tuple[tuple[str, str], ...] = ()


class Recorder:
    """Writes events of one component."""

    def __init__(self, client: Client, clock: Clock, component: str, lanes: Lanes | None = None) -> None:
        self._client, self._clock, self._component, self._lanes = client, clock, component, lanes or Lanes()
        self._queue: asyncio.Queue[tuple[ToldEvent, float]] = asyncio.Queue(WAITING)
        self._counts: OrderedDict[ToldEvent, tuple[str, int]] = OrderedDict()
        self._task: asyncio.Task[None] | None = None
        self._busy = self._stopping = False

    def tell(
        self,
        kind: Kind[Object],
        obj: Object,
        reason: str,
        message: str,
        *,
        warning: bool = False,
        annotations: dict[str, str] | None = None,
    ) -> None:
        event = ToldEvent(
            kind,
            obj.namespace,
            obj.name,
            obj.uid,
            "Warning" if warning else "Normal",
            reason,
            message[:1024],
            tuple(sorted((annotations or {}).items())),
        )
        try:
            self._queue.put_nowait((event, self._clock.now()))
        except asyncio.QueueFull:
            EVENTS_DROPPED.labels(self._component).inc()

    def start(self) -> None:
        self._task = background.start(f"events {self._component}", self._write_all, self._clock)

    async def stop(self) -> None:
        if self._task is not None:
            self._stopping = True
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._queue.join(), LAST_WORDS)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def idle(self) -> bool:
        return self._queue.empty() and not self._busy

    async def _write_all(self) -> None:
        while True:
            event, at = await self._queue.get()
            self._busy = True
            try:
                if not self._stopping:
                    await self._lanes.turn()
                with timed(self._lanes, self._clock):
                    await self._write(event, at)
            except ApiError as error:
                log.debug("event on %s %s not written: %s", event.kind, event.name, error)
            except Exception:
                log.exception("event on %s %s not written", event.kind, event.name)
            finally:
                self._busy = False
                self._queue.task_done()

    async def _write(self, event: ToldEvent, at: float) -> None:
        now = timestamp(at)
        known = self._counts.pop(event, None)
        if known is not None:
            name, count = known
            try:
                await self._client.patch_only(
                    EVENT, name, event.namespace or "default", {"count": count + 1, "lastTimestamp": now}
                )
                self._remember(event, name, count + 1)
                return
            except NotFound:
                pass
        digest = hashlib.sha256(repr((event, at)).encode()).hexdigest()[:16]
        name = f"{event.name[:200]}.{digest}"
        await self._client.create_only(EVENT, self._object(event, name, now), event.namespace or "default")
        self._remember(event, name, 1)

    def _remember(self, event: ToldEvent, name: str, count: int) -> None:
        self._counts[event] = (name, count)
        if len(self._counts) > REMEMBERED:
            self._counts.popitem(last=False)

    def _object(self, event: ToldEvent, name: str, now: str) -> Raw:
        meta: Raw = {"name": name, "namespace": event.namespace or "default"}
        if event.annotations:
            meta["annotations"] = dict(event.annotations)
        about = {"apiVersion": event.kind.api_version, "kind": event.kind.kind, "name": event.name, "uid": event.uid}
        if event.namespace:
            about["namespace"] = event.namespace
        return {
            "metadata": meta,
            "involvedObject": about,
            "type": event.type,
            "reason": event.reason,
            "message": event.message,
            "count": 1,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "reportingInstance": self._component,
        }
