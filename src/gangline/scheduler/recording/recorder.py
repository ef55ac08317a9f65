"""The recorder's shell: a thread that writes cycles into a ring of segments on disk. The only file here that writes.

A cycle is handed over and never waited for. When the disk is too slow or full, cycles are left out, and the next
segment begins with a picture of its own: what is on disk can always be decided again. A segment is gzip, readable while
it is written. A process that was killed leaves a broken last line, which readers skip."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import queue
import re
import threading
import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gangline.rules.values.times import micro_timestamp
from gangline.scheduler.recording.files import SUFFIX, ring
from gangline.scheduler.recording.segments import RecordedCycle, SegmentPen, SegmentStart

log = logging.getLogger(__name__)
HOUR, MEGABYTE = 3600.0, 1_000_000
LONGEST_SEGMENT = HOUR
PARTS = 16
"""A segment may take this part of the ring, so that little is lost when the oldest goes."""
WAITING = 256
"""Cycles that wait to be written, at most."""
READABLE_AFTER = 1.0
"""Seconds after which what was written can be read."""
FLUSHED_AT = 256_000
RETRY = 300.0
PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class RecorderSettings:
    """`folder` empty: nothing is recorded."""

    folder: str = ""
    hours: float = 24.0
    megabytes: float = 1200.0


class SegmentFile:
    """One segment on disk, for its owner's eyes only."""

    def __init__(self, folder: Path, began: float) -> None:
        for path in (folder.parent, folder):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = re.sub(r"[-:]", "", micro_timestamp(began))
        self.path = folder / f"{name}{SUFFIX}"
        for number in itertools.count(1):
            try:
                self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                break
            except FileExistsError:
                self.path = folder / f"{name}-{number}{SUFFIX}"
        self._press = zlib.compressobj(6, zlib.DEFLATED, 31)
        self._unflushed = 0
        self.bytes = 0

    def write(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self._unflushed += len(line)
            self._out(self._press.compress(line))
        if self._unflushed >= FLUSHED_AT:
            self.flush()

    def flush(self) -> None:
        if self._unflushed:
            self._out(self._press.flush(zlib.Z_SYNC_FLUSH))
            self._unflushed = 0

    def close(self) -> None:
        try:
            self._out(self._press.flush())
        finally:
            os.close(self._file)

    def _out(self, data: bytes) -> None:
        while data:
            written = os.write(self._file, data)
            self.bytes += written
            data = data[written:]


@dataclass(frozen=True, slots=True)
class _Noted:
    cycle: RecordedCycle
    start: SegmentStart | None


class FlightRecorder:
    """`due`, `note` and `close` belong to the scheduler's loop; the rest to the thread."""

    def __init__(self, settings: RecorderSettings, pool: str) -> None:
        self._settings = settings
        self._folder = Path(settings.folder) / (re.sub(r"[^\w.-]", "_", pool).lstrip(".") or "default")
        self._queue: queue.Queue[_Noted | None] = queue.Queue(WAITING)
        self._thread: threading.Thread | None = None
        self._segment: SegmentFile | None = None
        self._pen = SegmentPen()
        self._model: object = None
        self._next = float("-inf")
        """When a new segment is due."""
        self.left_out = 0
        """Cycles that could not be written."""

    @property
    def on(self) -> bool:
        return bool(self._settings.folder)

    def due(self, model: object, now: float) -> bool:
        """Whether the next cycle begins a segment: its picture is then taken first."""
        return self.on and (now >= self._next or model is not self._model)

    def note(self, cycle: RecordedCycle, start: SegmentStart | None, model: object) -> None:
        """Take a cycle in, to be written soon."""
        if not self.on:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._write_all, name="flight recorder", daemon=True)
            self._thread.start()
        if start is not None:
            self._model, self._next = model, cycle.now + min(LONGEST_SEGMENT, self._settings.hours * HOUR / PARTS)
        try:
            self._queue.put_nowait(_Noted(cycle, start))
        except queue.Full:
            if not self.left_out:
                log.warning("the disk of %s is too slow: cycles are left out of the recording", self._folder)
            self.left_out += 1
            self._next = float("-inf")

    def close(self) -> None:
        """Write what is left, and end; a disk that does not answer is not waited for."""
        if self._thread is not None:
            with contextlib.suppress(queue.Full):
                self._queue.put(None, timeout=PATIENCE)
            self._thread.join(PATIENCE)
            self._thread = None

    # ── in the thread ──

    def _write_all(self) -> None:
        while (noted := self._noted()) is not None:
            try:
                self._write(noted)
            except OSError as error:
                self._fail(error, noted.cycle.now)
        self._end()

    def _noted(self) -> _Noted | None:
        """The next to write; what was written is made readable when nothing comes."""
        try:
            return self._queue.get(timeout=READABLE_AFTER)
        except queue.Empty:
            self._flush()
            return self._queue.get()

    def _write(self, noted: _Noted) -> None:
        if noted.start is not None:
            self._begin(noted.start)
        if self._segment is None:
            self.left_out += 1
            return
        self._segment.write(self._pen.cycle(noted.cycle))
        if self._segment.bytes >= self._settings.megabytes * MEGABYTE / PARTS:
            self._next = float("-inf")

    def _begin(self, start: SegmentStart) -> None:
        self._end()
        self._make_room()
        self._pen = SegmentPen()
        segment = self._segment = SegmentFile(self._folder, start.began)
        for line in self._pen.begin(start):
            segment.write((line,))
            time.sleep(0)

    def _make_room(self) -> None:
        """Remove the oldest segments: those of before, and those beyond the room there is."""
        kept = self._settings.megabytes * MEGABYTE * (PARTS - 1) / PARTS
        for old in ring(self._folder, time.time() - self._settings.hours * HOUR, kept):
            old.unlink(missing_ok=True)

    def _flush(self) -> None:
        try:
            if self._segment is not None:
                self._segment.flush()
        except OSError as error:
            self._fail(error, self._next)

    def _fail(self, error: OSError, now: float) -> None:
        """A segment that cannot be written is left as it is; the next one is tried after a while."""
        log.warning("the recording in %s cannot be written: %s", self._folder, error.strerror or error)
        self.left_out += 1
        self._next = now + RETRY
        self._end()

    def _end(self) -> None:
        segment, self._segment = self._segment, None
        if segment is not None:
            try:
                segment.close()
            except OSError as error:
                log.warning("%s could not be ended: %s", segment.path, error.strerror or error)
