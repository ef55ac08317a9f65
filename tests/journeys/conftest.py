"""A platform for each journey, started with no nodes and stopped at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from journeys.story import Story


@pytest.fixture
async def story() -> AsyncIterator[Story]:
    story = Story()
    await story.platform.start()
    try:
        yield story
    finally:
        await story.platform.stop()
