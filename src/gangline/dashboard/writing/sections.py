"""The sections that several pages share: waiting gangs, running gangs, free room, queues, nodes; and the overview,
which is all of them.

Between parts.py, which draws, and views.py, which makes whole pages. Nothing is worked out here that the data does not
say. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.dashboard.model import FreeRoom, GangCounts, GangLine, NodeLine, Overview
from gangline.dashboard.page_data import PageSource, Table
from gangline.dashboard.pages import gang_address
from gangline.dashboard.writing.html import Html, join, tag
from gangline.dashboard.writing.parts import (
    age,
    badge,
    counted,
    gang_link,
    gpu_map,
    grid,
    link,
    node_link,
    number,
    pods_needed,
    queue_link,
    share,
    size,
    turned,
    without_name,
)
from gangline.dashboard.writing.queue_parts import bar_key, loan_list, queue_table

PIECES = 2
"""Sizes of free pieces that are shown without a click."""


def absent(source: PageSource, *resources: str) -> str:
    """Why something is not there: its kind may not be installed."""
    gone = [resource for resource in resources if resource in source.absent]
    return f"This cluster does not serve {' and '.join(gone)}." if gone else ""


# ── overview ──


def overview(page: Overview) -> list[Html]:
    return [
        tag("h1", "Overview", class_="hidden"),
        _tiles(page.counts, page.room),
        waiting(page.waiting, page.source, page.search),
        _room(page.room),
        _queues(page),
        running(page.running, page.source, page.counts, page.search),
        _failed(page),
        _nodes(page),
    ]


def _tiles(counts: GangCounts, room: FreeRoom) -> Html:
    taken = counts.gpus_used + counts.gpus_shared
    gpus = f"{number(taken)} of {counted(counts.gpus, 'GPU')} in use" + (
        f", {counts.gpus_shared} of them shared" if counts.gpus_shared else ""
    )
    closed = f"{number(counts.nodes_closed)} closed to pods" if counts.nodes_closed else "all take pods"
    closed = closed if counts.nodes else "none seen"
    used = join([number(taken), tag("span", f"of {number(counts.gpus)}", class_="of")], " ")
    tiles = [
        _tile(number(counts.waiting), "waiting", "Gangs waiting", _waits(counts), warn=bool(counts.waiting)),
        _tile(number(counts.running), "running", "Gangs running", _over(counts)),
        _tile(used, "queues", "GPUs in use", share(taken, counts.gpus, gpus)),
        _tile(number(room.free), "room", "GPUs free", _where_free(room)),
        _tile(number(counts.nodes), "nodes", "Nodes", closed),
    ]
    return tag("ul", *tiles, class_="tiles", aria_label="Counts")


def _where_free(room: FreeRoom) -> str:
    """In which pieces they are, and what is free but out of reach: used, free and this are all GPUs together."""
    pieces = [f"{number(piece.gpus)} on {counted(piece.nodes, 'node')}" for piece in room.pieces[:PIECES]]
    more = ["…"] if len(room.pieces) > PIECES else []
    closed = [f"{number(room.closed)} more on closed nodes"] if room.closed else []
    return ", ".join([*pieces, *more, *closed]) or "none"


def _waits(counts: GangCounts) -> str:
    if not counts.waiting and not counts.pods_pending:
        return "nothing waits"
    parts = [f"for {counted(counts.gpus_wanted, 'GPU')}"] if counts.gpus_wanted else []
    parts += [f"{counted(counts.pods_pending, 'pod')} without a node"]
    parts += [f"{number(counts.evicted)} evicted"] if counts.evicted else []
    return ", ".join(parts)


def _over(counts: GangCounts) -> Html:
    begun = join([f"{number(counts.starting)} starting, {number(counts.ended)} ended"])
    failed = link("#failed", f"{number(counts.failed)} failed", "warned") if counts.failed else None
    return join([begun, failed], ", ") if failed is not None else begun


def _tile(value: object, leads_to: str, word: str, below: object, warn: bool = False) -> Html:
    return tag(
        "li", link(f"#{leads_to}", word), tag("b", value), tag("small", below), class_="tile warn" if warn else "tile"
    )


def section(name: str, title: object, *inside: object) -> Html:
    return tag("section", tag("h2", title, id=f"{name}-title"), *inside, id=name, aria_labelledby=f"{name}-title")


def none(text: str) -> Html:
    return tag("p", text, class_="none")


def waiting(rows: Table[GangLine], source: PageSource, search: str = "") -> Html:
    if not rows.total:
        missing = absent(source, "podgangs.scheduler.grove.io") and absent(source, "podgroups.scheduling.run.ai")
        text = (
            "This cluster serves neither PodGangs nor PodGroups, so it has no gangs."
            if missing
            else f"No gang{_like(search)} waits."
        )
        return section("waiting", "Waiting", none(text))
    table = grid(
        "Waiting gangs",
        ("Gang", "Why it waits", "Needs", "Queue", "Waited"),
        (
            [gang_link(row), reason(row), _needs(row), queue_link(row.queue), age(row.since, source.now)]
            for row in rows.rows
        ),
    )
    return section("waiting", titled("Waiting", rows.total), table, turned(rows, "waiting", "gang", search))


def _like(search: str) -> str:
    return f" like “{search}”" if search else ""


def titled(title: str, total: int) -> Html:
    return join([title, tag("span", number(total), class_="count")], " ")


def reason(gang: GangLine) -> Html:
    if gang.evicted is not None:
        return join([badge(gang.state), " ", eviction(gang), short(gang)])
    if gang.why is None:
        return Html("")
    first = f" would start if {gang.why.remedies[0].text}" if gang.why.remedies else ""
    others = len(gang.why.remedies) - 1
    more = link(gang_address(gang.namespace, gang.name), f"{counted(others, 'other way')}") if others > 0 else None
    return join(
        [
            tag("span", without_name(gang.why.headline, gang.title), class_="why"),
            tag("span", gang.why.starts, class_="sub") if gang.why.starts else None,
            tag("span", tag("span", "→", aria_hidden="true"), first, class_="sub brief") if first else None,
            tag("span", more, class_="sub") if more is not None else None,
        ]
    )


def short(gang: GangLine) -> Html | None:
    """What it waits for, where something else is the first to say."""
    return tag("span", "now: ", without_name(gang.why.headline, gang.title), class_="sub") if gang.why else None


def _needs(gang: GangLine) -> Html:
    return join(
        [counted(gang.gpus_asked, "GPU") if gang.gpus_asked else "no GPU", tag("span", pods_needed(gang), class_="sub")]
    )


def running(rows: Table[GangLine], source: PageSource, counts: GangCounts | None, search: str = "") -> Html:
    held = counts.gpus_outside if counts is not None else 0.0
    outside = tag("p", f"Pods of no gang hold {counted(held, 'GPU')} more.", class_="more") if held else None
    if not rows.total:
        return section("running", "Running", none(f"No gang{_like(search)} runs."), outside)
    heads = ("Gang", "State", "Pods", "GPUs", "Nodes", "Queue", "Age")
    table = grid(
        "Running gangs, those that hold most GPUs first",
        heads,
        (
            [
                gang_link(row),
                badge(row.state),
                _pods(row),
                number(row.gpus_held),
                number(row.nodes),
                queue_link(row.queue),
                age(row.since, source.now),
            ]
            for row in rows.rows
        ),
        numeric=("GPUs", "Nodes"),
    )
    return section("running", titled("Running", rows.total), table, turned(rows, "running", "gang", search), outside)


def _pods(gang: GangLine) -> Html:
    wait = tag("span", f"{gang.pending} waiting", class_="sub") if gang.pending else None
    return join([f"{gang.running}/{gang.pods}", wait])


def _failed(page: Overview) -> Html:
    if not page.failed.total:
        return Html("")
    table = grid(
        "Gangs that failed",
        ("Gang", "Why it failed", "Queue"),
        (
            [gang_link(row), join([tag("span", row.failure, class_="why"), eviction(row)]), queue_link(row.queue)]
            for row in page.failed.rows
        ),
    )
    return section(
        "failed", titled("Failed", page.failed.total), table, turned(page.failed, "failed", "gang", page.search)
    )


def eviction(gang: GangLine) -> Html | None:
    """By whom it was evicted, and whether it comes back."""
    return None if gang.evicted is None else tag("span", f"{gang.evicted.by}; {gang.evicted.back}", class_="sub")


# ── room ──


def _room(room: FreeRoom) -> Html:
    if not room.gpu_nodes and not room.closed:
        return section("room", "Free room", none("No node has GPUs."))
    facts = [
        (
            "Free",
            join(
                [
                    counted(room.free, "GPU"),
                    f" and {number(room.spare)} in parts of shared ones" if room.spare else None,
                ]
            ),
        ),
        ("In pieces of", _pieces(room)),
        ("Largest pod that could start on one node now", _largest(room)),
        ("Whole nodes free", f"{number(room.whole_nodes)} of {number(room.gpu_nodes)}"),
    ]
    facts += [
        (
            f"Most in one {domain.level}",
            f"{counted(domain.free, 'GPU')} in {domain.name}, of {counted(domain.domains, 'domain')}",
        )
        for domain in room.domains
    ]
    if room.closed:
        facts.append(("Out of reach", f"{counted(room.closed, 'GPU')} on nodes that take no pods"))
    caution = "Counts GPUs only: a pod may still lack CPU or memory, or not tolerate a taint. "
    idle = link("/map?colour=idle", "Why GPUs are idle")
    return section("room", "Free room", fact_list(facts), tag("p", caution, idle, class_="more"))


def fact_list(facts: Iterable[tuple[object, object]]) -> Html:
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in facts), class_="facts")


def _pieces(room: FreeRoom) -> object:
    if not room.pieces:
        return "none"
    return join(
        [
            tag("span", f"{number(piece.gpus)} on {counted(piece.nodes, 'node')}", class_="piece")
            for piece in room.pieces
        ],
        " ",
    )


def _largest(room: FreeRoom) -> object:
    return (
        join([counted(room.largest, "GPU"), " on ", node_link(room.largest_node)])
        if room.largest
        else "none: no node has a free GPU"
    )


# ── queues ──


def _queues(page: Overview) -> Html:
    if not page.queues.total:
        text = absent(page.source, "queues.scheduling.run.ai") or f"There is no queue{_like(page.search)}."
        return section("queues", "Queues", none(text))
    return section(
        "queues",
        titled("Queues", page.queues.total),
        loan_list(page.loans),
        bar_key(),
        queue_table(page.queues.rows),
        turned(page.queues, "queues", "queue", page.search),
    )


# ── nodes ──


def _nodes(page: Overview) -> Html:
    if not page.nodes.total:
        return section("nodes", "Nodes", none(f"There is no node{_like(page.search)}."))
    heads = ("Node", "GPUs", "Free", "CPU free", "Memory free", "Pods", "State")
    table = grid("Nodes with their GPUs", heads, (_node_row(row) for row in page.nodes.rows), numeric=heads[2:6])
    return section(
        "nodes", titled("Nodes", page.nodes.total), _legend(), table, turned(page.nodes, "nodes", "node", page.search)
    )


def _node_row(line: NodeLine) -> list[object]:
    return [
        node_link(line.name),
        gpu_map(line),
        free_gpus(line),
        f"{number(round(line.cpu_free, 1))} of {number(line.cpu)}",
        f"{size(line.memory_free)} of {size(line.memory)}",
        line.pods,
        open_or_closed(line),
    ]


def free_gpus(line: NodeLine) -> str:
    return f"{line.free} of {line.total}" + (f", and {number(line.spare)} of shared ones" if line.spare else "")


def open_or_closed(line: NodeLine) -> Html:
    return (
        tag("span", f"✕ {line.closed}", class_="badge closed")
        if line.closed
        else tag("span", "takes pods", class_="dim")
    )


def _legend() -> Html:
    return tag("p", "One square is one GPU: full is used, filled from below is shared, empty is free.", class_="more")
