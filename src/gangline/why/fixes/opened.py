"""Nodes that only their own state keeps from a gang, opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.why.changes import ObjectChange, both
from gangline.why.nodes.obstacles import OPENABLE, NodeObstacle
from gangline.why.nodes.room import NoRoom
from gangline.why.objects import ClusterObjects

TRIED_OPENED = 4


def closed_nodes(objects: ClusterObjects, no_room: NoRoom) -> Iterator[tuple[ObjectChange, ...]]:
    """Nodes that only their own state keeps from it: one of them, then two, …, then all."""
    opened = {
        node: _opening(node, facts)
        for node, facts in no_room.facts.items()
        if facts and all(fact.code in OPENABLE and fact.patch is not None for fact in facts)
    }
    ordered = sorted(opened, key=lambda node: (len(no_room.facts[node]), _cost(no_room.facts[node]), node))
    for count in range(1, min(len(ordered), TRIED_OPENED) + 1):
        yield tuple(opened[node] for node in ordered[:count])
    if len(ordered) > TRIED_OPENED:
        yield tuple(opened[node] for node in ordered)


def _cost(facts: Sequence[NodeObstacle]) -> int:
    return max(OPENABLE.index(fact.code) for fact in facts)


def _opening(node: str, facts: Sequence[NodeObstacle]) -> ObjectChange:
    body: Raw = {}
    for fact in facts:
        body = both(body, fact.patch or {})
    return ObjectChange(kinds.NODE, node, body)
