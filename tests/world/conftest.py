"""On a real control plane everything takes longer, and the first test starts the plane."""

from __future__ import annotations

from pathlib import Path

import pytest

from world.living import REAL

PATIENCE = 300


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items if REAL else ():
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(PATIENCE))
