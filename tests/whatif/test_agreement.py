"""What whatif says is what then happens on the whole platform, for random questions about random clusters.

`make bench BENCH=whatif ARGS="--cases 500"` asks more of them."""

from __future__ import annotations

import pytest

from whatif.cases import compared


@pytest.mark.parametrize("seed", range(1, 7))
async def test_what_is_told_is_what_happens(seed: int) -> None:
    found = await compared(seed)
    assert found.told == found.real
