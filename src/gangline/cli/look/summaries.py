"""Gangs, queues and nodes as tables: what `gangline get gangs` and `gangline top` show of one look at a cluster.

The lines are the dashboard's own, so that a page and a terminal say the same; here they only become cells. A summary is
one line in `SUMMARIES`. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gangline.cli.columns import aligned
from gangline.cli.completion.suggestions import did_you_mean
from gangline.dashboard import gangs as ganged
from gangline.dashboard import nodes as noded
from gangline.dashboard import queues as queued
from gangline.dashboard.look import ClusterView
from gangline.dashboard.model import GangLine, NodeLine, QueueAmounts, QueueLine
from gangline.rules.selectors import parse_labels
from gangline.rules.values.times import brief

ORDER = {state: place for place, state in enumerate(("waiting", "evicted", "starting", "running", "failed", "ended"))}
NAMESPACE = "NAMESPACE"
"""A column that is shown only where several namespaces are, as kubectl does."""
LONGEST = 100
"""Characters of a reason that a table shows; `gangline explain` says the rest."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One table. `wide` columns come last and are shown on request."""

    kind: str
    lines: Callable[[ClusterView], Sequence[Any]]
    heading: tuple[str, ...]
    wide: tuple[str, ...]
    cells: Callable[[Any, float], tuple[str, ...]]
    """Of one line, all columns; the second argument is the time."""
    place: Callable[[Any], tuple[str, str]]
    """Its namespace, empty where it has none, and its name."""
    title: Callable[[Any], str]
    """What its users call it."""
    read: tuple[str, ...]
    """The kinds (plural) without which they are unknown."""

    def table(self, lines: Sequence[Any], now: float, *, wide: bool = False, everywhere: bool = False) -> str:
        heading = (*self.heading, *self.wide) if wide else self.heading
        first = int(heading[0] == NAMESPACE and not everywhere)
        return aligned(heading[first:], [self.cells(line, now)[first : len(heading)] for line in lines])

    def chosen(self, lines: Sequence[Any], view: ClusterView, selector: str) -> list[Any]:
        """Of gangs, those whose PodGang or PodGroup has these labels."""
        wanted = parse_labels(selector)
        known = [gang for gang in ganged.GangTable(view).values() if wanted.matches(_labels_of(gang))]
        places = {(gang.namespace, gang.name) for gang in known}
        return [line for line in lines if self.place(line) in places]

    def named(self, name: str, lines: Sequence[Any]) -> list[Any]:
        """Those of this name; all where none is given."""
        return [line for line in lines if not name or name in (self.place(line)[1], self.title(line))]

    def near(self, name: str, lines: Sequence[Any]) -> str:
        """Ends a message about a name that none of them has."""
        return did_you_mean(name, [self.title(line) for line in lines])

    def unseen(self, view: ClusterView) -> str:
        """Why there is nothing to show, though there may be some of them; empty: they may be read."""
        hidden = [kind for kind in self.read if kind in view.source.unseen]
        return f"{self.kind}s are not shown: you may not list {' and '.join(hidden)}" if hidden else ""

    def name(self, line: Any) -> str:
        """As `-o name` prints it, and other commands take it."""
        return f"{self.kind}/{self.place(line)[1]}"


def _labels_of(gang: ganged.CountedGang) -> dict[str, str]:
    return {key: value for obj in (gang.group, gang.gang) if obj is not None for key, value in obj.labels.items()}


def _gangs(view: ClusterView) -> list[GangLine]:
    known = ganged.GangTable(view)
    lines = [ganged.line(gang, known) for gang in known.values()]
    return sorted(lines, key=lambda line: (ORDER[line.state], -line.gpus_held, line.since or 0.0, line.name))


def _queues(view: ClusterView) -> list[QueueLine]:
    return queued.tree(view.queues, ganged.GangTable(view).values())


def _nodes(view: ClusterView) -> list[NodeLine]:
    held = noded.holders(view.pods)
    return [noded.node_line(fact, held.get(fact.node.name, ())) for fact in noded.in_order(view.nodes)]


def _gang_cells(line: GangLine, now: float) -> tuple[str, ...]:
    age = "" if line.since is None else brief(max(now - line.since, 0))
    return (
        line.namespace,
        line.title,
        line.state,
        f"{line.placed}/{line.pods}",
        amount(line.gpus_held or line.gpus_asked),
        line.queue or "–",
        age or "–",
        reason(line),
        str(line.minimum),
        line.priority or "–",
        amount(line.nodes),
    )


def reason(line: GangLine) -> str:
    """Why it waits, failed or lost its place, in one short line."""
    why = line.why.headline.partition(" waits: ")[2] or line.why.headline if line.why else ""
    text = line.failure or (line.evicted.by if line.evicted and line.state == "evicted" else why)
    text = " ".join(text.split())
    return f"{text[: LONGEST - 1]}…" if len(text) > LONGEST else text


def _queue_cells(line: QueueLine, _: float) -> tuple[str, ...]:
    return (
        f"{'  ' * line.depth}{line.name}",
        amount(line.gpu.allocated),
        amount(line.gpu.requested),
        bound(line.gpu.quota),
        bound(line.gpu.limit),
        amount(line.borrows),
        str(line.waiting),
        str(line.running),
        "–" if line.priority is None else str(line.priority),
        amount(line.weight),
        used(line.cpu, 1, ""),
        used(line.memory, 2**30, " GiB"),
    )


def _node_cells(line: NodeLine, _: float) -> tuple[str, ...]:
    return (
        line.name,
        line.closed or "ready",
        f"{amount(line.total - line.free)}/{line.total}",
        str(line.free),
        str(line.pods),
        "".join(CELLS[device.state] for device in line.devices) or "–",
        f"{amount(line.cpu - line.cpu_free)}/{amount(line.cpu)}",
        f"{amount((line.memory - line.memory_free) / 2**30)}/{amount(line.memory / 2**30)} GiB",
    )


CELLS = {"used": "█", "shared": "▄", "free": "·"}


def amount(value: float) -> str:
    return f"{round(value, 2):g}"


def bound(value: float | None) -> str:
    return "none" if value is None else amount(value)


def used(amounts: QueueAmounts, unit: float, word: str) -> str:
    """What is held, of the quota."""
    quota = None if amounts.quota is None else amounts.quota / unit
    return f"{amount(amounts.allocated / unit)}/{bound(quota)}{word}"


SUMMARIES = {
    "gangs": Summary(
        "gang",
        _gangs,
        (NAMESPACE, "NAME", "STATE", "PLACED", "GPUS", "QUEUE", "AGE", "WHY"),
        ("MINIMUM", "PRIORITY CLASS", "NODES"),
        _gang_cells,
        lambda line: (line.namespace, line.name),
        lambda line: str(line.title),
        ("podgangs", "podgroups"),
    ),
    "queues": Summary(
        "queue",
        _queues,
        ("NAME", "GPUS", "ASKED", "QUOTA", "LIMIT", "BORROWS", "WAITING", "RUNNING"),
        ("PRIORITY", "WEIGHT", "CPU", "MEMORY"),
        _queue_cells,
        lambda line: ("", line.name),
        lambda line: str(line.name),
        ("queues",),
    ),
    "nodes": Summary(
        "node",
        _nodes,
        ("NAME", "STATE", "GPUS", "FREE", "PODS", "DEVICES"),
        ("CPU", "MEMORY"),
        _node_cells,
        lambda line: ("", line.name),
        lambda line: str(line.name),
        ("nodes",),
    ),
}


def headline(view: ClusterView) -> str:
    """A cluster in one line, as far as the caller may read it."""
    from gangline.dashboard.pages import overview

    shown = overview(view, {})
    counts, room = shown.counts, shown.room
    taken = counts.gpus_used + counts.gpus_shared
    waits = "gang waits" if counts.waiting == 1 else "gangs wait"
    gangs = f"{counts.waiting} {waits}, {counts.running} {'runs' if counts.running == 1 else 'run'}, "
    gpus = f"{taken}/{counts.gpus} GPUs in use"
    parts = {
        "nodes": f"at least {gpus}"
        if "pods" in (*view.source.partly, *view.source.unseen)
        else f"{gpus}, {room.free} free (largest piece {room.largest})",
        "gangs": f"{gangs}{counts.failed} failed",
        "": f"{counts.nodes} {'node' if counts.nodes == 1 else 'nodes'}, {counts.nodes_closed} closed",
    }
    seen = [text for name, text in parts.items() if not SUMMARIES[name or "nodes"].unseen(view)]
    return "; ".join(seen) or "neither GPUs nor gangs may be read"
