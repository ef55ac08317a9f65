"""A platform for each journey, started with no nodes and stopped at the end; `GANGLINE_SERVER=real` tells it on a real control plane."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

from journeys.sets import Sets
from journeys.story import REAL, Story, embedded_platform

if TYPE_CHECKING:
    from real.platform import RealPlatform


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """On a real control plane, journeys marked `embedded_only` are skipped for the reason they give."""
    for item in items if REAL else ():
        mark = item.get_closest_marker("embedded_only")
        if mark is not None:
            item.add_marker(pytest.mark.skip(reason=f"on the embedded server only: {mark.kwargs['reason']}"))


@pytest.fixture
async def story() -> AsyncIterator[Story]:
    platform = real_platform() if REAL else embedded_platform()
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
