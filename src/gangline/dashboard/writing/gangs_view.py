"""Gangs of every state as HTML: what may be chosen, the way to sort, and the rows.

The choices are a form that any browser sends as an address; a heading is a link that sorts by it. Pure."""

from __future__ import annotations

import msgspec

from gangline.dashboard.model import GangChoice, GangLine, GangsPage
from gangline.dashboard.page_data import PageSource
from gangline.dashboard.writing.html import Html, join, tag
from gangline.dashboard.writing.parts import (
    age,
    badge,
    choice,
    counted,
    gang_link,
    grid,
    link,
    number,
    query_of,
    queue_link,
    turned,
)
from gangline.dashboard.writing.sections import eviction, none, reason, section, short, titled

ORDERS = {
    "Gang": "name",
    "State": "state",
    "GPUs": "gpus",
    "Queue": "queue",
    "User": "user",
    "Priority": "priority",
    "Since": "since",
}
HEADS = ("Gang", "State", "Details", "GPUs", "Queue", "User", "Priority", "Since")


def gangs_view(page: GangsPage) -> list[Html]:
    return [tag("h1", "Gangs"), _form(page), _table(page)]


def _form(page: GangsPage) -> Html:
    given, there = page.choice, page.options
    lists = (
        ("state", "State", given.state, there.states),
        ("queue", "Queue", given.queue, there.queues),
        ("namespace", "Namespace", given.namespace, there.namespaces),
        ("set", "Set", given.set, ()),
        ("user", "User", given.user, there.users),
        ("priority", "Priority", given.priority, there.priorities),
    )
    chosen = [_list(name, label, value, names) for name, label, value, names in lists if names or value]
    name = tag("label", "Name ", tag("input", type="search", name="q", value=given.q or None))
    sort = tag("input", type="hidden", name="sort", value=given.sort)
    everything = link("/gangs", "all gangs")
    return tag("form", *chosen, name, sort, tag("button", "Show"), everything, class_="choices", action="/gangs")


def _list(name: str, label: str, value: str, names: tuple[str, ...]) -> Html:
    """What was asked for is there, even if no gang has it."""
    there = names if not value or value in names else (value, *names)
    return choice(name, label, value, [("", "any"), *((item, item) for item in there)])


def _table(page: GangsPage) -> Html:
    if not page.gangs.total:
        return section("gangs", "None", none("No gang is like this."))
    rows = (_row(line, page.source) for line in page.gangs.rows)
    orders = {head: _order(head, order, page.choice) for head, order in ORDERS.items()}
    table = grid("Gangs", HEADS, rows, numeric=("GPUs",), orders=orders)
    kept = _words(page.choice)
    return section("gangs", titled("Gangs", page.gangs.total), table, turned(page.gangs, "gangs", "gang", **kept))


def _words(given: GangChoice) -> dict[str, str]:
    return {str(name): str(value) for name, value in msgspec.structs.asdict(given).items()}


def _order(head: str, order: str, given: GangChoice) -> Html:
    """Sorts by this; the same again turns it round."""
    mark = {order: " ▲", f"-{order}": " ▼"}.get(given.sort, "")
    turn = f"-{order}" if given.sort == order else order
    words = "descending" if turn.startswith("-") else "ascending"
    return tag(
        "a", head, mark, href=query_of(_words(given) | {"sort": turn}), aria_label=f"{head}: sort by it, {words}"
    )


def _row(line: GangLine, source: PageSource) -> list[object]:
    waits = tag("span", "requested", class_="sub") if line.gpus_asked and not line.gpus_held else None
    gpus = join([number(line.gpus_held or line.gpus_asked), waits])
    return [
        gang_link(line),
        badge(line.state),
        _details(line),
        gpus,
        queue_link(line.queue),
        line.user or "–",
        line.priority or "–",
        age(line.since, source.now),
    ]


def _details(line: GangLine) -> Html:
    """The state stands beside it already."""
    if line.failure:
        return tag("span", line.failure, class_="why")
    if line.evicted is not None:
        return join([eviction(line), short(line)])
    if line.why is None and line.placed:
        nodes = f" on {counted(line.nodes, 'node')}" if line.nodes else ""
        return tag("span", f"{line.running} of {counted(line.pods, 'pod')} running{nodes}", class_="sub")
    return reason(line)
