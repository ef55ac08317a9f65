"""What a scheduler recorded, read for the pages: the use of GPUs, starts, evictions and endings; and one gang's story.

Called in a thread. A recording may be large: only its newest part is read, and only for so long. What is damaged is
passed over. Decides nothing: usage.py and stories.py of scheduler/recording do the reading."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from gangline.dashboard.past.data import GangMoment, PastEnding, PastEviction, PastWait, RecordedPast, UsePoint
from gangline.dashboard.past.memory import DAY, HOUR, RANGES
from gangline.scheduler.recording.files import segments_of, whole_pieces
from gangline.scheduler.recording.segments import RecordedCycle, SegmentStart
from gangline.scheduler.recording.stories import GangStory, Storyteller, stories
from gangline.scheduler.recording.usage import PastUse

MOST_BYTES = 64 * 1024 * 1024
PATIENCE = 20.0
"""Seconds of reading."""
OVER = ("ended", "failed", "deleted")


def newest(folder: Path, since: float) -> list[Path]:
    """The files to read, oldest first."""
    chosen: list[Path] = []
    held = 0
    for file in reversed(segments_of(folder, since)):
        held += file.stat().st_size
        if held > MOST_BYTES and chosen:
            break
        chosen.append(file)
    return chosen[::-1]


def pieces(folder: Path, since: float) -> Iterator[SegmentStart | RecordedCycle]:
    ends = time.monotonic() + PATIENCE
    for piece in whole_pieces(newest(folder, since)):
        yield piece
        if time.monotonic() > ends:
            return


def recorded_past(folder: Path, now: float) -> RecordedPast:
    """Of the last day, as far as it was recorded. An unreadable folder says nothing."""
    past, use, teller = RecordedPast(), PastUse(now - DAY), Storyteller(lambda title, record: True)
    try:
        for piece in pieces(folder, now - DAY):
            use.take(piece)
            teller.take(piece)
    except OSError:
        return past
    if use.first is None or use.last is None:
        return past
    first, last = max(use.first, now - DAY), use.last
    past.points = [
        *_points(use, first, last - HOUR, RANGES["24h"][1]),
        *_points(use, max(first, last - HOUR), last, 15.0),
    ]
    for story in teller.stories():
        _tell(past, story, now - DAY)
    return past


def _points(use: PastUse, start: float, end: float, step: float) -> Iterator[UsePoint]:
    for sample in use.samples(start, end, max(int((end - start) / step), 1)):
        yield UsePoint(
            start=sample.start, end=sample.end, capacity=sample.capacity, used=sample.used, waiting=sample.waiting
        )


def _tell(past: RecordedPast, story: GangStory, since: float) -> None:
    gpus, queued = 0.0, None
    for event in story.events:
        gpus = float(event.facts.get("gpus") or gpus)
        if event.what in ("queued", "evicted", "stopped"):
            queued = event.moment
        if event.moment < since:
            continue
        if event.what == "placed" and queued is not None:
            past.waits.append(PastWait(at=event.moment, gpus=gpus, seconds=event.moment - queued))
            queued = None
        elif event.what == "evicted":
            past.evictions.append(
                PastEviction(at=event.moment, namespace=story.namespace, title=story.gang, by=event.text)
            )
        elif event.what in OVER:
            past.endings.append(
                PastEnding(
                    at=event.moment,
                    namespace=story.namespace,
                    title=story.gang,
                    queue=story.queue,
                    gpus=gpus,
                    state=event.what,
                    reason=event.text,
                )
            )


def recorded_story(folder: Path, namespace: str, names: frozenset[str], since: float) -> tuple[GangMoment, ...]:
    """All that was recorded of a gang with one of these names, oldest first."""
    try:
        recorded = stories(
            pieces(folder, since),
            lambda title, record: record.namespace == namespace and bool(names & {title, record.name}),
        )
    except OSError:
        return ()
    moments = [
        GangMoment(at=event.moment, what=event.what, text=event.text) for story in recorded for event in story.events
    ]
    return tuple(sorted(moments, key=lambda moment: moment.at))
