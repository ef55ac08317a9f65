"""Removes BindRequests that are over: given up by the binder, for a node that is gone, or (of a gang) carried out.

Watches requests, pods and nodes. Pods that still need a node come back to the next cycle when the watch shows that
their request is gone. Requests of one pod that were carried out stay as long as their pod, as upstream's do."""

from __future__ import annotations

from gangline.api.core import Node, Pod
from gangline.api.kai import BindOrder, BindRequest
from gangline.api.kinds import BIND_REQUEST, NODE, POD
from gangline.errors import NotFound
from gangline.rules.gangs.bind_requests import SUCCEEDED, live, orders
from gangline.rules.selectors import parse_labels
from gangline.runtime import Cache, Context, Key
from gangline.runtime.writer import Priority
from gangline.scheduler.loop import decision_writes
from gangline.scheduler.loop.feed import Feed
from gangline.scheduler.thought.options import SchedulerOptions


class RequestKeeper:
    def __init__(self, ctx: Context, cache: Cache, options: SchedulerOptions, feed: Feed) -> None:
        self._ctx, self._cache, self._feed = ctx, cache, feed
        self._pool = parse_labels(options.selector) if options.selector else None
        self._leaving: set[str] = set()
        """Requests that were carried out and are being deleted."""
        self._bound: dict[str, int] = {}
        """How many orders of a request, from the first on, were seen to wait for nothing."""

    def start(self) -> None:
        self._cache.informer(BIND_REQUEST).on_change(self._request_changed)
        self._cache.informer(NODE).on_change(self._node_changed)
        self._cache.informer(POD).on_change(self._pod_changed)

    def _request_changed(self, before: BindRequest | None, after: BindRequest | None) -> None:
        if after is None:
            if before is not None:
                self._leaving.discard(before.uid)
                self._bound.pop(before.uid, None)
            return
        if not self._ours(after):
            return
        if not live(after) or self._lost_a_node(after):
            self._drop(after)
        elif self._carried_out(after):
            self._clear_away(after)

    def _node_changed(self, before: Node | None, after: Node | None) -> None:
        if after is None and before is not None:
            for request in self._cache.by(BIND_REQUEST, "node", before.name):
                if self._ours(request) and self._lost_a_node(request):
                    self._drop(request)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        pod = after or before
        if pod is not None and (after is None or (_needs_nothing(pod) and not _known_to_need_nothing(before, pod))):
            for request in self._cache.by(BIND_REQUEST, "pod", f"{pod.namespace}/{pod.name}"):
                if self._ours(request) and self._carried_out(request):
                    self._clear_away(request)

    def _ours(self, request: BindRequest) -> bool:
        return self._pool is None or self._pool.matches(request.labels)

    def _carried_out(self, request: BindRequest) -> bool:
        """Asked at the bind of every pod, so it goes on where it stopped; at the end it looks at all of them again."""
        pods, start = request.spec.pods, self._bound.get(request.uid, 0)
        waiting = next((at for at in range(start, len(pods)) if self._waits(request, pods[at])), None)
        if waiting is not None:
            self._bound[request.uid] = waiting
            return False
        return bool(pods) and not any(self._waits(request, order) for order in pods)

    def _lost_a_node(self, request: BindRequest) -> bool:
        """Whether a pod waits for a node that is gone."""
        if not request.spec.pods:
            return request.status.phase != SUCCEEDED and self._cache.get(NODE, request.spec.selected_node) is None
        return any(
            self._cache.get(NODE, order.selected_node) is None and self._waits(request, order)
            for order in request.spec.pods
        )

    def _waits(self, request: BindRequest, order: BindOrder) -> bool:
        """Whether the order's pod is there and has no node yet."""
        pod = self._cache.get(POD, order.pod_name, request.namespace)
        return pod is not None and pod.uid == order.pod_uid and not _needs_nothing(pod)

    def _clear_away(self, request: BindRequest) -> None:
        """In turn: nobody waits for it."""
        if request.uid in self._leaving:
            return
        self._leaving.add(request.uid)

        async def write() -> None:
            try:
                await decision_writes.delete_request(self._ctx, request)
            except NotFound:
                return

        self._ctx.writer.put(("drop request", request.uid), write, priority=Priority.REPORT)

    def _drop(self, request: BindRequest) -> None:
        async def write() -> None:
            await decision_writes.delete_request(self._ctx, request)

        def failed(error: Exception) -> None:
            for order in orders(request):
                self._feed.note(POD, Key(request.namespace, order.pod_name))

        self._ctx.writer.put(("drop request", request.uid), write, failed)


def _known_to_need_nothing(before: Pod | None, pod: Pod) -> bool:
    """What happens to such a pod later is no news for its request."""
    return before is not None and before.uid == pod.uid and _needs_nothing(before)


def _needs_nothing(pod: Pod) -> bool:
    """It has a node, or goes."""
    return bool(pod.spec.node_name) or pod.metadata.deleting
