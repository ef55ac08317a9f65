"""The map as HTML: a place for the drawing, its key, and the same in a table.

assets/map.js draws into it from the data of the same address. Who cannot see the drawing, or runs no scripts, has the
table: it says the same, node by node. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from gangline.dashboard.map.data import MapIdle, MapNode, MapPage, MapRow
from gangline.dashboard.pages import gang_address
from gangline.dashboard.writing.html import Html, join, tag
from gangline.dashboard.writing.parts import age, choice, counted, grid, link, node_link, number, turned
from gangline.dashboard.writing.sections import none, section
from gangline.rules.capacity.idle_causes import RESERVED
from gangline.rules.gangs.starts import clock_text

WORDS = {"queue": "queue", "gang": "gang", "state": "state of the gang", "idle": "why a GPU is idle"}
HINT = "Arrow keys go from node to node, Enter opens one, Escape lets go."


def map_view(page: MapPage) -> list[Html]:
    if not page.counts.nodes:
        return [tag("h1", "Map"), none("No node has GPUs.")]
    top = tag("div", tag("p", _summary(page), class_="more"), _settings(page), class_="top")
    return [tag("h1", "Map"), top, *_idle_note(page), _drawing(page), _table(page)]


def _summary(page: MapPage) -> str:
    counts = page.counts
    closed = f", {number(counts.closed)} idle on nodes that take no pods" if counts.closed else ""
    shared = f", {number(counts.shared)} shared" if counts.shared else ""
    kept = sum(part.gpus for domain in page.domains for node in domain.nodes for part in _reserved(node))
    reserved = f", of which {number(kept)} reserved" if kept else ""
    return (
        f"{counted(counts.gpus, 'GPU')} on {counted(counts.nodes, 'node')}: {number(counts.used)} used{shared}, "
        f"{number(counts.free)} free{reserved}{closed}."
    )


def _reserved(node: MapNode) -> Iterator[MapIdle]:
    yield from (part for part in node.idle if part.cause == RESERVED and not node.closed)


def _idle_note(page: MapPage) -> list[Html]:
    """How fresh the causes are, where the colours tell them."""
    if page.colour != "idle":
        return []
    if page.idle_problem:
        return [tag("p", f"Why GPUs are idle is {page.idle_problem}.", class_="more")]
    if page.idle_at is None:
        return [tag("p", "Why GPUs are idle is being worked out.", class_="more")]
    return [tag("p", f"Worked out {age(page.idle_at, page.source.now)} ago, as gangline idle does.", class_="more")]


def _settings(page: MapPage) -> Html:
    inside = [choice("colour", "Colour by", page.colour, WORDS.items())]
    if len(page.topologies) > 1:
        inside.append(choice("topology", "Grouped by", page.topology, ((name, name) for name in page.topologies)))
    return tag("form", *inside, tag("button", "Show"), class_="choices", action="/map", data_at_once=True)


def _drawing(page: MapPage) -> Html:
    label = f"Map of {counted(page.counts.gpus, 'GPU')} on {counted(page.counts.nodes, 'node')}"
    canvas = tag(
        "div",
        tag("canvas", id="cells", aria_hidden="true"),
        tag("canvas", id="above", aria_hidden="true"),
        id="plane",
        tabindex="0",
        role="application",
        aria_label=label,
        aria_describedby="map-hint",
    )
    key = tag("ul", id="key", aria_label="What the colours mean")
    hint = tag("div", tag("p", "Point at a GPU to see whose it is.", class_="dim"), id="told", role="status")
    return tag(
        "section",
        tag("noscript", tag("p", "The drawing needs scripts; the table below says the same.", class_="note")),
        tag("div", key, hint, class_="beside-map"),
        canvas,
        tag("p", HINT, id="map-hint", class_="more"),
        id="map",
        class_="map",
        aria_label="Drawing",
        data_keep=True,
    )


def _table(page: MapPage) -> Html:
    heads = (
        "Node",
        *(level.capitalize() for level in page.levels),
        "GPUs",
        "Used",
        "Shared",
        "Free",
        "Gangs",
        "Idle because",
    )
    rows = (_cells(row, page) for row in page.rows.rows)
    table = grid("Every node of the map", heads, rows, numeric=("GPUs", "Used", "Shared", "Free"))
    return section("rows", "The same as a table", table, turned(page.rows, "rows", "node"))


def _cells(row: MapRow, page: MapPage) -> list[object]:
    return [
        node_link(row.node),
        *(part or "–" for part in row.path),
        number(row.gpus),
        number(row.used),
        number(row.shared),
        number(row.free),
        join(list(_gangs(row)), ", ") or "–",
        "; ".join(idle_words(part, page.source.now) for part in row.idle) or (row.closed or "–"),
    ]


def _gangs(row: MapRow) -> Iterator[Html]:
    for namespace, name, title, gpus in row.gangs:
        yield join([link(gang_address(namespace, name), title), f" ({number(gpus)})"])


def idle_words(part: MapIdle, now: float) -> str:
    whom = f" for {part.gang}" if part.cause == RESERVED else f", {part.gang} waits"
    until = f" until {clock_text(part.until, now)}" if part.until is not None else ""
    return f"{number(part.gpus)} {part.cause}{whom if part.gang else ''}{until}"
