"""A recording on disk: bounded, private, readable while it grows, and never a reason to fail."""

from __future__ import annotations

import gzip
import stat
import zlib
from pathlib import Path

import pytest

from gangline.errors import BadInput, ConfigError
from gangline.scheduler.loop.flags import read_flags
from gangline.scheduler.recording import files
from gangline.scheduler.recording.files import DamagedSegment, lines_of, recorded, ring, segments_of, whole_pieces
from gangline.scheduler.recording.lines import read
from gangline.scheduler.recording.replaying import replayed
from gangline.scheduler.recording.segments import RecordedCycle, cycles_of
from scheduler.recording.scene import RecordedScene


def told(folder: Path, gangs: int = 3) -> list[bytes]:
    scene = RecordedScene(folder)
    for number in range(gangs):
        scene.gang(f"g{number}", 1)
        scene.runs()
    scene.recorder.close()
    return scene.lines


def test_what_is_on_disk_is_what_happened(tmp_path: Path) -> None:
    lines = told(tmp_path)
    (segment,) = segments_of(tmp_path)
    assert [line + b"\n" for line in lines_of(segment)] == lines
    assert all(cycle.same for cycle in replayed(whole_pieces([segment])))


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    told(tmp_path / "deep" / "recording")
    (segment,) = segments_of(tmp_path)
    assert stat.S_IMODE(segment.stat().st_mode) == 0o600
    assert stat.S_IMODE(segment.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(segment.parent.parent.stat().st_mode) == 0o700


def test_a_new_segment_begins_after_its_time_and_stands_alone(tmp_path: Path) -> None:
    scene = RecordedScene(tmp_path)
    scene.gang("early", 1)
    scene.passes(4000)
    scene.gang("late", 1)
    scene.recorder.close()
    first, second = segments_of(tmp_path)
    assert len(list(whole_pieces([first]))) == 3
    assert [cycle.same for cycle in replayed(whole_pieces([second]))] == [True]


def test_the_oldest_segments_go_when_the_room_is_full(tmp_path: Path) -> None:
    scene = RecordedScene(tmp_path, megabytes=0.004)
    for number in range(40):
        scene.passes(1000)
        scene.gang(f"g{number}", 1)
    scene.recorder.close()
    assert 1 <= len(segments_of(tmp_path)) < 12
    assert sum(file.stat().st_size for file in segments_of(tmp_path)) < 8000


def test_the_ring_forgets_what_is_too_old_or_too_much(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"{number}{files.SUFFIX}").write_bytes(b"x" * 10)
    assert [file.name[0] for file in ring(tmp_path, 0.0, 25.0)] == ["1", "0"]
    assert len(ring(tmp_path, 1e12, 1e9)) == 4


def test_a_folder_that_cannot_be_written_stops_no_cycle(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "recording").write_text("a file stands here")
    told(tmp_path / "recording")
    assert "cannot be written" in caplog.text


def test_two_segments_of_the_same_moment_are_two_files(tmp_path: Path) -> None:
    told(tmp_path)
    told(tmp_path)
    assert len(segments_of(tmp_path)) == 2
    assert all(cycle.same for cycle in replayed(whole_pieces(segments_of(tmp_path))))


def test_without_a_folder_nothing_is_recorded() -> None:
    scene = RecordedScene()
    assert not scene.recorder.due(scene.model, scene.now)
    scene.recorder.close()


def test_the_end_that_was_cut_off_is_passed_over(tmp_path: Path) -> None:
    told(tmp_path)
    (segment,) = segments_of(tmp_path)
    whole = len(list(whole_pieces([segment])))
    text = gzip.decompress(segment.read_bytes())
    press = zlib.compressobj(6, zlib.DEFLATED, 31)
    segment.write_bytes(press.compress(text[:-20]) + press.flush(zlib.Z_SYNC_FLUSH))
    pieces = list(recorded([segment]))
    assert len(pieces) == whole - 1
    assert not [piece for piece in pieces if isinstance(piece, DamagedSegment)]


def test_a_damaged_file_is_read_up_to_there_and_says_so(tmp_path: Path) -> None:
    told(tmp_path)
    (segment,) = segments_of(tmp_path)
    text = gzip.decompress(segment.read_bytes())
    whole = sum(isinstance(piece, RecordedCycle) for piece in whole_pieces([segment]))
    for damage in (b"{not json}\n", b'{"line":"cycle","now":"x"}\n', b"\xff\xfe\n", b'{"line":"segment"}\n'):
        segment.write_bytes(gzip.compress(text + damage))
        pieces = list(recorded([segment]))
        assert isinstance(pieces[-1], DamagedSegment)
        assert sum(isinstance(piece, RecordedCycle) for piece in pieces) == whole
    segment.write_bytes(gzip.compress(text)[:60] + b"\x00" * 400)
    assert isinstance(list(recorded([segment]))[-1], DamagedSegment)


def test_a_line_without_end_takes_no_memory_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST_LINE", 100_000)
    bomb = tmp_path / f"bomb{files.SUFFIX}"
    bomb.write_bytes(gzip.compress(b"[" * 50_000_000))
    (piece,) = recorded([bomb])
    assert isinstance(piece, DamagedSegment)
    assert "longer than" in piece.reason


def test_a_cycle_before_any_segment_is_refused() -> None:
    with pytest.raises(BadInput, match="line 1: this recording is damaged"):
        list(cycles_of([b'{"line":"cycle","now":1}']))
    with pytest.raises(BadInput, match="no line of a recording"):
        read(b"[" * 100_000)


def test_the_schedulers_flags_say_where_how_long_and_how_much() -> None:
    options = read_flags({"recording-folder": "/x", "recording-hours": "48", "recording-megabytes": "0.5"}).options
    assert (options.recording_folder, options.recording_hours, options.recording_megabytes) == ("/x", 48, 0.5)
    assert options.recording
    assert not read_flags({"recording": "false"}).options.recording
    for text in ("0", "-1", "nan", "soon"):
        with pytest.raises(ConfigError, match=f"--recording-hours={text}"):
            read_flags({"recording-hours": text})
