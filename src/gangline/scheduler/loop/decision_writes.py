"""The writes that carry out decisions, one coroutine each: a BindRequest, an eviction, the time stamps of a gang.

carrier.py decides which of them are sent and hands them to the writer, which sends them beside the cycle. The log of
decisions is written here as well. Acts only.
"""

from __future__ import annotations

import logging
import time

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import BindRequest
from gangline.api.kinds import BIND_REQUEST, POD, POD_GROUP
from gangline.api.meta import Raw
from gangline.client.wire import STRATEGIC_PATCH
from gangline.errors import AlreadyExists, Conflict, NotFound, TooManyRequests
from gangline.rules.gangs.bind_requests import order_for
from gangline.rules.gangs.evictions import EvictionNote
from gangline.runtime import Context
from gangline.scheduler.decisions import Decisions, Evict, GangUpdate
from gangline.scheduler.loop import metrics
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.thought import decision_objects
from gangline.scheduler.thought.decision_log import decision_lines
from gangline.scheduler.thought.options import SchedulerOptions

log = logging.getLogger(__name__)


def log_decisions(cluster: ClusterModel, decisions: Decisions) -> None:
    if log.isEnabledFor(logging.INFO):
        for line in decision_lines(cluster, decisions):
            log.info(line.text, extra={"gang": line.gang, "queue": line.queue, "action": line.action})


async def create_request(ctx: Context, body: Raw) -> int:
    """Gives the revision of the BindRequest."""
    began = time.perf_counter()
    request = await ctx.client.create(BIND_REQUEST, body)
    metrics.BIND.observe((time.perf_counter() - began) * 1000)
    return int(request.metadata.resource_version or 0)


async def create_request_once(ctx: Context, body: Raw) -> int:
    """The same, for a name that nobody else gives: a request that is there already is ours, and its answer was lost."""
    try:
        return await create_request(ctx, body)
    except AlreadyExists:
        meta = body["metadata"]
        request = await ctx.client.get(BIND_REQUEST, meta["name"], meta["namespace"])
        return int(request.metadata.resource_version or 0)


async def label_pool(ctx: Context, pod: Pod, options: SchedulerOptions) -> None:
    key, value = options.node_pool_key, options.node_pool
    if key and value and pod.labels.get(key) != value:
        await ctx.client.patch_only(POD, pod.name, pod.namespace, {"metadata": {"labels": {key: value}}})


async def delete_request(ctx: Context, request: BindRequest) -> None:
    await ctx.client.delete(BIND_REQUEST, request.name, request.namespace, uid=request.uid)


async def delete_request_of_earlier_pod(ctx: Context, pod: Pod) -> None:
    """A request of an earlier pod with this name stands in the way."""
    try:
        request = await ctx.client.get(BIND_REQUEST, pod.name, pod.namespace)
        if order_for(request, pod) is None:
            await delete_request(ctx, request)
    except NotFound:
        pass


async def evict(ctx: Context, pod: Pod, decision: Evict, options: SchedulerOptions) -> None:
    if options.tell_disruption:
        patch = {"metadata": {"uid": pod.uid}, **decision_objects.disruption(decision, ctx.clock.now())}
        await ctx.client.patch_only(
            POD, pod.name, pod.namespace, patch, subresource="status", content_type=STRATEGIC_PATCH
        )
    await ctx.client.delete(POD, pod.name, pod.namespace, uid=pod.uid)


async def evict_within_budget(ctx: Context, pod: Pod) -> None:
    """A pod that has a PodDisruptionBudget goes through the Eviction API, which marks it. Where the budget allows no
    more, because somebody else was faster, the pod stays; the next cycle knows the budget as it is then."""
    try:
        await ctx.client.evict(pod.name, pod.namespace, uid=pod.uid)
    except TooManyRequests as refused:
        raise Conflict({"message": str(refused)}) from refused


async def ask_for_move(ctx: Context, pod: Pod, node: str) -> None:
    patch = {"metadata": {"uid": pod.uid, "annotations": {names.MOVE_TO: node}}}
    await ctx.client.patch_only(POD, pod.name, pod.namespace, patch)


async def stamp(ctx: Context, update: GangUpdate, eviction: EvictionNote | None) -> None:
    namespace, _, name = update.gang.partition("/")
    await ctx.client.patch_only(POD_GROUP, name, namespace, decision_objects.gang_stamps(update, eviction))
