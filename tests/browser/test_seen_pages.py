"""Every page in a real browser, at three sizes: it comes, nothing goes wrong on it, and nobody is kept out."""

from __future__ import annotations

import pytest

from browser.conftest import Visited
from browser.fleet import fleet

PAGES = (
    "/",
    "/map",
    "/gangs?state=waiting&sort=-gpus",
    "/queues",
    "/time",
    "/time?range=7d",
    "/gang/work/wait-0",
    "/gang/work/wait-0/timeline",
    "/gang/work/train-0",
    "/queue/search",
    "/node/node-3",
    "/nothing/here",
)


@pytest.mark.parametrize("nodes", [10, 500, 5000])
async def test_every_page_comes_and_nothing_goes_wrong_on_it(visited: Visited, nodes: int) -> None:
    async with visited(fleet(nodes)) as visit:
        for path in PAGES:
            await visit.go(path)
            assert await visit.page.locator("main h1").count() == 1, path
        wrongs = [text for text in visit.wrongs if "404" not in text]
        assert wrongs == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.usefixtures("axe")
async def test_no_page_has_a_serious_barrier(visited: Visited, scheme: str) -> None:
    async with visited(fleet(40), scheme=scheme) as visit:
        for path in PAGES:
            await visit.go(path)
            assert await visit.barriers() == [], path


async def test_a_narrow_screen_never_scrolls_sideways(visited: Visited) -> None:
    async with visited(fleet(40), width=360, height=740) as visit:
        for path in PAGES:
            await visit.go(path)
            assert await visit.page.evaluate("document.documentElement.scrollWidth") <= 360, path


async def test_the_week_that_was_remembered_is_drawn(visited: Visited) -> None:
    async with visited(fleet(40)) as visit:
        await visit.go("/time?range=7d")
        await visit.page.locator("#use .used-area").first.wait_for()
        assert await visit.page.locator("#queues figure").count() == 5
        text = await visit.page.inner_text("main")
        assert "of 320 GPUs now" in text and "train-0" in text and "done-0" in text


async def test_each_queue_shows_its_fair_share_beside_its_quota(visited: Visited) -> None:
    async with visited(fleet(40)) as visit:
        await visit.go("/")
        await visit.page.get_by_role("link", name="Queues", exact=True).first.click()
        await visit.page.wait_for_url("**/queues")
        row = visit.page.locator("tr", has=visit.page.get_by_role("link", name="search", exact=True))
        assert await row.locator("td[data-label='Fair share']").inner_text() == "64"
        assert "Worked out 8 s ago" in await visit.page.inner_text("main")


@pytest.mark.parametrize("width", [400, 1280])
async def test_words_of_a_chart_never_lie_on_each_other(visited: Visited, width: int) -> None:
    async with visited(fleet(40), width=width) as visit:
        for path in ("/time", "/time?range=24h", "/time?range=7d"):
            await visit.go(path)
            overlaps = await visit.page.evaluate(
                """() => [...document.querySelectorAll('.chart')].flatMap((chart) => {
                    const words = [...chart.querySelectorAll('text')].map((word) => [word.textContent, word.getBoundingClientRect()]);
                    return words.flatMap(([one, a], at) => words.slice(at + 1)
                        .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
                        .map(([other]) => `${one} and ${other}`)); })"""  # noqa: E501
            )
            assert overlaps == [], path


async def test_on_a_narrow_screen_a_number_and_its_word_stand_in_one_line(visited: Visited) -> None:
    async with visited(fleet(40), width=400) as visit:
        await visit.go("/gangs?state=waiting")
        cell = visit.page.locator("td[data-label=GPUs]", has_text="requested").first
        assert (await cell.bounding_box())["height"] < 30
