"""Live: a reader is told of changes by a number, no more often than pages can be made, and no reader costs another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from dashboard.seen import look, node
from embedded import until
from gangline.dashboard.look import ClusterView
from gangline.dashboard.service import Dashboard
from gangline.dashboard.serving import live
from gangline.dashboard.serving.kept_pages import FRESH, MOST_BYTES, KeptPages
from gangline.runtime.health import HttpPage


class Changing:
    """A sight whose version a test sets."""

    complete = True

    def __init__(self) -> None:
        self.version = 1

    def look(self) -> ClusterView:
        return look(node(f"node-{self.version}"))

    async def start(self) -> None:
        """Nothing is followed."""

    async def stop(self) -> None:
        """Nothing is followed."""


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody here makes a page: events may follow each other quickly."""
    monkeypatch.setattr(live, "PACE", 0.01)


@asynccontextmanager
async def served(sight: Changing) -> AsyncIterator[tuple[aiohttp.ClientSession, str]]:
    dashboard = Dashboard(sight)
    url = await dashboard.start()
    try:
        async with aiohttp.ClientSession() as session:
            yield session, url
    finally:
        await dashboard.stop()


async def event(answer: aiohttp.ClientResponse) -> str:
    lines = []
    while line := (await answer.content.readline()).decode().strip():
        lines.append(line)
    return "\n".join(lines)


async def test_a_reader_is_told_of_a_change_and_of_nothing_else() -> None:
    sight = Changing()
    async with served(sight) as (session, url), session.get(f"{url}/live") as answer:
        assert answer.content_type == "text/event-stream"
        assert await event(answer) == ": still here\nid: 1"
        sight.version = 7
        assert await event(answer) == "event: changed\ndata: 7\nid: 7"


async def test_a_change_between_a_page_and_its_stream_is_told() -> None:
    sight = Changing()
    async with served(sight) as (session, url):
        async with session.get(f"{url}/") as answer:
            assert 'data-version="1"' in await answer.text()
        sight.version = 2
        async with session.get(f"{url}/live?since=1") as answer:
            assert await event(answer) == "event: changed\ndata: 2\nid: 2"
        async with session.get(f"{url}/live?since=1", headers={"Last-Event-ID": "2"}) as answer:
            assert await event(answer) == ": still here\nid: 2"


async def test_who_comes_back_hears_of_what_changed_meanwhile() -> None:
    sight = Changing()
    async with served(sight) as (session, url):
        async with session.get(f"{url}/live", headers={"Last-Event-ID": "0"}) as answer:
            assert await event(answer) == "event: changed\ndata: 1\nid: 1"
        async with session.get(f"{url}/live", headers={"Last-Event-ID": "x" * 99}) as answer:
            assert await event(answer) == ": still here\nid: 1"


async def test_one_reader_too_many_is_told_so_until_another_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is seen although there is nothing to tell."""
    monkeypatch.setattr(live, "READERS", 1)
    monkeypatch.setattr(live, "SLOWEST", float("inf"))
    async with served(Changing()) as (session, url), session.get(f"{url}/live") as first:
        await event(first)
        async with session.get(f"{url}/live") as second:
            assert second.status == 503
        first.close()

        async def freed() -> bool:
            async with session.get(f"{url}/live") as third:
                return third.status == 200

        await until(freed, "the place of the reader who left")


async def test_the_dashboard_stops_though_somebody_reads() -> None:
    async with aiohttp.ClientSession() as session:
        async with served(Changing()) as (_, url):
            answer = await session.get(f"{url}/live")
            await event(answer)
        async with asyncio.timeout(60):
            with pytest.raises(aiohttp.ClientPayloadError):
                while await answer.content.read(1):
                    """What was still on its way."""


def test_a_page_is_made_once_for_all_who_look_at_the_same_moment() -> None:
    made, pages = [0], KeptPages()

    def page() -> HttpPage:
        made[0] += 1
        return HttpPage(b"x")

    for key, now in ((1, 0.0), (1, FRESH / 2), (2, FRESH / 2), (1, FRESH * 2)):
        pages.get(key, now, page)
    assert made == [3]


def test_kept_pages_never_take_more_than_their_bound() -> None:
    pages = KeptPages()
    for key in range(40):
        pages.get(key, 0.0, lambda: HttpPage(bytes(MOST_BYTES // 10)))
    assert pages.held <= MOST_BYTES
