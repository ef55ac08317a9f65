"""Share the cluster between queues: who goes first, who is at a limit, who may take back from whom.

Keeps the books: accounts are opened from the queues' running sums when a cycle begins, shares are divided once, and
what is held follows every allocation and eviction through the journal. The rules themselves are pure functions in
`scheduler/fairness`; this file only asks them. Never looks at a node's room.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from gangline.errors import Refusal
from gangline.scheduler.fairness import Amounts, QueueAccount, capacity, divide, order, reclaim
from gangline.scheduler.fairness.accounts import NOTHING, UNLIMITED, line, minus, plus
from gangline.scheduler.fairness.capacity import Overrun
from gangline.scheduler.fairness.reclaim import ReclaimChunk, ReclaimingGang
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.queue import QueueAmount, QueueInfo
from gangline.scheduler.model.resources import CPU, GPU, MEMORY, ResourceNames, Vector, summed
from gangline.scheduler.model.status import ACTIVE_ALLOCATED
from gangline.scheduler.model.task import TaskInfo, share_of
from gangline.scheduler.plugin import Plugin, QueueSide
from gangline.scheduler.plugins.capacity.returning import ReturnOrder
from gangline.scheduler.records import Share
from gangline.scheduler.refusals import GangRefusals, QueueFigures
from gangline.scheduler.tally import QueueShare

if TYPE_CHECKING:
    from gangline.scheduler.session import Session

GPU_WORKER = "node-role.kubernetes.io/gpu-worker"
NO_LIMIT: Amounts = (UNLIMITED, UNLIMITED, UNLIMITED)


class ReclaimScenario(Protocol):
    """What a finished what-if shows to `reclaim_scenario`: who gains, and which tasks of whom were taken."""

    @property
    def preemptor(self) -> GangInfo: ...

    @property
    def victims(self) -> Iterable[tuple[GangInfo, Sequence[TaskInfo]]]: ...


class ProportionPlugin(Plugin):
    name = "proportion"

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._session = session
        self._names = session.cluster.names
        self._journal = session.journal
        k = _number(arguments.get("kValue"), 1.0) if session.settings.usage_k is None else session.settings.usage_k
        multiplier = arguments.get("relcaimerSaturationMultiplier") or arguments.get("reclaimerUtilizationMultiplier")
        self.multiplier = max(1.0, _number(multiplier, 1.0))
        self.total = self._total()
        unit = session.cluster.largest_node() if session.settings.strict_turns else 0.0
        self.accounts = open_accounts(session.queues, session.min_gpu_memory, unit)
        divide.divide_hierarchy(self.accounts, self.total, max(0.0, k))
        session.tally.shares = [
            QueueShare(account.uid, account.name, account.fair_share, account.usage)
            for account in self.accounts.values()
        ]
        self._lines: dict[str, tuple[QueueAccount, ...]] = {}
        self._limits: dict[str, bool] = {}
        self._before: dict[str, tuple[Amounts, Amounts]] = {}
        self._turns: dict[str, tuple[Amounts, object, order.Turn]] = {}
        self._returns: ReturnOrder | None = None

    def _total(self) -> Amounts:
        """Kept while nodes stay as they are and no foreign pods take part of them."""
        restricted, cluster = self._session.settings.restrict_nodes, self._session.cluster
        kept = cluster.memo.get(("total", restricted))
        now = (cluster.generation, len(cluster.names))
        if kept is None or kept[0] != now or cluster.has_foreign:
            total = self._amounts(cluster.total(lambda node: not restricted or GPU_WORKER in node.labels))
            kept = cluster.memo["total", restricted] = (None if cluster.has_foreign else now, total)
        amounts: Amounts = kept[1]
        return amounts

    def _amounts(self, vector: Vector) -> Amounts:
        return (vector[CPU], vector[MEMORY], self._names.total_gpus(vector))

    def _chunk(self, vector: Vector) -> ReclaimChunk:
        return ReclaimChunk(vector[CPU], vector[MEMORY], self._names.total_gpus(vector), vector[GPU])

    def _line(self, queue: str) -> tuple[QueueAccount, ...]:
        queue_accounts = self._lines.get(queue)
        if queue_accounts is None:
            queue_accounts = self._lines[queue] = tuple(line(self.accounts, queue))
        return queue_accounts

    def _limited(self, queue: str) -> bool:
        """Whether the queue or one above it has a limit; most have none."""
        limit = self._limits.get(queue)
        if limit is None:
            limit = self._limits[queue] = any(account.limit != NO_LIMIT for account in self._line(queue))
        return limit

    # ── order ──

    def queue_order(self, left: QueueSide, right: QueueSide) -> int:
        mine, other = self.accounts[left.queue.name], self.accounts[right.queue.name]
        return order.compare(mine, self._turn(mine, left), other, self._turn(other, right))

    def _turn(self, account: QueueAccount, side: QueueSide) -> order.Turn:
        """Kept until what the queue holds, or the gang or victims beside it, changes."""
        gang = side.gang
        beside: object = side.taken if gang is None else (gang, gang.original.version)
        kept = self._turns.get(account.uid)
        if kept is not None and kept[0] is account.allocated and kept[1] == beside:
            return kept[2]
        request = NOTHING if gang is None else self._asked(gang)
        turn = order.turn(account, self.total, request, (as_amounts(side.taken),))
        self._turns[account.uid] = (account.allocated, beside, turn)
        return turn

    # ── capacity ──

    def over_capacity(self, gang: GangInfo, tasks: Sequence[TaskInfo]) -> GangRefusals | None:
        if not self._limited(gang.queue):
            return None
        asked = self.quota_of(tasks)
        return self._refusal(capacity.over_limit(self.accounts, gang.queue, asked), asked, gang.preemptible)

    def firm_over_quota(self, gang: GangInfo, tasks: Sequence[TaskInfo]) -> GangRefusals | None:
        if gang.preemptible:
            return None
        asked = self.quota_of(tasks)
        return self._refusal(
            capacity.over_quota(self.accounts, gang.queue, asked, gang.preemptible), asked, gang.preemptible
        )

    def _refusal(self, overrun: Overrun | None, asked: Amounts, preemptible: bool) -> GangRefusals | None:
        if overrun is None:
            return None
        account = self.accounts[overrun.queue]
        figures = QueueFigures(
            account.name,
            account.request,
            account.deserved,
            account.allocated,
            account.allocated_non_preemptible,
            account.limit,
            asked,
            NOTHING if preemptible else asked,
        )
        return GangRefusals(overrun.reason, (overrun.message,), self.name, queue=figures)

    def task_over_capacity(self, task: TaskInfo, gang: GangInfo, node: NodeInfo) -> Refusal | None:
        if gang.preemptible and not self._limited(gang.queue):
            return None
        request = (task.request[CPU], task.request[MEMORY], gpus_on(task, node.gpu_memory))
        overrun = capacity.over_capacity(self.accounts, gang.queue, request, gang.preemptible)
        if overrun is None:
            return None
        return Refusal(
            self.name, f"node does not have enough capacity. Reason: {overrun.reason}, Details: {overrun.message}"
        )

    def quota_of(self, tasks: Sequence[TaskInfo]) -> Amounts:
        return asked_of(tasks, self._names, self._session.max_gpu_memory)

    def least_of(self, tasks: Sequence[TaskInfo]) -> Amounts:
        """What tasks will count once they are placed, at the least: each share of a GPU rounded up as nodes do."""
        cpu, memory, gpus = self.quota_of(tasks)
        largest = self._session.max_gpu_memory
        if not largest:
            return cpu, memory, gpus
        asked = [task.gpu for task in tasks if task.gpu.kind == "GpuMemory"]
        counted = sum(gpu.count * (share_of(gpu.memory, largest) - gpu.memory / largest) for gpu in asked)
        return cpu, memory, gpus + counted

    # ── reclaim ──

    def taker(self, gang: GangInfo) -> ReclaimingGang:
        return ReclaimingGang(gang.queue, self._chunk(self._session.asked(gang)), gang.preemptible)

    def can_reclaim(self, gang: GangInfo) -> Refusal | None:
        if reclaim.can_reclaim(self.accounts, self.taker(gang)):
            return None
        return Refusal(self.name, f"queue {gang.queue} would hold more than its fair share or quota", resolvable=False)

    def reclaim_queue(self, preemptor: GangInfo, victim: str) -> bool:
        if not reclaim.filter_victim(self.accounts, self.taker(preemptor), victim):
            return False
        return self._returns is None or not self._returns.all_of(victim)

    def reclaim_victim(self, preemptor: GangInfo, victim: GangInfo) -> bool:
        return self._returns is None or not self._returns.first(victim)

    def may_take(self, preemptor: GangInfo, victim: GangInfo) -> bool:
        """Could at least the first step of this victim be taken, as the books stand?"""
        elastic, core = split(victim.allocated_tasks)
        first = self._chunk(summed(task.given for task in elastic[:1] or core))
        taker = self.taker(preemptor)
        return reclaim.filter_victim(self.accounts, taker, victim.queue) and reclaim.reclaimable(
            self.accounts, taker, {victim.queue: [first]}, self.multiplier
        )

    def reclaim_most(self, preemptor: GangInfo, largest: Mapping[str, float]) -> float:
        """No legal plan takes more GPUs than this from these queues."""
        return reclaim.most_gpus(self.accounts, self.taker(preemptor), largest)

    def before_solving(self, preemptor: GangInfo) -> None:
        """From here on, remember what every account held before it was touched."""
        self._before = {}
        if self._session.settings.strict_turns:
            self._returns = ReturnOrder(self._session, self.accounts, self.total, preemptor, self._asked, self._held)

    def _asked(self, gang: GangInfo) -> Amounts:
        return self._amounts(self._session.asked(gang))

    def _held(self, gang: GangInfo) -> Amounts:
        return as_amounts(self._session.held(gang))

    def reclaim_scenario(self, plan: ReclaimScenario) -> bool:
        taken: dict[str, list[ReclaimChunk]] = {}
        for gang, tasks in plan.victims:
            chunks = [self._chunk(vector) for vector in self._steps(gang, tasks)]
            if chunks:
                taken.setdefault(gang.queue, []).extend(chunks)
        return reclaim.reclaimable(self._baseline(), self.taker(plan.preemptor), taken, self.multiplier)

    def _baseline(self) -> Mapping[str, QueueAccount]:
        """The books as they were before the what-if began."""
        old: dict[str, QueueAccount] = {}
        for uid, (held, firm) in self._before.items():
            old[uid] = self.accounts[uid].copy()
            old[uid].allocated, old[uid].allocated_non_preemptible = held, firm
        return ChainMap(old, self.accounts)

    def _steps(self, gang: GangInfo, tasks: Sequence[TaskInfo]) -> Iterable[Vector]:
        """What is taken of a gang, step by step: each task above a pod set's minimum alone, then the minima in one
        step."""
        elastic, core = split(tasks)
        for step in ([task] for task in elastic):
            yield from self._step(step)
        yield from self._step(core)

    def _step(self, tasks: Sequence[TaskInfo]) -> Iterable[Vector]:
        """Tasks that found another place were not taken at all."""
        moved = self._session.settings.consolidating_reclaim
        gone = [task.given for task in tasks if not (moved and task.status & ACTIVE_ALLOCATED)]
        if gone:
            yield summed(gone)

    # ── the books ──

    def allocated(self, task: TaskInfo) -> None:
        self._book(task, plus)

    def deallocated(self, task: TaskInfo) -> None:
        self._book(task, minus)

    def _book(self, task: TaskInfo, change: _Change) -> None:
        gang = task.gang
        assert gang is not None
        by = self._amounts(task.given)
        for account in self._line(gang.queue):
            self._before.setdefault(account.uid, (account.allocated, account.allocated_non_preemptible))
            self._journal.set_attr(account, "allocated", _exact(change(account.allocated, by)))
            if not gang.preemptible:
                firm = _exact(change(account.allocated_non_preemptible, by))
                self._journal.set_attr(account, "allocated_non_preemptible", firm)

    # ── figures ──

    def queue_allocated(self, queue: QueueInfo) -> Amounts:
        return self.accounts[queue.name].allocated

    def queue_deserved(self, queue: QueueInfo) -> Amounts:
        return self.accounts[queue.name].deserved

    def queue_fair_share(self, queue: QueueInfo) -> Amounts:
        return self.accounts[queue.name].fair_share


class _Change(Protocol):
    def __call__(self, held: Amounts, by: Amounts, /) -> Amounts: ...


def _exact(amounts: Amounts) -> Amounts:
    """GPUs are counted in hundredths: adding and taking away leaves no dust."""
    return (amounts[0], amounts[1], round(amounts[2], 2))


def _number(text: str | None, otherwise: float) -> float:
    """A plugin argument; one that cannot be read counts as not given."""
    try:
        value = float(text) if text is not None else otherwise
    except ValueError:
        return otherwise
    return value if math.isfinite(value) else otherwise


def as_amounts(amount: QueueAmount) -> Amounts:
    return (amount.cpu, amount.memory, amount.gpu / 100)


def asked_of(tasks: Sequence[TaskInfo], names: ResourceNames, largest: int | None) -> Amounts:
    """What tasks ask for, GPU memory as parts of the largest GPU: less than that it cannot be anywhere."""
    total = summed(task.request for task in tasks)
    memory = sum(task.gpu.count * task.gpu.memory for task in tasks if task.gpu.kind == "GpuMemory")
    gpus = names.total_gpus(total) + (memory / largest if memory and largest else 0)
    return (total[CPU], total[MEMORY], gpus)


def gpus_on(task: TaskInfo, gpu_memory: int) -> float:
    """What a task counts on a node with so much memory per GPU: MIG by slices, else devices by portion, claims
    nothing."""
    if task.gpu.kind == "MigInstance":
        return task.quota_gpus
    portion = share_of(task.gpu.memory, gpu_memory) if task.gpu.memory > 0 else task.gpu.portion
    return task.gpu.count * portion


def split(tasks: Sequence[TaskInfo]) -> tuple[list[TaskInfo], list[TaskInfo]]:
    """Tasks of one gang above the minimum of their pod set, and those that make it up."""
    by_set: dict[str, list[TaskInfo]] = {}
    for task in tasks:
        by_set.setdefault(task.pod_set.name if task.pod_set else "", []).append(task)
    elastic: list[TaskInfo] = []
    core: list[TaskInfo] = []
    for mine in by_set.values():
        minimum = mine[0].pod_set.min_available if mine[0].pod_set else 0
        core += mine[:minimum]
        elastic += mine[minimum:]
    return elastic, core


def open_accounts(
    queues: Mapping[str, QueueInfo], gpu_memory: int | None, unit: float = 0.0
) -> dict[str, QueueAccount]:
    """One account per queue, with what its own gangs and those below it hold and ask for."""
    accounts = {name: _account(queue, unit) for name, queue in queues.items()}
    for name, queue in queues.items():
        held, firm, asked = as_amounts(queue.held), as_amounts(queue.held_firm), as_amounts(queue.asked)
        if queue.asked_gpu_memory and gpu_memory:
            asked = plus(asked, (0.0, 0.0, queue.asked_gpu_memory / gpu_memory))
        if held == firm == asked == NOTHING:
            continue
        for account in line(accounts, name):
            account.allocated = _exact(plus(account.allocated, held))
            account.allocated_non_preemptible = _exact(plus(account.allocated_non_preemptible, firm))
            account.request = plus(account.request, plus(held, asked))
    return accounts


def _account(queue: QueueInfo, unit: float) -> QueueAccount:
    record = queue.record
    shares: tuple[Share, Share, Share] = (record.cpu, record.memory, record.gpu)
    return QueueAccount(
        queue.name,
        name=queue.title,
        parent=queue.parent,
        priority=queue.priority,
        created=queue.created,
        deserved=(shares[0].quota, shares[1].quota, shares[2].quota),
        limit=(shares[0].limit, shares[1].limit, shares[2].limit),
        weight=(shares[0].weight, shares[1].weight, shares[2].weight),
        usage=(shares[0].usage, shares[1].usage, shares[2].usage),
        unit=unit,
    )
