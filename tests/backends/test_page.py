"""docs/backends.md says what the table and the tests say."""

from __future__ import annotations

import re

import backends_table


def test_the_page_of_backends_is_as_printed() -> None:
    assert backends_table.PAGE.read_text() == backends_table.written(), "run `make docs`"


def test_the_page_and_its_guides_name_only_files_that_exist() -> None:
    pages = [backends_table.PAGE, *sorted((backends_table.REPOSITORY / "docs" / "guide").glob("*.md"))]
    named = [
        name
        for page in pages
        for name in re.findall(r"`((?:src|tests|docs|examples|bench)/[\w./-]+)`", page.read_text())
    ]
    assert len(named) > 20
    assert [name for name in named if not (backends_table.REPOSITORY / name).exists()] == []
