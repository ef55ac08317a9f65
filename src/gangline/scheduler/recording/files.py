"""Recordings on disk, read: the segments of a folder and their lines. Writes nothing.

Memory is bounded by the longest line, whatever a file claims to hold. A file that ends in the middle of a line ends
with the line before; one that is damaged says so and ends there."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gangline.errors import BadInput
from gangline.scheduler.recording.segments import RecordedCycle, SegmentStart, cycles_of

SUFFIX = ".jsonl.gz"
CHUNK = 1 << 18
LONGEST_LINE = 1 << 26


@dataclass(frozen=True, slots=True)
class DamagedSegment:
    """A file that cannot be read from here on."""

    file: Path
    reason: str

    def __str__(self) -> str:
        return f"{self.file} is damaged and is read only up to there: {self.reason}"


def segments_of(place: Path, since: float | None = None) -> list[Path]:
    """The files of a recording, oldest first: a folder, one folder for each node pool, or one file. With `since` only
    those that were written after it, and the newest: each begins with all that its scheduler knew."""
    if place.is_file():
        return [place]
    files = sorted(place.rglob(f"*{SUFFIX}"), key=lambda file: (file.name, file.parent))
    newest = {file.parent: file for file in files}.values()
    return files if since is None else [file for file in files if file in newest or file.stat().st_mtime >= since]


def whole_pieces(files: Sequence[Path]) -> Iterator[SegmentStart | RecordedCycle]:
    """All that can be read of files; what is damaged is passed over."""
    return (piece for piece in recorded(files) if not isinstance(piece, DamagedSegment))


def ring(folder: Path, oldest: float, most: float) -> list[Path]:
    """The segments of a folder that must go: last written before `oldest`, or beyond `most` bytes of newer ones."""
    gone, held = [], 0
    for file in sorted(folder.glob(f"*{SUFFIX}"), reverse=True):
        try:
            known = file.stat()
        except FileNotFoundError:
            continue
        held += known.st_size
        if known.st_mtime < oldest or held > most:
            gone.append(file)
    return gone


def recorded(files: Sequence[Path]) -> Iterator[SegmentStart | RecordedCycle | DamagedSegment]:
    """All that files hold, in their order."""
    for file in files:
        try:
            yield from cycles_of(lines_of(file))
        except (BadInput, OSError) as error:
            yield DamagedSegment(file, str(error))


def lines_of(file: Path) -> Iterator[bytes]:
    """Whole lines; raises BadInput where they end in what is no recording."""
    begun = bytearray()
    for piece in _unpressed(file):
        whole, newline, rest = piece.rpartition(b"\n")
        if newline:
            yield from bytes(begun + whole).split(b"\n")
            begun.clear()
        begun += rest
        if len(begun) > LONGEST_LINE:
            raise BadInput(f"a line is longer than {LONGEST_LINE} bytes")


def _unpressed(file: Path) -> Iterator[bytes]:
    """What is in a file, gzip or plain, a piece at a time."""
    with file.open("rb") as stream:
        first = stream.read(2)
        stream.seek(0)
        if first != b"\x1f\x8b":
            while piece := stream.read(CHUNK):
                yield piece
            return
        press = zlib.decompressobj(31)
        while data := stream.read(CHUNK):
            while data:
                try:
                    yield press.decompress(data, CHUNK)
                except zlib.error as error:
                    raise BadInput(f"its gzip is broken ({error})") from None
                data = press.unconsumed_tail
                if press.eof:
                    data, press = press.unused_data, zlib.decompressobj(31)
