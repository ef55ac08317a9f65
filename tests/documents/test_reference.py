"""The reference says what the code says: commands with their help, fields, metrics, names, settings, errors."""

from __future__ import annotations

import pytest

from documents.pages import REPOSITORY
from documents.pictures import PICTURES
from documents.reference import FOLDER, PAGES, page


@pytest.mark.parametrize("name", list(PAGES))
def test_a_page_of_the_reference_is_printed_from_the_code(name: str) -> None:
    assert (FOLDER / f"{name}.md").read_text() == page(name), "run `make docs`"


def test_every_option_of_every_command_is_explained() -> None:
    silent = [line for line in page("cli").splitlines() if line.startswith("| `-") and line.split(" | ")[1] == ""]
    assert silent == []


@pytest.mark.parametrize("name", list(PICTURES))
def test_a_picture_is_drawn_anew_with_its_words(name: str) -> None:
    assert (REPOSITORY / "docs" / "pictures" / f"{name}.svg").read_text() == PICTURES[name].svg(), "run `make docs`"
