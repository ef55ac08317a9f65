"""Tests on a real control plane run only when asked for (`make test-real`). Properties are tried on the same examples
in every run; `make properties` looks for new ones."""

from __future__ import annotations

import logging
import os
from collections.abc import Generator, Iterator

import pytest
from hypothesis import Phase, settings
from hypothesis.internal.conjecture import providers

from gangline.runtime.process.memory import settle

collect_ignore = [] if os.environ.get("GANGLINE_REAL") else ["real"]

settings.register_profile(
    "steady", derandomize=True, deadline=None, phases=[Phase.explicit, Phase.generate], print_blob=True
)
settings.register_profile("searching", derandomize=False, deadline=None, print_blob=True)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "steady")
settings.load_profile(PROFILE)
if PROFILE == "steady":
    # Hypothesis also draws constants of the modules that are loaded at that moment. Which these are depends on what ran
    # before in this process, so a derandomised test would have other examples every time.
    providers._get_local_constants = lambda: providers._local_constants


def pytest_collection_finish() -> None:
    """A run is a long-lived process like any other of ours: what was loaded stays, and garbage in cycles is looked for
    seldom."""
    settle()


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, object, object]:
    """A worker sends its reports as UTF-8. Half a surrogate pair in what a test was given would end the worker, and
    nobody would hear which test failed."""
    return encodable((yield))


def encodable(value: object) -> object:
    """The same report with what UTF-8 cannot say written out."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {encodable(key): encodable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(encodable(entry) for entry in value)
    return value


@pytest.fixture(autouse=True)
def _log_levels_as_before() -> Iterator[None]:
    """Commands set levels of the process that they run in; here that is everybody's."""
    loggers = [logging.getLogger(), logging.getLogger("gangline")]
    before = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, before, strict=True):
        logger.setLevel(level)
