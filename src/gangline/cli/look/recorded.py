"""What the commands about the past share: where a recording is, how it is read, and the error when it cannot be.

Reads files of this machine only; no cluster is asked."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gangline.api import names
from gangline.cli.connection import RECORDING, in_pod, own_recordings
from gangline.errors import BadInput

if TYPE_CHECKING:
    from gangline.scheduler.recording.segments import RecordedCycle, SegmentStart

PATIENCE = 1.5
"""Seconds in which names for a shell are looked for."""


def recordings(kubeconfig: str | None = None) -> Path:
    """Where a recording is looked for: beside the kubeconfig that is named, among our own files, or in the pod that we
    run in."""
    named = kubeconfig or os.environ.get("KUBECONFIG", "").split(os.pathsep)[0]
    beside = Path(named).parent / RECORDING
    if named and beside.is_dir():
        return beside
    mine, there = own_recordings(), Path(names.RECORDINGS)
    return there if in_pod() and there.is_dir() and not mine.exists() else mine


def recording_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--recording` and `--kubeconfig`, the same for every command about the past; the command gets one `place`."""

    @wraps(function)
    def command(*args: Any, place: str | None, kubeconfig: str | None, **options: Any) -> Any:
        return function(*args, place=place or str(recordings(kubeconfig)), **options)

    command = click.option(
        "--recording",
        "place",
        metavar="PATH",
        type=click.Path(),
        help="folder or file of a recording (default: recording beside the kubeconfig, else in .gangline or "
        "$GANGLINE_HOME)",
    )(command)
    return click.option(
        "--kubeconfig", metavar="FILE", help="whose recording: that beside this kubeconfig (default: $KUBECONFIG)"
    )(command)


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


def files_of(place: str, since: float | None = None) -> list[Path]:
    """The files of a recording; raises BadInput where there is none."""
    from gangline.scheduler.recording.files import segments_of

    where = Path(place)
    files = segments_of(where, since) if where.exists() else []
    if not files:
        absent = "" if where.exists() else ", which does not exist"
        raise BadInput(
            f"there is no recording in {where}{absent}: a scheduler writes one "
            "while it runs (gangline up without --memory, gangline run scheduler); --recording names another place"
        )
    return files


def pieces_of(files: list[Path]) -> Iterator[SegmentStart | RecordedCycle]:
    """All that can be read; what is damaged is reported on stderr."""
    from gangline.scheduler.recording.files import DamagedSegment, recorded

    for piece in recorded(files):
        if isinstance(piece, DamagedSegment):
            click.echo(f"warning: {piece}", err=True)
        else:
            yield piece


def not_recorded(what: str, place: str, near: str) -> str:
    """The error for a name that a recording does not have; `near`: names like it, or nothing."""
    return f"no {what} was recorded in {place}{near or '; `gangline recording info` says from when to when it goes'}"


def _place(context: click.Context) -> str:
    """As the command would get it."""
    return context.params.get("place") or str(recordings(context.params.get("kubeconfig")))


def recorded_gangs(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Names for a shell, from what was written last."""
    from gangline.scheduler.recording.stories import Storyteller

    teller = Storyteller(lambda title, record: False)
    for piece in _written_last(context):
        teller.take(piece)
    return sorted({name for _, name in teller.names if name.startswith(incomplete)})


def evicted_pods(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Names for a shell of pods that were evicted, from what was written last."""
    from gangline.scheduler.recording.evicted import past_of

    return sorted(name for name in past_of("", _written_last(context)).others if name.startswith(incomplete))


def _written_last(context: click.Context) -> Iterator[SegmentStart | RecordedCycle]:
    """As much of it as can be read while somebody waits; nothing where there is no recording."""
    from gangline.errors import GanglineError
    from gangline.scheduler.recording.files import whole_pieces

    began = time.monotonic()
    with contextlib.suppress(GanglineError, OSError):
        for piece in whole_pieces(files_of(_place(context))[-1:]):
            yield piece
            if time.monotonic() - began > PATIENCE:
                return
