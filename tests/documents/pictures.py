"""The pictures of docs/concepts, drawn from a few words: `make docs` writes them, a test compares them.

A picture is a list of boxes and arrows in `PICTURES`; colours follow light and dark by the reader's choice."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from documents.pages import REPOSITORY

FOLDER = REPOSITORY / "docs" / "pictures"
STYLE = (
    "svg{font:14px system-ui,sans-serif}rect{fill:#eef2f7;stroke:#5b6b80;rx:6px}rect.on{fill:#cfe0f7}rect.no{fill:none;"
    "stroke-dasharray:5 4}text{fill:#1b2430;text-anchor:middle}text.s{font-size:12px;fill:#55606e}path{stroke:#5b6b80;"
    "fill:none;marker-end:url(#a)}@media(prefers-color-scheme:dark){rect{fill:#1f2833;stroke:#8b9bb0}rect.on{fill:#27466e}"
    "text{fill:#e6ebf2}text.s{fill:#a8b4c2}path{stroke:#8b9bb0}}"
)
ARROW = (
    '<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8" style="marker-end:none"/></marker></defs>'
)


@dataclass(frozen=True, slots=True)
class Box:
    x: int
    y: int
    text: str
    below: str = ""
    look: str = ""
    """`on`: in use; `no`: not there."""
    width: int = 120
    height: int = 44


@dataclass(frozen=True, slots=True)
class Picture:
    title: str
    width: int
    height: int
    boxes: tuple[Box, ...]
    arrows: tuple[tuple[int, int], ...] = ()
    """From one box to another, by their place in the list."""

    def svg(self) -> str:
        shapes = [line for box in self.boxes for line in _box(box)]
        paths = [_arrow(self.boxes[start], self.boxes[end]) for start, end in self.arrows]
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" role="img">'
        return "\n".join(
            [
                head,
                f"<title>{escape(self.title)}</title>",
                f"<style>{STYLE}</style>",
                ARROW,
                *shapes,
                *paths,
                "</svg>",
                "",
            ]
        )


def _box(box: Box) -> list[str]:
    middle, centre = box.x + box.width // 2, box.y + box.height // 2
    look = f' class="{box.look}"' if box.look else ""
    lines = [f'<rect{look} x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}"/>']
    lines.append(f'<text x="{middle}" y="{centre + (-2 if box.below else 5)}">{escape(box.text)}</text>')
    if box.below:
        lines.append(f'<text class="s" x="{middle}" y="{centre + 15}">{escape(box.below)}</text>')
    return lines


def _arrow(start: Box, end: Box) -> str:
    if end.y >= start.y + start.height:
        a = (start.x + start.width // 2, start.y + start.height)
        b = (end.x + end.width // 2, end.y - 2)
    else:
        a = (start.x + start.width, start.y + start.height // 2)
        b = (end.x - 2, end.y + end.height // 2)
    return f'<path d="M{a[0]} {a[1]}L{b[0]} {b[1]}"/>'


def _row(y: int, words: list[tuple[str, str, str]], step: int = 150, width: int = 120) -> tuple[Box, ...]:
    return tuple(Box(10 + step * place, y, text, below, look, width) for place, (text, below, look) in enumerate(words))


PICTURES = {
    "gang": Picture(
        "A gang of four pods: two would fit, none starts; with room for all, all start",
        640,
        150,
        (
            *_row(
                10,
                [
                    ("pod 0", "would fit", "no"),
                    ("pod 1", "would fit", "no"),
                    ("pod 2", "no room", "no"),
                    ("pod 3", "no room", "no"),
                ],
            ),
            *_row(
                90, [("pod 0", "runs", "on"), ("pod 1", "runs", "on"), ("pod 2", "runs", "on"), ("pod 3", "runs", "on")]
            ),
        ),
    ),
    "queues": Picture(
        "A tree of queues: company 32 GPUs; below it research 16, with vision and language 8 each, and serving 16",
        640,
        230,
        (
            Box(260, 10, "company", "quota 32"),
            Box(110, 90, "research", "quota 16"),
            Box(420, 90, "serving", "quota 16, holds 12"),
            Box(30, 170, "vision", "quota 8, holds 12", "on"),
            Box(190, 170, "language", "quota 8, holds 8"),
        ),
        ((0, 1), (0, 2), (1, 3), (1, 4)),
    ),
    "topology": Picture(
        "Levels: a block holds racks, a rack holds hosts; a gang that requires a rack takes hosts of one rack",
        640,
        230,
        (
            Box(260, 10, "block", "topology level 1"),
            Box(110, 90, "rack a", "level 2", "on"),
            Box(410, 90, "rack b", "level 2"),
            Box(30, 170, "host a1", "gang", "on"),
            Box(190, 170, "host a2", "gang", "on"),
            Box(330, 170, "host b1"),
            Box(490, 170, "host b2"),
        ),
        ((0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)),
    ),
    "journey": Picture(
        "The journey of a pod: set, gang, backend, pods behind a gate, scheduler, binder, node",
        760,
        150,
        (
            *_row(
                10,
                [
                    ("PodCliqueSet", "you write it", ""),
                    ("PodGang", "operator", ""),
                    ("PodGroup", "backend", ""),
                    ("pods", "behind a gate", ""),
                    ("gate lifted", "gang complete", ""),
                ],
            ),
            *_row(
                90,
                [
                    ("pods of a Job", "or anything", ""),
                    ("PodGroup", "pod grouper", ""),
                    ("decision", "scheduler", "on"),
                    ("BindRequest", "binder", ""),
                    ("node", "pod runs", "on"),
                ],
            ),
        ),
        ((0, 1), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (7, 8), (8, 9)),
    ),
    "backends": Picture(
        "One PodGang, translated by a backend for the scheduler that the cluster runs",
        760,
        150,
        (
            Box(320, 10, "PodGang", "one form"),
            *_row(
                90,
                [
                    ("Workload", "kube-scheduler", ""),
                    ("PodGroup", "KAI, gangline", "on"),
                    ("PodGroup", "Volcano", ""),
                    ("pod groups", "Kueue", ""),
                    ("and more", "see backends", ""),
                ],
            ),
        ),
        ((0, 1), (0, 2), (0, 3), (0, 4), (0, 5)),
    ),
}


def main() -> None:
    for name, picture in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(picture.svg())


if __name__ == "__main__":
    main()
