"""BindRequest → bound pods, or undone.

Stands between the scheduler, which decides, and the kubelet, which runs. A request orders one pod, as upstream's do, or
the pods of a gang; each order is carried out by itself (pod_binder.py), some at the same time. A request of one pod
says how it ended; one of several says only what failed, once for all of them, and the scheduler removes it when its
pods have their nodes. Never chooses a node.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterable
from functools import partial

from gangline.api.core import Pod
from gangline.api.kai import BindOrder, BindRequest
from gangline.api.kinds import BIND_REQUEST, NODE, POD, PVC
from gangline.api.meta import Object, Raw
from gangline.binder import plugins, reservation_pods
from gangline.binder.order_outcomes import OrderEnd, OrderOutcome, RequestWork, soonest
from gangline.binder.plugins.volumes import claims_of
from gangline.binder.pod_binder import PodBinder, tell_bound
from gangline.binder.request_rules import SUCCESS, failures_of
from gangline.binder.settings import DEFAULTS, BinderSettings
from gangline.rules.gangs.bind_requests import FAILED, SUCCEEDED, by_gpu_group, by_pod, live
from gangline.rules.objects.lean import lean_pod
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself
from gangline.runtime.writer import Writer


class Binder:
    def __init__(self, settings: BinderSettings) -> None:
        self._settings, self._pods = settings, PodBinder(settings, plugins.build(settings))
        self._room = asyncio.Semaphore(settings.workers)
        self._works: dict[Key, RequestWork] = {}

    async def reconcile(self, ctx: Context, key: Key) -> Again | None:
        request = ctx.read.get(BIND_REQUEST, key.name, key.namespace)
        if request is None or request.metadata.deleting or request.status.phase == SUCCEEDED or not live(request):
            self._works.pop(key, None)
            return None
        if ctx.writer.busy(_report_key(request)):
            return None
        work = self._work(key, request, ctx.clock.now())
        tries = [self._carry_out(ctx, request, order, work) for order in work.left(request)]
        outcomes = [await tries[0]] if len(tries) == 1 else await asyncio.gather(*tries)
        if request.spec.pods:
            return await self._conclude_all(ctx, request, work, outcomes)
        return await self._conclude(ctx, request, key, outcomes[0]) if outcomes else None

    def _work(self, key: Key, request: BindRequest, now: float) -> RequestWork:
        work = self._works.get(key)
        if work is None or work.uid != request.uid:
            work = self._works[key] = RequestWork.of(request, now)
        return work

    async def _carry_out(self, ctx: Context, request: BindRequest, order: BindOrder, work: RequestWork) -> OrderOutcome:
        state = work.states[order.pod_name]
        wait = state.due - ctx.clock.now()
        if wait > 0:
            return OrderOutcome(order, OrderEnd.WAITS, seconds=wait)
        async with self._room:
            return await self._pods.carry_out(ctx, request.namespace, order, state.since)

    # --- a request of several pods ------------------------------------------------------------------------------------

    async def _conclude_all(
        self, ctx: Context, request: BindRequest, work: RequestWork, outcomes: list[OrderOutcome]
    ) -> Again | None:
        for outcome in outcomes:
            work.note(outcome, ctx.clock.now())
            if outcome.end is OrderEnd.BOUND and outcome.pod is not None and self._is_reported(outcome.pod):
                await tell_bound(ctx, outcome.pod, outcome.order.selected_node)
        if any(outcome.reason for outcome in outcomes):
            status = work.status()
            if status is not None:
                await _write_status(ctx, request, status)
        wait = soonest(outcomes, work)
        return None if wait is None else Again(wait)

    def _is_reported(self, pod: Pod) -> bool:
        """Whether a bind that succeeded gets an event: where earlier tries failed."""
        return self._settings.manner.tells_every_bind or bool(failures_of(pod))

    # --- a request of one pod -----------------------------------------------------------------------------------------

    async def _conclude(self, ctx: Context, request: BindRequest, key: Key, outcome: OrderOutcome) -> Again | None:
        if outcome.end is OrderEnd.WAITS:
            return Again(outcome.seconds)
        if outcome.end is OrderEnd.FAILED:
            return await self._record(ctx, request, key, outcome)
        self._works.pop(key, None)
        if outcome.end is OrderEnd.SETTLED:
            await _settle(ctx, request, outcome.reason)
        else:
            report = partial(self._succeeded, ctx, request, outcome)
            await ctx.writer.report_beside(_report_key(request), report)
        return None

    async def _succeeded(self, ctx: Context, request: BindRequest, outcome: OrderOutcome, writer: Writer) -> None:
        """Report it, in turn: readers have the pod itself to look at meanwhile, and so has the next binder if
        this one ends before. Nothing is written for a request that is gone."""
        current = ctx.read.get(BIND_REQUEST, request.name, request.namespace)
        if current is None or current.uid != request.uid or current.metadata.deleting:
            return
        await writer.report(BIND_REQUEST, request.name, request.namespace, {"status": SUCCESS})
        if outcome.pod is not None and self._is_reported(outcome.pod):
            await tell_bound(ctx, outcome.pod, outcome.order.selected_node)

    async def _record(self, ctx: Context, request: BindRequest, key: Key, outcome: OrderOutcome) -> Again | None:
        limit = request.spec.backoff_limit
        attempts = max(request.status.failed_attempts + 1, (limit or 0) if outcome.final else 0)
        again = limit is not None and attempts < limit
        now = ctx.clock.now()
        work = self._work(key, request, now)
        work.states[outcome.order.pod_name].since = now
        if again:
            work.states[outcome.order.pod_name].due = now + outcome.seconds
        await _write_status(ctx, request, {"phase": FAILED, "reason": outcome.reason, "failedAttempts": attempts})
        return Again(outcome.seconds) if again else None


async def _settle(ctx: Context, request: BindRequest, reason: str) -> None:
    if not reason:
        await _write_status(ctx, request, SUCCESS)
        return
    attempts = max(request.status.failed_attempts, request.spec.backoff_limit or 0)
    await _write_status(ctx, request, {"phase": FAILED, "reason": reason, "failedAttempts": attempts})


async def _write_status(ctx: Context, request: BindRequest, status: Raw) -> None:
    """Unless it went with its pod."""
    await ctx.writer.patch_unless_gone(
        BIND_REQUEST, request.name, request.namespace, {"status": status}, subresource="status"
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
    binder = Binder(settings)

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
            (BIND_REQUEST, "group", by_gpu_group),
            (BIND_REQUEST, "pod", by_pod),
            (POD, "volume", lambda pod: [f"{pod.namespace}/{name}" for name in claims_of(pod)]),
        ),
        trims={POD: lean_pod},
    )
