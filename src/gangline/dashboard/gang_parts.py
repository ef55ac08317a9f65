"""What a gang is made of, and what happened to it lately: its tree and its events.

Between pages.py, which puts the page of a gang together, and gangs.py, which counts. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import msgspec

from gangline.api import names
from gangline.api.core import Event
from gangline.dashboard.gangs import CountedGang
from gangline.dashboard.look import ClusterView, PodFact
from gangline.dashboard.model import EventLine
from gangline.rules import trees
from gangline.rules.trees import Branch
from gangline.rules.values.times import seconds

EVENTS = 30
AT_ONCE = 10.0
"""Seconds between events that belong together, at most."""


def tree(look: ClusterView, gang: CountedGang, facts: Sequence[PodFact]) -> Branch:
    """Set → cliques → pods where there is a set, else gang → groups → pods."""
    owner = next((item for item in look.sets if item.namespace == gang.namespace and item.name == gang.set), None)
    if gang.gang is None or owner is None:
        return _plain_tree(gang, facts)
    mine = {podgroup.name for podgroup in gang.gang.spec.podgroups}
    cliques = [clique for clique in look.cliques if clique.namespace == gang.namespace and clique.name in mine]
    scaled = {clique.labels.get(names.SCALING_GROUP) for clique in cliques}
    groups = [
        scaling_group
        for scaling_group in look.scaling_groups
        if scaling_group.namespace == gang.namespace and scaling_group.name in scaled
    ]
    return trees.of_set(owner, [gang.gang], groups, cliques, [fact.pod for fact in facts])


def _plain_tree(gang: CountedGang, facts: Sequence[PodFact]) -> Branch:
    parts: dict[str, list[Branch]] = {part: [] for part in gang.minima if part}
    for fact in sorted(facts, key=lambda fact: fact.pod.name):
        parts.setdefault(fact.part, []).append(trees.of_pod(fact.pod))
    minima = gang.minima
    below = [
        Branch(
            "group",
            part,
            f"{len(pods)} {'pod' if len(pods) == 1 else 'pods'}, minimum {minima.get(part, 0)}",
            below=tuple(pods),
        )
        for part, pods in parts.items()
        if part
    ]
    return Branch(
        gang.kind,
        gang.title,
        f"{gang.running}/{gang.pods} running, minimum {sum(minima.values())}",
        below=(*below, *parts.get("", ())),
    )


def events(look: ClusterView, gang: CountedGang, facts: Sequence[PodFact]) -> tuple[EventLine, ...]:
    """The newest events about the gang, its PodGroup, its cliques and its pods."""
    about = {gang.name, gang.title, *(fact.pod.name for fact in facts), *gang.minima}
    if gang.group is not None:
        about.add(gang.group.name)
    mine = [
        event for event in look.events if event.involved_object.get("name") in about and _where(event) == gang.namespace
    ]
    newest = [_event(item) for item in sorted(mine, key=lambda item: -(_at(item) or 0.0))]
    return tuple(itertools.islice(together(newest), EVENTS))


def together(newest: Sequence[EventLine]) -> Iterator[EventLine]:
    """What was said of many objects at once is one line: the five pods of a gang wait for the same reason."""
    same: dict[tuple[str, str, bool], list[list[EventLine]]] = {}
    for line in newest:
        groups = same.setdefault((line.reason, line.message, line.warning), [])
        if groups and (groups[-1][0].at or 0.0) - (line.at or 0.0) <= AT_ONCE:
            groups[-1].append(line)
        else:
            groups.append([line])
    runs = [lines for groups in same.values() for lines in groups]
    for lines in sorted(runs, key=lambda lines: -(lines[0].at or 0.0)):
        yield msgspec.structs.replace(
            lines[0], about=_about([line.about for line in lines]), count=max(line.count for line in lines)
        )


def _about(objects: Sequence[str]) -> str:
    pods = [name for name in objects if name.startswith("Pod ")]
    others = sorted({name for name in objects if not name.startswith("Pod ")})
    counted = [pods[0] if len(set(pods)) == 1 else f"{len(set(pods))} pods"] if pods else []
    return ", ".join([*others, *counted])


def _where(event: Event) -> str:
    return str(event.involved_object.get("namespace") or event.namespace)


def _at(event: Event) -> float | None:
    return seconds(event.last_timestamp or event.event_time or event.metadata.creation_timestamp)


def _event(event: Event) -> EventLine:
    about = event.involved_object
    return EventLine(
        at=_at(event),
        about=f"{about.get('kind', '')} {about.get('name', '')}",
        reason=event.reason,
        message=event.message,
        count=max(event.count, 1),
        warning=event.type == "Warning",
    )
