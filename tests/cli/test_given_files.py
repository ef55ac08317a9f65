"""Files that somebody names: whatever they are, a command reads no more than its bound and says what is wrong."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gangline import bounded_input
from gangline.bounded_input import LARGE, given_text
from gangline.cli import group
from gangline.errors import BadInput, ConfigError, GanglineError
from gangline.lab.builtin_settings import from_config


def refused(*words: str) -> str:
    answer = CliRunner().invoke(group, words)
    assert isinstance(answer.exception, GanglineError), answer.output
    return str(answer.exception)


@pytest.mark.parametrize(
    "words",
    [
        ("apply", "-f", "/dev/zero"),
        ("whatif", "-f", "/dev/zero"),
        ("install", "--dry-run", "--config", "/dev/zero"),
        ("fairshare", "/dev/zero"),
        ("up", "--nodes", "/dev/zero"),
        ("simulate", "/dev/zero", "--format", "csv", "--gpus", "8"),
        ("simulate", "trace.csv", "--format", "csv", "--nodes", "/dev/zero"),
        ("simulate", "trace.csv", "--format", "csv", "--gpus", "8", "--queues", "/dev/zero"),
        ("simulate", "trace.csv", "--format", "csv", "--gpus", "8", "--settings", "/dev/zero"),
        ("simulate", "trace.csv", "--format", "csv", "--gpus", "8", "--node-events", "/dev/zero"),
    ],
)
def test_a_file_without_end_is_read_no_further_than_its_bound(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trace.csv").write_text("arrival,duration,gpus\n0,10,1\n")
    assert refused(*words) == "/dev/zero cannot be read: it is larger than 64 MiB"


def test_a_configuration_without_end_is_read_no_further_than_its_bound() -> None:
    assert refused("run", "operator", "--config", "/dev/zero").startswith("--config=/dev/zero cannot be read")


class Endless(io.RawIOBase):
    """A pipe into which somebody writes for ever."""

    given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, room: memoryview) -> int:  # type: ignore[override]
        self.given += len(room)
        room[:] = b"\n" * len(room)
        return len(room)


def test_standard_input_without_end_is_read_no_further_than_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = Endless()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(pipe)))
    with pytest.raises(BadInput, match=r"^standard input cannot be read: it is larger than 64 MiB$"):
        given_text("-")
    assert pipe.given <= LARGE + 1024 * 1024


def test_a_file_of_just_the_bound_is_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a\r\nb")
    assert bounded_input.read_text(file, 4) == "a\nb"
    with pytest.raises(OSError, match="File too large"):
        bounded_input.read_text(file, 3)


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"tiers": 7}, "tiers: a list is needed, not 7"),
        ({"tiers": [5]}, "tiers: a mapping is needed, not 5"),
        ({"tiers": [{"plugins": {"a": 1}}]}, "tiers.plugins: a list is needed, not {'a': 1}"),
        ({"tiers": [{"plugins": [{}]}]}, "tiers.plugins: a plugin needs a name, and {} has none"),
        (
            {"tiers": [{"plugins": [{"name": "gpupack", "arguments": [1]}]}]},
            "tiers.plugins: arguments of gpupack: a mapping is needed, not [1]",
        ),
        ({"queueDepthPerAction": [1]}, "queueDepthPerAction: a mapping is needed, not [1]"),
        ({"queueDepthPerAction": {"reclaim": "x"}}, "queueDepthPerAction.reclaim: a whole number is needed, not 'x'"),
        ({"scenarioSearchBudgets": 5}, "scenarioSearchBudgets: a mapping is needed, not 5"),
        (
            {"scenarioSearchBudgets": {"maxActionSearchDuration": "5s"}},
            "scenarioSearchBudgets.maxActionSearchDuration: a mapping is needed, not '5s'",
        ),
    ],
)
def test_a_scheduler_configuration_of_a_wrong_shape_is_told_with_its_place(
    config: dict[str, object], told: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        from_config(config)
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("rows", "words", "told"),
    [
        ("0,1,1,1e300", (), "memory is 1e300, which must be a number from 0 to 1e+15"),
        ("0,1e300,1,", (), "duration is 1e300, which must be a number from 0 to 1e+15"),
        ("-1e300,1,1,", (), "arrival is '-1e300', which is no date and time"),
        ("0,1,1,", ("--change", "quota.all.gpu=nan"), "--change quota.all.gpu=nan: 'nan' is no number"),
        ("0,1,1,", ("--gpus", "1000000", "--node-gpus", "1"), "1000000 nodes of 1; at most 100000 are played"),
    ],
)
def test_numbers_that_nobody_could_play_are_refused(
    rows: str, words: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text(f"arrival,duration,gpus,memory\n{rows}\n")
    assert told in refused("simulate", str(trace), "--format", "csv", "--gpus", "8", *words)


def test_a_load_that_would_never_be_played_is_refused(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("arrival,duration,gpus\n0,1,1\n")
    answer = CliRunner().invoke(
        group, ["simulate", str(trace), "--format", "csv", "--gpus", "8", "--arrivals", "1000000000"]
    )
    assert answer.exit_code == 2 and "is not in the range 0<x<=100.0" in answer.output
