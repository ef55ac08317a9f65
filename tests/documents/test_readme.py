"""The README holds in both languages: the same parts, the same commands, and an `explain` that is really said."""

from __future__ import annotations

import re

import pytest

from documents.pages import REPOSITORY, blocks, headings, links
from journeys.story import told

ENGLISH, CHINESE = REPOSITORY / "README.md", REPOSITORY / "README.zh-CN.md"


def typed(text: str) -> list[str]:
    """Lines of a block without what is said about them."""
    return [re.sub(r"\s+# .*$", "", line) for line in text.splitlines()]


def test_both_languages_have_the_same_parts() -> None:
    english, chinese = headings(ENGLISH.read_text()), headings(CHINESE.read_text())
    assert len(english) >= 8
    assert [level for level, _ in english] == [level for level, _ in chinese]


def test_both_languages_have_the_same_commands() -> None:
    english, chinese = blocks(ENGLISH), blocks(CHINESE)
    assert [typed(block.text) for block in english] == [typed(block.text) for block in chinese]


def test_both_languages_point_to_the_same_pages() -> None:
    own = {"README.md", "README.zh-CN.md"}
    english, chinese = links(ENGLISH.read_text()), links(CHINESE.read_text())
    assert [target for target in english if target not in own] == [target for target in chinese if target not in own]


def test_both_languages_have_the_same_tables_and_numbers() -> None:
    def shape(text: str) -> list[int]:
        return [line.count("|") for line in text.splitlines() if line.startswith("|")]

    def numbers(text: str) -> list[str]:
        rows = [line for line in text.splitlines() if line.startswith("|")]
        return [number for line in rows for number in re.findall(r"\d+(?:\.\d+)?", line)]

    english, chinese = ENGLISH.read_text(), CHINESE.read_text()
    assert shape(english) == shape(chinese) and numbers(english) == numbers(chinese)


def test_the_measured_numbers_are_those_of_the_page_of_numbers() -> None:
    page = (REPOSITORY / "docs" / "numbers.md").read_text()
    measured = ENGLISH.read_text().partition("Measured on 2 cores")[2].partition("\n\n[")[0]
    numbers = re.findall(r"\| ([\d.]+) \| ([\d.]+) \|", measured)
    assert len(numbers) == 5
    assert [number for pair in numbers for number in pair if number not in page] == []


@pytest.mark.timeout(300)
async def test_the_explanation_it_shows_is_really_said() -> None:
    shown = blocks(ENGLISH)[0].text.splitlines()[1:]
    async with told(nodes="") as story:
        await story.apply("examples/01-gang")
        await story.running(5)
        await story.apply("examples/04-waiting")
        await story.settles()
        answer = re.sub(r"large-0-worker-\w+", "large-0-worker-…", await story.explain("large"))
    assert unlike(shown, answer.splitlines()) == [], answer


def unlike(shown: list[str], said: list[str]) -> list[str]:
    """What is shown and was not said there: a line `…` stands for lines left out, `…` at an end for the rest of it."""
    place, skips, wrong = 0, False, []
    for line in shown:
        if line.strip() == "…":
            skips = True
            continue
        found = [at for at, real in enumerate(said) if at >= place and real.startswith(line.removesuffix("…"))]
        if not found or (found[0] > place and not skips):
            wrong.append(line)
        place, skips = (found[0] + 1 if found else place), False
    return wrong


def test_a_line_that_is_left_out_is_marked() -> None:
    assert unlike(["a", "…", "c"], ["a", "b", "c"]) == unlike(["a", "b…"], ["a", "bc", "d"]) == []
    assert unlike(["a", "c"], ["a", "b", "c"]) == ["c"]
    assert unlike(["b", "a"], ["a", "b"]) == ["b", "a"]
