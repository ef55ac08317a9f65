"""The pages about the past as HTML: charts with their numbers in a table, waits by size, evictions, endings, and one
gang's timeline. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from gangline.dashboard.pages import gang_address
from gangline.dashboard.past.charts import ChartSeries, chart
from gangline.dashboard.past.data import PastEnding, PastEviction, QueuePast, TimelinePage, TimePage
from gangline.dashboard.past.memory import RANGES
from gangline.dashboard.writing.html import Html, join, tag
from gangline.dashboard.writing.parts import age, badge, counted, grid, link, number, queue_link, turned
from gangline.dashboard.writing.sections import none, section, titled
from gangline.rules.values.times import spoken

WORDS = {"1h": "last hour", "24h": "last 24 hours", "7d": "last 7 days"}
ROWS = 24
"""Rows of the table of a chart's numbers."""


def time_view(page: TimePage) -> list[Html]:
    return [
        tag("h1", "Time"),
        _ranges(page),
        *_use(page),
        *_queues(page),
        _waits(page),
        _evictions(page),
        _endings(page),
    ]


def _ranges(page: TimePage) -> Html:
    steps = [
        tag("a", WORDS[name], href=f"/time?range={name}", aria_current="page" if name == page.range else None)
        for name in RANGES
    ]
    late = page.known_since is not None and page.known_since > page.since + 60
    known = tag("span", f" (known since {stamp(page.known_since or 0.0)} UTC)", class_="dim") if late else None
    return tag("p", join(steps, " · "), known, class_="ranges")


def _use(page: TimePage) -> list[Html]:
    if not page.points:
        return [section("use", "GPUs in use", none("Nothing was seen yet; the first point comes in a few seconds."))]
    spans = [(point.start, point.end) for point in page.points]
    used = [sum(point.used.values()) for point in page.points]
    waiting = [sum(point.waiting.values()) for point in page.points]
    there = [point.capacity for point in page.points]
    whole = sum(there) or 1.0
    words = f"{sum(used) / whole:.0%} in use on average, {tenths(used[-1])} of {counted(there[-1], 'GPU')} now"
    queued = f"{counted(round(waiting[-1], 1), 'GPU')} waited for now, {tenths(max(waiting))} at most"
    lost = f"{counted(sum(page.evicted), 'eviction')} in the {WORDS[page.range]}"
    frame = (page.since, page.source.now)
    counts = [float(count) for count in page.evicted]
    charts = [
        _figure(
            "GPUs in use",
            words,
            chart(words, frame, spans, [ChartSeries(there, "line", "there"), ChartSeries(used, "area", "used-area")]),
        ),
        _figure("GPUs waited for", queued, chart(queued, frame, spans, [ChartSeries(waiting, "area", "waiting-area")])),
        _figure("Evictions", lost, chart(lost, frame, spans, [ChartSeries(counts, "bars", "evicted-bars")])),
    ]
    return [section("use", "GPUs", tag("div", *charts, class_="charts"), _numbers(page))]


def _figure(title: object, words: str, drawing: Html) -> Html:
    return tag("figure", tag("figcaption", tag("b", title), " ", tag("span", words, class_="dim")), drawing)


def _numbers(page: TimePage) -> Html:
    """The same in numbers, thinned to a table that one can read."""
    step = -(-len(page.points) // ROWS)
    rows = (
        [
            stamp(point.start),
            number(sum(point.used.values())),
            number(point.capacity),
            number(sum(point.waiting.values())),
            number(sum(page.evicted[place : place + step])),
        ]
        for place, point in list(enumerate(page.points))[::step]
    )
    heads = ("From (UTC)", "In use", "GPUs", "Waited for", "Evictions")
    table = grid("GPUs over time", heads, rows, numeric=heads[1:])
    return tag("details", tag("summary", "The same in numbers"), table, id="numbers")


def _queues(page: TimePage) -> list[Html]:
    if not page.queues:
        return []
    key = tag("p", "Full is used, pale is waited for on top of it; the line is the quota of today.", class_="more")
    return [
        section(
            "queues",
            "Queues against their quota",
            key,
            tag("div", *(_queue(page, item) for item in page.queues), class_="charts"),
        )
    ]


def _queue(page: TimePage, item: QueuePast) -> Html:
    words = f"{tenths(item.used[-1])} used and {tenths(item.waiting[-1])} waited for now, quota {number(item.quota)}"
    spans = [(point.start, point.end) for point in page.points]
    wanted = [used + waiting for used, waiting in zip(item.used, item.waiting, strict=True)]
    series = [ChartSeries(wanted, "area", "wanted-area"), ChartSeries(item.used, "area", "used-area")]
    drawing = chart(f"{item.name}: {words}", (page.since, page.source.now), spans, series, item.quota)
    return _figure(queue_link(item.name), words, drawing)


def _waits(page: TimePage) -> Html:
    if not page.waits:
        return section("waits", "How long gangs waited", none("No gang started in this time."))
    heads = ("Size", "Gangs", "Median", "One in ten", "Longest")
    rows = (
        [line.size, line.gangs, spoken(line.median), f"{spoken(line.tenth)} or longer", spoken(line.longest)]
        for line in page.waits
    )
    return section("waits", "How long gangs waited", grid("Waits by size", heads, rows, numeric=heads[1:]))


def _evictions(page: TimePage) -> Html:
    if not page.evictions.total:
        return section("evictions", "Evictions", none("None in this time."))
    rows = ([stamp(row.at), _gang(row), row.by] for row in page.evictions.rows)
    return section(
        "evictions",
        titled("Evictions", page.evictions.total),
        grid("Evictions, newest first", ("When (UTC)", "Gang", "Why"), rows),
        turned(page.evictions, "evictions", "eviction", range=page.range),
    )


def _gang(row: PastEviction | PastEnding) -> Html:
    return link(f"{gang_address(row.namespace, row.title)}/timeline", f"{row.namespace}/{row.title}")


def _endings(page: TimePage) -> Html:
    if not page.endings.total:
        return section("endings", "Ended, failed and deleted", none("None in this time."))
    rows = (
        [stamp(row.at), _gang(row), badge(row.state), number(row.gpus), queue_link(row.queue), row.reason or "–"]
        for row in page.endings.rows
    )
    heads = ("When (UTC)", "Gang", "State", "GPUs", "Queue", "Why")
    return section(
        "endings",
        titled("Ended, failed and deleted", page.endings.total),
        grid("Gangs that are over, newest first", heads, rows, numeric=("GPUs",)),
        turned(page.endings, "endings", "gang", range=page.range),
    )


def timeline_view(page: TimelinePage) -> list[Html]:
    where = page.title if page.gone else link(gang_address(page.namespace, page.name), page.title)
    moments: Sequence[Html] = [
        tag("li", tag("time", stamp(moment.at)), " ", tag("b", moment.what), " ", moment.text)
        for moment in page.moments
    ]
    began = page.moments[0].at if page.moments else None
    gone = "It is no longer there. " if page.gone else ""
    since = tag("p", f"{gone}Began {age(began, page.source.now)} ago; times are UTC. ", _read_from(page), class_="more")
    return [
        tag("h1", "Timeline of ", where),
        since,
        tag("ol", *moments, class_="timeline") if moments else none("Nothing is known of it."),
    ]


def _read_from(page: TimelinePage) -> str:
    if page.recorded:
        return "Read from the recording of the scheduler."
    more = "With the recording of the scheduler, refusals and gangs that were placed first are shown too"
    if page.gone:
        return f"This is what the dashboard saw of it. {more}."
    return f"Read from its objects and events; Kubernetes keeps events for about an hour. {more} (gangline history)."


def tenths(gpus: float) -> str:
    """Averages over a time, as exactly as one reads them."""
    return number(round(gpus, 1))


def stamp(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S")
