"""Tests on a real control plane run only when asked for (`make test-real`). Properties are tried on the same examples
in every run; `make properties` looks for new ones."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

import pytest
from hypothesis import Phase, settings

from gangline.runtime.memory import settle

collect_ignore = [] if os.environ.get("GANGLINE_REAL") else ["real"]

settings.register_profile(
    "steady", derandomize=True, deadline=None, phases=[Phase.explicit, Phase.generate], print_blob=True
)
settings.register_profile("searching", derandomize=False, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


def pytest_collection_finish() -> None:
    """A run is a long-lived process like any other of ours: what was loaded stays, and garbage in cycles is looked for
    seldom."""
    settle()


@pytest.fixture(autouse=True)
def _log_levels_as_before() -> Iterator[None]:
    """Commands set levels of the process that they run in; here that is everybody's."""
    loggers = [logging.getLogger(), logging.getLogger("gangline")]
    before = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, before, strict=True):
        logger.setLevel(level)
