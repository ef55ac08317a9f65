"""A queue that does not exist, takes no work, belongs to another node pool, or whose parents are broken."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from gangline.api import kinds, names
from gangline.api.meta import Raw
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.session import Session
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects, dig
from gangline.why.schedulers.components import out_of_pool, pool_of
from gangline.why.words.amounts import listed
from gangline.why.workloads import Subject

NEAR = 0.6


def no_queue(session: Session, objects: ClusterObjects, subject: Subject, gang: GangInfo) -> Cause | None:
    name = gang.queue
    queue = session.queues.get(name)
    if queue is not None and queue.is_leaf:
        return None
    leaves = sorted(item.name for item in session.queues.values() if item.is_leaf)
    if queue is not None:
        return _parent_queue(session, subject, name, leaves)
    if name in session.cluster.queues:
        return _broken_parent(session, objects, subject, name)
    live = objects.raw(kinds.QUEUE, name)
    return _of_other_pool(subject, live, leaves) if live is not None else _unknown_queue(session, subject, name, leaves)


def _parent_queue(session: Session, subject: Subject, name: str, leaves: Sequence[str]) -> Cause:
    below = sorted(item.name for item in session.queues.values() if item.parent == name)
    return Cause(
        "queue",
        f"queue {name} has child queues ({listed(below)}), so it takes no work itself",
        fixes=tuple((_moved(subject, leaf),) for leaf in below if leaf in leaves),
    )


def _of_other_pool(subject: Subject, live: Raw, leaves: Sequence[str]) -> Cause:
    pool = dig(live, "metadata", "labels", names.NODE_POOL) or "default"
    return Cause(
        "queue",
        f"queue {live['metadata']['name']} belongs to node pool {pool}, not to that of the gang "
        f"({pool_of(subject) or 'default'})",
        fixes=(*((_moved(subject, leaf),) for leaf in leaves[:2]), (out_of_pool(subject, pool),)),
    )


def _unknown_queue(session: Session, subject: Subject, name: str, leaves: Sequence[str]) -> Cause:
    near = [leaf for leaf in leaves if _alike(leaf, name)]
    there = "there is" if len(leaves) == 1 else "there are"
    hint = f"; {there} {listed(leaves, 6)}" if leaves else "; there is no queue at all"
    if near:
        hint = f"; did you mean {near[0]}?"
    made = ObjectChange(kinds.QUEUE, name, _new_queue(session), how="new") if name else None
    fixes = [
        *((_moved(subject, leaf),) for leaf in near[:1]),
        *([(made,)] if made is not None else []),
        *((_moved(subject, leaf),) for leaf in leaves[:1] if leaf not in near),
    ]
    return Cause("queue", f"queue {name or '(none)'} does not exist{hint}", fixes=tuple(fixes))


def _alike(left: str, right: str) -> bool:
    return difflib.SequenceMatcher(None, left, right).ratio() >= NEAR


def _moved(subject: Subject, queue: str) -> ObjectChange:
    """Where the queue is asked for: on a set, which moves its PodGroups; else on the PodGroup itself."""
    assert subject.group is not None
    if subject.gang is not None and subject.top is not None and _follows_its_set(subject):
        marks = {"metadata": {"labels": {names.QUEUE: queue}}}
        return ObjectChange(kinds.POD_CLIQUE_SET, subject.top["metadata"]["name"], marks, subject.namespace)
    body: Raw = {"spec": {"queue": queue}}
    return ObjectChange(kinds.POD_GROUP, subject.group.name, body, subject.namespace, word=subject.group_word)


def _follows_its_set(subject: Subject) -> bool:
    """Whether the operator moves the PodGroup with the set, and no clique asks for a queue of its own."""
    cliques = dig(subject.top, "spec", "template", "cliques") or ()
    own = any(names.QUEUE in {**(item.get("labels") or {}), **(item.get("annotations") or {})} for item in cliques)
    return subject.group is not None and names.ASKED_QUEUE in subject.group.annotations and not own


def _unlimited() -> Raw:
    return {item: {"quota": -1, "limit": -1, "overQuotaWeight": 1} for item in ("cpu", "memory", "gpu")}


def _new_queue(session: Session) -> Raw:
    tops = sorted(queue.name for queue in session.queues.values() if not queue.parent and not queue.is_leaf)
    parent = next((name for name in (names.DEFAULT_PARENT_QUEUE, *tops) if name in tops), "")
    return {"spec": {"resources": _unlimited(), **({"parentQueue": parent} if parent else {})}}


def _above_of_other_pool(subject: Subject, name: str, above: Raw) -> Cause:
    """A queue and all queues above it are served by the same scheduler, or by none."""
    parent, ours = above["metadata"]["name"], pool_of(subject)
    pool = dig(above, "metadata", "labels", names.NODE_POOL) or "default"
    label: Raw = {"metadata": {"labels": {names.NODE_POOL: ours or None}}}
    return Cause(
        "queue",
        f"queue {parent}, above queue {name}, belongs to node pool {pool}, not to that of the gang "
        f"({ours or 'default'})",
        fixes=((ObjectChange(kinds.QUEUE, parent, label),),),
    )


def _broken_parent(session: Session, objects: ClusterObjects, subject: Subject, name: str) -> Cause:
    """The first queue upwards whose parent is not there or of another node pool, or the circle."""
    seen, at = [name], name
    while True:
        parent = str(dig(objects.raw(kinds.QUEUE, at), "spec", "parentQueue") or "")
        if parent in seen:
            return Cause(
                "queue",
                f"the parents of queue {name} run in a circle: {' → '.join([*seen, parent])} (spec.parentQueue)",
                fixes=((ObjectChange(kinds.QUEUE, at, {"spec": {"parentQueue": ""}}),),),
            )
        above = objects.raw(kinds.QUEUE, parent)
        if above is not None and parent not in session.cluster.queues:
            return _above_of_other_pool(subject, name, above)
        if above is None:
            made = ObjectChange(kinds.QUEUE, parent, {"spec": {"resources": _unlimited()}}, how="new")
            return Cause(
                "queue",
                f"queue {at} has the parent {parent or '(none)'} (spec.parentQueue), which does not exist",
                fixes=((made,),),
            )
        seen.append(parent)
        at = parent
