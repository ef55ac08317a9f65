"""No page points to what is not there: files, folders and headings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documents.pages import REPOSITORY, anchors, links, name, pages, slug_of


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert [target for target in links(page.read_text()) if not leads(page, target)] == []


def leads(page: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    there = (page.parent / path).resolve() if path else page
    if not there.exists() or not there.is_relative_to(REPOSITORY):
        return False
    return not anchor or (there.suffix == ".md" and anchor in anchors(there.read_text()))


def test_a_link_to_nowhere_is_noticed() -> None:
    page = REPOSITORY / "docs" / "tour.md"
    assert leads(page, "vocabulary.md") and leads(page, "#11-the-pod-runs")
    assert not leads(page, "nowhere.md") and not leads(page, "#nowhere") and not leads(page, "vocabulary.md#nowhere")


def test_headings_are_named_as_a_site_names_them() -> None:
    assert slug_of("10. BindRequest → bound pod") == "10-bindrequest--bound-pod"
    assert slug_of("With `helm` and [more](x.md)") == "with-helm-and-more"


def test_every_document_can_be_reached_from_the_first_page() -> None:
    seen: set[Path] = set()
    waiting = [REPOSITORY / "README.md", REPOSITORY / "docs" / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md" or not page.exists():
            continue
        seen.add(page)
        waiting += [(page.parent / target.partition("#")[0]).resolve() for target in links(page.read_text())]
    documents = {page for page in pages() if page.is_relative_to(REPOSITORY / "docs")}
    assert sorted(name(page) for page in documents - seen) == []


def test_every_document_has_its_place_in_the_site() -> None:
    placed = set(re.findall(r"[\w/.-]+\.md", (REPOSITORY / "mkdocs.yml").read_text()))
    documents = {name(page).removeprefix("docs/") for page in pages() if page.is_relative_to(REPOSITORY / "docs")}
    below = ("decisions/", "adding/")
    assert sorted(page for page in documents - placed if not page.startswith(below)) == []
