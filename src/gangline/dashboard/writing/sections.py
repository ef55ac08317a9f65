"""The sections that several pages share: waiting gangs, running gangs, free room, queues, nodes; and the overview,
which is all of them.

Between parts.py, which draws, and views.py, which makes whole pages. Nothing is worked out here that the data does not
say. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gangline.dashboard.model import Amounts, FreeRoom, GangCounts, GangLine, Loan, NodeLine, Overview, QueueLine
from gangline.dashboard.page_data import Source, Table
from gangline.dashboard.pages import gang_address
from gangline.dashboard.writing.html import Html, join, tag
from gangline.dashboard.writing.parts import (
    age,
    badge,
    bar,
    counted,
    gang_link,
    gpu_map,
    grid,
    link,
    node_link,
    number,
    queue_link,
    scale,
    share,
    size,
    turned,
)

PIECES = 2
"""Sizes of free pieces that are told at first sight."""
LOANS = 5
"""Queues that borrow are told in a sentence each, the largest of them."""


def _absent(source: Source, *resources: str) -> str:
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
    closed = f"{counts.nodes_closed} closed to pods" if counts.nodes_closed else "all take pods"
    tiles = [
        _tile(number(counts.waiting), "waiting", "waiting", _waits(counts), warn=bool(counts.waiting)),
        _tile(number(counts.running), "running", "running", _over(counts), warn=bool(counts.failed)),
        _tile(f"{number(taken)}/{number(counts.gpus)}", "queues", "GPUs in use", share(taken, counts.gpus, gpus)),
        _tile(number(room.free), "room", "GPUs free", _where_free(room)),
        _tile(number(counts.nodes), "nodes", "nodes", closed),
    ]
    return tag("ul", *tiles, class_="tiles", aria_label="Counts")


def _where_free(room: FreeRoom) -> str:
    """In which pieces they are, and what is free but out of reach: used, free and this are all GPUs together."""
    pieces = [f"{piece.gpus} on {counted(piece.nodes, 'node')}" for piece in room.pieces[:PIECES]]
    more = ["…"] if len(room.pieces) > PIECES else []
    closed = [f"{room.closed} more on closed nodes"] if room.closed else []
    return ", ".join([*pieces, *more, *closed]) or "none"


def _waits(counts: GangCounts) -> str:
    return f"{counted(counts.pods_pending, 'pod')} without a node" + (
        f", {counted(counts.evicted, 'gang')} evicted" if counts.evicted else ""
    )


def _over(counts: GangCounts) -> str:
    return f"{counts.starting} starting, {counts.ended} ended" + (f", {counts.failed} failed" if counts.failed else "")


def _tile(value: str, leads_to: str, word: str, below: object, warn: bool = False) -> Html:
    return tag(
        "li", tag("b", value), link(f"#{leads_to}", word), tag("small", below), class_="tile warn" if warn else "tile"
    )


def section(name: str, title: object, *inside: object) -> Html:
    return tag("section", tag("h2", title, id=f"{name}-title"), *inside, id=name, aria_labelledby=f"{name}-title")


def none(text: str) -> Html:
    return tag("p", text, class_="none")


def waiting(rows: Table[GangLine], source: Source, search: str = "") -> Html:
    if not rows.total:
        missing = _absent(source, "podgangs.scheduler.grove.io") and _absent(source, "podgroups.scheduling.run.ai")
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
        return join([badge(gang.state), " ", eviction(gang)])
    if gang.why is None:
        return Html("")
    first = f" would start if {gang.why.remedies[0].text}" if gang.why.remedies else ""
    others = len(gang.why.remedies) - 1
    more = link(gang_address(gang.namespace, gang.name), f"{counted(others, 'other way')}") if others > 0 else None
    return join(
        [
            tag("span", _without_name(gang.why.headline, gang.title), class_="why"),
            tag("span", gang.why.starts, class_="sub") if gang.why.starts else None,
            tag("span", tag("span", "→", aria_hidden="true"), first, " ", more, class_="sub") if first else None,
        ]
    )


def _without_name(headline: str, title: str) -> str:
    """The name stands beside the sentence already."""
    for lead in (f"{title} waits: ", f"{title} is Pending: ", f"{title}: "):
        if headline.startswith(lead):
            return headline.removeprefix(lead)
    return headline


def _needs(gang: GangLine) -> Html:
    return join(
        [
            counted(gang.gpus_asked, "GPU") if gang.gpus_asked else "no GPU",
            tag("span", f"{counted(gang.pods, 'pod')}, at least {gang.minimum}", class_="sub"),
        ]
    )


def running(rows: Table[GangLine], source: Source, counts: GangCounts | None, search: str = "") -> Html:
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
    wait = tag("span", f"{gang.pending} wait", class_="sub") if gang.pending else None
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
        ("Whole nodes free", f"{room.whole_nodes} of {room.gpu_nodes}"),
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
    caution = "Counts GPUs only: a pod may still lack CPU or memory, or not tolerate a taint."
    return section("room", "Free room", fact_list(facts), tag("p", caution, class_="more"))


def fact_list(facts: Iterable[tuple[object, object]]) -> Html:
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in facts), class_="facts")


def _pieces(room: FreeRoom) -> object:
    if not room.pieces:
        return "none"
    return join(
        [tag("span", f"{piece.gpus} on {counted(piece.nodes, 'node')}", class_="piece") for piece in room.pieces], " "
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
        text = _absent(page.source, "queues.scheduling.run.ai") or f"There is no queue{_like(page.search)}."
        return section("queues", "Queues", none(text))
    return section(
        "queues",
        titled("Queues", page.queues.total),
        loan_list(page.loans),
        _key(),
        queue_table(page.queues.rows),
        turned(page.queues, "queues", "queue", page.search),
    )


def _key() -> Html:
    return tag(
        "p",
        "Full is held, amber above the quota, pale asked for; a thin line is the quota, a thick one the limit.",
        class_="more",
    )


def queue_table(rows: Sequence[QueueLine]) -> Html:
    heads = ("Queue", "GPUs", "Held", "Asked", "Quota", "Limit", "Gangs")
    least, top = min((row.depth for row in rows), default=0), scale(row.gpu for row in rows)
    return grid(
        "Queues with their GPUs",
        heads,
        (
            [
                _queue_name(row, row.depth - least),
                bar(row.gpu, top, f"GPUs of {row.name}"),
                *amounts(row.gpu),
                gang_count(row),
            ]
            for row in rows
        ),
        numeric=heads[2:6],
    )


def amounts(given: Amounts, shown: Callable[[float | None], str] = number) -> list[str]:
    return [shown(value) for value in (given.allocated, given.requested, given.quota, given.limit)]


def _queue_name(line: QueueLine, depth: int) -> Html:
    branch = tag("span", "└ ", class_=f"branch deep{min(depth, 6)}", aria_hidden="true") if depth else None
    notes = [f"borrows {counted(line.borrows, 'GPU')}" if line.borrows else None, line.problem or None]
    return join([branch, queue_link(line.name), *(tag("span", note, class_="tag") for note in notes if note)])


def gang_count(line: QueueLine) -> str:
    parts = [f"{line.waiting} wait" if line.waiting else "", f"{line.running} run" if line.running else ""]
    return ", ".join(part for part in parts if part) or "–"


def loan_list(loans: Sequence[Loan]) -> Html:
    if not loans:
        return Html("")
    rest = (
        tag("li", f"{counted(len(loans) - LOANS, 'more queue')} borrow.", class_="dim") if len(loans) > LOANS else None
    )
    return tag("ul", *(tag("li", _loan(loan)) for loan in loans[:LOANS]), rest, class_="loans")


def _loan(loan: Loan) -> Html:
    lenders = [join([queue_link(name), f" ({counted(unused, 'GPU')})"]) for name, unused in loan.lenders]
    spare = join([" Unused quota next to it: ", join(lenders, ", "), "."])
    held = f" borrows {counted(loan.gpus, 'GPU')}: it holds {number(loan.held)} and its quota is {number(loan.quota)}."
    return join([queue_link(loan.queue), held, spare if lenders else " No queue next to it has unused quota."])


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
    return f"{line.free} of {line.total}" + (f" + {number(line.spare)}" if line.spare else "")


def open_or_closed(line: NodeLine) -> Html:
    return (
        tag("span", f"✕ {line.closed}", class_="badge closed")
        if line.closed
        else tag("span", "takes pods", class_="dim")
    )


def _legend() -> Html:
    return tag("p", "One square is one GPU: full is used, filled from below is shared, empty is free.", class_="more")
