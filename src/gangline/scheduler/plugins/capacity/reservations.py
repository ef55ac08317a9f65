"""A start contract for gangs that do not fit: the earliest place and time at which each could start, and nobody who
comes after it may delay that.

Stands behind allocate: a gang for which there was no room is handed in (`not_placed`), in fair order; the first of them
get a reservation each. A pod that comes later may use a reserved node if it is expected to be gone by then, or if the
node has enough GPUs for both. Where nothing is known of runtimes a gang reserves only after enough others overtook it,
and keeps the place it chose. Among gangs of one pod those that say they are short go first: nobody is overtaken by what
came later for longer than it runs itself. A reservation binds only in allocate and consolidation: reclaim and preempt
go by quotas and priorities alone. It is worked out anew in every cycle, so one that no longer makes sense is gone.
Never places or evicts anything."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from gangline.errors import ConfigError, Refusal
from gangline.rules.gangs.starts import clock_text
from gangline.rules.values import times
from gangline.scheduler.decisions import StartReservation
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import GPU, fits
from gangline.scheduler.model.status import Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.waiting import waiting_bundles
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.time.earliest import EarliestStart, NodeSlots, earliest_start, slots_of, soonest_start
from gangline.scheduler.time.expected import expected_runtime, stated_runtime
from gangline.scheduler.time.profile import NodeFuture, slot_times
from gangline.scheduler.time.slots import slot_index

if TYPE_CHECKING:
    from gangline.scheduler.session import Session

DEPTH = 16
BOUND = ("allocate", "consolidation")
"""Actions in which a reservation counts."""
OVERTAKING = 2.0
MOST_DRAINED = 0.25
"""The first gang may have any number of nodes drained; others only as long as all together have no more than this part
of them."""
MARGIN = 3.0
YIELDS = "24h"
UNKNOWN_RUNTIME = 3600.0
"""Seconds that a gang of which nothing is known may need before a reserved start: as long as one that runs is taken to
need at least."""
CLOSING = 4.0
"""Overtaken by so many times as much as it takes to reserve, a gang lets nobody pass of whom nothing is known."""
LEARNED_MARGIN = 2.0
MOST_TAKE = 0.25
"""Where fewer than this part of the nodes take a pod, each of them is looked at."""
WORTH_MOVING = 3.0
"""A place chosen blindly is given up for one that should be free so many times sooner."""

STARTS = "starts there as soon as it can"
"""Shown where no time is known: a guess would change in every cycle, and with it the condition of every pod."""


class ReservationsPlugin(Plugin):
    """`depth`: how many gangs may hold a reservation at a time. `overtaking`: so many times its own GPUs must others
    have started with before a gang reserves where nothing is known of the runtimes in its way. `margin`: so many times
    its expected runtime must a pod have before a reserved start, at most; less where gangs are known to end as they
    say. `yields`: for so long at most a gang of one pod lets shorter ones that come after it go first."""

    name = "reservations"

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._session = session
        self._cluster = session.cluster
        self._depth, self._overtaking, self._margin, self._yields = _read(arguments)
        self._made: dict[str, StartReservation] = {}
        self._on_node: dict[str, list[tuple[StartReservation, float]]] = {}
        self._blocked: float | None = None
        self._torn = False
        """The gang at hand runs and lacks pods."""
        self._draining: set[str] = set()
        """Gangs for which nodes are drained."""
        self._open: set[str] = set()
        """Those of them that were not overtaken for so long that nobody of whom nothing is known may pass any more."""
        self._shared: bool | None = None
        """Whether several queues hold GPUs or ask for some."""
        self._drained = 0
        """Nodes that are reserved though nothing is known of the runtimes in the way."""
        self._kept: dict[str, frozenset[str]] = self._cluster.memo.setdefault("places kept", {})
        self._marks: dict[str, float] = self._cluster.memo.setdefault("overtaken since", {})
        self._futures: dict[str, NodeFuture] = self._cluster.futures

    # ── whose turn it is ──

    def gang_order(self, gang: GangInfo) -> float:
        return gang.created if gang.active_used else self._turn(gang)

    def _turn(self, gang: GangInfo) -> float:
        """Nobody who comes after this moment goes before the gang. One of many pods gets no later turn: whoever
        overtakes it takes a part of the place that it waits for. What was learned of others does not count: it says
        little about which of them is the shorter one."""
        stated = stated_runtime(gang) if len(gang.tasks) == 1 else None
        return gang.created + min(stated or 0.0, self._yields)

    # ── who may not start yet ──

    def before_gang(self, gang: GangInfo) -> None:
        self._blocked, self._torn = None, _torn(gang)

    def predicate(self, task: TaskInfo, node: NodeInfo) -> Refusal | None:
        on_node = self._on_node.get(node.name)
        if on_node is None or self._session.action not in BOUND or not task.needs_gpu or self._torn:
            return None
        if task.record.replaces:
            return None  # a move that makes room for a gang that waits
        assert task.gang is not None
        end, known = self._gone_by(task.gang), expected_runtime(task.gang) is not None
        for reservation, _ in on_node:
            if (
                reservation.gang == task.gang.uid
                or (end <= reservation.start if known else self._may_pass(node, reservation, end))
                or self._room_for_both(task, node, reservation, on_node)
            ):
                continue
            self._blocked = end
            starts = f"can start at {clock_text(reservation.start, self._session.now)}" if reservation.sure else STARTS
            return Refusal(self.name, f"node(s) are kept for {reservation.name}, which {starts}", resolvable=False)
        return None

    def _may_pass(self, node: NodeInfo, reservation: StartReservation, end: float) -> bool:
        """Whether work of which nothing is known may start on a node that is drained for a gang that was not overtaken
        too often: it should delay nothing. Where several queues share the cluster, and one may take back what another
        started, it is enough that it alone should not."""
        if reservation.gang not in self._open:
            return False
        if self._several_queues():
            return end <= reservation.start
        return self._future(node).free_with_another(node, self._session.now) <= reservation.start

    def _several_queues(self) -> bool:
        if self._shared is None:
            queues = self._session.queues.values()
            self._shared = sum(queue.is_leaf and (queue.held.gpu > 0 or queue.asked.gpu > 0) for queue in queues) > 1
        return self._shared

    def _room_for_both(
        self,
        task: TaskInfo,
        node: NodeInfo,
        reservation: StartReservation,
        on_node: list[tuple[StartReservation, float]],
    ) -> bool:
        kept = sum(gpus for other, gpus in on_node if other.start <= reservation.start)
        free = self._future(node).free_at(node, reservation.start)
        return free - kept >= math.ceil(task.request[GPU] or 1)

    def fails_alike(self, failed: GangInfo, other: GangInfo) -> bool:
        """A gang that failed only because of a reservation says nothing about one that ends sooner, nor about one that
        runs and lacks pods. The next one of the same kind may have nodes drained too."""
        if (failed.uid in self._draining and len(self._made) < self._depth) or _torn(other):
            return False
        if self._blocked is None:
            return True
        return self._gone_by(other) >= self._blocked

    def _gone_by(self, gang: GangInfo) -> float:
        """When nearly all gangs of which as much is known would be over, started now. How far words are to be trusted
        is learned from what ended; at most the margin is allowed for. What was learned of runtimes is long already."""
        now, stated, overrun = self._session.now, stated_runtime(gang), gang.record.overrun
        if stated is not None:
            return now + stated * (self._margin if overrun is None else min(overrun, self._margin))
        learned = gang.record.learned_runtime
        return now + (UNKNOWN_RUNTIME if learned is None else learned * LEARNED_MARGIN)

    # ── who gets a reservation ──

    def _forget_placed(self) -> None:
        """Gangs that wait no longer; looked for when there may be many."""
        for memory in (self._marks, self._kept):
            if len(memory) > 2 * len(self._cluster.waiting) + 16:
                for uid in [uid for uid in memory if uid not in self._cluster.waiting]:
                    del memory[uid]

    def not_placed(self, gang: GangInfo) -> None:
        if not self._made:
            self._forget_placed()
        if len(self._made) >= self._depth or gang.active_used:
            return
        tasks = self._session.wanted(gang, False)
        if not tasks or any(task.shared or not task.gpus for task in tasks):
            return
        gpus = max(task.gpus for task in tasks)
        start = self._earliest(gang, tasks, gpus)
        if start is None or start.moment <= self._session.now:
            return
        if self._within_share(gang, start, gpus) and self._may_reserve(gang, start):
            self._reserve(gang, start, gpus)

    def _earliest(self, gang: GangInfo, tasks: Sequence[TaskInfo], gpus: float) -> EarliestStart | None:
        """On the nodes that the gang chose when nothing was known, as long as they will do; else on any."""
        takers = self._takers(tasks[0])
        other, kept = self._soonest(gang, takers, gpus, len(tasks)), self._kept.get(gang.uid)
        if kept is None:
            return other
        chosen = [self._cluster.nodes[name] for name in sorted(kept) if name in takers.names]
        start, now = earliest_start(self._slots(gang, chosen, gpus), len(tasks)), self._session.now
        if start is not None and other is not None and start.moment - now <= WORTH_MOVING * (other.moment - now):
            return start
        del self._kept[gang.uid]
        return other

    def _soonest(self, gang: GangInfo, takers: NodeTakers, gpus: float, pods: int) -> EarliestStart | None:
        """Of the nodes without reservations only those that are free soonest are looked at, where most take the pod
        and no domain is required."""
        if _level(gang) or len(takers.nodes) < MOST_TAKE * len(self._cluster.nodes):
            return earliest_start(self._slots(gang, takers.nodes, gpus), pods)
        index = slot_index(self._cluster, gpus, self._session.now, self._future)
        free = (slot for slot in index.soonest() if slot[2] not in self._on_node and slot[2] in takers.names)
        reserved = [self._cluster.nodes[name] for name in self._on_node if name in takers.names]
        return soonest_start([*islice(free, pods), *slots_of(self._slots(gang, reserved, gpus), pods)], pods)

    def _reserve(self, gang: GangInfo, start: EarliestStart, gpus: float) -> None:
        nodes = {name: pods * gpus for name, pods in start.nodes.items()}
        waits_for, sure = self._counts_on(start)
        sure = sure and self._turn(gang) <= self._session.now and not self._others_first(gang)
        made = StartReservation(
            gang.uid, gang.full_name, start.moment, tuple(sorted(nodes.items())), waits_for=waits_for, sure=sure
        )
        self._made[gang.uid] = made
        for name, kept in nodes.items():
            self._on_node.setdefault(name, []).append((made, kept))
        self._session.reserved(made)

    def _others_first(self, gang: GangInfo) -> bool:
        """Whether a gang that comes before this one in its queue waits for GPUs and has no reservation: it may take the
        place."""
        key = self._session.gang_key(gang)
        for bundle in waiting_bundles(self._session).bundles.values():
            first = bundle.gangs[0]
            if first.queue != gang.queue or not any(task.needs_gpu for task in first.tasks.values()):
                continue
            ahead = bundle.gangs[: bisect_left(bundle.keys, key)]
            if any(other.pending and other.uid not in self._made for other in ahead):
                return True
        return False

    def _counts_on(self, start: EarliestStart) -> tuple[str, bool]:
        """Who ends last of those that must end before this start, and whether somebody says of each that it does, later
        than now."""
        now, last, sure = self._session.now, (-math.inf, ""), True
        for name in start.nodes:
            for end, hold in self._future(self._cluster.nodes[name]).ends:
                if end <= start.moment:
                    sure = sure and hold.stated and hold.end > now
                    last = max(last, (end, hold.gang))
            for reservation, _ in self._on_node.get(name, ()):
                if (over := self._over(reservation)) <= start.moment:
                    sure = sure and reservation.sure and self._stated(reservation)
                    last = max(last, (over, reservation.gang))
        return last[1], sure

    def _within_share(self, gang: GangInfo, start: EarliestStart, gpus: float) -> bool:
        """Whether the queue would stay within its fair share when the gang starts; alone in the cluster it always does.
        What the queue itself holds in the reserved places has ended by then."""
        session = self._session
        if len(session.queues) == 1:
            return True
        queue = session.queues[gang.queue]
        held, fair = session.hooks.queue_allocated(queue), session.hooks.queue_fair_share(queue)
        if held is None or fair is None or fair[2] < 0:
            return True
        asked = session.asked(gang, False)[GPU]
        if held[2] <= 0 and asked <= self._cluster.largest_node():
            return True
        ended = sum(min(pods * gpus, self._held_on(name, gang.queue)) for name, pods in start.nodes.items())
        return held[2] - ended + asked <= fair[2] + 1e-6

    def _held_on(self, node: str, queue: str) -> float:
        """GPUs of a node that gangs of this queue hold."""
        return sum(
            placed.charge[GPU]
            for placed in self._cluster.nodes[node].placed.values()
            if placed.task.gang is not None and placed.task.gang.queue == queue and not placed.status & Status.RELEASING
        )

    def _may_reserve(self, gang: GangInfo, start: EarliestStart) -> bool:
        """At once where ends are known; else after enough others overtook the gang, as long as few nodes are drained
        for gangs."""
        if all(self._future(self._cluster.nodes[name]).known for name in start.nodes):
            return True
        drained = self._drained + len(start.nodes)
        if (self._drained and drained > MOST_DRAINED * len(self._cluster.nodes)) or not self._overtaken(gang):
            return False
        self._drained = drained
        self._kept.setdefault(gang.uid, frozenset(start.nodes))
        self._draining.add(gang.uid)
        if not self._overtaken(gang, CLOSING):
            self._open.add(gang.uid)
        return True

    def _overtaken(self, gang: GangInfo, times: float = 1.0) -> bool:
        """Whether others have started with (so many times) enough GPUs since this gang was first seen waiting."""
        started = self._cluster.gpus_started
        since = started - self._marks.setdefault(gang.uid, started)
        return since >= times * self._overtaking * self._session.asked(gang, False)[GPU]

    def _slots(self, gang: GangInfo, nodes: Iterable[NodeInfo], gpus: float) -> Iterator[NodeSlots]:
        """Room for the gang's pods on each of these nodes, without what is reserved already."""
        level = _level(gang)
        for node in nodes:
            if level and level not in node.labels:
                continue
            future, on_node = self._future(node), self._on_node.get(node.name)
            if on_node is None:
                times = future.slot_times(node, gpus)
            else:
                rights = [(self._over(reservation), kept) for reservation, kept in on_node]
                times = slot_times(future.steps(node, rights), gpus)
            yield NodeSlots(node.name, times, node.labels[level] if level else "", node.used[GPU])

    def _takers(self, task: TaskInfo) -> NodeTakers:
        """The nodes that take tasks of this shape at all, by name; kept as long as nodes stay as they are."""
        cluster = self._cluster
        kept = task.shape.answers.get("takers")
        if kept is None or kept[0] != cluster.generation:
            never = self._session.hooks.never
            nodes = [cluster.nodes[name] for name in sorted(cluster.nodes)]
            nodes = [node for node in nodes if fits(task.request, node.allocatable) and not never(task, node)]
            takers = NodeTakers(nodes, frozenset(node.name for node in nodes))
            kept = task.shape.answers["takers"] = (cluster.generation, takers)
        node_takers: NodeTakers = kept[1]
        return node_takers

    def _stated(self, reservation: StartReservation) -> bool:
        return stated_runtime(self._cluster.gangs[reservation.gang]) is not None

    def _over(self, reservation: StartReservation) -> float:
        expected = expected_runtime(self._cluster.gangs[reservation.gang])
        return math.inf if expected is None else reservation.start + expected

    def _future(self, node: NodeInfo) -> NodeFuture:
        """Kept until the node counts other pods, or an end that was expected is over."""
        kept = self._futures.get(node.name)
        if kept is None or kept.used is not node.used or kept.valid_until <= self._session.now:
            kept = self._futures[node.name] = NodeFuture(node, self._session.now)
        return kept


@dataclass(frozen=True, slots=True)
class NodeTakers:
    nodes: Sequence[NodeInfo]
    names: frozenset[str]


def _torn(gang: GangInfo) -> bool:
    """Whether the gang runs and has lost pods that it needs: all its work is lost if they are kept waiting."""
    return gang.active_used > 0 and not gang.gang_satisfied


def _level(gang: GangInfo) -> str:
    """The topology level in one domain of which all of the gang must be."""
    rule = gang.root.topology
    return rule.required if rule is not None else ""


def _read(arguments: Mapping[str, str]) -> tuple[int, float, float, float]:
    try:
        depth, overtaking = int(arguments.get("depth", DEPTH)), float(arguments.get("overtaking", OVERTAKING))
        margin = float(arguments.get("margin", MARGIN))
        yields = times.duration(arguments.get("yields", YIELDS))
    except ValueError as error:
        raise ConfigError(f"plugins: reservations: {error}") from None
    if depth < 0 or not overtaking >= 0 or not yields >= 0 or not 1 <= margin < math.inf:
        raise ConfigError(
            "plugins: reservations: depth, overtaking and yields must not be negative, margin must be at least 1"
        )
    return depth, overtaking, margin, yields
