"""Writes BindRequests: one for what a cycle places of a gang, or one per pod where upstream's form is asked for.

The form is thought/gang_requests.py's, or thought/decision_objects.py's. A pod with a request on its way is laid over
what the watch shows (overlay.py); a request that cannot be written gives its pods back to the next cycle. Which
requests are over is keeper.py's to see."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from gangline.api.core import Pod
from gangline.api.kinds import BIND_REQUEST, POD, POD_GROUP
from gangline.errors import AlreadyExists, ApiError, NotFound
from gangline.runtime import Context, key_of
from gangline.scheduler.decisions import Bind
from gangline.scheduler.loop import decision_writes
from gangline.scheduler.loop.feed import Feed
from gangline.scheduler.loop.lookup import ModelObjects
from gangline.scheduler.loop.overlay import Overlay
from gangline.scheduler.thought import decision_objects
from gangline.scheduler.thought.gang_requests import PlacedPod, RequestDraft, drafts
from gangline.scheduler.thought.options import SchedulerOptions


class RequestWriter:
    def __init__(
        self, ctx: Context, options: SchedulerOptions, objects: ModelObjects, feed: Feed, overlay: Overlay
    ) -> None:
        self._ctx, self._options = ctx, options
        self._objects, self._feed, self._overlay = objects, feed, overlay

    def bind_all(self, binds: Iterable[Bind]) -> None:
        placed = [item for item in map(self._placed, binds) if item is not None]
        for item in placed:
            self._overlay.binding(item.bind)
        if self._options.request_per_pod:
            for item in placed:
                self._bind(item)
        else:
            for draft in drafts(placed, self._options, lambda: uuid.uuid4().hex):
                self._write(draft)

    def _placed(self, bind: Bind) -> PlacedPod | None:
        pod = self._objects.pod(bind.task)
        if pod is None:
            return None
        gang = self._objects.cluster.tasks[bind.task].record.gang
        return PlacedPod(bind, pod, gang.partition("/")[2], self._objects.group(gang))

    # --- one for a gang -----------------------------------------------------------------------------------------------

    def _write(self, draft: RequestDraft) -> None:
        async def write() -> None:
            revision = await decision_writes.create_request_once(self._ctx, draft.body)
            for item in draft.placed:
                self._overlay.written(item.pod.uid, revision)
            if draft.group is not None:
                self._ctx.events.tell(POD_GROUP, draft.group, "Scheduled", draft.news)
            for item in draft.placed:
                await decision_writes.label_pool(self._ctx, item.pod, self._options)

        self._ctx.writer.put((BIND_REQUEST.kind, draft.name), write, lambda error: self._not_written(draft, error))

    def _not_written(self, draft: RequestDraft, error: ApiError) -> None:
        for item in draft.placed:
            self._give_back(item.pod)
            self._tell_failure(item.pod, error)

    def _give_back(self, pod: Pod) -> None:
        self._overlay.forget(pod.uid)
        self._feed.note_pod(key_of(pod))

    def _tell_failure(self, pod: Pod, error: ApiError) -> None:
        if not isinstance(error, NotFound):
            text = f"the BindRequest could not be written: {error}"
            self._ctx.events.tell(POD, pod, "FailedBinding", text, warning=True)

    # --- one per pod --------------------------------------------------------------------------------------------------

    def _bind(self, item: PlacedPod) -> None:
        pod, bind = item.pod, item.bind
        body = decision_objects.bind_request(bind, pod, item.gang, self._options)

        async def write() -> None:
            revision = await decision_writes.create_request(self._ctx, body)
            self._overlay.written(pod.uid, revision)
            self._tell_bind(pod, bind)
            await decision_writes.label_pool(self._ctx, pod, self._options)

        self._ctx.writer.put((BIND_REQUEST.kind, pod.uid), write, lambda error: self._not_bound(pod, error))

    def _tell_bind(self, pod: Pod, bind: Bind) -> None:
        pool = self._options.pool_name
        text = f"Successfully assigned pod {pod.namespace}/{pod.name} to node {bind.node} at node-pool {pool}"
        self._ctx.events.tell(POD, pod, "Scheduled", text)

    def _not_bound(self, pod: Pod, error: ApiError) -> None:
        self._give_back(pod)
        if isinstance(error, AlreadyExists):
            self._make_way(pod)
        else:
            self._tell_failure(pod, error)

    def _make_way(self, pod: Pod) -> None:
        async def write() -> None:
            await decision_writes.delete_request_of_earlier_pod(self._ctx, pod)
            self._feed.note(POD, key_of(pod))

        self._ctx.writer.put(("stale request", pod.uid), write)
