"""`gangline history`, `why-evicted`, `replay` and `recording` over what a scheduler recorded."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gangline.cli import group
from gangline.cli.look.recorded import moment
from gangline.errors import BadInput, GanglineError
from gangline.rules.values.times import timestamp
from gangline.scheduler.recording.files import lines_of, segments_of
from scheduler.recording.scene import NOW, RecordedScene


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """sweep-0 is evicted by urgent, and comes back when that has ended."""
    place = tmp_path / "recording"
    scene = RecordedScene(place)
    scene.gang("sweep-0", 4)
    scene.runs()
    scene.passes(3600)
    scene.gang("urgent", 4, priority=75)
    scene.runs()
    scene.runs()
    scene.ends("urgent")
    scene.runs()
    scene.recorder.close()
    return place


def asked(place: Path, *words: str) -> Result:
    return CliRunner().invoke(group, [*words, "--recording", str(place)])


def refused(place: Path, *words: str) -> str:
    error = asked(place, *words).exception
    assert isinstance(error, GanglineError)
    return str(error)


def test_history_tells_it_all_line_by_line(recording: Path) -> None:
    lines = asked(recording, "history", "sweep-0").output.splitlines()
    assert lines[0] == "sweep-0 (namespace team, queue a)"
    assert [line.split()[1] for line in lines[1:]] == [
        *("queued", "placed", "running", "evicted", "refused", "placed", "running")
    ]
    assert lines[1].split()[0] == timestamp(NOW + 1)


def test_history_of_a_set_is_that_of_its_gangs(recording: Path) -> None:
    (story,) = json.loads(asked(recording, "history", "sweep", "-o", "json").output)
    assert story["gang"] == "sweep-0"
    evicted = next(event for event in story["events"] if event["what"] == "evicted")
    assert (evicted["by"], evicted["action"], len(evicted["pods"])) == ("urgent", "preempt", 4)


def test_a_name_that_nobody_has_is_answered_with_the_nearest(recording: Path) -> None:
    message = f"no gang 'urgnet' was recorded in {recording}; did you mean urgent?"
    assert refused(recording, "history", "urgnet") == message
    assert "it was recorded in team" in refused(recording, "history", "urgent", "-n", "other")
    assert "did you mean sweep-0-3" in refused(recording, "why-evicted", "sweep-0-33")


def test_why_evicted_names_who_why_and_what_came_then(recording: Path) -> None:
    told = asked(recording, "why-evicted", "sweep-0-1").output
    assert "was evicted from n1" in told
    assert "by preempt: higher priority in the same queue" in told
    assert "for urgent (queue a, priority 75, 4 pods, 4 GPUs)" in told
    assert "its gang was placed again after" in told
    assert "never evicted it" in refused(recording, "why-evicted", "urgent-0")


def test_pods_that_were_evicted_are_completed(recording: Path) -> None:
    typed = {"COMP_WORDS": f"gangline why-evicted --recording {recording} sweep-0-", "COMP_CWORD": "4"}
    asked_by = typed | {"_GANGLINE_COMPLETE": "bash_complete"}
    shown = CliRunner().invoke(group, prog_name="gangline", complete_var="_GANGLINE_COMPLETE", env=asked_by)
    assert shown.output.split() == [f"plain,sweep-0-{number}" for number in range(4)]


def test_where_nothing_was_evicted_that_is_said(tmp_path: Path) -> None:
    scene = RecordedScene(tmp_path)
    scene.gang("quiet", 1)
    scene.runs()
    scene.recorder.close()
    told = f"no pod was evicted as far as the recording in {tmp_path} goes"
    assert refused(tmp_path, "why-evicted", "nobody") == told


def test_every_cycle_decides_the_same_again(recording: Path) -> None:
    answer = asked(recording, "replay", "--all")
    assert answer.exit_code == 0
    assert "all decide the same again" in answer.output
    last = asked(recording, "replay")
    assert "decides the same again" in last.output


def test_replay_takes_the_cycle_of_a_time(recording: Path) -> None:
    answer = asked(recording, "replay", "--at", timestamp(NOW + 1), "-o", "json")
    data = json.loads(answer.output)
    assert (data["now"], data["same"]) == (NOW + 1, True)
    assert [commit["node"] for commit in data["again"]["commits"]] == ["n1"] * 4
    assert "no cycle was recorded at or before" in refused(recording, "replay", "--at", "2001-01-01T00:00:00Z")


def test_replay_tells_what_differs_and_fails(recording: Path) -> None:
    file = segments_of(recording)[0]
    lines = [line.replace(b'"bind":{"task":"sweep-0-uid-1","node":"n1"', b'"bind":{"task":"sweep-0-uid-1","node":"n9"')
             for line in lines_of(file)]  # fmt: skip
    file.write_bytes(gzip.compress(b"\n".join(lines) + b"\n"))
    answer = asked(recording, "replay", "--all")
    assert answer.exit_code == 1
    assert "bound sweep-0-uid-1 to n9 then, bound sweep-0-uid-1 to n1 now" in answer.output


def test_a_redacted_copy_has_no_name_and_decides_the_same(recording: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.jsonl.gz"
    done = CliRunner().invoke(group, ["recording", "redact", str(recording), str(copy)])
    assert "cycles without names" in done.output
    assert "warning" not in done.output
    text = gzip.decompress(copy.read_bytes())
    assert not [name for name in (b"sweep", b"urgent", b"team", b'"n1"', b"shared") if name in text]
    assert "all decide the same again" in asked(copy, "replay", "--all").output
    again = CliRunner().invoke(group, ["recording", "redact", str(recording), str(copy)]).exception
    assert "exists already" in str(again)


def test_a_damaged_file_is_a_warning_and_never_a_traceback(recording: Path) -> None:
    file = segments_of(recording)[-1]
    file.write_bytes(gzip.compress(b"\n".join(lines_of(file)) + b"\n{}\n"))
    answer = asked(recording, "history", "urgent")
    assert answer.exit_code == 0
    assert "is damaged and is read only up to there: line" in answer.output


def test_where_nothing_is_recorded_is_said_what_would_be(tmp_path: Path) -> None:
    assert "a scheduler writes one while it runs" in refused(tmp_path, "history", "x")
    assert "does not exist" in refused(tmp_path / "none", "replay")


def test_info_lists_the_files(recording: Path) -> None:
    heading, *rows = asked(recording, "recording", "info").output.splitlines()
    assert heading.split() == ["POOL", "SEGMENT", "LAST", "WRITTEN", "SIZE"]
    assert len(rows) == len(segments_of(recording))


def test_times_are_read_as_people_write_them() -> None:
    assert moment("2026-01-31T14:00:00Z", "--at") == 1769868000.0
    assert moment(None, "--at") is None
    with pytest.raises(BadInput, match="--at noon: write a time like"):
        moment("noon", "--at")


def test_a_recording_is_a_trace_to_simulate(recording: Path) -> None:
    words = ["simulate", str(recording), "--format", "recording", "--period", "1", "-o", "json"]
    played = json.loads(CliRunner().invoke(group, words).output)
    assert (played["jobs"], played["waits"]["all"]["never"]) == (2, 0)
    shared = json.loads(CliRunner().invoke(group, [*words, "--queues", "trace"]).output)
    assert set(shared["queues"]) == {"a"}


def test_a_recording_is_looked_for_beside_the_kubeconfig_and_then_at_home(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old"
    scene = RecordedScene(old / "recording")
    scene.gang("earlier", 4)
    scene.runs()
    scene.recorder.close()
    monkeypatch.setenv("GANGLINE_HOME", str(old))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    beside = str(recording.parent / "kubeconfig")
    assert "earlier (" in CliRunner().invoke(group, ["history", "earlier"]).output
    assert "urgent (" in CliRunner().invoke(group, ["history", "urgent", "--kubeconfig", beside]).output
    monkeypatch.setenv("KUBECONFIG", beside)
    assert "urgent (" in CliRunner().invoke(group, ["history", "urgent"]).output
    error = CliRunner().invoke(group, ["history", "earlier"]).exception
    assert str(error).startswith(f"no gang 'earlier' was recorded in {recording}")


def test_why_evicted_of_a_gang_names_its_history_and_its_pods(recording: Path) -> None:
    told = refused(recording, "why-evicted", "urgent")
    assert told.startswith("urgent is a gang, not a pod; `gangline history urgent` tells what became of it; its pods: ")
    assert "urgent-0" in told
