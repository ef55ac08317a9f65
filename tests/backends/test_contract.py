"""The class, the checklist and the guide list the same members of a backend; the guide shows the example as it is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import house_numbers
from gangline.extend import members_of
from gangline.operator.backends import BUILT_IN
from gangline.operator.backends.contract import Backend

ROOT = Path(__file__).parents[2]
PAGES = ("docs/adding/backend.md", "docs/guide/custom-backend.md")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_lists_every_member_of_the_class_and_no_other(page: str) -> None:
    rows = re.findall(r"^\| `(\w+)(?:\([^)]*\))?` \|", (ROOT / page).read_text(), re.MULTILINE)
    assert len(rows) == len(set(rows)) and set(rows) == set(members_of(Backend))


def test_the_guide_shows_the_whole_example() -> None:
    example = (ROOT / "examples/custom-backend/src/gangline_herd/__init__.py").read_text()
    assert f"```python\n{example}```" in (ROOT / "docs/guide/custom-backend.md").read_text()


def test_no_member_is_found_by_a_string() -> None:
    lookups = [
        f"{file}:{node.lineno}"
        for file, tree in house_numbers.trees().items()
        if file.startswith("operator/")
        for node in house_numbers.walked(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr")
    ]
    assert lookups == []


def decides_by_name(tree: ast.Module) -> bool:
    return any(_names_a_backend(node) for node in house_numbers.walked(tree) if isinstance(node, ast.Compare))


def _names_a_backend(compared: ast.Compare) -> bool:
    """Whether a comparison sets the name of a backend against one that is written out."""
    sides = [compared.left, *compared.comparators]
    asks = any(
        isinstance(side, ast.Attribute) and side.attr == "name" and ast.unparse(side.value).endswith("backend")
        for side in sides
    )
    written = any(
        isinstance(node, ast.Constant) and node.value in BUILT_IN for side in sides for node in ast.walk(side)
    )
    return asks and written


def test_nothing_is_decided_by_the_name_of_a_backend() -> None:
    assert [file for file, tree in house_numbers.trees().items() if decides_by_name(tree)] == []


@pytest.mark.parametrize(
    "source",
    [
        'if backend.name == "kai": pass',
        'x = 1 if "kai" != look.selection.backend.name else 2',
        'backend.name in ("kai", "default")',
    ],
)
def test_such_a_decision_would_be_seen(source: str) -> None:
    assert decides_by_name(ast.parse(source))
