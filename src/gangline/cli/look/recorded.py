"""What the commands about the past share: where a recording is, how it is read, and what is said when it cannot be.

Reads files of this machine only; no cluster is asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gangline.cli.connection import recordings
from gangline.errors import BadInput

if TYPE_CHECKING:
    from gangline.scheduler.recording.segments import RecordedCycle, SegmentStart

PATIENCE = 1.5
"""Seconds in which names for a shell are looked for."""


def recording_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--recording`, the same for every command about the past."""
    return click.option(
        "--recording",
        "place",
        metavar="PATH",
        type=click.Path(),
        help="folder or file of a recording (default: recording in .gangline or $GANGLINE_HOME)",
    )(function)


def since_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--since", metavar="TIME", help="look no further back: 2h, or a time like 2026-01-31T14:00:00Z"
    )(function)


def moment(text: str | None, option: str) -> float | None:
    """A time as people write it: how long ago, or RFC 3339."""
    from gangline.rules.values.times import duration, seconds

    if text is None:
        return None
    exact = seconds(text)
    if exact is not None:
        return exact
    try:
        return time.time() - duration(text)
    except ValueError:
        raise BadInput(
            f"{option} {text}: write a time like 2026-01-31T14:00:00Z, or how long ago it was, like 90s or 2h"
        ) from None


def files_of(place: str | None, since: float | None = None) -> list[Path]:
    """The files of a recording; raises BadInput where there is none."""
    from gangline.scheduler.recording.files import segments_of

    where = Path(place) if place else recordings()
    if place and not where.exists():
        raise BadInput(f"{where} does not exist; name the folder or the file of a recording")
    files = segments_of(where, since)
    if not files:
        raise BadInput(
            f"there is no recording in {where}: a scheduler writes one while it runs (gangline up, gangline run "
            "scheduler); --recording names another place"
        )
    return files


def pieces_of(files: list[Path]) -> Iterator[SegmentStart | RecordedCycle]:
    """All that can be read; what is damaged is told on the error output."""
    from gangline.scheduler.recording.files import DamagedSegment, recorded

    for piece in recorded(files):
        if isinstance(piece, DamagedSegment):
            click.echo(f"warning: {piece}", err=True)
        else:
            yield piece


def recorded_gangs(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Names for a shell, from what was written last."""
    from gangline.errors import GanglineError
    from gangline.scheduler.recording.files import whole_pieces
    from gangline.scheduler.recording.stories import Storyteller

    teller, began = Storyteller(lambda title, record: False), time.monotonic()
    try:
        for piece in whole_pieces(files_of(context.params.get("place"))[-1:]):
            teller.take(piece)
            if time.monotonic() - began > PATIENCE:
                break
    except (GanglineError, OSError):
        return []
    return sorted({name for _, name in teller.names if name.startswith(incomplete)})
