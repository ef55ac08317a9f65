"""The minimal default scheduler, so that bystanders run: pods that name no scheduler, or `default-scheduler`.

Watches pods and nodes, keeps the board of place.py, and after each change tries what waits: a bind, or a condition
PodScheduled that says why not. Gangs of the Workload API (gangs.py) start as a whole; of its kinds only those are
watched that the server has, and PodGroups are told how it went. No preemption; other schedulers' pods only take room.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from gangline.api import names
from gangline.api.builtin import Untyped
from gangline.api.core import Node, Pod
from gangline.api.kinds import COMPOSITE_POD_GROUP, KUBE_POD_GROUP, KUBE_POD_GROUP_V1ALPHA2, NODE, POD, PVC, Kind
from gangline.api.meta import Condition, condition
from gangline.client.wire import STRATEGIC_PATCH
from gangline.cluster.world.discovery import served
from gangline.cluster.world.pods.kubelet import volume_claims
from gangline.cluster.world.scheduling.gangs import (
    BY_PARENT,
    KINDS,
    WorkloadGangs,
    by_parent,
    gang_key,
    group_name,
    needs,
)
from gangline.cluster.world.scheduling.place import Answer, Board, PlacingRefused, PodBinding, Round, Unit, by_turn
from gangline.cluster.world.scheduling.pod_affinity import cares
from gangline.errors import ApiError, Conflict, NotFound
from gangline.runtime import BackgroundService, Cache, Context, Key, key_of
from gangline.runtime.clock import timestamp

log = logging.getLogger(__name__)
CONCURRENT = 32
UNITS_AT_ONCE = 500
"""Pods or gangs that are placed before what became of them is written, and others have a turn."""
CONDITIONS: dict[Kind[Untyped], str] = {
    KUBE_POD_GROUP: "PodGroupInitiallyScheduled",
    KUBE_POD_GROUP_V1ALPHA2: "PodGroupScheduled",
}
"""Kind of PodGroup → the condition that says whether it could start; once true it stays so."""
SELECTED_NODE = "volume.kubernetes.io/selected-node"


def ours(pod: Pod) -> bool:
    return pod.spec.scheduler_name in ("", names.DEFAULT_SCHEDULER)


def waits(pod: Pod) -> bool:
    return (
        ours(pod)
        and not pod.spec.node_name
        and not pod.spec.scheduling_gates
        and not pod.metadata.deleting
        and pod.status.phase in ("", "Pending")
    )


def occupies(pod: Pod) -> bool:
    return bool(pod.spec.node_name) and pod.status.phase not in ("Succeeded", "Failed")


@dataclass(slots=True)
class DefaultScheduler:
    board: Board = field(default_factory=Board)
    waiting: dict[Key, Pod] = field(default_factory=dict)
    placed: dict[str, dict[str, None]] = field(default_factory=dict)
    """Gang → uids of its pods that have a node."""
    followed: frozenset[Kind[Any]] = frozenset()
    """Which kinds of the Workload API the server has."""
    untold: dict[Key, None] = field(default_factory=dict)
    """PodGroups that changed, or got nodes for pods, since their conditions were looked at."""
    told: dict[str, str] = field(default_factory=dict)
    """uid of a PodGroup → what it was told last: why it waits, or nothing once it could start."""
    dirty: asyncio.Event = field(default_factory=asyncio.Event)
    busy: bool = True
    _tried: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    """Unit → board version and members when it was last refused: not tried again before one of them changes."""

    @property
    def idle(self) -> bool:
        return not self.busy and not self.dirty.is_set()

    async def run(self, ctx: Context, cache: Cache) -> None:
        await self._follow(ctx, cache)
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
                self._tried.clear()
                self.dirty.set()

    async def _follow(self, ctx: Context, cache: Cache) -> None:
        """Watch what says which pods are a gang, as far as the server has it."""
        self.followed = frozenset(await served(ctx.client, *KINDS))
        for kind in sorted(self.followed, key=lambda kind: kind.api_version):
            cache.informer(kind).on_change(self._gang_moved)
        for kind in self.followed & {KUBE_POD_GROUP, COMPOSITE_POD_GROUP}:
            cache.informer(kind).add_index(BY_PARENT, by_parent)
        if self.followed:
            await cache.start()

    # --- looking
    # -------------------------------------------------------------------------------------------------------

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
            if self._arrives(after):
                self.dirty.set()
        elif pod.uid in self.board.held and (after is None or after.spec.node_name):
            self._release(pod)
        if after is not None and waits(after):
            known = self.waiting.get(key_of(after))
            self.waiting[key_of(after)] = after
            if known is None or cares(after) or _asks(known) != _asks(after):
                self.dirty.set()
        elif self.waiting.pop(key_of(pod), None) is not None and after is None:
            self._release(pod)

    def _arrives(self, pod: Pod) -> bool:
        """A pod has a node, or is about to; says whether that is news to a PodGroup."""
        found = self.placed.setdefault(gang_key(pod), {})
        if pod.uid in found:
            return False
        found[pod.uid] = None
        if group_name(pod):
            self.untold[Key(pod.namespace, group_name(pod))] = None
        return bool(group_name(pod))

    def _release(self, pod: Pod) -> None:
        self.forget(pod)
        self.dirty.set()

    def forget(self, pod: Pod) -> None:
        """The pod has no node after all."""
        self.board.free(pod.uid)
        self.placed.get(gang_key(pod), {}).pop(pod.uid, None)

    def _gang_moved(self, before: Any, after: Any) -> None:
        if after is None:
            self.told.pop(before.uid, None)
        elif before is None or before.spec != after.spec:
            self.untold[key_of(after)] = None
        if before is None or after is None or before.spec != after.spec:
            self._tried.clear()
            self.dirty.set()

    # --- one round
    # -----------------------------------------------------------------------------------------------------

    async def _round(self, ctx: Context) -> None:
        """In turn, some at a time: others are served in between."""
        gangs = WorkloadGangs(ctx.read, self.followed, self._nodes)
        units = gangs.units(by_turn(pod for pod in self.waiting.values() if pod.uid not in self.board.held))
        for start in range(0, max(len(units), 1), UNITS_AT_ONCE):
            answers = self._place(units[start : start + UNITS_AT_ONCE])
            await _write_all(ctx, self, answers)
            await self._tell_groups(ctx, gangs, answers)

    def _place(self, units: Iterable[Unit]) -> list[Answer]:
        look, answers = Round(self.board), list[Answer]()
        for unit in units:
            pods = unit.everyone()
            if any(pod.uid in self.board.held for pod in pods):  # somebody else placed it meanwhile
                self.dirty.set()
                continue
            now = self.board.version, tuple(pod.uid for pod in pods)
            if self._tried.get(unit.key) == now and not any(cares(pod) for pod in pods):
                continue
            found = look.place(unit)
            if any(isinstance(item, PlacingRefused) for item in found):
                self._tried[unit.key] = now
            answers += found
        for answer in answers:
            if isinstance(answer, PodBinding):
                self._arrives(answer.pod)
        return answers

    def _nodes(self, gang: str) -> tuple[str, ...]:
        return tuple(self.board.held[uid][0] for uid in self.placed.get(gang, ()))

    async def _tell_groups(self, ctx: Context, gangs: WorkloadGangs, answers: Iterable[Answer]) -> None:
        """PodGroups that could start are told so, and those whose pods found no room why not."""
        reasons = dict.fromkeys(self.untold, "")
        for answer in answers:
            if isinstance(answer, PlacingRefused) and answer.tried and group_name(answer.pod):
                key = Key(answer.pod.namespace, group_name(answer.pod))
                reasons[key] = reasons.get(key) or answer.reason
        await _together(self._tell_group(ctx, gangs, key, reason) for key, reason in reasons.items())

    async def _tell_group(self, ctx: Context, gangs: WorkloadGangs, key: Key, reason: str) -> None:
        self.untold.pop(key, None)
        group = gangs.group(key.namespace, key.name)
        if gangs.kind is None or group is None:
            return
        started = len(self.placed.get(str(key), ())) >= needs(group)
        if not started and not reason:
            return
        try:
            await self._write_condition(ctx, gangs.kind, group, "" if started else reason)
        except ApiError:
            self.untold[key] = None
            raise

    async def _write_condition(self, ctx: Context, kind: Kind[Untyped], group: Untyped, reason: str) -> None:
        """Once it could start a PodGroup is told nothing else; `told` knows what has been written and is not seen
        yet."""
        said = _said(group, CONDITIONS[kind])
        seen = None if said is None else said.message if said.status == "False" else ""
        if self.told.get(group.uid, seen) in ("", reason):
            return
        since = said.last_transition_time if said is not None and reason else timestamp(ctx.clock.now())
        wanted = {
            "type": CONDITIONS[kind],
            "status": "False" if reason else "True",
            "reason": "Unschedulable" if reason else "Scheduled",
            "message": reason,
            "observedGeneration": group.metadata.generation,
            "lastTransitionTime": since,
        }
        try:
            await ctx.client.patch(
                kind,
                group.name,
                group.namespace,
                {"metadata": {"uid": group.uid}, "status": {"conditions": [wanted]}},
                subresource="status",
                content_type=STRATEGIC_PATCH,
            )
        except (NotFound, Conflict):
            return
        self.told[group.uid] = reason


def _said(group: Untyped, type: str) -> Condition | None:
    """What stands on a PodGroup."""
    found = next((item for item in (group.status or {}).get("conditions") or () if item.get("type") == type), None)
    return msgspec.convert(found, Condition) if found is not None else None


def _asks(pod: Pod) -> object:
    """What of a waiting pod decides about it; what it was told does not."""
    return pod.uid, pod.spec, pod.labels, pod.annotations


def _matters(node: Node) -> object:
    """What of a node decides about pods; heartbeats do not."""
    ready = condition(node.status.conditions, "Ready")
    return node.labels, node.spec, node.status.allocatable, ready.status if ready else ""


# --- acting
# ------------------------------------------------------------------------------------------------------------


async def _write_all(ctx: Context, scheduler: DefaultScheduler, answers: Iterable[Answer]) -> None:
    await _together(
        _bind(ctx, scheduler, answer) if isinstance(answer, PodBinding) else _refuse(ctx, answer) for answer in answers
    )


async def _together(writes: Iterable[Coroutine[Any, Any, None]]) -> None:
    """All of them, some at a time; the first that failed is raised once all are done."""
    gate = asyncio.Semaphore(CONCURRENT)

    async def one(write: Coroutine[Any, Any, None]) -> None:
        async with gate:
            await write

    for outcome in await asyncio.gather(*(one(write) for write in writes), return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


async def _bind(ctx: Context, scheduler: DefaultScheduler, bind: PodBinding) -> None:
    pod = bind.pod
    try:
        await _choose_volumes(ctx, pod, bind.node)
        await ctx.client.bind(pod.name, pod.namespace, bind.node, uid=pod.uid)
    except (NotFound, Conflict):
        scheduler.forget(pod)
        return
    except ApiError:
        scheduler.forget(pod)
        raise
    ctx.events.tell(POD, pod, "Scheduled", f"Successfully assigned {pod.namespace}/{pod.name} to {bind.node}")


async def _choose_volumes(ctx: Context, pod: Pod, node: str) -> None:
    """Claims that wait for their first consumer learn where it is."""
    for name in volume_claims(pod):
        claim = ctx.read.get(PVC, name, pod.namespace)
        if claim is not None and not claim.spec.volume_name and SELECTED_NODE not in claim.annotations:
            await ctx.client.patch(PVC, name, pod.namespace, {"metadata": {"annotations": {SELECTED_NODE: node}}})


async def _refuse(ctx: Context, refused: PlacingRefused) -> None:
    pod, said = refused.pod, condition(refused.pod.status.conditions, "PodScheduled")
    if said is not None and (said.status, said.reason, said.message) == ("False", "Unschedulable", refused.reason):
        return
    since = said.last_transition_time if said is not None and said.status == "False" else timestamp(ctx.clock.now())
    wanted = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": refused.reason,
        "lastProbeTime": None,
        "lastTransitionTime": since,
    }
    try:
        await ctx.client.patch(
            POD,
            pod.name,
            pod.namespace,
            {"status": {"conditions": [wanted]}},
            subresource="status",
            content_type=STRATEGIC_PATCH,
        )
    except NotFound:
        return
    ctx.events.tell(POD, pod, "FailedScheduling", refused.reason, warning=True)


def scheduler() -> BackgroundService:
    work = DefaultScheduler()
    return BackgroundService("scheduler", work.run, idle=lambda: work.idle, prepare=_prepare)


def _prepare(cache: Cache) -> None:
    for kind in (POD, NODE, PVC):
        cache.informer(kind)
