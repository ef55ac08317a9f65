"""The classes of docs/adding are whole files: copied where the page says, they are clean, they work, and their tests
hold."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from documents.pages import REPOSITORY, blocks
from gangline import extend
from gangline.api.core import Node
from gangline.api.meta import Metadata
from gangline.binder.attempt import BindAttempt, CannotBind
from gangline.binder.settings import BinderSettings
from gangline.grouper import groupers
from gangline.scheduler.actions import ACTIONS

FOLDER = REPOSITORY / "docs" / "adding"
PAGES = ("action", "binder-plugin", "grouper", "hook")


def made(page: str) -> dict[str, Any]:
    """What the Python of a page defines, as one module."""
    module: dict[str, Any] = {"__name__": f"docs.adding.{page}"}
    for block in blocks(FOLDER / f"{page}.md", "python"):
        exec(compile(block.text, f"docs/adding/{page}.md", "exec"), module)
    return module


def scenarios_of(module: dict[str, Any]) -> list[Callable[[], None]]:
    return [value for name, value in module.items() if name.startswith("test_")]


@pytest.fixture
def fresh_groupers() -> Iterator[None]:
    """The table of groupers is made anew, before and after."""
    for table in (groupers.all_groupers, groupers.by_kind):
        table.cache_clear()
    yield
    for table in (groupers.all_groupers, groupers.by_kind):
        table.cache_clear()


@pytest.mark.parametrize("page", PAGES)
def test_what_is_copied_is_clean(page: str) -> None:
    for block in blocks(FOLDER / f"{page}.md", "python"):
        for how in (["check", "-q", "--ignore", "F821"], ["format", "-q", "--check"]):
            done = subprocess.run(
                [sys.executable, "-m", "ruff", *how, "--stdin-filename", "src/gangline/copied.py", "-"],
                cwd=REPOSITORY,
                input=block.text,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stdout + done.stderr


def test_an_action_is_one_file_and_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    module = made("action")
    action = module["Backfill"]()
    monkeypatch.setitem(ACTIONS, action.name, action)
    (scenario,) = scenarios_of(module)
    scenario()


@pytest.mark.usefixtures("fresh_groupers")
def test_a_grouper_is_one_class_and_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    module = made("grouper")
    monkeypatch.setattr(groupers, "GROUPERS", (module["TrainingGrouper"](), *groupers.GROUPERS))
    scenarios = scenarios_of(module)
    assert len(scenarios) == 2
    for scenario in scenarios:
        scenario()


async def test_a_binder_plugin_writes_with_the_bind_or_refuses_it() -> None:
    plugin_class = made("binder-plugin")["ZonePlugin"]
    assert extend.unusable(plugin_class, plugin_class.__mro__[1]) == ""
    labelled = attempt_on({"topology.kubernetes.io/zone": "east"})
    await plugin_class(BinderSettings(), {}).prepare(labelled)
    assert labelled.annotations == {"example.com/zone": "east"}
    with pytest.raises(CannotBind, match=r"node n has no label topology\.kubernetes\.io/zone: label it"):
        await plugin_class(BinderSettings(), {"required": "true"}).prepare(attempt_on({}))


def attempt_on(labels: dict[str, str]) -> BindAttempt:
    nothing = cast("Any", None)
    return BindAttempt(nothing, nothing, nothing, Node(metadata=Metadata(name="n", labels=labels)), 0.0)


def test_an_admission_hook_refuses_with_the_text_that_its_page_shows() -> None:
    (scenario,) = scenarios_of(made("hook"))
    scenario()
