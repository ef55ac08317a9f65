"""A platform for each journey, started with no nodes and stopped at the end; `GANGLINE_SERVER=real` tells it on a real control plane."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from journeys.sets import Sets
from journeys.story import REAL, Story, told

PATIENCE = 300
"""Seconds a journey may take on a real control plane before it counts as stuck; the first one starts the plane."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """On a real control plane journeys take longer."""
    for item in items if REAL else ():
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(PATIENCE))


@pytest.fixture
async def story() -> AsyncIterator[Story]:
    async with told() as story:
        yield story


@pytest.fixture
def sets(story: Story) -> Sets:
    return Sets(story)
