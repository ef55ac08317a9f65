"""A session: one cycle's working state — the cluster, the settings, the time, the plugins, and what was decided so far.

Actions run one after the other on the same session and change the model only inside statements. `close()` puts the
model back exactly as it was (`decide` in `cycle.py` does so); what was decided is in `commits`. The shell books
committed decisions on the model by applying records.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gangline.errors import ConfigError, Refusal
from gangline.scheduler.decisions import Commit, Decisions, Evict, GangUpdate, MoveRequest, Refuse, StartReservation
from gangline.scheduler.hierarchy import queues_of
from gangline.scheduler.hooks import NO_HOOKS, Hooks
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.gang import GangInfo, Group, PodSet
from gangline.scheduler.model.node import NodeInfo, NodeList
from gangline.scheduler.model.queue import QueueAmount, QueueInfo
from gangline.scheduler.model.resources import GPU, Vector, summed
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.lists import GangLists
from gangline.scheduler.placing.order import held_by, tasks_to_allocate, tasks_to_evict
from gangline.scheduler.plugin import Plugin, PluginClass
from gangline.scheduler.plugins import BUILT_IN, plugin_class
from gangline.scheduler.refusals import NO_QUEUE, PODS, GangRefusals, summary
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.statement import Statement
from gangline.scheduler.tally import CycleTally
from gangline.scheduler.victims.free import free_gpus
from gangline.scheduler.victims.price import lost_gpu_seconds


@dataclass(slots=True)
class _RefusalLog:
    """Refusals of one gang and, by task uid, of its tasks, as they come."""

    gang: list[GangRefusals] = field(default_factory=list)
    tasks: dict[str, str] = field(default_factory=dict)
    detailed: dict[str, str] = field(default_factory=dict)
    """Node by node, where that is asked for."""


class Session:
    """`action` is the name of the action at work. `queues` are those with an unbroken line of ancestors."""

    def __init__(
        self,
        cluster: ClusterModel,
        settings: SchedulerSettings,
        now: float,
        extra: Iterable[PluginClass] = (),
        tally: CycleTally | None = None,
    ) -> None:
        self.cluster = cluster
        self.tally = tally or CycleTally()
        self.settings = settings
        self.now = now
        self.journal = cluster.journal
        cluster.trim()
        self._start = self.journal.mark()
        self.action = ""
        self.commits: list[Commit] = []
        self.reservations: list[StartReservation] = []
        self.moves: list[MoveRequest] = []
        self.steps: dict[str, int] = {}
        self.memo: dict[Any, Any] = {}
        self._refusals: dict[str, _RefusalLog] = {}
        self.bind_refused: set[str] = set()
        """Gangs that have room but that a plugin refused to bind."""
        self._stamped: dict[str, None] = {}
        self._changed: dict[str, None] = {}
        self._all_nodes: NodeList | None = None
        self.queues: dict[str, QueueInfo] = queues_of(cluster, settings.full_hierarchy)
        self.token = cluster.memo.setdefault(("order", settings.plugins_key), object())
        """Stands for these plugins with these arguments: what was kept under another one does not count."""
        self.min_gpu_memory, self.max_gpu_memory = self._gpu_memory()
        self.lists = GangLists(self)
        self.free = free_gpus(cluster)
        self.built_in_only = all(setting.name in BUILT_IN for setting in settings.plugins)
        """No plugin of another package has a say."""
        self.hooks = NO_HOOKS
        self.hooks = Hooks([*self._configured(), *[make(self, {}) for make in extra]])

    def _configured(self) -> list[Plugin]:
        made: list[Plugin] = []
        for setting in self.settings.plugins:
            make = plugin_class(setting.name)
            if make is None:
                raise ConfigError(f"plugins: there is no plugin {setting.name!r}")
            plugin = self.tally.clocked(self.tally.plugins, setting.name, partial(make, self, setting.arguments))
            if not isinstance(plugin, Plugin):
                given = type(plugin).__name__
                raise ConfigError(
                    f"plugins: {setting.name!r} makes a {given}, which is no gangline.scheduler.plugin.Plugin"
                )
            made.append(plugin)
        return made

    def _gpu_memory(self) -> tuple[int | None, int | None]:
        smallest, largest = self.cluster.gpu_memory_range()
        default = self.settings.default_gpu_memory
        return smallest or default, largest or default

    def close(self) -> None:
        """Put the model back as it was when the session was opened."""
        self.journal.rollback(self._start)
        self.journal.clear()
        self.lists.give_back()

    @property
    def all_nodes(self) -> NodeList:
        """Every node, by name."""
        if self._all_nodes is None:
            nodes = self.cluster.nodes
            self._all_nodes = NodeList((nodes[name] for name in sorted(nodes)), whole=True)
        return self._all_nodes

    def statement(self) -> Statement:
        return Statement(self)

    def waiting_gangs(self) -> list[GangInfo]:
        """Gangs with pending tasks and enough living ones to be worth a try, by uid."""
        return [gang for gang in self.pending_gangs() if self.worth_a_try(gang)]

    def worth_a_try(self, gang: GangInfo) -> bool:
        return gang.ready and not gang.record.skipped and self._sound(gang)

    def _sound(self, gang: GangInfo) -> bool:
        """Whether the gang can be scheduled at all; one that cannot is refused, once."""
        if gang.problems:
            text = "; ".join(gang.problems)
        elif gang.queue not in self.cluster.queues:
            text = f"Queue '{gang.queue}' does not exist: create it, or label the workload with one that does"
        elif gang.queue not in self.queues:
            text = (
                f"Queue '{gang.queue}' has no unbroken line of parent queues: one of them is missing or they run "
                f"in a circle"
            )
        elif not self.queues[gang.queue].is_leaf:
            text = f"Queue '{gang.queue}' has queues below it: workloads belong into a leaf queue"
        else:
            return True
        if self.first_time(("unsound", gang.uid)):
            self.refuse(gang, GangRefusals(PODS if gang.problems else NO_QUEUE, (text,), "session", resolvable=False))
        return False

    def pending_gangs(self) -> list[GangInfo]:
        """Gangs with pending tasks, by uid."""
        gangs = self.cluster.gangs
        return [gangs[uid] for uid in sorted(self.cluster.waiting) if gangs[uid].pending]

    def active_gangs(self) -> list[GangInfo]:
        """Gangs that hold something, by uid."""
        gangs = self.cluster.gangs
        return [gangs[uid] for uid in sorted(gangs) if gangs[uid].active_allocated]

    def suspect_gangs(self) -> list[GangInfo]:
        """Gangs that are, were, or may have become stale, by uid."""
        gangs = self.cluster.gangs
        return [gangs[uid] for uid in sorted({*self.cluster.suspects, *self._changed}) if uid in gangs]

    def changed(self, gangs: Iterable[GangInfo]) -> None:
        """A statement about these gangs' tasks stands."""
        self._changed.update(dict.fromkeys(gang.uid for gang in gangs))
        self.lists.changed(gangs)

    def first_time(self, what: object) -> bool:
        """True once for each thing."""
        if what in self.memo:
            return False
        self.memo[what] = True
        return True

    # ── order ──

    def gang_key(self, gang: GangInfo) -> tuple[Any, ...]:
        """Smaller goes first: the plugins' keys, then age, then uid."""
        cached = gang.order_key
        if cached is None or cached[0] is not self.token:
            cached = gang.order_key = (self.token, (*self.hooks.gang_order(gang), gang.created, gang.uid))
        key: tuple[Any, ...] = cached[1]
        return key

    def task_key(self, task: TaskInfo) -> tuple[Any, ...]:
        cached = task.order_key
        if cached is None or cached[0] is not self.token:
            cached = task.order_key = (self.token, (*self.hooks.task_order(task), task.created, task.uid))
        key: tuple[Any, ...] = cached[1]
        return key

    def member_key(self, member: Group | PodSet) -> tuple[Any, ...]:
        return (*self.hooks.sub_group_order(member), member.name)

    def wanted(self, gang: GangInfo, simulation: bool) -> list[TaskInfo]:
        """The tasks to place next (see `order.tasks_to_allocate`), kept until a status changes; a view keeps them for
        good, it is what it was made for.

        A simulation gives another answer only where tasks are leaving; a view does not count them."""
        view = gang is not gang.original
        simulation = simulation and (view or gang.releasing > 0)
        key = (0 if view else gang.version, simulation)
        cached = gang.wanted
        if cached is None or cached[0] != key:
            tasks = tasks_to_allocate(gang, simulation, self.member_key, self.task_key)
            cached = gang.wanted = (key, tasks)
        wanted_tasks: list[TaskInfo] = cached[1]
        return wanted_tasks

    def asked(self, gang: GangInfo, simulation: bool = True) -> Vector:
        """What the tasks to place next ask for; GPU memory as devices of the smallest GPU in the cluster."""
        tasks = self.wanted(gang, simulation)
        if gang is gang.original:
            tasks = [task for task in tasks if task.allocatable(simulation)]
        if len(tasks) == 1 and not tasks[0].gpu.memory:
            return tasks[0].request
        total = summed(task.request for task in tasks)
        memory = sum(task.gpu.count * task.gpu.memory for task in tasks)
        if memory and self.min_gpu_memory:
            total = (*total[:GPU], total[GPU] + memory / self.min_gpu_memory, *total[GPU + 1 :])
        return total

    def steps_of(self, gang: GangInfo) -> tuple[list[TaskInfo], bool]:
        """The next step of victims of this gang and whether more remain (see `order.tasks_to_evict`), kept until a
        status changes."""
        cached = gang.step
        if cached is None or cached[0] != gang.original.version:
            cached = gang.step = (gang.original.version, tasks_to_evict(gang, self.member_key, self.task_key))
        steps: tuple[list[TaskInfo], bool] = cached[1]
        return steps

    def held(self, gang: GangInfo) -> QueueAmount:
        """What the gang holds, kept until a status changes."""
        cached = gang.held
        if cached is None or cached[0] != gang.original.version:
            cached = gang.held = (gang.original.version, held_by(gang, self.cluster.names))
        queue_amount: QueueAmount = cached[1]
        return queue_amount

    # ── capacity ──

    def over_capacity(self, gang: GangInfo, tasks: list[TaskInfo]) -> GangRefusals | None:
        """Whether placing these tasks would put a queue over its limit, or non-preemptible work over its quota."""
        return self.hooks.over_capacity(gang, tasks) or self.hooks.firm_over_quota(gang, tasks)

    # ── what was decided ──

    def record(self, commit: Commit) -> None:
        self.commits.append(commit)

    def reserved(self, reservation: StartReservation) -> None:
        self.reservations.append(reservation)

    def record_eviction(self, task: TaskInfo, node: NodeInfo, message: str, preemptor: str) -> None:
        gang = task.gang
        assert gang is not None
        lost = lost_gpu_seconds(gang, (task,), self.now)
        self.commits.append(Evict(task.uid, node.name, message, self.action, preemptor, len(gang.tasks), lost))
        self.stamp(gang, last_eviction=self.now)

    def stamp(self, gang: GangInfo, **changes: float | bool | None) -> None:
        """Change time stamps of a gang."""
        self._stamped[gang.uid] = None
        for name, value in changes.items():
            self.journal.set_attr(gang, name, value)

    def refuse(self, gang: GangInfo, refusal: GangRefusals) -> None:
        """Remember why the gang was not placed."""
        self._refusals.setdefault(gang.uid, _RefusalLog()).gang.append(refusal)

    def refuse_task(self, task: TaskInfo, text: str, detailed: str = "") -> None:
        assert task.gang is not None
        mine = self._refusals.setdefault(task.gang.uid, _RefusalLog())
        mine.tasks[task.uid] = text
        if detailed:
            mine.detailed[task.uid] = detailed

    def refused(self, gang: str) -> list[GangRefusals]:
        mine = self._refusals.get(gang)
        return mine.gang if mine else []

    def task_refusal(self, task: TaskInfo) -> str | None:
        mine = self._refusals.get(task.gang.uid) if task.gang else None
        return mine.tasks.get(task.uid) if mine else None

    def decisions(self) -> Decisions:
        return Decisions(
            tuple(self.commits),
            tuple(self._refuse_list()),
            tuple(self._updates()),
            dict(self.steps),
            tuple(self.reservations),
            tuple(self.moves),
        )

    def _refuse_list(self) -> Iterable[Refuse]:
        for uid in sorted(self._refusals):
            gang, mine = self.cluster.gangs[uid], self._refusals[uid]
            if mine.gang and gang.pending:
                refusals = tuple(
                    Refusal(item.plugin, message, item.resolvable) for item in mine.gang for message in item.messages
                )
                reasons = tuple(item.reason for item in mine.gang for _ in item.messages)
                queues = tuple(item.queue for item in mine.gang for _ in item.messages)
                yield Refuse(
                    uid,
                    refusals,
                    summary(mine.gang),
                    dict(sorted((mine.tasks | mine.detailed).items())),
                    reasons,
                    queues,
                )

    def _updates(self) -> Iterable[GangUpdate]:
        for uid in sorted(self._stamped):
            gang = self.cluster.gangs[uid]
            now = (gang.last_start, gang.last_eviction, gang.stale_since)
            if now != (gang.record.last_start, gang.record.last_eviction, gang.record.stale_since):
                yield GangUpdate(uid, *now, gang.stale)
