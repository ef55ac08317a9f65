"""Let work run for a while before it may be taken: the minimum run time of queues.

A gang that started less than its queue's minimum ago is no victim, except for what it holds above its minima. Asked
by victims/search.py while it chooses and when a plan is finished. Reads queues and gangs; never evicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gangline.rules.values import times
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.victims.price import keeps_minima

if TYPE_CHECKING:
    from gangline.scheduler.session import Session

QUEUE = "queue"
LOWEST_COMMON_ANCESTOR = "lca"


class Runtimes(Protocol):
    """A queue as far as this policy reads it."""

    @property
    def parent(self) -> str: ...

    @property
    def preempt_min_runtime(self) -> float | None: ...

    @property
    def reclaim_min_runtime(self) -> float | None: ...


class RuntimeScenario(Protocol):
    @property
    def preemptor(self) -> GangInfo: ...

    @property
    def victims(self) -> Iterable[tuple[GangInfo, Sequence[TaskInfo]]]: ...


def preempt_min_runtime(queues: Mapping[str, Runtimes], queue: str, otherwise: float) -> float:
    """The nearest value from the victim's queue upwards."""
    return next((runtime for item in up(queues, queue) if (runtime := item.preempt_min_runtime) is not None), otherwise)


def reclaim_line(queues: Mapping[str, Runtimes], reclaimer: str, victim: str, method: str) -> list[Runtimes]:
    """The queues whose minimum run time counts, the nearest first: by method `queue` all from the victim's upwards; by
    `lca` those from just below where the two lines meet."""
    if reclaimer not in queues:
        return []
    theirs = list(up(queues, victim))
    return _from_the_fork(list(up(queues, reclaimer)), theirs) if method == LOWEST_COMMON_ANCESTOR else theirs


def reclaim_min_runtime(
    queues: Mapping[str, Runtimes], reclaimer: str, victim: str, method: str, otherwise: float
) -> float:
    """The nearest value among the queues that count."""
    counted = reclaim_line(queues, reclaimer, victim, method)
    return next((runtime for item in counted if (runtime := item.reclaim_min_runtime) is not None), otherwise)


def _from_the_fork(mine: list[Runtimes], theirs: list[Runtimes]) -> list[Runtimes]:
    """Of the victim's line: its top queue alone when the tops differ, else the common part and the queue just below
    it."""
    if not theirs or mine[-1] is not theirs[-1]:
        return theirs[-1:]
    shared = 0
    while shared < min(len(mine), len(theirs)) and mine[-1 - shared] is theirs[-1 - shared]:
        shared += 1
    return theirs[max(len(theirs) - shared - 1, 0) :]


def up(queues: Mapping[str, Runtimes], name: str) -> Iterable[Runtimes]:
    queue = queues.get(name)
    while queue is not None:
        yield queue
        queue = queues.get(queue.parent) if queue.parent else None


class RuntimeProtection(NamedTuple):
    """`minimum` seconds, 0 where nothing keeps the victim. The `field` of `queue` says so; where it is not `stated`
    there, an argument of the plugin does, and that queue is the first that could say otherwise."""

    minimum: float
    queue: str
    field: str
    stated: bool


class MinRuntimePlugin(Plugin):
    name = "minruntime"

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._session = session
        self._queues: dict[str, Runtimes] = {name: queue.record for name, queue in session.queues.items()}
        self._preempt = _default(arguments.get("defaultPreemptMinRuntime"))
        self._reclaim = _default(arguments.get("defaultReclaimMinRuntime"))
        method = arguments.get("reclaimResolveMethod") or LOWEST_COMMON_ANCESTOR
        self._method = method if method == QUEUE else LOWEST_COMMON_ANCESTOR
        self._resolved: dict[tuple[str, str], float] = {}

    def preempt_victim(self, preemptor: GangInfo, victim: GangInfo) -> bool:
        return victim.elastic or not self._started_too_late(victim, self._for_preempt(victim))

    def reclaim_victim(self, preemptor: GangInfo, victim: GangInfo) -> bool:
        return victim.elastic or not self._started_too_late(victim, self._for_reclaim(preemptor, victim))

    def preempt_scenario(self, plan: RuntimeScenario) -> bool:
        return all(self._may_give(gang, tasks, self._for_preempt(gang)) for gang, tasks in plan.victims)

    def reclaim_scenario(self, plan: RuntimeScenario) -> bool:
        return all(self._may_give(gang, tasks, self._for_reclaim(plan.preemptor, gang)) for gang, tasks in plan.victims)

    def protection(self, preemptor: GangInfo, victim: GangInfo) -> RuntimeProtection:
        """The minimum run time that keeps this victim, or its minimum where it has surplus; and where it is said."""
        if preemptor.queue == victim.queue:
            minimum, field = self._for_preempt(victim), "preemptMinRuntime"
            values = {id(item): item.preempt_min_runtime for item in up(self._queues, victim.queue)}
        else:
            minimum, field = self._for_reclaim(preemptor, victim), "reclaimMinRuntime"
            line = reclaim_line(self._queues, preemptor.queue, victim.queue, self._method)
            values = {id(item): item.reclaim_min_runtime for item in line}
        says = next((key for key, value in values.items() if value is not None), None)
        first = next(iter(values), None) if says is None else says
        queue = next((name for name, item in self._queues.items() if id(item) == first), victim.queue)
        keeps = self._started_too_late(victim, minimum)
        return RuntimeProtection(minimum if keeps else 0.0, queue, field, says is not None)

    def _may_give(self, gang: GangInfo, tasks: Sequence[TaskInfo], minimum: float) -> bool:
        """Gangs without surplus were judged when they were chosen."""
        return not gang.elastic or not self._started_too_late(gang, minimum) or keeps_minima(gang, tasks)

    def _started_too_late(self, victim: GangInfo, minimum: float) -> bool:
        return minimum > 0 and victim.last_start is not None and self._session.now < victim.last_start + minimum

    def _for_preempt(self, victim: GangInfo) -> float:
        key = ("", victim.queue)
        if key not in self._resolved:
            self._resolved[key] = preempt_min_runtime(self._queues, victim.queue, self._preempt)
        return self._resolved[key]

    def _for_reclaim(self, preemptor: GangInfo, victim: GangInfo) -> float:
        key = (preemptor.queue, victim.queue)
        if key not in self._resolved:
            self._resolved[key] = reclaim_min_runtime(
                self._queues, preemptor.queue, victim.queue, self._method, self._reclaim
            )
        return self._resolved[key]


def _default(text: str | None) -> float:
    """A plugin argument; one that is no duration, or a negative one, counts as not given."""
    try:
        return max(times.duration(text), 0.0) if text else 0.0
    except ValueError:
        return 0.0
