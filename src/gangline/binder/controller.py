"""BindRequest → bound pod, or undone.

Stands between the scheduler, which decides, and the kubelet, which runs. A request is settled at once when it cannot or
need not be carried out (request_rules.py); otherwise the plugins prepare, the pod is bound, and the request says so.
Whatever fails is undone completely, and the pod waits longer after each failure; how long stands on the pod itself, so
neither a restart nor a new request forgets it. Never chooses a node.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import BindRequest
from gangline.api.kinds import BIND_REQUEST, NODE, POD, PVC, Kind
from gangline.api.meta import Object, Raw
from gangline.binder import plugins, reservation_pods
from gangline.binder.attempt import BindAttempt, CannotBind, NotYet
from gangline.binder.plugins.plugin import BinderPlugin
from gangline.binder.plugins.volumes import claims_of
from gangline.binder.request_rules import (
    FAILED,
    SUCCEEDED,
    SUCCESS,
    RequestSettled,
    extra_annotations,
    failures_of,
    gave_up,
    next_try,
    settled,
)
from gangline.binder.settings import DEFAULTS, BinderSettings
from gangline.client.wire import STRATEGIC_PATCH
from gangline.errors import ApiError, NotFound
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself
from gangline.runtime.clock import timestamp
from gangline.runtime.writer import Writer

log = logging.getLogger(__name__)
T = TypeVar("T", bound=Object)


class Binder:
    def __init__(self, settings: BinderSettings, steps: Sequence[BinderPlugin]) -> None:
        self._settings, self._steps = settings, steps
        self._since: dict[Key, float] = {}
        self._due: dict[Key, float] = {}

    async def reconcile(self, ctx: Context, key: Key) -> Again | None:
        request = ctx.read.get(BIND_REQUEST, key.name, key.namespace)
        if request is None or request.metadata.deleting or request.status.phase == SUCCEEDED or gave_up(request):
            self._forget(key)
            return None
        if ctx.writer.busy(_report_key(request)):
            return None
        wait = self._due.get(key, 0.0) - ctx.clock.now()
        if wait > 0:
            return Again(wait)
        pod = await _find(ctx, POD, request.spec.pod_name, request.namespace)
        node = await _find(ctx, NODE, request.spec.selected_node)
        end = settled(request, pod, node, self._settings.scheduler_names)
        if end is not None:
            await self._settle(ctx, request, pod, end)
            return None
        assert pod is not None and node is not None
        since = self._since.setdefault(key, ctx.clock.now())
        return await self._try(BindAttempt(ctx, request, pod, node, since, annotations=extra_annotations(request)), key)

    async def _try(self, attempt: BindAttempt, key: Key) -> Again | None:
        try:
            for plugin in self._steps:
                await plugin.prepare(attempt)
            await attempt.ctx.client.bind(
                attempt.pod.name,
                attempt.pod.namespace,
                attempt.node.name,
                uid=attempt.pod.uid,
                annotations=attempt.annotations,
            )
        except NotYet as wait:
            return Again(wait.seconds)
        except (ApiError, CannotBind) as error:
            return await self._failed(attempt, key, error)
        self._forget(key)
        await attempt.ctx.writer.report_beside(_report_key(attempt.request), partial(self._succeeded, attempt))
        return None

    def _forget(self, key: Key) -> None:
        self._since.pop(key, None)
        self._due.pop(key, None)

    async def _settle(self, ctx: Context, request: BindRequest, pod: Pod | None, end: RequestSettled) -> None:
        if not end.reason:
            await _write_status(ctx, request, SUCCESS)
            return
        attempts = max(request.status.failed_attempts, request.spec.backoff_limit or 0)
        await _write_status(ctx, request, {"phase": FAILED, "reason": end.reason, "failedAttempts": attempts})

    async def _succeeded(self, attempt: BindAttempt, writer: Writer) -> None:
        """Report it, in turn: whoever reads it has the pod itself to look at meanwhile, and so has the next binder if
        this one ends before. A request that has gone meanwhile is not told anything."""
        ctx, request, pod = attempt.ctx, attempt.request, attempt.pod
        live = ctx.read.get(BIND_REQUEST, request.name, request.namespace)
        if live is None or live.uid != request.uid or live.metadata.deleting:
            return
        await writer.report(BIND_REQUEST, request.name, request.namespace, {"status": SUCCESS})
        if self._settings.manner.tells_every_bind or failures_of(pod):
            text = f"Pod bound successfully to node {attempt.node.name}"
            ctx.events.tell(POD, pod, "Bound", text)
            await _condition(ctx, pod, "True", "Bound", text)

    async def _failed(self, attempt: BindAttempt, key: Key, error: ApiError | CannotBind) -> Again | None:
        """Undo everything, unless the pod turns out to be bound after all (the answer was lost, or another was
        faster)."""
        ctx, request = attempt.ctx, attempt.request
        pod = await _live(ctx, attempt.pod)
        if pod is None or pod.uid != attempt.pod.uid or pod.spec.node_name:
            bound_here = pod is not None and pod.uid == attempt.pod.uid and pod.spec.node_name == attempt.node.name
            if not bound_here:
                await self._undo(attempt)
            end = settled(request, pod, attempt.node, self._settings.scheduler_names)
            await self._settle(ctx, request, pod, end or RequestSettled(str(error)))
            return None
        await self._undo(attempt)
        self._since.pop(key, None)
        return await self._record(attempt, key, error)

    async def _record(self, attempt: BindAttempt, key: Key, error: ApiError | CannotBind) -> Again | None:
        ctx, request, pod = attempt.ctx, attempt.request, attempt.pod
        failures = failures_of(pod) + 1
        delay = next_try(failures, self._settings)
        final = isinstance(error, CannotBind) and error.final
        attempts = max(request.status.failed_attempts + 1, (request.spec.backoff_limit or 0) if final else 0)
        text = f"{error}; binding is tried again in {delay:g} s"
        await ctx.client.patch_only(
            POD,
            pod.name,
            pod.namespace,
            {
                "metadata": {
                    "annotations": {
                        names.BIND_FAILURES: str(failures),
                        names.BIND_AFTER: timestamp(ctx.clock.now() + delay),
                    }
                }
            },
        )
        ctx.events.tell(POD, pod, "BindingError", f"cannot bind {attempt}: {text}", warning=True)
        await _condition(ctx, pod, "False", "BindingError", text)
        again = request.spec.backoff_limit is not None and attempts < request.spec.backoff_limit
        if again:
            self._due[key] = ctx.clock.now() + delay
        await _write_status(ctx, request, {"phase": FAILED, "reason": str(error), "failedAttempts": attempts})
        return Again(delay) if again else None

    async def _undo(self, attempt: BindAttempt) -> None:
        """Every plugin undoes its part, even if another cannot; what is left over is found by the next try or the
        clean-up."""
        for plugin in reversed(self._steps):
            try:
                await plugin.undo(attempt)
            except (ApiError, CannotBind) as error:
                log.warning("undoing %s for %s: %s", plugin.name, attempt, error)


async def _find(ctx: Context, kind: Kind[T], name: str, namespace: str = "") -> T | None:
    """From the cache, or from the server when the cache may be behind."""
    cached = ctx.read.get(kind, name, namespace)
    if cached is not None or not name:
        return cached
    try:
        return await ctx.client.get(kind, name, namespace)
    except NotFound:
        return None


async def _live(ctx: Context, pod: Pod) -> Pod | None:
    try:
        return await ctx.client.get(POD, pod.name, pod.namespace)
    except NotFound:
        return None


async def _write_status(ctx: Context, request: BindRequest, status: Raw) -> None:
    """Unless it went with its pod."""
    await ctx.writer.patch_unless_gone(
        BIND_REQUEST, request.name, request.namespace, {"status": status}, subresource="status"
    )


async def _condition(ctx: Context, pod: Pod, status: str, reason: str, message: str) -> None:
    now = timestamp(ctx.clock.now())
    condition = {"type": "PodBound", "status": status, "reason": reason, "message": message, "lastTransitionTime": now}
    patch = {"status": {"conditions": [condition]}}
    await ctx.writer.patch_unless_gone(
        POD, pod.name, pod.namespace, patch, subresource="status", content_type=STRATEGIC_PATCH
    )


def _report_key(request: BindRequest) -> Hashable:
    return BIND_REQUEST.kind, request.uid


def _waiting_for(index: str, values: Iterable[str], read: Reader) -> list[Key]:
    return [
        Key(item.namespace, item.name)
        for value in values
        for item in read.by(BIND_REQUEST, index, value)
        if item.status.phase != SUCCEEDED
    ]


def controller(settings: BinderSettings = DEFAULTS) -> Controller:
    binder = Binder(settings, plugins.build(settings))

    def of_pod(pod: Pod, read: Reader) -> Iterable[Key]:
        """Requests that wait for this reservation pod to say which GPU it holds."""
        ours = pod.namespace == settings.reservation_namespace
        return _waiting_for("group", reservation_pods.by_group(pod), read) if ours else []

    def of_claim(claim: Object, read: Reader) -> Iterable[Key]:
        users = read.by(POD, "volume", f"{claim.namespace}/{claim.name}")
        return _waiting_for("pod", [f"{pod.namespace}/{pod.name}" for pod in users], read)

    return Controller(
        "binder",
        binder.reconcile,
        workers=settings.workers,
        reads=(NODE,),
        watches=(Watch(BIND_REQUEST, itself), Watch(POD, of_pod, when=reservation_pods.has_news), Watch(PVC, of_claim)),
        indexes=(
            (BIND_REQUEST, "group", lambda request: request.spec.selected_gpu_groups),
            (BIND_REQUEST, "pod", lambda request: [f"{request.namespace}/{request.spec.pod_name}"]),
            (POD, "volume", lambda pod: [f"{pod.namespace}/{name}" for name in claims_of(pod)]),
        ),
    )
