"""A platform for each journey, started with no nodes and stopped at the end; `GANGLINE_SERVER=real` tells it on a real
control plane."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from journeys.sets import Sets
from journeys.story import Story, told


@pytest.fixture
async def story() -> AsyncIterator[Story]:
    async with told() as story:
        yield story


@pytest.fixture
def sets(story: Story) -> Sets:
    return Sets(story)
