"""The minimal default scheduler, so that bystanders run: pods that name no scheduler, or `default-scheduler`.

Watches pods, nodes and Workloads, keeps the board of place.py, and after each change tries what waits: a bind, or a condition
PodScheduled that says why not. Gangs of the Workload API start as a whole. No preemption; other schedulers' pods only take room.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field

from gangline.api import names
from gangline.api.builtin import Workload
from gangline.api.core import Node, Pod
from gangline.api.kinds import NODE, POD, PVC, WORKLOAD
from gangline.api.meta import condition
from gangline.client.wire import STRATEGIC_PATCH
from gangline.errors import ApiError, Conflict, NotFound
from gangline.runtime import Cache, Context, Key, Service, key_of
from gangline.runtime.clock import timestamp
from gangline.world.discovery import discover
from gangline.world.kubelet import volume_claims
from gangline.world.near import cares
from gangline.world.place import Answer, Bind, Board, Refused, Round, Unit, by_turn, gang_key, minimum

log = logging.getLogger(__name__)
CONCURRENT = 32
SELECTED_NODE = "volume.kubernetes.io/selected-node"


def ours(pod: Pod) -> bool:
    return pod.spec.scheduler_name in ("", names.DEFAULT_SCHEDULER)


def waits(pod: Pod) -> bool:
    return (ours(pod) and not pod.spec.node_name and not pod.spec.scheduling_gates and not pod.metadata.deleting
            and pod.status.phase in ("", "Pending"))


def occupies(pod: Pod) -> bool:
    return bool(pod.spec.node_name) and pod.status.phase not in ("Succeeded", "Failed")


@dataclass(slots=True)
class Scheduler:
    board: Board = field(default_factory=Board)
    waiting: dict[Key, Pod] = field(default_factory=dict)
    placed: dict[str, dict[str, None]] = field(default_factory=dict)
    """Gang → uids of its pods that have a node."""
    workloads: bool = False
    """The server knows Workloads."""
    dirty: asyncio.Event = field(default_factory=asyncio.Event)
    busy: bool = True
    _tried: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    """Unit → board version and members when it was last refused: not tried again before one of them changes."""

    @property
    def idle(self) -> bool:
        return not self.busy and not self.dirty.is_set()

    async def run(self, ctx: Context, cache: Cache) -> None:
        self.workloads = any(each.kind == WORKLOAD for each in await discover(ctx.client))
        if self.workloads:
            cache.informer(WORKLOAD).on_change(self._workload_moved)
            await cache.start()
        cache.informer(NODE).on_change(self._node_moved)
        cache.informer(POD).on_change(self._pod_moved)
        while True:
            self.busy = False
            await self.dirty.wait()
            self.busy = True
            self.dirty.clear()
            try:
                await self._round(ctx)
            except ApiError as error:
                log.warning("the default scheduler could not write: %s", error)
                await ctx.clock.sleep(0.5)
                self.dirty.set()

    # --- looking -------------------------------------------------------------------------------------------------------

    def _node_moved(self, before: Node | None, after: Node | None) -> None:
        if after is None and before is not None:
            self.board.drop_node(before.name)
        elif after is not None and (before is None or _matters(before) != _matters(after)):
            self.board.put_node(after)
            self.dirty.set()

    def _pod_moved(self, before: Pod | None, after: Pod | None) -> None:
        pod = after or before
        if pod is None:
            return
        if after is not None and occupies(after):
            self.board.hold(after, after.spec.node_name)
            self.placed.setdefault(gang_key(after), {})[after.uid] = None
        elif pod.uid in self.board.held and (after is None or after.spec.node_name):
            self._release(pod)
        if after is not None and waits(after):
            self.waiting[key_of(after)] = after
            self.dirty.set()
        elif self.waiting.pop(key_of(pod), None) is not None and after is None:
            self._release(pod)

    def _release(self, pod: Pod) -> None:
        self.board.free(pod.uid)
        self.placed.get(gang_key(pod), {}).pop(pod.uid, None)
        self.dirty.set()

    def _workload_moved(self, before: Workload | None, after: Workload | None) -> None:
        self._tried.clear()
        self.dirty.set()

    # --- one round -----------------------------------------------------------------------------------------------------

    async def _round(self, ctx: Context) -> None:
        look = Round(self.board)
        answers: list[Answer] = []
        for unit in self._units(ctx, by_turn(pod for pod in self.waiting.values() if pod.uid not in self.board.held)):
            version, members = self.board.version, tuple(pod.uid for pod in unit.pods)
            if self._tried.get(unit.key) == (version, members) and not any(cares(pod) for pod in unit.pods):
                continue
            found = look.place(unit)
            if any(isinstance(each, Refused) for each in found):
                self.board.version = version
                self._tried[unit.key] = (version, members)
            answers += found
        await _write_all(ctx, self, answers)

    def _units(self, ctx: Context, pods: Iterable[Pod]) -> list[Unit]:
        gangs: dict[str, list[Pod]] = {}
        for pod in pods:
            gangs.setdefault(gang_key(pod) or f"pod {pod.namespace}/{pod.name}", []).append(pod)
        return [self._unit(ctx, key, members) for key, members in gangs.items()]

    def _unit(self, ctx: Context, key: str, pods: list[Pod]) -> Unit:
        first = pods[0]
        if not gang_key(first):
            return Unit(key, tuple(pods))
        link = first.spec.workload_ref or {}
        workload = ctx.read.get(WORKLOAD, str(link.get("name")), first.namespace) if self.workloads else None
        least, hold = minimum(first, workload.spec.pod_groups if workload is not None else None)
        return Unit(key, tuple(pods), max(least - len(self.placed.get(key, ())), 1), hold)


def _matters(node: Node) -> object:
    """What of a node decides about pods; heartbeats do not."""
    ready = condition(node.status.conditions, "Ready")
    return node.labels, node.spec, node.status.allocatable, ready.status if ready else ""


# --- acting ------------------------------------------------------------------------------------------------------------


async def _write_all(ctx: Context, scheduler: Scheduler, answers: Iterable[Answer]) -> None:
    gate = asyncio.Semaphore(CONCURRENT)

    async def one(answer: Answer) -> None:
        async with gate:
            if isinstance(answer, Bind):
                await _bind(ctx, scheduler, answer)
            else:
                await _refuse(ctx, answer)

    for outcome in await asyncio.gather(*(one(answer) for answer in answers), return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


async def _bind(ctx: Context, scheduler: Scheduler, bind: Bind) -> None:
    pod = bind.pod
    try:
        await _choose_volumes(ctx, pod, bind.node)
        await ctx.client.bind(pod.name, pod.namespace, bind.node, uid=pod.uid)
    except (NotFound, Conflict):
        scheduler.board.free(pod.uid)
        return
    except ApiError:
        scheduler.board.free(pod.uid)
        raise
    ctx.events.tell(POD, pod, "Scheduled", f"Successfully assigned {pod.namespace}/{pod.name} to {bind.node}")


async def _choose_volumes(ctx: Context, pod: Pod, node: str) -> None:
    """Claims that wait for their first consumer learn where it is."""
    for name in volume_claims(pod):
        claim = ctx.read.get(PVC, name, pod.namespace)
        if claim is not None and not claim.spec.volume_name and SELECTED_NODE not in claim.annotations:
            await ctx.client.patch(PVC, name, pod.namespace, {"metadata": {"annotations": {SELECTED_NODE: node}}})


async def _refuse(ctx: Context, refused: Refused) -> None:
    pod, said = refused.pod, condition(refused.pod.status.conditions, "PodScheduled")
    if said is not None and (said.status, said.reason, said.message) == ("False", "Unschedulable", refused.reason):
        return
    since = said.last_transition_time if said is not None and said.status == "False" else timestamp(ctx.clock.now())
    wanted = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": refused.reason,
              "lastProbeTime": None, "lastTransitionTime": since}
    try:
        await ctx.client.patch(POD, pod.name, pod.namespace, {"status": {"conditions": [wanted]}}, subresource="status",
                               content_type=STRATEGIC_PATCH)
    except NotFound:
        return
    ctx.events.tell(POD, pod, "FailedScheduling", refused.reason, warning=True)


def scheduler() -> Service:
    work = Scheduler()
    return Service("scheduler", work.run, idle=lambda: work.idle, prepare=_prepare)


def _prepare(cache: Cache) -> None:
    for kind in (POD, NODE, PVC):
        cache.informer(kind)
