"""Changes tried one after the other, on a copy of the objects, with the real cycle, until the gang starts.

A change may clear the first obstacle and meet another one. Then it is kept, and a change that clears the next obstacle
is added. So one remedy names every level of a chain of quotas, or both the label and the taint of a node. What does not
start the gang is not told. Bounded by a number of cycles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gangline.api import kinds, names
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange, Remedy, applied, renumbered, squashed, touched
from gangline.why.fixes.consequences import consequences
from gangline.why.objects import ClusterObjects, dig
from gangline.why.replay import AtRest, at_rest
from gangline.why.schedulers.as_ours import as_ours, room_as_ours
from gangline.why.schedulers.components import pool_of
from gangline.why.states.members import holds_minimum
from gangline.why.waiting import in_the_way
from gangline.why.workloads import Subject, same

FIGURES = re.compile(r"\d+(?:\.\d+)?(?: \w+)?")
TRIALS = 60


SHRINKING = 12
"""So many tries at least are left for leaving out of remedies what is not needed."""


DEEPEST = 4
FEW_NODES = 4


TOLD = 4


@dataclass(slots=True)
class Tries:
    """What is left of the budget."""

    left: int = TRIALS


def remedies(objects: ClusterObjects, subject: Subject, cause: Cause, titles: dict[str, str]) -> list[Remedy]:
    """What was seen to start the gang, the smallest first; and, untried, what only the whole platform can try."""
    tries = Tries()
    if cause.pods_change:
        nodes = _nodes_for(objects, subject, titles, tries) if cause.outside else []
        return [*nodes, *(Remedy(tuple(fix)) for fix in cause.fixes)]
    if subject.group is None or cause.code == "deleting":
        return [Remedy(tuple(fix)) for fix in cause.fixes]
    working = _found(objects, subject, cause, titles, tries)
    if not working:
        return [Remedy(tuple(fix)) for fix in cause.anew]
    working.sort(key=lambda item: not item.tried)
    tries.left = max(tries.left, SHRINKING)
    shrunk = [
        replace(item, changes=_shrunk(objects, subject, item.changes, tries)) if item.tried else item
        for item in working[:TOLD]
    ]
    first: dict[tuple[str, ...], Remedy] = {}
    for item in shrunk:
        first.setdefault(tuple(sorted(map(_likeness, item.changes))), item)
    return list(first.values())


def _nodes_for(objects: ClusterObjects, subject: Subject, titles: dict[str, str], tries: Tries) -> list[Remedy]:
    """Changes with which the pods of kube-scheduler would find nodes if they were ours; the platform tries them."""
    pretended = as_ours(objects, subject)
    room = room_as_ours(*pretended) if pretended is not None else None
    if pretended is None or room is None:
        return []
    if room.pods_change:
        return [Remedy(tuple(fix)) for fix in room.fixes]
    there, mine = pretended
    first_two = _found(there, mine, room, titles, tries)[:2]
    return [Remedy(_shrunk(there, mine, item.changes, tries)) for item in first_two]


def _found(
    objects: ClusterObjects, subject: Subject, cause: Cause, titles: dict[str, str], tries: Tries
) -> list[Remedy]:
    """Single changes that start the gang; where there are none but a lower minimum, chains of changes before that."""
    alone = list(_first_level(objects, subject, cause, titles, tries))
    if not all(_asks_less(item.changes) for item in alone):
        return alone
    if not alone:
        return list(_deeper(objects, subject, cause, Remedy(()), titles, tries, 1))
    whole = replace(cause, fixes=tuple(fix for fix in cause.fixes if not _asks_less(fix)))
    chains = _deeper(objects, subject, whole, Remedy(()), titles, tries, 1)
    return [*(item for item in chains if not _lowers(item.changes)), *alone]


def _asks_less(fix: Sequence[ObjectChange]) -> bool:
    """It does nothing but lower the gang's own minimum: what starts it whole comes first."""
    return all(_lowers([change]) for change in fix)


def _lowers(fix: Sequence[ObjectChange]) -> bool:
    return any(
        dig(change.body, "spec", "minMember") is not None
        or names.BATCH_MIN_MEMBER in (dig(change.body, "metadata", "annotations") or {})
        for change in fix
        if change.how == "patch"
    )


def _likeness(change: ObjectChange) -> str:
    """What it does, whatever a new node is called."""
    text = f"{change.title} {change.body}"
    return text.replace(change.name, "") if change.kind is kinds.NODE and change.how == "new" else text


def _shrunk(
    objects: ClusterObjects, subject: Subject, changes: tuple[ObjectChange, ...], tries: Tries
) -> tuple[ObjectChange, ...]:
    """Without what the gang starts without; of a few changes each is tried again once another is left out."""
    fewer = _without_spare(objects, subject, changes, tries)
    while len(fewer) < len(changes) and 1 < len(fewer) <= FEW_NODES:
        changes, fewer = fewer, _without_spare(objects, subject, fewer, tries)
    in_order = renumbered(fewer)
    tried = in_order != fewer and tries.left > 0 and outcome(objects, subject, in_order, tries)[2]
    return in_order if tried else fewer


def _without_spare(
    objects: ClusterObjects, subject: Subject, changes: tuple[ObjectChange, ...], tries: Tries
) -> tuple[ObjectChange, ...]:
    """Nodes, queues and paused Jobs are left out one by one, the last first. Of many nodes that are alike, one that is
    needed stands for all."""
    needed: set[str] = set()
    many = sum(item.kind is kinds.NODE for item in changes) > FEW_NODES
    for change in [
        item for item in changes[::-1] if item.kind in (kinds.NODE, kinds.QUEUE, kinds.JOB) and item.how != "replace"
    ]:
        part = {change.name, *(item.name for item in changes if dig(item.body, "spec", "nodeName") == change.name)}
        if change.kind is kinds.JOB and not dig(change.body, "spec", "suspend"):
            continue
        if many and _likeness(change) in needed:
            continue
        fewer = tuple(item for item in changes if item.name not in part)
        if fewer and tries.left > 0 and outcome(objects, subject, fewer, tries)[2]:
            changes = fewer
        else:
            needed.add(_likeness(change))
    return changes


def _first_level(
    objects: ClusterObjects, subject: Subject, cause: Cause, titles: dict[str, str], tries: Tries
) -> Iterator[Remedy]:
    working: list[Remedy] = []
    for fix in cause.fixes:
        if tries.left <= 0 or len(working) >= TOLD or any(_more(fix, item.changes) for item in working):
            continue
        if outcome(objects, subject, fix, tries)[2]:
            working.append(Remedy(tuple(fix), "cycle"))
            yield working[-1]


def _more(fix: Sequence[ObjectChange], known: Sequence[ObjectChange]) -> bool:
    """It is a known remedy and more of the same."""
    return len(fix) > len(known) and {item.kind for item in fix} == {item.kind for item in known}


def _deeper(
    objects: ClusterObjects,
    subject: Subject,
    cause: Cause,
    before: Remedy,
    titles: dict[str, str],
    tries: Tries,
    depth: int,
) -> Iterator[Remedy]:
    """What stands behind the obstacle that each change clears: at each depth every change is tried alone, before what
    stands behind any of them is looked at. (At the first depth `_first_level` has done so.)"""
    for fix in cause.fixes if depth > 1 else ():
        if tries.left > 0 and outcome(objects, subject, fix, tries)[2]:
            yield replace(before, changes=squashed((*before.changes, *fix)), tried="cycle")
            return
    for fix in cause.fixes if depth < DEEPEST else ():
        if tries.left <= 0:
            return
        changed, now, _, rest = outcome(objects, subject, fix, tries)
        behind = in_the_way(changed, now, rest, titles)
        if (behind.code, behind.why) == (cause.code, cause.why) or not behind.fixes:
            continue
        told = () if moved(behind.fixes[0], (*before.changes, *fix)) else (behind.why,)
        further = replace(before, changes=(*before.changes, *fix), behind=(*before.behind, *told))
        if behind.pods_change:
            yield replace(further, changes=squashed((*further.changes, *behind.fixes[0])))
            continue
        yield from _deeper(changed, now, behind, further, titles, tries, depth + 1)


def moved(fix: Sequence[ObjectChange], before: Sequence[ObjectChange]) -> bool:
    """It takes further what other changes have begun: the same obstacle, which those only moved."""
    return touched(fix) <= touched(before)


def unlike(obstacles: Iterable[str]) -> tuple[str, ...]:
    """Without those that say the same of other figures: a quota that is too small for two pods once it is large enough
    for one."""
    first: dict[str, str] = {}
    for obstacle in obstacles:
        first.setdefault(FIGURES.sub("", obstacle.partition(" (")[0]), obstacle)
    return tuple(first.values())


def outcome(
    objects: ClusterObjects, subject: Subject, fix: Sequence[ObjectChange], tries: Tries
) -> tuple[ClusterObjects, Subject, bool, AtRest]:
    tries.left -= 1
    changed = consequences(applied(objects, fix))
    now = same(changed, subject)
    rest = at_rest(changed, pool_of(now))
    placed = rest.surplus_placed(now.gang_uid) if holds_minimum(subject) else rest.started(now.gang_uid)
    return changed, now, placed, rest
