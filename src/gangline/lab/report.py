"""The figures of simulations as one HTML file with plots, two or more settings side by side; it needs nothing but a
browser.

`plots.py` draws. Nothing here computes a figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from gangline.lab.measures import HOUR, PlayedTrace, thinned
from gangline.lab.plots import COLOURS, bars, curves
from gangline.lab.table import table_rows

MOST_POINTS = 400
STYLE = """body{font:14px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:1000px;color:#222;background:#fff}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse}td,th{padding:.15rem .8rem;
text-align:right;
border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}svg{width:100%;height:auto}
.key span{display:inline-block;width:.8em;height:.8em;margin:0 .4em 0 1.2em}"""


def report(played: Sequence[tuple[dict[str, Any], PlayedTrace]]) -> str:
    figures = [line for line, _ in played]
    names = [str(line["settings"]) for line in figures]
    parts = [
        f"<h1>{escape(' and '.join(names))}: {figures[0]['jobs']:,} jobs</h1>",
        _key(names),
        "<h2>Mean wait by size, hours</h2>",
        bars(
            list(figures[0]["waits"]), [[line["waits"][size]["mean_h"] for size in line["waits"]] for line in figures]
        ),
        "<h2>99th percentile of waits by size, hours</h2>",
        bars(list(figures[0]["waits"]), [[line["waits"][size]["p99_h"] for size in line["waits"]] for line in figures]),
        "<h2>GPUs in use over time, hours since the first arrival</h2>",
        curves([_busy(trace) for _, trace in played]),
        "<h2>GPUs asked for by waiting jobs</h2>",
        curves([_waiting(trace) for _, trace in played]),
        "<h2>Idle GPU hours by cause</h2>",
        _shared_bars(figures, "idle"),
        "<h2>Mean wait of queues, hours</h2>",
        _queue_bars(figures, "mean_h"),
        "<h2>Shares of queues, per cent of all GPU hours held</h2>",
        _queue_bars(figures, "share"),
        "<h2>All figures</h2>",
        _table(figures),
    ]
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>gangline simulate</title>"
        f"<style>{STYLE}</style><body>{''.join(parts)}</body></html>\n"
    )


def _key(names: Sequence[str]) -> str:
    marks = [
        f'<span style="background:{COLOURS[place % len(COLOURS)]}"></span>{escape(name)}'
        for place, name in enumerate(names)
    ]
    return f'<p class="key">{"".join(marks)}</p>'


def _busy(played: PlayedTrace) -> list[tuple[float, float]]:
    return [((time - played.first) / HOUR, busy) for time, busy, _ in thinned(played.clock.points, MOST_POINTS)]


def _waiting(played: PlayedTrace) -> list[tuple[float, float]]:
    return [((time - played.first) / HOUR, asked) for time, _, asked in thinned(played.clock.points, MOST_POINTS)]


def _shared_bars(figures: Sequence[dict[str, Any]], key: str) -> str:
    causes = sorted({cause for line in figures for cause in line[key]})
    return bars(causes, [[line[key].get(cause, 0.0) for cause in causes] for line in figures])


def _queue_bars(figures: Sequence[dict[str, Any]], key: str) -> str:
    names = sorted({name for line in figures for name in line["queues"]})
    return bars(names, [[line["queues"].get(name, {}).get(key, 0.0) for name in names] for line in figures])


def _table(figures: Sequence[dict[str, Any]]) -> str:
    head, *rows = table_rows(figures)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr>{lines}</table>"
