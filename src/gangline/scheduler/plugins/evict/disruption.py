"""Evictions have a price: nobody is evicted for more than it is worth, nor twice for the same reason within a grace.

Asked by consolidation, reclaim and preempt, first about each possible victim, then about a finished what-if. A victim
costs the GPU-seconds of work that it loses (`victims/price.py`) and those of its restart. What was evicted before is in
the ledger (`victims/ledger.py`). Only says no, and what costs how much; who is fair game is other plugins' to say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gangline.errors import ConfigError
from gangline.rules.values import times
from gangline.scheduler.decisions import Evict
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.queue import QueueInfo
from gangline.scheduler.model.resources import GPU
from gangline.scheduler.model.status import ALLOCATED, Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.easier import waits_since
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.refusals import TOO_DEAR, GangRefusals
from gangline.scheduler.victims.budgets import kept_by
from gangline.scheduler.victims.ledger import HOUR, ledger_of
from gangline.scheduler.victims.moves import may_be_moved, moves_of, room_now, starts_first
from gangline.scheduler.victims.price import gpus_held, keeps_minima, lost_gpu_seconds, struck, taken

if TYPE_CHECKING:
    from gangline.scheduler.session import Session
    from gangline.scheduler.victims.accumulate import Scenario

CONSOLIDATION, PREEMPT = "consolidation", "preempt"
DUST = 1e-6


@dataclass(frozen=True, slots=True)
class DisruptionLimits:
    """Times are seconds. `ratio`: at most so many times the GPUs asked for are evicted. `consolidation` and `reclaim`:
    so many times what the waiting gang gains may these actions cost. `headstart`: a waiting gang without a reserved
    start is taken to have waited at least so long. `patience`: one within its queue's quota that has waited so long
    reclaims at any price. `grace`: so long runs a gang that was evicted before the same action may evict it again.
    `restart`: what starting again costs each GPU of a victim. `evictions`: of one gang in a day, and `lost`: GPU-hours
    of one queue in an hour, at most, where the queue itself says nothing; infinite: no limit."""

    ratio: float = 2.0
    consolidation: float = 0.5
    reclaim: float = 1.0
    headstart: float = 3600.0
    patience: float = 3600.0
    grace: float = 3600.0
    restart: float = 300.0
    evictions: float = math.inf
    lost: float = math.inf


@dataclass(frozen=True, slots=True)
class SparedVictim:
    """Why a gang is not evicted for another one: which limit, what there is and what is allowed.

    `limit`: placed (in this cycle), ratio (GPUs), evictions (in a day), grace (seconds), lost and price (GPU-hours)."""

    limit: str
    held: float
    allowed: float


class VictimLosses(NamedTuple):
    """Of a gang that may be a victim, as of one version of it."""

    version: int
    placed_now: bool
    gpus: float
    price: float


DURATIONS = ("grace", "restart", "headstart", "patience")


class DisruptionPlugin(Plugin):
    name = "disruption"

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._session = session
        self._limits = read_limits(arguments)
        self._ledger = ledger_of(session.cluster)
        self._asked: dict[str, float] = {}
        self._gains: dict[tuple[str, str], float] = {}
        self._waits: dict[str, float] | None = None
        self._guessed: set[str] = set()
        self._spared: dict[str, dict[str, None]] = {}
        self._known: dict[str, VictimLosses] = {}
        self._moving = moves_of(session.cluster).concerned(session.cluster, session.now)

    # ── who may be a victim ──

    def reclaim_victim(self, preemptor: GangInfo, victim: GangInfo) -> bool:
        if self._pays_for_its_sibling(victim):
            return False
        may = self._may_lose(preemptor, victim) and self._worth_losing(preemptor, victim)
        return may or self._spare(preemptor, victim)

    def preempt_victim(self, preemptor: GangInfo, victim: GangInfo) -> bool:
        return self._may_lose(preemptor, victim) or self._spare(preemptor, victim)

    def consolidate_victim(self, preemptor: GangInfo, victim: GangInfo) -> bool:
        if not may_be_moved(victim) or victim.uid in self._moving:
            return False
        return self._may_lose(preemptor, victim) and self._worth_losing(preemptor, victim)

    def _worth_losing(self, preemptor: GangInfo, victim: GangInfo) -> bool:
        gain = self._gain(preemptor)
        return victim.elastic or self._losses(victim).price <= gain

    def _losses(self, victim: GangInfo) -> VictimLosses:
        """Kept until a status of the victim changes."""
        kept = self._known.get(victim.uid)
        if kept is None or kept.version != victim.version:
            tasks = victim.allocated_tasks
            kept = VictimLosses(victim.version, self._placed_now(victim), gpus_held(tasks), self._price(victim, tasks))
            self._known[victim.uid] = kept
        return kept

    def _may_lose(self, preemptor: GangInfo, victim: GangInfo) -> bool:
        """A gang with surplus may in any case give that, unless it was placed just now. What the preemptor asks for is
        worked out here, where nothing of it is placed in a what-if yet."""
        most, losses = self._most_gpus(preemptor), self._losses(victim)
        if losses.placed_now:
            return False
        if victim.elastic:
            return True
        if losses.gpus > most or self._protected(victim):
            return False
        return not self._session.cluster.budgets or self._budgets_allow(victim.allocated_tasks)

    def _budgets_allow(self, tasks: Sequence[TaskInfo]) -> bool:
        """Whether every PodDisruptionBudget allows that these go too."""
        cluster = self._session.cluster
        return not cluster.budgets or kept_by(cluster, tasks, self._going())

    def _going(self) -> list[TaskInfo]:
        """Tasks that this cycle evicts already."""
        tasks = self._session.cluster.tasks
        return [tasks[commit.task] for commit in self._session.commits if isinstance(commit, Evict)]

    def _pays_for_its_sibling(self, victim: GangInfo) -> bool:
        """Its queue is within its quota while another one below the same parent borrows: that one gives back."""
        queues = self._session.queues
        queue = queues.get(victim.queue)
        if queue is None or queue.parent not in queues or self._borrows(queue):
            return False
        siblings = [queues[name] for name in queues[queue.parent].children if name in queues and name != queue.name]
        return any(self._borrows(sibling) for sibling in siblings)

    def _borrows(self, queue: QueueInfo) -> bool:
        held, quota = self._session.hooks.queue_allocated(queue), self._session.hooks.queue_deserved(queue)
        return held is not None and quota is not None and 0 <= quota[2] < held[2] - DUST

    def _spare(self, preemptor: GangInfo, victim: GangInfo) -> bool:
        """Remember, for the preemptor's refusal, that this one could have made room."""
        self._spared.setdefault(preemptor.uid, {})[victim.uid] = None
        return False

    def spared(self, preemptor: GangInfo, victim: GangInfo) -> SparedVictim | None:
        """What of all this keeps the victim where it is, under the session's action; None: nothing does."""
        held, most = gpus_held(victim.allocated_tasks), self._most_gpus(preemptor)
        if self._placed_now(victim):
            return SparedVictim("placed", 0.0, 0.0)
        if victim.elastic:
            return None
        if held > most:
            return SparedVictim("ratio", held, most)
        now, uid = self._session.now, victim.uid
        if self._ledger.broken_in_a_day(uid, now) >= self._evictions_allowed(victim):
            return SparedVictim("evictions", self._ledger.broken_in_a_day(uid, now), self._evictions_allowed(victim))
        if self._protected(victim):
            return SparedVictim("grace", now - (victim.last_eviction or now), self._grace(uid, self._session.action))
        lost = self._lost(victim, victim.allocated_tasks)
        if not self._within_budget(victim.queue, lost):
            return SparedVictim("lost", lost / HOUR, self._lost_allowed(victim.queue))
        price, gain = self._price(victim, victim.allocated_tasks), self._gain(preemptor)
        if self._session.action != PREEMPT and price > gain:
            return SparedVictim("price", price / HOUR, gain / HOUR)
        return None

    def not_solved(self, preemptor: GangInfo) -> None:
        spared = self._spared.get(preemptor.uid)
        if spared and self._session.first_time(("spared", preemptor.uid)):
            text = (
                f"{len(spared)} workload(s) could make room, but evicting them would cost more work than it is worth "
                f"yet, or they were evicted or placed a short time ago"
            )
            if any(self._kept_by_budget(uid) for uid in spared):
                text += ", or a PodDisruptionBudget keeps them"
            self._session.refuse(preemptor, GangRefusals(TOO_DEAR, (text,), self.name))

    def _kept_by_budget(self, gang: str) -> bool:
        return not self._budgets_allow(self._session.cluster.gangs[gang].allocated_tasks)

    def _placed_now(self, gang: GangInfo) -> bool:
        """Whether it, or one of its pods, got its place or the promise of one in this cycle."""
        return gang.last_start == self._session.now or any(
            task.status == Status.PIPELINED or (task.status & ALLOCATED and task.record.status == Status.PENDING)
            for task in gang.tasks.values()
        )

    def _protected(self, gang: GangInfo) -> bool:
        """Evicted for the same reason too short a time ago, or too often today."""
        now, uid = self._session.now, gang.uid
        if self._ledger.broken_in_a_day(uid, now) >= self._evictions_allowed(gang):
            return True
        action = self._session.action
        broken = self._ledger.last_broken(uid, action) if self._ledger.of_gang(uid) else gang.last_eviction
        if broken is None:
            return False
        return now < max(broken, gang.last_start or broken) + self._grace(uid, action)

    def _grace(self, uid: str, action: str) -> float:
        """A gang that was moved in vain may be moved in vain again: each time of a day doubles the grace."""
        moved = self._ledger.times_broken(uid, action) if action == CONSOLIDATION else 1
        return self._limits.grace * 2.0 ** max(moved - 1, 0)

    # ── whether a plan is worth it ──

    def reclaim_scenario(self, scenario: Scenario) -> bool:
        return self._pays(scenario)

    def preempt_scenario(self, scenario: Scenario) -> bool:
        return self._affordable(scenario) is not None

    def consolidate_scenario(self, scenario: Scenario) -> bool:
        tasks = [task for _, tasks in scenario.victims for task in tasks]
        return room_now(self._session, tasks) and self._pays(scenario)

    def _pays(self, scenario: Scenario) -> bool:
        price = self._affordable(scenario)
        return price is not None and price <= self._gain(scenario.preemptor) + DUST

    def _affordable(self, scenario: Scenario) -> float | None:
        """What the plan costs; None when it takes too many GPUs, somebody who is protected, more than a queue's
        budget, or more pods than a PodDisruptionBudget allows."""
        gpus, price, by_queue, leaving = 0.0, 0.0, dict[str, float](), list[TaskInfo]()
        for gang, tasks in scenario.victims:
            losers = struck(gang, taken(tasks))
            if not losers:
                continue
            leaving += taken(tasks)
            if gang.elastic and not keeps_minima(gang, taken(tasks)) and self._protected(gang):
                return None
            gpus += gpus_held(losers)
            lost = self._lost(gang, losers)
            price += lost + self._limits.restart * gpus_held(losers)
            by_queue[gang.queue] = by_queue.get(gang.queue, 0.0) + lost
        if gpus > self._most_gpus(scenario.preemptor) + DUST:
            return None
        if not self._budgets_allow(leaving):
            return None
        return price if all(self._within_budget(queue, lost) for queue, lost in by_queue.items()) else None

    def victim_price(self, victim: GangInfo, tasks: Sequence[TaskInfo]) -> float:
        return self._price(victim, tasks)

    def _price(self, gang: GangInfo, tasks: Sequence[TaskInfo]) -> float:
        return self._lost(gang, tasks) + self._limits.restart * gpus_held(tasks)

    def _lost(self, gang: GangInfo, tasks: Sequence[TaskInfo]) -> float:
        """What starts its replacement before it goes loses nothing by a move."""
        if self._session.action == CONSOLIDATION:
            tasks = [task for task in tasks if not starts_first(task)]
        return lost_gpu_seconds(gang, tasks, self._session.now)

    def _most_gpus(self, preemptor: GangInfo) -> float:
        """GPUs that may be evicted for this gang. One that asks for none is not held to it."""
        uid = preemptor.uid
        if uid not in self._asked:
            asked = self._session.asked(preemptor)[GPU]
            self._asked[uid] = self._limits.ratio * math.ceil(asked - DUST) if asked else math.inf
        return self._asked[uid]

    def _gain(self, preemptor: GangInfo) -> float:
        """GPU-seconds that may be lost so that the gang starts now. One that asks for no GPUs is not held to it."""
        key = (self._session.action, preemptor.uid)
        if key not in self._gains:
            asked = self._session.asked(preemptor)[GPU]
            self._gains[key] = self._worth(preemptor) * asked if asked else math.inf
        return self._gains[key]

    def _worth(self, preemptor: GangInfo) -> float:
        """The same per GPU: for as long as the gang would wait. What has no reserved start is taken to wait as long
        again as it has waited."""
        now, limits = self._session.now, self._limits
        waited = now - waits_since(preemptor)
        wait = max(waited, limits.headstart)
        if self._session.action == CONSOLIDATION:
            return limits.consolidation * max(self._reserved_in(preemptor, wait), 0.0)
        if waited >= limits.patience and self._within_quota(preemptor):
            return math.inf
        return limits.reclaim * wait

    def _reserved_in(self, gang: GangInfo, otherwise: float) -> float:
        """Seconds until the start that is reserved for the gang. One that is only guessed is no ground for losing more
        work than the gang has waited for."""
        if self._waits is None:
            self._waits = {made.gang: made.start - self._session.now for made in self._session.reservations}
            self._guessed = {made.gang for made in self._session.reservations if not made.sure}
        wait = self._waits.get(gang.uid, otherwise)
        return min(wait, otherwise) if gang.uid in self._guessed else wait

    def _within_quota(self, gang: GangInfo) -> bool:
        queue = self._session.queues[gang.queue]
        held, quota = self._session.hooks.queue_allocated(queue), self._session.hooks.queue_deserved(queue)
        if held is None or quota is None:
            return True
        return quota[2] < 0 or held[2] + self._session.asked(gang)[GPU] <= quota[2] + DUST

    # ── budgets ──

    def _evictions_allowed(self, gang: GangInfo) -> float:
        queue = self._session.queues.get(gang.queue)
        own = queue.record.evictions_per_day if queue is not None else None
        return self._limits.evictions if own is None else own

    def _lost_allowed(self, name: str) -> float:
        queue = self._session.queues.get(name)
        own = queue.record.lost_per_hour if queue is not None else None
        return self._limits.lost if own is None else own

    def _within_budget(self, name: str, lost: float) -> bool:
        allowed = self._lost_allowed(name)
        if allowed == math.inf:
            return True
        before = self._ledger.lost_in_an_hour(name, self._session.now) + self._lost_now(name)
        return before + lost <= allowed * HOUR + DUST

    def _lost_now(self, queue: str) -> float:
        """GPU-seconds that this cycle's decisions cost the queue so far."""
        tasks = self._session.cluster.tasks
        evicted = [commit for commit in self._session.commits if isinstance(commit, Evict)]
        return sum(
            commit.lost for commit in evicted if (gang := tasks[commit.task].gang) is not None and gang.queue == queue
        )


def read_limits(arguments: Mapping[str, str]) -> DisruptionLimits:
    """The plugin's arguments; durations are written as 1h or 90s, the rest as numbers."""
    limits: dict[str, float] = {}
    for name in DisruptionLimits.__slots__:
        text = arguments.get(name)
        if text is None:
            continue
        try:
            limits[name] = times.duration(text) if name in DURATIONS else float(text)
        except ValueError as error:
            raise ConfigError(f"plugins: disruption: {name}: {error}") from None
        if not limits[name] >= 0:
            raise ConfigError(f"plugins: disruption: {name} must not be negative")
    return DisruptionLimits(**limits)
