"""The tree of queues as HTML, with bars and what their colours mean, and who borrows: for every page that shows queues.

Beside parts.py, which draws a single bar; sections.py and queues_view.py put these into pages. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gangline.dashboard.model import QueueAmounts, QueueLine, QueueLoan
from gangline.dashboard.writing.html import Html, join, tag
from gangline.dashboard.writing.parts import bar, counted, grid, number, queue_link, scale

LOANS = 5
"""Queues that borrow get a sentence each, the largest of them."""


def bar_key(fair: bool = False) -> Html:
    """What the colours and lines of a bar mean."""
    words = {"held": "in use", "over": "in use above the quota", "asked": "requested", "quota": "quota"}
    words |= ({"fair": "fair share"} if fair else {}) | {"limit": "limit"}
    signs = (
        tag("span", tag("span", class_=f"sign {sign}", aria_hidden="true"), " ", word) for sign, word in words.items()
    )
    return tag("p", *signs, class_="more signs")


def queue_table(rows: Sequence[QueueLine], fair: bool = False) -> Html:
    """`fair`: with the fair share of each."""
    heads = ("Queue", "GPUs", "In use", "Requested", "Quota", *(["Fair share"] if fair else []), "Limit", "Gangs")
    least, top = min((row.depth for row in rows), default=0), scale(row.gpu for row in rows)
    return grid(
        "Queues with their GPUs",
        heads,
        (
            [
                _queue_name(row, row.depth - least),
                bar(row.gpu, top, f"GPUs of {row.name}"),
                *amounts(row.gpu, fair=fair),
                gang_count(row),
            ]
            for row in rows
        ),
        numeric=heads[2:-1],
    )


def amounts(given: QueueAmounts, shown: Callable[[float | None], str] = number, fair: bool = False) -> list[str]:
    bounds = (given.quota, given.fair, given.limit) if fair else (given.quota, given.limit)
    return [shown(value) for value in (given.allocated, given.requested, *bounds)]


def _queue_name(line: QueueLine, depth: int) -> Html:
    branch = tag("span", "└ ", class_=f"branch deep{min(depth, 6)}", aria_hidden="true") if depth else None
    notes = [f"borrows {counted(line.borrows, 'GPU')}" if line.borrows else None, line.problem or None]
    return join([branch, queue_link(line.name), *(tag("span", note, class_="tag") for note in notes if note)])


def gang_count(line: QueueLine) -> str:
    parts = [f"{line.waiting} waiting" if line.waiting else "", f"{line.running} running" if line.running else ""]
    return ", ".join(part for part in parts if part) or "–"


def loan_list(loans: Sequence[QueueLoan]) -> Html:
    if not loans:
        return Html("")
    rest = (
        tag("li", f"{counted(len(loans) - LOANS, 'more queue')} borrow.", class_="dim") if len(loans) > LOANS else None
    )
    return tag("ul", *(tag("li", _loan(loan)) for loan in loans[:LOANS]), rest, class_="loans")


def _loan(loan: QueueLoan) -> Html:
    lenders = [join([queue_link(name), f" ({counted(unused, 'GPU')})"]) for name, unused in loan.lenders]
    spare = join([" Unused quota next to it: ", join(lenders, ", "), "."])
    held = f" borrows {counted(loan.gpus, 'GPU')}: it uses {number(loan.held)} and its quota is {number(loan.quota)}."
    return join([queue_link(loan.queue), held, spare if lenders else " No queue next to it has unused quota."])
