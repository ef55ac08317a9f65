"""What an eviction costs: the work that a gang loses, in GPU-seconds.

Work since the start of the gang is lost, or since its last checkpoint where there is one. A gang that falls below its
minimum loses the work of all its pods, whichever of them was taken. Pure; what a price is compared with is
`plugins/evict/disruption.py`'s to say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.status import ACTIVE_USED, Status
from gangline.scheduler.model.task import TaskInfo


def gpus_held(tasks: Iterable[TaskInfo]) -> float:
    """GPUs that these tasks hold together."""
    return sum(max(task.accepted_gpus + task.gpu.dra_gpus, task.quota_gpus) for task in tasks)


def lost_gpu_seconds(gang: GangInfo, tasks: Iterable[TaskInfo], now: float) -> float:
    """What these tasks of the gang would have to do again."""
    since = safe_until(gang, now)
    return sum(gpus_held((task,)) * (now - max(since, _checkpoint(task, now))) for task in tasks)


def safe_until(gang: GangInfo, now: float) -> float:
    """The moment up to which no work of the gang can be lost: its start, or its last checkpoint."""
    record, start = gang.record, started(gang, now)
    moments = [start]
    if record.last_checkpoint is not None and record.last_checkpoint <= now:
        moments.append(record.last_checkpoint)
    if record.checkpoint_interval > 0:
        moments.append(start + math.floor((now - start) / record.checkpoint_interval) * record.checkpoint_interval)
    return max(moments)


def started(gang: GangInfo, now: float) -> float:
    """When the gang started; where that was not written, when the first of its pods was made."""
    if gang.last_start is not None:
        return min(gang.last_start, now)
    return min([now, *[task.created for task in gang.tasks.values() if task.status & ACTIVE_USED]])


def _checkpoint(task: TaskInfo, now: float) -> float:
    checkpoint = task.record.last_checkpoint
    return checkpoint if checkpoint is not None and checkpoint <= now else -math.inf


def struck(gang: GangInfo, tasks: Sequence[TaskInfo]) -> list[TaskInfo]:
    """Which tasks lose their work when these are taken: only they as long as the gang keeps its minima, else all."""
    if not tasks or keeps_minima(gang, tasks):
        return list(tasks)
    return [task for task in gang.tasks.values() if task.status & ACTIVE_USED]


def taken(tasks: Iterable[TaskInfo]) -> list[TaskInfo]:
    """Those of the victims of a finished what-if that lose their place, or get another one."""
    return [task for task in tasks if task.status in (Status.RELEASING, Status.PIPELINED)]


def keeps_minima(gang: GangInfo, tasks: Sequence[TaskInfo]) -> bool:
    """Taking these tasks leaves every pod set they come from with its minimum. Tasks taken in a what-if still count as
    held."""
    number_taken: dict[str, int] = {}
    for task in tasks:
        if task.pod_set is not None:
            number_taken[task.pod_set.name] = number_taken.get(task.pod_set.name, 0) + 1
    return all(
        gang.pod_sets[name].active_used - number >= gang.pod_sets[name].min_available
        for name, number in number_taken.items()
    )
