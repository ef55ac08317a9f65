"""docs/kai-features.md and docs/what-users-ask.md are true: every feature, defect and wish has a row, and every test
they name exists."""

from __future__ import annotations

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PAGE = (REPOSITORY / "docs" / "kai-features.md").read_text()
WISHES = (REPOSITORY / "docs" / "what-users-ask.md").read_text()
NAMED = re.compile(r"`(tests/[\w/]+\.py)`: (\w+)")
WITHOUT = ("left out", "not yet", "kept", "`make conformance")


def rows(title: str) -> list[list[str]]:
    section = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if re.match(r"\| \d", line)
    ]


def test_every_feature_and_every_known_defect_has_a_row() -> None:
    assert [int(row[0]) for row in rows("Features")] == list(range(1, 114))
    assert [int(row[0]) for row in rows("Defects that do not exist here")] == list(range(1, 21))


def test_a_row_names_a_test_or_says_why_not() -> None:
    silent = [
        row
        for title in ("Features", "Defects that do not exist here")
        for row in rows(title)
        if not NAMED.search(row[2]) and not row[2].startswith(WITHOUT)
    ]
    assert not silent


def test_every_test_that_is_named_exists() -> None:
    named = NAMED.findall(PAGE + WISHES)
    missing = [
        f"{file}::test_{name}" for file, name in named if f"def test_{name}(" not in (REPOSITORY / file).read_text()
    ]
    assert len(named) > 110 and not missing
