"""The first cause of a workload's state, looked for from the outside in: its state, its scheduler, its pods, then
(waiting.py) its queue and its room.

Each cause comes with the changes that may clear it. They are not tried here: remedies.py applies them to a copy of
the objects, asks again, and so finds what stands behind the first obstacle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gangline.api import kinds
from gangline.rules.verdicts import of_group
from gangline.scheduler.why.verdict import counted
from gangline.why.cause import Cause
from gangline.why.objects import ClusterObjects
from gangline.why.pods.gates import base_gang, gated_pods, gated_surplus
from gangline.why.pods.grouping import ungrouped
from gangline.why.pods.missing import missing_pods
from gangline.why.replay import at_rest, place_in_line
from gangline.why.schedulers.as_ours import as_ours, room_as_ours
from gangline.why.schedulers.components import binding, no_shard, pool_of
from gangline.why.schedulers.outside import elsewhere, held_by_backend, missing_kind
from gangline.why.schedulers.scheduler_names import scheduler_cause, scheduler_message
from gangline.why.schedulers.unread import unread_gang
from gangline.why.states.deletion import deletion
from gangline.why.states.ended import ended
from gangline.why.states.evictions import evicted
from gangline.why.states.members import living
from gangline.why.states.placed import placed
from gangline.why.subjects import find
from gangline.why.waiting import in_the_way
from gangline.why.words.amounts import listed
from gangline.why.workloads import Subject

NEEDED = tuple(kind.resource for kind in (kinds.POD, kinds.NODE, kinds.QUEUE, kinds.POD_GROUP))
"""Without all of these the cycle cannot be run again."""


def state_of(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """None: it waits, or has no pods yet."""
    return deletion(objects, subject) or evicted(objects, subject) or ended(subject) or placed(objects, subject)


def cause_of(objects: ClusterObjects, subject: Subject, titles: dict[str, str]) -> Cause:
    """The first cause of a workload's state. There is always one."""
    state = state_of(objects, subject)
    if state is not None and state.code != "surplus":
        return state
    unread = unread_gang(objects, subject)
    if unread is not None:
        return unread
    cause = _before_scheduling(objects, subject, titles) if state is None else None
    if cause is not None:
        return _judged_here(objects, subject, cause) if cause.code == "other-scheduler" else cause
    if subject.group is None:
        if state is not None:
            return _rest_elsewhere(objects, subject, state)
        return _judged_here(objects, subject, elsewhere(objects, subject))
    hidden = [resource for resource in NEEDED if resource in objects.unread]
    if hidden:
        return state or _as_written(subject, hidden)
    if state is None:
        return _waits(objects, subject, titles)
    waiting = gated_surplus(subject) or _in_the_way(objects, subject, titles)
    return Cause(
        state.code, state.why, (f"they wait: {waiting.why}", *waiting.facts), waiting.fixes, state.state, waiting.needs
    )


def _waits(objects: ClusterObjects, subject: Subject, titles: dict[str, str]) -> Cause:
    """With how many of its pods have nodes already."""
    waiting = _in_the_way(objects, subject, titles)
    held = sum(bool(pod.spec.node_name) for pod in living(subject))
    of = counted(len(living(subject)), "pod")
    return replace(waiting, facts=(*waiting.facts, f"{held} of its {of} have nodes")) if held else waiting


def _in_the_way(objects: ClusterObjects, subject: Subject, titles: dict[str, str]) -> Cause:
    return in_the_way(objects, subject, at_rest(objects, pool_of(subject)), titles)


def _judged_here(objects: ClusterObjects, subject: Subject, cause: Cause) -> Cause:
    """With what nodes say to pods that kube-scheduler refused; what it says itself stands behind that."""
    readable = not any(resource in objects.unread for resource in NEEDED)
    pretended = as_ours(objects, subject) if readable else None
    room = room_as_ours(*pretended) if pretended is not None else None
    if room is None:
        return cause
    is_outside = cause.code == "outside"
    message = next((f"of pod {pod.name}: {text}" for pod in living(subject) if (text := scheduler_message(pod))), "")
    facts = (f"kube-scheduler says {message}",) if is_outside else (room.why,)
    return replace(
        cause,
        why=room.why if is_outside else cause.why,
        facts=(*facts, *room.facts, *cause.facts),
        needs=room.needs,
        pods_change=True,
        outside=True,
    )


def _rest_elsewhere(objects: ClusterObjects, subject: Subject, state: Cause) -> Cause:
    """Some pods run, and their scheduler, which is not ours, found no node for others."""
    waiting = scheduler_cause(objects, subject)
    if waiting is None:
        return state
    judged = _judged_here(objects, subject, waiting)
    return replace(
        state, facts=(f"they wait: {judged.why}", *judged.facts), needs=judged.needs, pods_change=True, outside=True
    )


def line_of(objects: ClusterObjects, subject: Subject) -> tuple[int, int]:
    """Its place among the gangs that wait in its queue, and how many these are; (0, 0): in no line, or unknown."""
    if subject.group is None or any(resource in objects.unread for resource in NEEDED):
        return 0, 0
    return place_in_line(objects, pool_of(subject), subject.gang_uid)


def _as_written(subject: Subject, hidden: Sequence[str]) -> Cause:
    """For users who may not read the cluster: what the scheduler wrote on the PodGroup."""
    assert subject.group is not None
    first, *more = of_group(subject.group, subject.name).text.splitlines()
    why = first.removeprefix(f"{subject.name} waits: ").removeprefix(f"{subject.name}: ")
    note = (
        f"you may not read {listed(hidden)} of the whole cluster: this is what the scheduler wrote, and nothing "
        f"was tried"
    )
    return Cause("as-written", why, (*(line.strip() for line in more), note))


def _before_scheduling(objects: ClusterObjects, subject: Subject, titles: dict[str, str]) -> Cause | None:
    """What keeps the scheduler from even looking at it."""
    base = base_gang(objects, subject)
    if base:
        return _behind_base(objects, subject, base, titles)
    return (
        missing_kind(objects, subject)
        or _for_other_scheduler(objects, subject)
        or held_by_backend(subject)
        or no_shard(objects, subject)
        or missing_pods(objects, subject)
        or gated_pods(objects, subject)
        or ungrouped(objects, subject)
        or binding(objects, subject)
    )


def _for_other_scheduler(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """Pods of another scheduler; a gate keeps them from any."""
    other = scheduler_cause(objects, subject)
    held = gated_pods(objects, subject) if other is not None and other.code == "other-scheduler" else None
    return held or other


def _behind_base(objects: ClusterObjects, subject: Subject, base: str, titles: dict[str, str]) -> Cause:
    """A scaled gang: the set's base gang goes first, so what keeps that one keeps this one."""
    [first] = find(objects, f"gang/{base}", subject.namespace)
    cause = cause_of(objects, first, titles)
    return Cause(
        "base-gang",
        f"its base gang {base} does not run yet, and goes first; {base} {cause.state}: {cause.why}",
        (f"its pods are behind the gate of gangline's operator until {base} has its nodes",),
        cause.fixes,
        pods_change=True,
    )
