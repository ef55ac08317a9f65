"""The cause of a gang that finds no nodes, with every change that may give it some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gangline.api import kinds, names
from gangline.api.meta import Raw
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.resources import GPU
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.session import Session
from gangline.scheduler.why.verdict import counted
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.fixes.anew import unasked
from gangline.why.fixes.claims_anew import unselective
from gangline.why.fixes.gang import lower_minimum, priority_changes, relaxed, undelayed
from gangline.why.fixes.new_nodes import more_nodes, topology_levels
from gangline.why.fixes.opened import closed_nodes
from gangline.why.fixes.others import paused_others
from gangline.why.nodes.room import NoRoom, find_room
from gangline.why.nodes.room_text import headline, lines, nodes_text
from gangline.why.objects import ClusterObjects
from gangline.why.queues.bounds import entitled
from gangline.why.queues.protected import unprotected
from gangline.why.queues.rivals import ahead_text, why_nobody
from gangline.why.queues.spared import raised_budgets
from gangline.why.schedulers.components import pool_of
from gangline.why.words.amounts import listed
from gangline.why.workloads import Subject

TRIED_LABELLED = 2


def no_room_cause(
    session: Session,
    objects: ClusterObjects,
    subject: Subject,
    gang: GangInfo,
    tasks: list[TaskInfo],
    titles: dict[str, str],
) -> Cause | None:
    no_room = find_room(session, objects, gang, tasks)
    if no_room is None:
        return None
    if not no_room.nodes and objects.raws(kinds.NODE):
        return _no_pool_nodes(objects, subject, no_room, session, gang)
    head = headline(no_room, session)
    facts = [line for line in lines(no_room) if without_nodes(line) not in head]
    facts += _outside_topology(session, gang) if no_room.rule is not None else []
    busy = any(not fact.lasting for of_node in no_room.facts.values() for fact in of_node)
    resources = _scarce(session, no_room)
    makes_room = list(why_nobody(session, objects, gang, tasks, titles, resources)) if busy else []
    makes_room += [ahead_text(session, gang, titles)] if busy else []
    return Cause(
        "room" if busy else "nodes",
        head,
        (*facts, *makes_room),
        tuple(fix for fix in _fixes(session, objects, subject, no_room, tasks, busy) if fix),
        anew=(
            *(unselective(objects, subject) if no_room.codes()["devices"] else ()),
            *unasked(objects, subject, no_room.codes()),
        ),
        proof=no_room.proof(),
    )


def _fixes(
    session: Session, objects: ClusterObjects, subject: Subject, no_room: NoRoom, tasks: list[TaskInfo], busy: bool
) -> Iterator[tuple[ObjectChange, ...]]:
    """What may give it nodes; where others hold some (`busy`), also what may move them."""
    gang = no_room.gang
    yield from closed_nodes(objects, no_room)
    if busy:
        yield undelayed(objects, subject, gang, session.now)
        yield unprotected(session, gang)
        yield raised_budgets(session, gang)
        yield entitled(session, gang, tasks)
    if no_room.rule is not None:
        yield relaxed(objects, subject, no_room.rule)
    yield from _labelled(session, no_room)
    yield from more_nodes(session, objects, no_room, gang)
    yield lower_minimum(session, subject, gang, (), no_room.placed)
    if busy:
        yield from priority_changes(session, objects, subject, gang)
        yield from paused_others(session, objects, gang, "")


def _labelled(session: Session, no_room: NoRoom) -> Iterator[tuple[ObjectChange, ...]]:
    """Nodes that lack the label of the level which the gang must stay within, in the best of its domains."""
    key = no_room.rule.required if no_room.rule is not None else ""
    inside = next((session.cluster.nodes[name] for name in no_room.nodes if name in session.cluster.nodes), None)
    if inside is None or not inside.labels.get(key):
        return
    levels = topology_levels(session, no_room.gang)
    bodies: dict[str, Raw] = {}
    for name, node in sorted(session.cluster.nodes.items()):
        value = node.labels.get(key)
        missing = [level for level in {key, *levels} if level not in node.labels]
        if missing and value in (None, inside.labels[key]):
            bodies[name] = {"metadata": {"labels": {level: inside.labels.get(level, level) for level in missing}}}
    changes = [ObjectChange(kinds.NODE, name, body) for name, body in bodies.items()]
    for count in range(1, min(len(changes), TRIED_LABELLED) + 1):
        yield tuple(changes[:count])


def _outside_topology(session: Session, gang: GangInfo) -> list[str]:
    """Nodes that count in no domain, because they lack the label of a level."""
    return [
        f"{nodes_text(lacking, len(session.cluster.nodes))} has no label {level}, so no domain of the topology has "
        f"{'it' if len(lacking) == 1 else 'them'}"
        for level in topology_levels(session, gang)
        if (lacking := [name for name, node in sorted(session.cluster.nodes.items()) if level not in node.labels])
    ]


def _no_pool_nodes(
    objects: ClusterObjects, subject: Subject, no_room: NoRoom, session: Session, gang: GangInfo
) -> Cause:
    """All nodes belong to other node pools."""
    pools: dict[str, list[str]] = {}
    for node in objects.raws(kinds.NODE):
        pools.setdefault((node["metadata"].get("labels") or {}).get(names.NODE_POOL) or "default", []).append(
            node["metadata"]["name"]
        )
    mine = pool_of(subject)
    elsewhere = "; ".join(
        f"{counted(len(nodes), 'node')} in pool {pool} ({listed(nodes)})" for pool, nodes in sorted(pools.items())
    )
    moved = [
        (ObjectChange(kinds.NODE, name, {"metadata": {"labels": {names.NODE_POOL: mine or None}}}),)
        for name in sorted(name for nodes in pools.values() for name in nodes)[:3]
    ]
    return Cause(
        "no-nodes",
        f"there is no node in its node pool {mine or 'default'} (label {names.NODE_POOL}): {elsewhere}",
        fixes=(*moved, *more_nodes(session, objects, no_room, gang)),
    )


VERBS = (" has ", " is ", " shares ", " holds ", " does not ", " cannot ")


def without_nodes(line: str) -> str:
    """A line of the proof without the nodes it speaks of."""
    return line[min((line.index(verb) for verb in VERBS if verb in line), default=0) :]


def _scarce(session: Session, no_room: NoRoom) -> list[int]:
    """What the nodes lack of what it asks for: what most of them lack first, GPUs where as many lack those."""
    lacking = Counter(
        session.cluster.names.names.index(fact.resource)
        for facts in no_room.facts.values()
        for fact in facts
        if fact.code == "busy" and fact.resource
    )
    return sorted(lacking, key=lambda place: (-lacking[place], place != GPU, place)) or [GPU]
