"""The pieces that pages are written with: links, bars, GPU maps, tables, and numbers as people say them.

Each is a picture with its meaning in words beside it or in its label, so that colour is never the only sign. Sizes are
attributes of drawings, because the page's policy lets no style be set elsewhere than in its sheet. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from gangline.dashboard.model import GangLine, GpuCell, NodeLine, QueueAmounts
from gangline.dashboard.page_data import Table
from gangline.dashboard.pages import address, gang_address
from gangline.dashboard.writing.html import Html, join, tag
from gangline.rules.values.times import spoken

CELL, GAP, ACROSS = 14, 3, 16
"""Of a GPU map: the side of a device, the space between two, and devices in a line."""
MARKS = {"waiting": "◌", "starting": "◐", "running": "●", "ended": "✓", "evicted": "⏏", "failed": "✗"}


# ── words ──


def number(value: float | None) -> str:
    """8, 0.5, 32,343.75, or – for no bound."""
    if value is None:
        return "–"
    return f"{round(value, 2) + 0.0:,.2f}".rstrip("0").rstrip(".") if abs(value) < 1e6 else f"{value:,.0f}"


def size(value: float | None) -> str:
    """Bytes as a node or a quota says them: 1Ti is 1 TiB, 256Gi is 256 GiB."""
    if value is None:
        return "–"
    for unit, word in ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB")):
        if abs(value) >= unit:
            return f"{number(round(value / unit, 1))} {word}"
    return f"{number(round(value))} B"


def counted(count: float, word: str) -> str:
    return f"{number(count)} {word}" + ("" if count == 1 else "s")


def age(since: float | None, now: float) -> str:
    return "" if since is None else spoken(max(now - since, 0))


def without_name(headline: str, title: str) -> str:
    """The name stands beside the sentence already."""
    for lead in (f"{title} waits: ", f"{title} is Pending: ", f"{title}: "):
        if headline.startswith(lead):
            return headline.removeprefix(lead)
    return headline


def pods_needed(gang: GangLine) -> str:
    """How many pods, and how many of them must start together."""
    if gang.pods < 2 and gang.minimum < 2:
        return counted(gang.pods, "pod")
    least = "all at once" if gang.minimum == gang.pods else f"at least {number(gang.minimum)} at once"
    return f"{counted(gang.pods, 'pod')}, {least}"


# ── links ──


def link(href: str, shown: object, class_: str | None = None) -> Html:
    return tag("a", shown, href=href, class_=class_)


def gang_link(gang: GangLine) -> Html:
    where = [gang.namespace, None if gang.kind == "PodGang" else gang.kind]
    return join(
        [
            link(gang_address(gang.namespace, gang.name), gang.title, "name"),
            tag("span", join(where, " · "), class_="beside"),
        ],
        " ",
    )


def queue_link(name: str) -> Html:
    return link(address("queue", name), name) if name else tag("span", "none", class_="dim")


def node_link(name: str) -> Html:
    return link(address("node", name), name) if name else Html("")


def badge(state: str) -> Html:
    """A state with a mark of its own shape."""
    return tag("span", tag("span", MARKS.get(state, "○"), aria_hidden="true"), " ", state, class_=f"badge {state}")


# ── choices ──


def choice(name: str, label: str, chosen: str, options: Iterable[tuple[str, str]]) -> Html:
    """A list to choose from, with its label."""
    return tag(
        "label",
        label,
        " ",
        tag("select", *(_option(value, word, value == chosen) for value, word in options), name=name),
    )


def _option(value: str, word: str, chosen: bool) -> Html:
    return tag("option", word, value=value, selected=chosen)


# ── tables ──


def grid(
    label: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    numeric: Sequence[str] = (),
    orders: Mapping[str, Html] | None = None,
) -> Html:
    """A table whose cells carry their heading too, so that a narrow screen can show each row as a card. `orders`: links
    that sort it, by heading."""
    classes = ["num" if head in numeric else None for head in heads]
    shown = [(orders or {}).get(head, head) for head in heads]
    head = tag("tr", *(tag("th", item, scope="col", class_=cls) for item, cls in zip(shown, classes, strict=True)))
    body = (
        tag(
            "tr",
            *(
                tag("td", cell, data_label=item, class_=cls)
                for item, cell, cls in zip(heads, row, classes, strict=True)
            ),
        )
        for row in rows
    )
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body), aria_label=label), class_="scroll")


def turned(table: Table[Any], name: str, word: str, search: str = "", **kept: str) -> Html:
    """What a table does not show, and the way to it; what else the address says is kept."""
    if not table.hidden:
        return Html("")
    shown = (
        f"{table.start + 1}–{table.start + len(table.rows)} of {counted(table.total, word)}; {table.hidden} not shown."
    )
    steps = []
    if table.start:
        steps.append(_step(name, max(table.start - table.size, 0), {"q": search, **kept}, f"previous {word}s"))
    if table.start + table.size < table.total:
        steps.append(_step(name, table.start + table.size, {"q": search, **kept}, f"next {word}s"))
    return tag("p", shown, " ", join(steps, " "), class_="more")


def _step(name: str, start: int, kept: Mapping[str, str], shown: str) -> Html:
    return link(f"{query_of({**kept, name: str(start)})}#{name}", shown)


def query_of(given: Mapping[str, str]) -> str:
    """The part of an address behind its path, without what is empty."""
    return f"?{urlencode({name: value for name, value in given.items() if value})}"


# ── pictures ──


MOST_ASKED = 4
"""How many times what is held or promised a bar shows of what is asked for: one queue's long line must not make all
others a dot."""


def scale(rows: Iterable[QueueAmounts]) -> float:
    """What the full width of bars that stand together means; more than that is cut."""
    given = list(rows)
    had = max((max(item.quota or 0.0, item.allocated) for item in given), default=0.0)
    asked = max((item.requested for item in given), default=0.0)
    return max(had, min(asked, had * MOST_ASKED)) if had else asked or 1.0


def bar(amounts: QueueAmounts, top: float, label: str, shown: Callable[[float | None], str] = number) -> Html:
    """A bar: what is in use is full, what is requested is pale and behind it. Quota is a line, fair share a dashed
    line, limit a thick one. A bound beyond the width is in the words alone."""
    words = (
        f"{label}: {shown(amounts.allocated)} in use, {shown(amounts.requested)} requested, "
        f"quota {shown(amounts.quota)}, limit {shown(amounts.limit)}"
        + (f", fair share {shown(amounts.fair)}" if amounts.fair is not None else "")
    )
    parts = [_span(amounts.requested / top, "asked"), _span(amounts.allocated / top, "held")]
    if amounts.quota is not None and amounts.allocated > amounts.quota:
        over = _percent((amounts.allocated - amounts.quota) / top)
        parts.append(tag("rect", x=_percent(amounts.quota / top), y=3, width=over, height=8, class_="over"))
    parts += [
        _mark(bound / top, kind)
        for bound, kind in ((amounts.fair, "fair"), (amounts.quota, "quota"), (amounts.limit, "limit"))
        if bound is not None and bound <= top
    ]
    return tag(
        "svg",
        tag("title", words),
        tag("rect", width="100%", height=14, rx=2, class_="ground"),
        *parts,
        class_="bar",
        height=14,
        role="img",
        aria_label=words,
    )


def _span(part: float, kind: str) -> Html:
    return tag("rect", y=3, width=_percent(part), height=8, rx=1, class_=kind)


def _mark(part: float, kind: str) -> Html:
    at = _percent(min(part, 0.995))
    return tag("line", x1=at, x2=at, y1=0, y2=14, class_=kind)


def _percent(part: float) -> str:
    return f"{max(min(part, 1.0), 0.0) * 100:.1f}%"


def share(part: float, whole: float, label: str) -> Html:
    """How full something is."""
    return tag(
        "svg",
        tag("title", label),
        tag("rect", width="100%", height=8, rx=2, class_="ground"),
        tag("rect", width=_percent(part / whole if whole else 0.0), height=8, rx=2, class_="held"),
        class_="bar slim",
        height=8,
        role="img",
        aria_label=label,
    )


def gpu_map(node: NodeLine) -> Html:
    """One square per GPU: full is used, filled from below is shared, empty is free, crossed is free on a node that
    takes no pods."""
    used = sum(device.state == "used" for device in node.devices)
    shared = sum(device.state == "shared" for device in node.devices)
    words = f"{node.name}: {counted(node.total, 'GPU')}, {used} used, {shared} shared, {node.free} free"
    lines = -(-len(node.devices) // ACROSS) or 1
    width, height = min(len(node.devices), ACROSS) * (CELL + GAP), lines * (CELL + GAP)
    cells = [_device(device, place, bool(node.closed)) for place, device in enumerate(node.devices)]
    return tag("svg", *cells, class_="gpus", width=width or 1, height=height, role="img", aria_label=words)


def _device(device: GpuCell, place: int, closed: bool) -> Html:
    x, y = place % ACROSS * (CELL + GAP) + 1, place // ACROSS * (CELL + GAP) + 1
    side = CELL - 1
    inside = [
        tag("title", _tooltip(device)),
        tag("rect", x=x, y=y, width=side, height=side, rx=2, class_=f"gpu {device.state}"),
    ]
    if device.state == "shared":
        full = round(side * device.used, 1)
        inside.append(tag("rect", x=x, y=round(y + side - full, 1), width=side, height=full, rx=1, class_="part"))
    if device.state == "free" and closed:
        inside.append(tag("line", x1=x, y1=y + side, x2=x + side, y2=y, class_="shut"))
    return tag("g", *inside)


def _tooltip(device: GpuCell) -> str:
    who = ", ".join(device.pods)
    if device.state == "shared":
        return f"shared: {number(device.used)} taken" + (f" by {who}" if who else ", reserved")
    return f"used by {who}" if device.state == "used" else "free"
