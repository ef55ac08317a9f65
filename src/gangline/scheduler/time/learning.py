"""Runtimes learned while the scheduler runs: which gangs ended by themselves, and what gangs like them are expected to
take.

Called by think.py around the changes of a cycle; the memory is time/learned.py, loop/runtimes.py keeps it over
restarts. Pure but for the model and the memory it is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.status import ACTIVE_USED, ALIVE, Status
from gangline.scheduler.records import GangRecord
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.time.expected import stated_runtime
from gangline.scheduler.time.learned import LearnedRuntimes

PLUGIN, ARGUMENT = "reservations", "learn"


def learns(settings: SchedulerSettings) -> bool:
    """Whether anybody asks for runtimes, and they may be learned."""
    asked = any(plugin.name == PLUGIN for plugin in settings.plugins)
    return asked and settings.arguments(PLUGIN).get(ARGUMENT, "true").lower() != "false"


def at_work(cluster: ClusterModel, gangs: Iterable[str]) -> list[str]:
    """Those that hold something."""
    return [uid for uid in gangs if uid in cluster.gangs and cluster.gangs[uid].active_used]


def note_ends(cluster: ClusterModel, worked: Iterable[str], memory: LearnedRuntimes, now: float) -> None:
    """`worked`: gangs that held something before the changes; one of which all is over and nothing failed has ended by
    itself."""
    for uid in worked:
        gang = cluster.gangs.get(uid)
        if gang is None or gang.count(ALIVE | ACTIVE_USED) or not gang.count(Status.SUCCEEDED):
            continue
        start, gpus = _start(gang), gpus_of(gang)
        if start is not None and now > start and gpus:
            memory.note(gang.record.workload or gang.name, gang.queue, gpus, now - start)
            memory.overruns.note(stated_runtime(gang) or 0.0, now - start)


def teach(cluster: ClusterModel, gangs: Iterable[str], memory: LearnedRuntimes) -> list[GangRecord]:
    """Gangs of which nobody says how long they run are told what was learned, the others how far such words may be
    trusted; gives their records, which the model has."""
    taught, overrun = [], memory.overruns.learned()
    for uid in sorted(gangs):
        gang = cluster.gangs.get(uid)
        if gang is None or gang.record.learned_runtime is not None:
            continue
        if stated_runtime(gang) is not None:
            if overrun is not None and gang.record.overrun is None and gang.pending:
                taught.append(replace(gang.record, overrun=overrun))
                cluster.apply(taught[-1])
            continue
        gpus = gpus_of(gang)
        runtime = memory.expected(gang.record.workload or gang.name, gang.queue, gpus) if gpus else None
        if runtime is not None:
            taught.append(replace(gang.record, learned_runtime=runtime))
            cluster.apply(taught[-1])
    return taught


def gpus_of(gang: GangInfo) -> float:
    return sum(task.gpus for task in gang.tasks.values())


def _start(gang: GangInfo) -> float | None:
    if gang.last_start is not None:
        return gang.last_start
    return min((task.record.started for task in gang.tasks.values() if task.record.started is not None), default=None)
