"""Logging in with a real browser: a token or a proxy, one's own namespaces, out again, and a token that is wrong."""

from __future__ import annotations

import pytest

from browser.conftest import Visited
from dashboard.test_login import HERE, token_gate, two_namespaces
from embedded import admin
from gangline.dashboard.login.gates import ProxyGate
from gangline.dashboard.login.reviews import AccessReviews
from gangline.dashboard.service import Dashboard
from gangline.runtime import SystemClock


@pytest.mark.usefixtures("axe")
async def test_a_wrong_token_is_told_and_a_right_one_shows_the_page_that_was_asked_for(visited: Visited) -> None:
    async with (
        two_namespaces() as (server, token),
        visited(Dashboard.of(admin(server), "here", gate=token_gate(server))) as visit,
    ):
        page = visit.page
        await visit.go("/gangs?sort=name")
        assert "mine" not in await page.inner_text("body") and await visit.barriers() == []
        await page.get_by_label("A token of this cluster").fill("wrong")
        await page.get_by_role("button", name="Log in").click()
        assert "The cluster does not know this token" in await page.get_by_role("alert").inner_text()
        assert await visit.barriers() == []
        await page.get_by_label("A token of this cluster").fill(token)
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/gangs?sort=name")
        await page.get_by_role("link", name="mine").wait_for()
        assert "secret" not in await page.inner_text("body")
        assert "system:serviceaccount:work:ann" in await page.inner_text("header")
        assert [text for text in visit.wrongs if "401" not in text] == []


async def test_who_logged_out_sees_nothing_any_more_also_not_by_going_back(visited: Visited) -> None:
    async with (
        two_namespaces() as (server, token),
        visited(Dashboard.of(admin(server), "here", gate=token_gate(server))) as visit,
    ):
        page = visit.page
        await visit.go("/login")
        await page.get_by_label("A token of this cluster").fill(token)
        await page.get_by_role("button", name="Log in").click()
        await page.get_by_role("link", name="mine").wait_for()
        await page.get_by_role("button", name="Log out").click()
        await page.wait_for_url("**/login")
        await page.go_back()
        await page.get_by_label("A token of this cluster").wait_for()
        assert "mine" not in await page.inner_text("body")


@pytest.mark.parametrize(("groups", "shown"), [("", {"mine"}), ("admins", {"mine", "secret"})])
async def test_behind_a_proxy_each_sees_their_own_namespaces(visited: Visited, groups: str, shown: set[str]) -> None:
    headers = {"X-User": "bob", "X-Groups": groups}
    async with two_namespaces() as (server, _):
        gate = ProxyGate(AccessReviews(admin(server), SystemClock()), HERE, "X-User", "X-Groups")
        async with visited(Dashboard.of(admin(server), "here", gate=gate), headers=headers) as visit:
            await visit.go("/gangs")
            for name in shown:
                await visit.page.get_by_role("link", name=name).wait_for()
            text = await visit.page.inner_text("body")
            assert {name for name in ("mine", "secret") if name in text} == shown
            assert "bob" in text and "Log out" not in text
            assert visit.wrongs == []


async def test_without_the_proxy_the_page_says_what_is_missing(visited: Visited) -> None:
    async with two_namespaces() as (server, _):
        gate = ProxyGate(AccessReviews(admin(server), SystemClock()), HERE, "X-User", "X-Groups")
        async with visited(Dashboard.of(admin(server), "here", gate=gate)) as visit:
            await visit.go("/")
            assert "Only the proxy in front may ask" in await visit.page.inner_text("body")
