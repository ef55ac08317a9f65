"""Changes tried one after the other, on a copy of the objects, with the real cycle, until the gang starts.

A change that clears the first obstacle and meets another one is kept, and what clears that is added: so one remedy
names every level of a chain of quotas, or the label and the taint of a node. What does not start the gang is not
told. Bounded by a number of cycles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gangline.api import kinds, names
from gangline.api.meta import Raw
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange, Remedy, applied, squashed
from gangline.why.fixes.daemons import daemon_pods
from gangline.why.objects import ClusterObjects, dig, is_simulated
from gangline.why.replay import AtRest, at_rest
from gangline.why.schedulers.components import pool_of
from gangline.why.states.members import holds_minimum
from gangline.why.waiting import in_the_way
from gangline.why.workloads import Subject, same

TRIALS = 60


DEEPEST = 4


TOLD = 4


@dataclass(slots=True)
class Tries:
    """What is left of the budget."""

    left: int = TRIALS


def remedies(objects: ClusterObjects, subject: Subject, cause: Cause, titles: dict[str, str]) -> list[Remedy]:
    """What was seen to start the gang, the smallest first; and, untried, what only the whole platform can try."""
    tries = Tries()
    if cause.pods_change:
        return [Remedy(tuple(fix)) for fix in cause.fixes]
    if subject.group is None or cause.code == "deleting":
        return [Remedy(tuple(fix)) for fix in cause.fixes]
    working = _found(objects, subject, cause, titles, tries)
    if not working:
        return [Remedy(tuple(fix)) for fix in cause.anew]
    shrunk = [replace(item, changes=_shrunk(objects, subject, item.changes, tries)) for item in working[:TOLD]]
    first: dict[tuple[str, ...], Remedy] = {}
    for item in shrunk:
        first.setdefault(tuple(map(_likeness, item.changes)), item)
    return list(first.values())


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
    told = f"{change.title} {change.body}"
    return told.replace(change.name, "") if change.kind is kinds.NODE and change.how == "new" else told


def _shrunk(
    objects: ClusterObjects, subject: Subject, changes: tuple[ObjectChange, ...], tries: Tries
) -> tuple[ObjectChange, ...]:
    """Without what the gang starts without: nodes, queues and paused Jobs are left out one by one."""
    for change in [
        item for item in changes if item.kind in (kinds.NODE, kinds.QUEUE, kinds.JOB) and item.how != "replace"
    ]:
        part = {change.name, *(item.name for item in changes if dig(item.body, "spec", "nodeName") == change.name)}
        if change.kind is kinds.JOB and not dig(change.body, "spec", "suspend"):
            continue
        fewer = tuple(item for item in changes if item.name not in part)
        if fewer and tries.left > 0 and outcome(objects, subject, fewer, tries)[2]:
            changes = fewer
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
        if (behind.code, behind.why) == (cause.code, cause.why) or behind.pods_change or not behind.fixes:
            continue
        further = replace(before, changes=(*before.changes, *fix), behind=(*before.behind, behind.why))
        yield from _deeper(changed, now, behind, further, titles, tries, depth + 1)


def outcome(
    objects: ClusterObjects, subject: Subject, fix: Sequence[ObjectChange], tries: Tries
) -> tuple[ClusterObjects, Subject, bool, AtRest]:
    tries.left -= 1
    changed = consequences(applied(objects, fix))
    now = same(changed, subject)
    rest = at_rest(changed, pool_of(now))
    placed = rest.surplus_placed(now.gang_uid) if holds_minimum(subject) else rest.started(now.gang_uid)
    return changed, now, placed, rest


def consequences(objects: ClusterObjects) -> ClusterObjects:
    """What controllers do at once: the pods of a suspended Job go, a simulated node that plays no failure is ready, a
    new node gets the pods of DaemonSets."""
    for node in objects.raws(kinds.NODE):
        if objects.base.raw(kinds.NODE, node["metadata"]["name"]) is None:
            for pod in daemon_pods(objects, node):
                objects = objects.put(kinds.POD, pod, pod["metadata"]["name"], pod["metadata"]["namespace"])
        if is_simulated(node) and not _plays_failure(node):
            objects = objects.put(kinds.NODE, _ready(node), node["metadata"]["name"])
    objects = _moved_with_set(objects)
    paused = {str(dig(job, "metadata", "uid")) for job in objects.raws(kinds.JOB) if dig(job, "spec", "suspend")}
    if not paused:
        return objects
    for pod in objects.raws(kinds.POD):
        if any(str(owner.get("uid")) in paused for owner in pod["metadata"].get("ownerReferences") or ()):
            objects = objects.put(kinds.POD, None, pod["metadata"]["name"], pod["metadata"].get("namespace", ""))
    return objects


def _moved_with_set(objects: ClusterObjects) -> ClusterObjects:
    """PodGroups of a set that asks for another queue than before."""
    for resource, (namespace, name), before, after in list(objects.changes()):
        queue = dig(after, "metadata", "labels", names.QUEUE)
        if resource != kinds.POD_CLIQUE_SET.resource or queue == dig(before, "metadata", "labels", names.QUEUE):
            continue
        for group in objects.raws(kinds.POD_GROUP, namespace):
            if dig(group, "metadata", "labels", names.PART_OF) == name and queue:
                moved = {**group, "spec": {**group["spec"], "queue": queue}}
                objects = objects.put(kinds.POD_GROUP, moved, group["metadata"]["name"], namespace)
    return objects


def _plays_failure(node: Raw) -> bool:
    noted = node["metadata"].get("annotations") or {}
    plays = names.HEALTH in noted or names.FAILURES in noted
    return plays or not any(
        item.get("type") == "Ready" and item.get("status") != "True" for item in dig(node, "status", "conditions") or ()
    )


def _ready(node: Raw) -> Raw:
    conditions = [
        {**item, "status": "True"} if item.get("type") == "Ready" else item
        for item in dig(node, "status", "conditions") or ()
    ]
    taints = [
        item for item in dig(node, "spec", "taints") or () if not str(item.get("key")).startswith("node.kubernetes.io/")
    ]
    return {
        **node,
        "spec": {**(node.get("spec") or {}), "taints": taints},
        "status": {**node["status"], "conditions": conditions},
    }
