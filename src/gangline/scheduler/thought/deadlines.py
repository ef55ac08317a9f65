"""When time alone may change a decision: the next moment at which a cycle is worth running though nothing happened.

Used by the service so that it neither spins nor oversleeps. Four things depend on time: preemption delays of waiting
gangs, minimum run times of the gangs that they might replace, the grace of stale gangs, and the price that a waiting
gang may cause, which grows with its wait. No clock."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api.kai import Queue
from gangline.scheduler.actions import TAKE_ROOM
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.records import QueueRecord
from gangline.scheduler.settings import SchedulerSettings, seconds

MIN_RUNTIME = "minruntime"
DISRUPTION = "disruption"
LOOK_AGAIN = 60.0
"""Seconds after which a gang that waits may be worth an eviction that it was not worth before."""
DEFAULTS = ("defaultPreemptMinRuntime", "defaultReclaimMinRuntime")


def next_deadline(cluster: ClusterModel, settings: SchedulerSettings, now: float) -> float | None:
    moments = [*_stale(cluster, settings)]
    if cluster.waiting:
        moments += _delays(cluster)
        moments += _min_runtimes(cluster, settings)
        moments += [now + LOOK_AGAIN] if _prices(settings) else []
    return min((moment for moment in moments if moment > now), default=None)


def _stale(cluster: ClusterModel, settings: SchedulerSettings) -> Iterable[float]:
    for uid in cluster.suspects:
        gang = cluster.gangs[uid]
        grace = settings.staleness_grace if gang.record.staleness_grace is None else gang.record.staleness_grace
        if gang.stale_since is not None and grace >= 0:
            yield gang.stale_since + grace


def _prices(settings: SchedulerSettings) -> bool:
    """Whether evictions have a price that time may make worth paying."""
    evicting = any(name in TAKE_ROOM for name in settings.actions)
    return evicting and any(plugin.name == DISRUPTION for plugin in settings.plugins)


def _delays(cluster: ClusterModel) -> Iterable[float]:
    for uid in cluster.waiting:
        gang = cluster.gangs[uid]
        if gang.record.preemption_delay > 0:
            yield max(gang.created, gang.last_eviction or 0.0) + gang.record.preemption_delay


def _min_runtimes(cluster: ClusterModel, settings: SchedulerSettings) -> Iterable[float]:
    """When running gangs may be replaced: any of the run times that apply in their queue or above."""
    arguments = settings.arguments(MIN_RUNTIME)
    defaults = {seconds(arguments[name]) for name in DEFAULTS if arguments.get(name)}
    if not defaults and not any(_of_queue(queue.record) for queue in cluster.queues.values()):
        return
    for gang in cluster.gangs.values():
        if gang.last_start is not None and gang.active_allocated:
            times = defaults | {item for queue in cluster.path_of(gang.queue) for item in _of_queue(queue.record)}
            yield from (gang.last_start + time for time in times)


def start_matters(settings: SchedulerSettings, queues: Iterable[Queue]) -> bool:
    """Whether some minimum run time counts from when a gang started."""
    arguments = settings.arguments(MIN_RUNTIME)
    return any(arguments.get(name) for name in DEFAULTS) or any(
        queue.spec.preempt_min_runtime or queue.spec.reclaim_min_runtime for queue in queues
    )


def _of_queue(record: QueueRecord) -> list[float]:
    return [moment for moment in (record.preempt_min_runtime, record.reclaim_min_runtime) if moment]
