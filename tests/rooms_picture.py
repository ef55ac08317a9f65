"""Draws docs/rooms.svg: the rooms of the source in flow order, and who imports whom. `make docs` writes it.

Reads import statements only; the same tree gives the same picture, so a test can compare it.
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

from house_numbers import REPOSITORY, trees, walked

PICTURE = REPOSITORY / "docs" / "rooms.svg"
ROWS = (
    ("cli",),
    ("explaining",),
    ("dashboard", "whatif", "lab"),
    ("local",),
    ("components",),
    ("why",),
    ("admission", "operator", "grouper", "scheduler", "binder", "controllers", "installer", "cluster"),
    ("runtime",),
    ("client",),
    ("rules",),
    ("api",),
)
"""Top to bottom: a room imports only from rows below its own."""
WIDTH, HEIGHT, GAP, LEFT = 116, 44, 18, 20
ROW_STEP = 84


def rooms() -> list[str]:
    return [room for row in ROWS for room in row]


@cache
def imports() -> Counter[tuple[str, str]]:
    """How many modules of one room import from another."""
    arrows: Counter[tuple[str, str]] = Counter()
    for name, tree in trees().items():
        room = name.split("/")[0].removesuffix(".py")
        for other in {target for target in _targets(tree) if target != room}:
            if {room, other} <= set(rooms()):
                arrows[room, other] += 1
    return arrows


def _targets(tree: ast.Module) -> set[str]:
    modules = [node.module for node in walked(tree) if isinstance(node, ast.ImportFrom) and node.module]
    direct = {name.split(".")[1] for name in modules if name.startswith("gangline.")}
    named = {
        alias.name
        for node in walked(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "gangline"
        for alias in node.names
    }
    return direct | named


def places() -> dict[str, tuple[int, int]]:
    """The middle of each room's box."""
    widest = max(len(row) for row in ROWS) * (WIDTH + GAP)
    middles = {}
    for number, row in enumerate(ROWS):
        start = LEFT + (widest - len(row) * (WIDTH + GAP)) // 2
        for column, room in enumerate(row):
            middles[room] = (start + column * (WIDTH + GAP) + WIDTH // 2, 40 + number * ROW_STEP)
    return middles


def picture() -> str:
    middles = places()
    width = LEFT * 2 + max(len(row) for row in ROWS) * (WIDTH + GAP)
    height = 40 + len(ROWS) * ROW_STEP - HEIGHT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'font-family="system-ui, sans-serif" font-size="15">',
        "<title>The rooms of gangline: each imports only from rows below its own</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    lines += [_arrow(middles[room], middles[other], count) for (room, other), count in sorted(imports().items())]
    lines += [_box(room, middle) for room, middle in middles.items()]
    return "\n".join([*lines, "</svg>", ""])


def _arrow(start: tuple[int, int], end: tuple[int, int], count: int) -> str:
    weight = min(1 + count // 20, 5)
    return (
        f'<line x1="{start[0]}" y1="{start[1] + HEIGHT // 2}" x2="{end[0]}" y2="{end[1] - HEIGHT // 2}" '
        f'stroke="#8aa4c8" stroke-width="{weight}" stroke-opacity="0.45"/>'
    )


def _box(room: str, middle: tuple[int, int]) -> str:
    stage = room == "cluster"
    fill, stroke = ("#fff4dc", "#c58a1b") if stage else ("#eaf1fb", "#3b6ea8")
    left, top = middle[0] - WIDTH // 2, middle[1] - HEIGHT // 2
    return (
        f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" rx="7" fill="{fill}" stroke="{stroke}"/>'
        f'<text x="{middle[0]}" y="{middle[1] + 5}" text-anchor="middle" fill="#14233a">{room}</text>'
    )


def upward() -> list[str]:
    """Imports that go up or stay in a row; there should be none."""
    row_of = {room: number for number, row in enumerate(ROWS) for room in row}
    return [f"{room} → {other}" for room, other in imports() if row_of[other] <= row_of[room]]


if __name__ == "__main__":
    Path(PICTURE).write_text(picture())
