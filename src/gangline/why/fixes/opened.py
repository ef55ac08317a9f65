"""Nodes that only their own state keeps from a gang, opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.why.changes import ObjectChange, both
from gangline.why.nodes.obstacles import OPENABLE, NodeObstacle
from gangline.why.nodes.room import NoRoom
from gangline.why.objects import ClusterObjects

TRIED_OPENED = 4
TRIED_DOMAINS = 2


def closed_nodes(objects: ClusterObjects, no_room: NoRoom) -> Iterator[tuple[ObjectChange, ...]]:
    """Nodes that only their own state keeps from it: one of them, then two, …, then all; then those of other domains
    of its topology."""
    opened = {
        node: facts
        for node, facts in no_room.facts.items()
        if facts and all(fact.code in OPENABLE and fact.patch is not None for fact in facts)
    }
    yield from _some_opened(opened)
    for of_domain in list(no_room.elsewhere.values())[:TRIED_DOMAINS]:
        yield from _some_opened(of_domain)


def _some_opened(closed: Mapping[str, Sequence[NodeObstacle]]) -> Iterator[tuple[ObjectChange, ...]]:
    ordered = sorted(closed, key=lambda node: (len(closed[node]), _cost(closed[node]), node))
    changes = [_opening(node, closed[node]) for node in ordered]
    for count in range(1, min(len(ordered), TRIED_OPENED) + 1):
        yield tuple(changes[:count])
    if len(ordered) > TRIED_OPENED:
        yield tuple(changes)


def _cost(facts: Sequence[NodeObstacle]) -> int:
    return max(OPENABLE.index(fact.code) for fact in facts)


def _opening(node: str, facts: Sequence[NodeObstacle]) -> ObjectChange:
    body: Raw = {}
    for fact in facts:
        body = both(body, fact.patch or {})
    return ObjectChange(kinds.NODE, node, body)
