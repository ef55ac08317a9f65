"""A platform for each journey, started with no nodes and stopped at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from journeys.story import Story


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
