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
    lines = answer.splitlines()
    missing = [line for line in shown if not any(real.startswith(line.removesuffix("…")) for real in lines)]
    assert missing == [], answer
