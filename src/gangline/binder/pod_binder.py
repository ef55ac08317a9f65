"""One order of a BindRequest → a bound pod, or everything undone.

The plugins prepare, the pod is bound. What fails is undone completely, and the pod waits longer after each failure; how
long stands on the pod itself, so neither a restart nor a new request forgets it. controller.py says what the request is
told about it. Never chooses a node."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TypeVar

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import BindOrder
from gangline.api.kinds import NODE, POD, Kind
from gangline.api.meta import Object
from gangline.binder.attempt import BindAttempt, CannotBind, NotYet
from gangline.binder.order_outcomes import OrderEnd, OrderOutcome
from gangline.binder.plugins.plugin import BinderPlugin
from gangline.binder.request_rules import RequestSettled, extra_annotations, failures_of, next_try, settled
from gangline.binder.settings import BinderSettings
from gangline.client.wire import STRATEGIC_PATCH
from gangline.errors import ApiError, NotFound
from gangline.runtime import Context
from gangline.runtime.clock import timestamp

log = logging.getLogger(__name__)
T = TypeVar("T", bound=Object)


class PodBinder:
    def __init__(self, settings: BinderSettings, steps: Sequence[BinderPlugin]) -> None:
        self._settings, self._steps = settings, steps

    async def carry_out(self, ctx: Context, namespace: str, order: BindOrder, since: float) -> OrderOutcome:
        """`since`: when it was tried first."""
        pod = await _find(ctx, POD, order.pod_name, namespace)
        node = await _find(ctx, NODE, order.selected_node)
        end = settled(namespace, order, pod, node, self._settings.scheduler_names)
        if end is not None:
            return OrderOutcome(order, OrderEnd.SETTLED, pod, end.reason)
        assert pod is not None and node is not None
        return await self._try(BindAttempt(ctx, order, pod, node, since, annotations=extra_annotations(order)))

    async def _try(self, attempt: BindAttempt) -> OrderOutcome:
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
            return OrderOutcome(attempt.order, OrderEnd.WAITS, attempt.pod, seconds=wait.seconds)
        except (ApiError, CannotBind) as error:
            return await self._failed(attempt, error)
        return OrderOutcome(attempt.order, OrderEnd.BOUND, attempt.pod)

    async def _failed(self, attempt: BindAttempt, error: ApiError | CannotBind) -> OrderOutcome:
        """Undo everything, unless the pod turns out to be bound after all (the answer was lost, or another was
        faster)."""
        pod = await _live(attempt.ctx, attempt.pod)
        if pod is None or pod.uid != attempt.pod.uid or pod.spec.node_name:
            bound_here = pod is not None and pod.uid == attempt.pod.uid and pod.spec.node_name == attempt.node.name
            if not bound_here:
                await self._undo(attempt)
            end = settled(attempt.pod.namespace, attempt.order, pod, attempt.node, self._settings.scheduler_names)
            return OrderOutcome(attempt.order, OrderEnd.SETTLED, pod, (end or RequestSettled(str(error))).reason)
        await self._undo(attempt)
        return await self._remember(attempt, error)

    async def _remember(self, attempt: BindAttempt, error: ApiError | CannotBind) -> OrderOutcome:
        """The failure stands on the pod."""
        ctx, pod = attempt.ctx, attempt.pod
        failures = failures_of(pod) + 1
        delay = next_try(failures, self._settings)
        noted = {names.BIND_FAILURES: str(failures), names.BIND_AFTER: timestamp(ctx.clock.now() + delay)}
        await ctx.client.patch_only(POD, pod.name, pod.namespace, {"metadata": {"annotations": noted}})
        text = f"{error}; binding is tried again in {delay:g} s"
        ctx.events.tell(POD, pod, "BindingError", f"cannot bind {attempt}: {text}", warning=True)
        await tell_condition(ctx, pod, "False", "BindingError", text)
        final = isinstance(error, CannotBind) and error.final
        return OrderOutcome(attempt.order, OrderEnd.FAILED, pod, str(error), delay, final)

    async def _undo(self, attempt: BindAttempt) -> None:
        """Every plugin undoes its part, even if another cannot; what is left over is found by the next try or the
        clean-up."""
        for plugin in reversed(self._steps):
            try:
                await plugin.undo(attempt)
            except (ApiError, CannotBind) as error:
                log.warning("undoing %s for %s: %s", plugin.name, attempt, error)


async def tell_bound(ctx: Context, pod: Pod, node: str) -> None:
    text = f"Pod bound successfully to node {node}"
    ctx.events.tell(POD, pod, "Bound", text)
    await tell_condition(ctx, pod, "True", "Bound", text)


async def tell_condition(ctx: Context, pod: Pod, status: str, reason: str, message: str) -> None:
    now = timestamp(ctx.clock.now())
    condition = {"type": "PodBound", "status": status, "reason": reason, "message": message, "lastTransitionTime": now}
    patch = {"status": {"conditions": [condition]}}
    await ctx.writer.patch_unless_gone(
        POD, pod.name, pod.namespace, patch, subresource="status", content_type=STRATEGIC_PATCH
    )


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
