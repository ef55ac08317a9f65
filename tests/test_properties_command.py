"""`make test` tries properties on the same input every time. `make properties` tries fresh input for a time, and says
how to try a failing one again."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

REPOSITORY = Path(__file__).parents[1]
PROPERTY = """
from hypothesis import given, strategies as st

@given(st.integers())
def test_numbers(number):
    assert {}
"""


COUNTED = """
import sys
sys.path.insert(0, {tests!r})
from hypothesis import given, settings, strategies as st
from properties.examples import examples
tried = []

@settings(max_examples=examples(5), database=None)
@given(st.integers())
def test_numbers(number):
    tried.append(number)

@settings(max_examples=1, database=None)
@given(st.none())
def test_so_many_were_tried(nothing):
    assert len(tried) >= 300
"""


def run(tmp_path: Path, claim: str) -> subprocess.CompletedProcess[str]:
    claims = tmp_path / "test_claims.py"
    claims.write_text(PROPERTY.format(claim))
    return search(tmp_path, str(claims))


def search(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(REPOSITORY / "tests/properties/search.py"), "--seconds", "0", "--seed", "7", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_seed_that_holds_is_told(tmp_path: Path) -> None:
    done = run(tmp_path, "number == number")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "seed 7 holds")


def test_a_seed_that_fails_is_told_with_how_to_try_it_again(tmp_path: Path) -> None:
    done = run(tmp_path, "number < 50")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (
        1,
        "seed 7 fails; again: make properties SECONDS=0 SEED=7",
    )
    assert "number=50" in done.stdout


def test_as_many_examples_are_tried_as_are_asked_for(tmp_path: Path) -> None:
    claims = tmp_path / "test_claims.py"
    claims.write_text(COUNTED.format(tests=str(REPOSITORY / "tests")))
    done = search(tmp_path, "--examples", "300", str(claims))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "seed 7 holds")


def drawn() -> list[int]:
    numbers: list[int] = []

    @given(st.integers())
    def note(number: int) -> None:
        numbers.append(number)

    note()
    return numbers


def test_a_test_has_the_same_examples_whatever_was_loaded_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drawn()
    (tmp_path / "loaded_late.py").write_text(f"NUMBERS = {[1_000_003 * count for count in range(500)]}")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("loaded_late")
    assert drawn() == before
