"""Every cause of the matrix is told right, and its first remedy, applied as printed, starts the gang."""

from __future__ import annotations

import pytest

from journeys.story import REAL
from truth.matrix import MATRIX
from truth.page import PAGE
from truth.player import TruthCase, play


@pytest.mark.parametrize("case", MATRIX, ids=lambda case: case.name.replace(" ", "-"))
async def test_the_cause_is_told_and_the_first_remedy_starts_the_gang(case: TruthCase) -> None:
    if REAL and case.only_simulated:
        pytest.skip(case.only_simulated)
    await play(case)


def test_the_page_of_causes_has_every_case_of_the_matrix() -> None:
    told = [line.removeprefix("### ").lower() for line in PAGE.read_text().splitlines() if line.startswith("### ")]
    assert told == [case.name.lower() for case in MATRIX], "run `make docs`"


def test_the_matrix_has_at_least_eighty_causes_and_no_two_of_one_name() -> None:
    assert len({case.name for case in MATRIX}) == len(MATRIX) >= 80
