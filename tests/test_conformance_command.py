"""`make conformance` says plainly when it ran nothing, and does not call that a success."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GANGLINE_CONFORMANCE": str(folder)}
    return subprocess.run(
        [sys.executable, "tests/conformance", *words],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("suites", [[], ["--suite", "grove"]], ids=["all", "one"])
def test_without_recorded_cases_it_says_that_nothing_was_run_and_fails(suites: list[str], tmp_path: Path) -> None:
    done = run(tmp_path, *suites)
    assert done.returncode == 5 and done.stderr == ""
    last = done.stdout.splitlines()[-1]
    assert last.startswith(f"nothing was run: no recorded cases at {tmp_path}/") and last.endswith(
        "; CASES=folder names another folder"
    )
    assert "passed" not in done.stdout


def test_a_folder_without_a_case_is_nothing_too(tmp_path: Path) -> None:
    (tmp_path / "grove").mkdir()
    done = run(tmp_path, "--suite", "grove")
    assert done.returncode == 5 and "nothing was run: no recorded cases at" in done.stdout
    done = run(tmp_path, "--suite", "grove", "--cases", str(tmp_path / "grove"))
    assert done.returncode == 5 and f"nothing was run: no recorded cases at {tmp_path}/grove;" in done.stdout


@pytest.mark.parametrize("suite", ["kai-core", "apiserver", "kai-services", "grove"])
def test_an_empty_folder_of_any_suite_is_a_sentence(suite: str, tmp_path: Path) -> None:
    (tmp_path / suite).mkdir()
    done = run(tmp_path, "--suite", suite)
    assert (
        done.returncode == 5
        and done.stderr == ""
        and f"nothing was run: no recorded cases at {tmp_path}/{suite};" in done.stdout
    )


def test_it_ends_well_where_that_is_allowed_and_still_says_so(tmp_path: Path) -> None:
    done = run(tmp_path, "--allow-nothing")
    assert done.returncode == 0 and "nothing was run: no recorded cases at" in done.stdout
