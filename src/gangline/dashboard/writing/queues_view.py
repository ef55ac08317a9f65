"""The page of all queues, and of one, as HTML. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from gangline.dashboard.model import QueueLine, QueuePage, QueuesPage
from gangline.dashboard.writing.html import Html, join, tag
from gangline.dashboard.writing.parts import age, bar, grid, number, queue_link, scale, size, turned
from gangline.dashboard.writing.queue_parts import amounts, bar_key, gang_count, loan_list, queue_table
from gangline.dashboard.writing.sections import absent, fact_list, none, running, section, waiting

USE = ("Resource", "Use", "In use", "Requested", "Quota", "Fair share", "Limit")
FAIR = "A fair share is what a queue may use now: its quota, and its part of what others leave. "


def queue(page: QueuePage) -> list[Html]:
    below = section("below", "Queues below it", queue_table(page.below[1:], True)) if len(page.below) > 1 else Html("")
    use = section("use", "Use", loan_list(page.loans), bar_key(True), _use(page.queue))
    return [
        tag("h1", page.queue.title),
        fact_list(_queue_facts(page)),
        use,
        below,
        waiting(page.waiting, page.source),
        running(page.running, page.source, None),
    ]


def queues(page: QueuesPage) -> list[Html]:
    if not page.queues.total:
        text = absent(page.source, "queues.scheduling.run.ai") or "There is no queue."
        return [tag("h1", "Queues"), none(text)]
    table = queue_table(page.queues.rows, True)
    return [
        tag("h1", "Queues"),
        _fair_note(page),
        loan_list(page.loans),
        bar_key(True),
        table,
        turned(page.queues, "queues", "queue"),
    ]


def _fair_note(page: QueuesPage) -> Html:
    """What a fair share is, and how fresh these are."""
    if page.shares_problem:
        fresh = f"Fair shares are {page.shares_problem}."
    elif page.shares_at is None:
        fresh = "Fair shares are being worked out."
    else:
        fresh = f"Worked out {age(page.shares_at, page.source.now)} ago, as gangline fairshare does."
    return tag("p", FAIR, fresh, class_="more")


def _queue_facts(page: QueuePage) -> Iterator[tuple[object, object]]:
    line = page.queue
    yield "Parent", join([queue_link(item) for item in page.path[:-1]], " › ") or "none"
    yield "Gangs", gang_count(line)
    yield "Over-quota weight", number(line.weight)
    if line.priority is not None:
        yield "Priority", number(line.priority)
    if line.problem:
        yield "Problem", line.problem


def _use(line: QueueLine) -> Html:
    resources = (("GPUs", line.gpu, number), ("CPU cores", line.cpu, number), ("Memory", line.memory, size))
    rows = (
        [name, bar(item, scale([item]), f"{name} of {line.name}", shown), *amounts(item, shown, fair=True)]
        for name, item, shown in resources
    )
    return grid("Resources of the queue", USE, rows, numeric=USE[2:])
