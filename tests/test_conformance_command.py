"""`make conformance` says plainly when it ran nothing, and does not call that a success."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.__main__ import main

REPOSITORY = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Ended:
    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command with these words, where recorded cases are looked for in an own folder."""
    monkeypatch.setenv("GANGLINE_CONFORMANCE", str(tmp_path))

    def typed(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["conformance", *words])
        code = main()
        return Ended(code, *capsys.readouterr())

    return typed


@pytest.mark.parametrize("suites", [[], ["--suite", "grove"]], ids=["all", "one"])
def test_without_recorded_cases_it_says_that_nothing_was_run_and_fails(
    run: Run, suites: list[str], tmp_path: Path
) -> None:
    done = run(*suites)
    assert done.code == 5 and done.err == ""
    last = done.out.splitlines()[-1]
    assert last.startswith(f"nothing was run: no recorded cases at {tmp_path}/") and last.endswith(
        "; CASES=folder names another folder"
    )
    assert "passed" not in done.out


def test_a_folder_without_a_case_is_nothing_too(run: Run, tmp_path: Path) -> None:
    (tmp_path / "grove").mkdir()
    done = run("--suite", "grove")
    assert done.code == 5 and "nothing was run: no recorded cases at" in done.out
    done = run("--suite", "grove", "--cases", str(tmp_path / "grove"))
    assert done.code == 5 and f"nothing was run: no recorded cases at {tmp_path}/grove;" in done.out


@pytest.mark.parametrize("suite", ["kai-core", "apiserver", "kai-services", "grove"])
def test_an_empty_folder_of_any_suite_is_a_sentence(run: Run, suite: str, tmp_path: Path) -> None:
    (tmp_path / suite).mkdir()
    done = run("--suite", suite)
    assert done.code == 5 and done.err == ""
    assert f"nothing was run: no recorded cases at {tmp_path}/{suite};" in done.out


@pytest.mark.parametrize(("words", "code"), [(["--allow-nothing"], 0), ([], 5)])
def test_it_ends_well_only_where_that_is_allowed_and_says_so(words: list[str], code: int, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "tests/conformance", *words],
        cwd=REPOSITORY,
        env={**os.environ, "GANGLINE_CONFORMANCE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code and done.stderr == ""
    assert "nothing was run: no recorded cases at" in done.stdout
