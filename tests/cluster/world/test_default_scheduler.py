"""The default scheduler's writes: some at a time, and none is left behind when it is stopped."""

from __future__ import annotations

import asyncio
import gc
import warnings
from functools import partial

import pytest

from embedded import until
from gangline.cluster.world.scheduling.scheduler import CONCURRENT, _together


async def test_writes_that_never_had_their_turn_are_not_begun_when_it_is_stopped() -> None:
    begun: list[int] = []

    async def write(number: int) -> None:
        begun.append(number)
        await asyncio.Event().wait()

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        writing = asyncio.create_task(_together(partial(write, number) for number in range(3 * CONCURRENT)))
        await until(lambda: len(begun) == CONCURRENT)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        gc.collect()
    assert len(begun) == CONCURRENT
    assert [str(warning.message) for warning in warned] == []
