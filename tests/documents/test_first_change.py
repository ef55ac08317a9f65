"""The first change of CONTRIBUTING.md, made as it says: class and scenario of docs/adding/plugin.md are clean by
`make lint`, and the scenario holds with the class and fails without."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from documents.pages import REPOSITORY, blocks
from gangline.scheduler.plugins import BUILT_IN

PLUGIN, SCENARIO = (block.text for block in blocks(REPOSITORY / "docs/adding/plugin.md", "python"))
STEPS = (REPOSITORY / "CONTRIBUTING.md").read_text()


def made(text: str, name: str) -> Any:
    """What a module of this text defines by a name."""
    module: dict[str, Any] = {}
    exec(compile(text, "docs/adding/plugin.md", "exec"), module)
    return module[name]


def test_the_scenario_of_the_page_holds_with_its_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILT_IN, "freeze", made(PLUGIN, "Freeze"))
    made(SCENARIO, "test_no_gang_of_a_frozen_queue_starts")()


def test_and_it_fails_where_the_class_refuses_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILT_IN, "freeze", made(PLUGIN.replace("!=", "=="), "Freeze"))
    with pytest.raises(AssertionError):
        made(SCENARIO, "test_no_gang_of_a_frozen_queue_starts")()


@pytest.mark.parametrize(
    ("text", "file"),
    [(PLUGIN, "src/gangline/scheduler/plugins/capacity/freeze.py"), (SCENARIO, "tests/scheduler/test_freeze.py")],
    ids=["class", "scenario"],
)
def test_what_is_copied_is_clean_where_it_goes(text: str, file: str) -> None:
    assert file in STEPS and not (REPOSITORY / file).exists()
    for how in (["check", "-q"], ["format", "-q", "--check"]):
        told = subprocess.run(
            [sys.executable, "-m", "ruff", *how, "--stdin-filename", file, "-"],
            cwd=REPOSITORY,
            input=text,
            capture_output=True,
            text=True,
        )
        assert told.returncode == 0, told.stdout + told.stderr


def test_each_file_that_the_steps_name_is_there_or_is_made_by_them() -> None:
    assert '"freeze": Freeze' in STEPS and (REPOSITORY / "src/gangline/scheduler/plugins/__init__.py").exists()
    assert "make test TESTS=tests/scheduler/test_freeze.py" in STEPS
    assert "TESTS=" in (REPOSITORY / "Makefile").read_text()
