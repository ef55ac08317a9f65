"""Plots as inline SVG: bars in groups, and curves over time. Text in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

COLOURS = ("#2563eb", "#ea580c", "#16a34a", "#9333ea", "#dc2626", "#0891b2")
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 900, 240, 60, 24, 14


def bars(labels: Sequence[str], series: Sequence[Sequence[float]]) -> str:
    """One group of bars per label, one bar per series."""
    if not labels:
        return "<p>none</p>"
    most = max((value for values in series for value in values), default=0) or 1.0
    group = (WIDTH - LEFT) / len(labels)
    width = min(group / (len(series) + 1), 60)
    shapes = []
    for place, label in enumerate(labels):
        start = LEFT + place * group
        shapes.append(_text(start + group / 2, HEIGHT - 6, label, "middle"))
        for number, values in enumerate(series):
            height = (HEIGHT - BOTTOM - TOP) * values[place] / most
            left = start + (group - width * len(series)) / 2 + number * width
            shapes.append(
                f'<rect x="{left:.1f}" y="{HEIGHT - BOTTOM - height:.1f}" width="{width * 0.9:.1f}" '
                f'height="{height:.1f}" '
                f'fill="{_colour(number)}"><title>{escape(label)}: {values[place]:g}</title></rect>'
            )
            shapes.append(_text(left + width * 0.45, HEIGHT - BOTTOM - height - 3, f"{values[place]:.3g}", "middle"))
    return _svg(shapes)


def curves(series: Sequence[Sequence[tuple[float, float]]]) -> str:
    """Each value holds until the next one."""
    points = [point for line in series for point in line]
    if not points:
        return "<p>none</p>"
    first, last = min(x for x, _ in points), max(x for x, _ in points)
    most = max(y for _, y in points) or 1.0
    across, up = (WIDTH - LEFT) / ((last - first) or 1.0), (HEIGHT - BOTTOM - TOP) / most
    shapes = [
        _text(LEFT - 6, HEIGHT - BOTTOM, "0", "end"),
        _text(LEFT - 6, TOP + 8, f"{most:.4g}", "end"),
        _text(LEFT, HEIGHT - 6, f"{first:.4g}", "start"),
        _text(WIDTH, HEIGHT - 6, f"{last:.4g}", "end"),
    ]
    for number, line in enumerate(series):
        steps = [point for (_, before), (x, y) in pairwise([*line[:1], *line]) for point in ((x, before), (x, y))]
        path = " ".join(f"{LEFT + (x - first) * across:.1f},{HEIGHT - BOTTOM - y * up:.1f}" for x, y in steps)
        shapes.append(f'<polyline points="{path}" fill="none" stroke="{_colour(number)}" stroke-width="1.3"/>')
    return _svg(shapes)


def _svg(shapes: Sequence[str]) -> str:
    axis = f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH}" fill="none" stroke="#888"/>'
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" xmlns="http://www.w3.org/2000/svg" '
        f'role="img">{axis}{"".join(shapes)}</svg>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="11" fill="#444" text-anchor="{anchor}">{escape(text)}</text>'


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]
