"""A page as data → the page as HTML text.

Last in a page's journey. One function per page, each a table of contents; what pages share is in sections.py, the
pieces in parts.py. Nothing is worked out here that the data does not say, so that a program that reads `?format=json`
knows as much as a person. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gangline.dashboard.map.data import MapPage
from gangline.dashboard.map.view import map_view
from gangline.dashboard.model import (
    EventLine,
    GangLine,
    GangPage,
    GangsPage,
    MissingPage,
    NodePage,
    Overview,
    Page,
    PodLine,
    QueuePage,
    QueuesPage,
    WaitingReason,
)
from gangline.dashboard.page_data import PageSource
from gangline.dashboard.pages import gang_address, map_address
from gangline.dashboard.past.data import TimelinePage, TimePage
from gangline.dashboard.past.view import time_view, timeline_view
from gangline.dashboard.writing.gangs_view import gangs_view
from gangline.dashboard.writing.html import Html, join, tag
from gangline.dashboard.writing.parts import (
    age,
    badge,
    counted,
    gpu_map,
    grid,
    link,
    node_link,
    number,
    queue_link,
    size,
    turned,
    without_name,
)
from gangline.dashboard.writing.queues_view import queue, queues
from gangline.dashboard.writing.sections import fact_list, free_gpus, none, open_or_closed, overview, section, titled
from gangline.dashboard.writing.sheet import STYLE, asset
from gangline.rules.trees import Branch

STALE = 15.0
"""Seconds of silence after which the page says so."""
NAV: tuple[tuple[str, str, type[Page]], ...] = (
    ("/", "Overview", Overview),
    ("/map", "Map", MapPage),
    ("/gangs", "Gangs", GangsPage),
    ("/queues", "Queues", QueuesPage),
    ("/time", "Time", TimePage),
)


def document(page: Page) -> str:
    """The whole text of a page."""
    title, body = _body(page)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · gangline"),
        tag("noscript", tag("meta", http_equiv="refresh", content="10")),
        tag("style", Html(STYLE)),
        tag("script", type="module", src=asset("page.js")),
    )
    main = tag("main", _fresh(page.source), *body, id="main", tabindex="-1")
    inside = [link("#main", "skip to the content", "skip"), _header(page), _alarms(page.source), main]
    return "<!doctype html>\n" + tag("html", head, tag("body", *inside, data_version=page.source.version), lang="en")


def _body(page: Page) -> tuple[str, Sequence[Html]]:
    match page:
        case Overview():
            return "Overview", overview(page)
        case GangsPage():
            return "Gangs", gangs_view(page)
        case QueuesPage():
            return "Queues", queues(page)
        case TimePage():
            return "Time", time_view(page)
        case TimelinePage():
            return f"{page.title}: timeline", timeline_view(page)
        case MapPage():
            return "Map", map_view(page)
        case GangPage():
            return page.gang.title, gang(page)
        case QueuePage():
            return page.queue.title, queue(page)
        case NodePage():
            return page.node.name, node(page)
        case MissingPage():
            return "Not found", missing(page)


def _header(page: Page) -> Html:
    search = page.search if isinstance(page, Overview) else ""
    box = tag(
        "form",
        tag(
            "input",
            type="search",
            name="q",
            value=search or None,
            placeholder="gang, queue, node …",
            aria_label="Search gangs, queues and nodes",
        ),
        tag("button", "Search"),
        action="/",
        role="search",
    )
    pause = tag("button", "Pause", id="pause", type="button", aria_pressed="false", hidden=True)
    site = tag(
        "nav",
        link("/", "gangline", "brand"),
        *(
            tag("a", word, href=href, aria_current="page" if isinstance(page, kind) else None)
            for href, word, kind in NAV
        ),
        tag("span", page.source.server, class_="server"),
        aria_label="Site",
    )
    return tag("header", site, box, pause, *_visitor(page.source))


def _visitor(source: PageSource) -> list[Html]:
    """Who looks, and the way out."""
    name = [tag("span", source.viewer, class_="server")] if source.viewer else []
    leave = [tag("form", tag("button", "Log out"), method="post", action="/logout")] if source.leaves else []
    return name + leave


# ── how fresh it is ──


def _alarms(source: PageSource) -> Html:
    """What is wrong with the data. It says no ages, so that a screen reader hears it once and not with every
    renewal."""
    lost = source.problem or source.heard is None or source.now - source.heard > STALE
    notes = (
        [tag("p", tag("strong", "The cluster is not reachable. "), _known(source), " ", source.problem, class_="alarm")]
        if lost
        else []
    )
    notes += [
        tag("p", tag("strong", "Cannot be read: "), trouble, class_="alarm") for trouble in source.troubles if not lost
    ]
    if source.hidden:
        text = f"Not shown: {' and '.join(source.hidden)}, which you may not list."
        notes.append(tag("p", text, class_="note"))
    if source.reading:
        notes.append(tag("p", f"Reading {', '.join(source.reading)} for the first time …", class_="note"))
    return tag("div", *notes, id="state", role="status")


def _known(source: PageSource) -> str:
    return "It has not answered yet." if source.heard is None else "What is shown is what it said last."


def _fresh(source: PageSource) -> Html:
    if source.heard is None:
        return Html("")
    ago = "just now" if source.now - source.heard < 1 else f"{age(source.heard, source.now)} ago"
    return tag("p", "last heard from the cluster ", tag("time", ago), class_="fresh")


# ── one gang ──


def gang(page: GangPage) -> list[Html]:
    line = page.gang
    timeline = link(f"{gang_address(line.namespace, line.name)}/timeline", "Timeline, from created to now")
    shown = map_address(colour="gang", only=f"{line.namespace}/{line.title}")
    ways = [timeline, *([link(shown, "Its GPUs on the map")] if line.gpus_held else [])]
    made_of = section("tree", "What it is made of", tag("ul", _branch(page.tree), class_="tree"))
    return [
        tag("h1", line.title, " ", badge(line.state)),
        _lost(line, page.source),
        _verdict(line),
        section("about", "About it", _about(line, page.source), tag("p", join(ways, " · "))),
        made_of,
        _conditions(page),
        _events(page.events, page.source),
    ]


def _about(line: GangLine, source: PageSource) -> Html:
    made_for = f"{line.kind} {line.title}"
    if line.kind == "PodGang":
        made_for = f"set {line.set}" if line.set else "–"
    facts: list[tuple[object, object]] = [
        ("Namespace", line.namespace),
        ("Workload", made_for),
        ("Queue", queue_link(line.queue)),
        ("Pods", _pods(line)),
        ("Minimum", counted(line.minimum, "pod")),
        ("GPUs", f"{number(line.gpus_held)} of {number(line.gpus_asked)} in use"),
    ]
    if line.priority:
        facts.append(("Priority", line.priority))
    return fact_list(
        [*facts, ("Waited" if line.state in ("waiting", "evicted") else "Age", age(line.since, source.now) or "–")]
    )


def _pods(line: GangLine) -> str:
    """All that run, and why others do not yet."""
    starting = f", {number(line.placed - line.running)} starting" if line.placed > line.running else ""
    waiting = f", {number(line.pending)} waiting" if line.pending else ""
    return f"{number(line.running)} of {number(line.pods)} running{starting}{waiting}"


def _lost(line: GangLine, source: PageSource) -> Html:
    """How a gang lost its place, and why it failed."""
    lines = [tag("p", line.failure, class_="headline")] if line.failure else []
    if line.evicted is not None:
        lines.append(
            tag(
                "p",
                f"{line.title} was {line.evicted.by}, {age(line.evicted.at, source.now)} ago; {line.evicted.back}.",
                class_="headline",
            )
        )
    return section("lost", "It failed" if line.failure else "It was evicted", *lines) if lines else Html("")


def _verdict(line: GangLine) -> Html:
    if line.why is None:
        return Html("")
    why: WaitingReason = line.why
    title = "Why it waits" if line.state in ("waiting", "evicted") else "Why the rest of it waits"
    proof = tag("ul", *(tag("li", item) for item in why.proof), class_="proof") if why.proof else None
    ways = tag("ul", *(tag("li", remedy.text) for remedy in why.remedies), class_="ways")
    would = [tag("h3", "It would start if"), ways] if why.remedies else []
    starts = tag("p", f"It {why.starts}.") if why.starts else None
    headline = tag("p", without_name(why.headline, line.title), class_="headline")
    return section("verdict", title, headline, starts, proof, *would)


def _branch(branch: Branch) -> Html:
    where = join([" on ", node_link(branch.node)]) if branch.node else None
    below = tag("ul", *(_branch(item) for item in branch.below)) if branch.below else None
    return tag(
        "li",
        tag("span", branch.kind, class_="kind"),
        tag("b", branch.name),
        tag("span", branch.state, where, class_="dim"),
        below,
    )


def _conditions(page: GangPage) -> Html:
    if not page.conditions:
        return Html("")
    return section(
        "conditions", "Conditions", grid("Conditions of the gang", ("Condition", "Status", "Message"), page.conditions)
    )


def _events(events: Sequence[EventLine], source: PageSource) -> Html:
    if not events:
        return section("events", "Recent events", none("None. A cluster keeps events for about an hour."))
    rows = (
        [
            age(event.at, source.now),
            tag("span", f"⚠ {event.reason}", class_="warned") if event.warning else event.reason,
            event.about,
            event.message + (f" (×{event.count})" if event.count > 1 else ""),
        ]
        for event in events
    )
    return section(
        "events", "Recent events", grid("Recent events, newest first", ("Ago", "What", "About", "Message"), rows)
    )


# ── one node ──


def node(page: NodePage) -> list[Html]:
    heads = ("Pod", "Namespace", "State", "GPUs", "Gang")
    rows = (
        [tag("span", row.name, class_="name"), row.namespace, row.state, number(row.gpus), _belongs(row)]
        for row in page.pods.rows
    )
    pods = (
        grid("Pods on the node", heads, rows, numeric=("GPUs",))
        if page.pods.total
        else none("No pod holds anything of this node.")
    )
    labels = tag("details", tag("summary", counted(len(page.labels), "label")), fact_list(page.labels), id="labels")
    return [
        tag("h1", page.node.name),
        fact_list(_node_facts(page)),
        section("pods", titled("Pods", page.pods.total), pods, turned(page.pods, "pods", "pod")),
        labels,
    ]


def _node_facts(page: NodePage) -> Iterator[tuple[object, object]]:
    line = page.node
    yield "GPUs", gpu_map(line) if line.devices else "none"
    yield "GPUs free", free_gpus(line) if line.total else "–"
    if line.total:
        yield "Where it stands", link(map_address(node=line.name), "On the map")
    yield "State", open_or_closed(line)
    yield "CPU free", f"{number(round(line.cpu_free, 1))} of {number(line.cpu)} cores"
    yield "Memory free", f"{size(line.memory_free)} of {size(line.memory)}"
    yield from (("Slices", f"{name}: {number(free)} of {number(total)} free") for name, free, total in line.slices)
    yield from (("Taint", taint) for taint in page.taints)


def _belongs(pod: PodLine) -> Html:
    return (
        link(gang_address(pod.namespace, pod.gang), pod.title)
        if pod.gang
        else tag("span", pod.note or "none", class_="dim")
    )


def missing(page: MissingPage) -> list[Html]:
    near = tag("ul", *(tag("li", link(href, name)) for href, name in page.near), aria_label="Perhaps one of these")
    meant = [tag("p", "Perhaps one of these was meant:"), near] if page.near else []
    return [tag("h1", page.text), tag("p", page.hint), *meant, tag("p", link("/", "To the overview"))]
