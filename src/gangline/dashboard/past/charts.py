"""Charts as drawings of the page itself: amounts over time as areas, lines and bars, each with its meaning in words.

No script draws them, so they are there at the first paint and without scripts. A chart's numbers are also in a table
(view.py). Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from gangline.dashboard.writing.html import Html, tag
from gangline.dashboard.writing.parts import number

WIDE, HIGH, LEFT, BELOW, ABOVE = 640, 150, 44, 18, 8
"""Of a chart in its own units, and the room for numbers at its left and for times below it."""

STEPS = (60.0, 300.0, 900.0, 3600.0, 14400.0, 86400.0, 604800.0)
"""Seconds between two times below a chart: all divide a day, or are days."""
MOST_TICKS = 8
"""Times below a chart, at most about so many."""


class ChartSeries(msgspec.Struct, frozen=True):
    """`kind`: area, line or bars. `style` is a class of the style sheet."""

    values: Sequence[float]
    kind: str
    style: str


class ChartFrame(msgspec.Struct, frozen=True):
    """From when to when, and how high."""

    start: float
    end: float
    top: float

    def x(self, moment: float) -> float:
        part = (moment - self.start) / ((self.end - self.start) or 1.0)
        return round(LEFT + min(max(part, 0.0), 1.0) * (WIDE - LEFT - 4), 1)

    def y(self, value: float) -> float:
        return round(HIGH - BELOW - min(value / self.top, 1.0) * (HIGH - BELOW - ABOVE), 1)


def chart(
    label: str,
    span: tuple[float, float],
    moments: Sequence[tuple[float, float]],
    series: Sequence[ChartSeries],
    bound: float | None = None,
) -> Html:
    """`span`: from when to when; `moments`: start and end of each value; `bound`: a line across, as a quota is."""
    highest = max([*(max(item.values, default=0.0) for item in series), bound or 0.0, 1.0])
    frame = ChartFrame(*span, top=_nice(highest))
    drawn = [_drawn(item, moments, frame) for item in series]
    line = [tag("line", x1=LEFT, x2=WIDE - 4, y1=frame.y(bound), y2=frame.y(bound), class_="quota")] if bound else []
    return tag(
        "svg",
        tag("title", label),
        *_axes(frame),
        *drawn,
        *line,
        class_="chart",
        viewBox=f"0 0 {WIDE} {HIGH}",
        role="img",
        aria_label=label,
    )


def _nice(value: float) -> float:
    """The next of 2, 4, 6, 10, 20 …: a half of it is whole."""
    step = 1.0
    while step * 10 < value:
        step *= 10
    return next(step * part for part in (2, 4, 6, 10) if step * part >= value)


def _axes(frame: ChartFrame) -> list[Html]:
    lines = [
        part
        for value in (0.0, frame.top / 2, frame.top)
        for part in (
            tag("line", x1=LEFT, x2=WIDE - 4, y1=frame.y(value), y2=frame.y(value), class_="rule"),
            tag("text", number(value), x=LEFT - 6, y=frame.y(value) + 4, class_="end"),
        )
    ]
    whole = frame.end - frame.start
    times = [(moment, frame.x(moment)) for moment in ticks(frame.start, frame.end)]
    return [*lines, *(tag("text", clock(at, whole), x=x, y=HIGH - 4, class_=_anchor(x)) for at, x in times)]


def _anchor(x: float) -> str:
    """Where a text stands to its place: neither beyond the right edge nor below the numbers at the left."""
    if x > WIDE - 24:
        return "end"
    return "start" if x < LEFT + 24 else "middle"


def ticks(start: float, end: float) -> list[float]:
    """The round times between, as many as can be told apart: of an hour, each quarter; of a week, each day."""
    step = next((step for step in STEPS if (end - start) / step <= MOST_TICKS), STEPS[-1])
    first = math.ceil(start / step) * step
    return [first + step * nth for nth in range(int((end - first) / step) + 1)]


def clock(moment: float, whole: float) -> str:
    """The time of day in UTC; for more than a day, the date."""
    return datetime.fromtimestamp(moment, UTC).strftime("%H:%M" if whole <= 86400.0 else "%b %d")


def _drawn(series: ChartSeries, moments: Sequence[tuple[float, float]], frame: ChartFrame) -> Html:
    if series.kind == "bars":
        return tag(
            "g",
            *(_bar(value, moment, frame) for value, moment in zip(series.values, moments, strict=True) if value),
            class_=series.style,
        )
    corners = [
        f"{frame.x(moment)},{frame.y(value)}"
        for value, (start, end) in zip(series.values, moments, strict=True)
        for moment in (start, end)
    ]
    if series.kind == "area" and corners:
        floor = frame.y(0.0)
        corners = [f"{frame.x(moments[0][0])},{floor}", *corners, f"{frame.x(moments[-1][1])},{floor}"]
        return tag("polygon", points=" ".join(corners), class_=series.style)
    return tag("polyline", points=" ".join(corners), class_=series.style)


def _bar(value: float, moment: tuple[float, float], frame: ChartFrame) -> Html:
    left, right = frame.x(moment[0]), frame.x(moment[1])
    return tag(
        "rect",
        x=left,
        y=frame.y(value),
        width=max(round(right - left - 0.5, 1), 2.0),
        height=round(frame.y(0.0) - frame.y(value), 1),
    )
