"""The class, the checklist and the guide list the same members of a backend; the guide shows the example as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gangline.operator.backends.contract import MEMBERS, Backend

ROOT = Path(__file__).parents[2]
PAGES = ("docs/adding/backend.md", "docs/guide/custom-backend.md")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_lists_every_member_of_the_class_and_no_other(page: str) -> None:
    rows = re.findall(r"^\| `(\w+)(?:\([^)]*\))?` \|", (ROOT / page).read_text(), re.MULTILINE)
    assert len(rows) == len(set(rows)) and set(rows) == set(MEMBERS)


def test_the_guide_shows_the_whole_example() -> None:
    example = (ROOT / "examples/custom-backend/src/gangline_herd/__init__.py").read_text()
    assert f"```python\n{example}```" in (ROOT / "docs/guide/custom-backend.md").read_text()


def test_nobody_asks_a_backend_for_a_member_by_a_string_or_decides_by_its_name() -> None:
    sources = [path for path in (ROOT / "src/gangline/operator").rglob("*.py") if path.name != "contract.py"]
    found = [
        f"{path.name}: {line.strip()}"
        for path in sources
        for line in path.read_text().splitlines()
        if re.search(r"(get|has)attr\([^)]*backend", line) or re.search(r"backend\.name [=!]= [\"']", line)
    ]
    assert found == [] and Backend.__doc__
