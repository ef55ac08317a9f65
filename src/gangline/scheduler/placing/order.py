"""Who goes next inside a gang: which of its tasks to place, and which to evict.

`gang_queue.py` orders the gangs. Nothing here places or evicts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gangline.scheduler.model.gang import GangInfo, Group, PodSet
from gangline.scheduler.model.queue import QueueAmount, amount_of
from gangline.scheduler.model.resources import ResourceNames, summed
from gangline.scheduler.model.status import ACTIVE_ALLOCATED, ALLOCATED
from gangline.scheduler.model.task import TaskInfo

Member = Group | PodSet
MemberKey = Callable[[Member], Any]
TaskKey = Callable[[TaskInfo], Any]


def tasks_to_allocate(gang: GangInfo, simulation: bool, member_key: MemberKey, task_key: TaskKey) -> list[TaskInfo]:
    """The tasks to place next: what the gang minimum lacks, or one elastic unit when the minimum is there."""
    return _from_member(gang.root, simulation, member_key, task_key)


def _from_member(member: Member, simulation: bool, member_key: MemberKey, task_key: TaskKey) -> list[TaskInfo]:
    if isinstance(member, PodSet):
        ready = [task for task in member.tasks.values() if task.allocatable(simulation)]
        number = 1 if member.satisfied else member.min_available - member.active_allocated
        return sorted(ready, key=task_key)[:number] if len(ready) > 1 else ready[:number]
    ordered = in_order(member, member_key)
    if member.satisfied:
        for item in ordered:
            tasks = _from_member(item, simulation, member_key, task_key)
            if tasks:
                return tasks
        return []
    return [
        task
        for item in ordered[: member.minimum]
        if not item.satisfied
        for task in _from_member(item, simulation, member_key, task_key)
    ]


def in_order(group: Group, member_key: MemberKey) -> list[Member]:
    """Direct members, groups before pod sets, then by key."""
    members = group.members
    return sorted(members, key=member_key) if len(members) > 1 else members


def tasks_to_evict(gang: GangInfo, member_key: MemberKey, task_key: TaskKey) -> tuple[list[TaskInfo], bool]:
    """One step of victimisation, least wanted first, and whether allocated tasks remain after it.

    One surplus task of a pod set; else one surplus member of a group; else everything."""
    tasks = _surplus(gang.root, member_key, task_key)
    if not tasks:
        tasks = _everything(gang.root, task_key)
    return tasks, len(tasks) < gang.active_allocated


def _surplus(group: Group, member_key: MemberKey, task_key: TaskKey) -> list[TaskInfo]:
    satisfied = group.active_allocated
    if not satisfied:
        return []
    backwards = sorted(group.members, key=member_key, reverse=True)
    for member in backwards:
        if isinstance(member, Group):
            tasks = _surplus(member, member_key, task_key)
        elif member.active_allocated > member.min_available:
            tasks = [max((task for task in member.tasks.values() if task.status & ACTIVE_ALLOCATED), key=task_key)]
        else:
            tasks = []
        if tasks:
            return tasks
    if satisfied <= group.minimum:
        return []
    for member in backwards:
        tasks = _everything(member, task_key)
        if tasks:
            return tasks
    return []


def _everything(member: Member, task_key: TaskKey) -> list[TaskInfo]:
    """All that is allocated below, pod set after pod set, the last of each first."""
    leaves = sorted(member.pod_sets(), key=lambda leaf: leaf.name)
    held = ([task for task in leaf.tasks.values() if task.status & ACTIVE_ALLOCATED] for leaf in leaves)
    return [task for tasks in held for task in sorted(tasks, key=task_key, reverse=True)]


def held_by(gang: GangInfo, names: ResourceNames) -> QueueAmount:
    """What the gang's tasks with a place ask for together."""
    return amount_of(summed(task.request for task in gang.tasks.values() if task.status & ALLOCATED), names)
