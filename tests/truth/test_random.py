"""On random clusters the told cause holds when it is counted again, and the first remedy starts the gang. `make
bench BENCH=truth` tries two thousand of them."""

from __future__ import annotations

import pytest

from truth.clusters import judged


@pytest.mark.parametrize("seed", range(9000, 9025))
def test_the_told_cause_holds_and_the_first_remedy_starts_the_gang(seed: int) -> None:
    found = judged(seed)
    assert found is None or (found.wrong, found.works) == ("", True), found.text
