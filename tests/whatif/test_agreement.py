"""What whatif says is what then happens on the whole platform, for random questions about random clusters.

`make bench BENCH=whatif ARGS="--cases 500"` asks more of them."""

from __future__ import annotations

import pytest

from whatif.cases import compared

LATE_JOBS = (2027,)
"""A Job waits before it makes a lost pod anew (evicted, or drained): its room goes to somebody else meanwhile."""

A_SECOND_LATER = (61081,)
"""A surplus pod that was placed in one cycle makes room in the next, when it is no longer fresh."""


@pytest.mark.parametrize("seed", [*range(1, 5), *LATE_JOBS, *A_SECOND_LATER])
async def test_what_is_told_is_what_happens(seed: int) -> None:
    found = await compared(seed)
    assert found.told == found.real
