"""A platform for each journey, started with no nodes and stopped at the end; `GANGLINE_SERVER=real` tells it on a real control plane."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

from journeys.sets import Sets
from journeys.story import Story, embedded_platform

if TYPE_CHECKING:
    from real.platform import RealPlatform


@pytest.fixture
async def story() -> AsyncIterator[Story]:
    platform = real_platform() if os.environ.get("GANGLINE_SERVER") == "real" else embedded_platform()
    try:
        await platform.start()
        yield Story(platform)
    finally:
        await platform.stop()


def real_platform() -> RealPlatform:
    from real.plane import missing
    from real.platform import RealPlatform

    if missing():
        pytest.skip(missing())
    return RealPlatform()


@pytest.fixture
def sets(story: Story) -> Sets:
    return Sets(story)
