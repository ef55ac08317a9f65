"""The map in a real browser: every GPU is drawn, and what one points at, or goes to with keys, is told in words."""

from __future__ import annotations

import pytest

from browser.conftest import Visit, Visited
from browser.fleet import fleet


async def drawn(visit: Visit, path: str = "/map") -> None:
    await visit.go(path)
    await visit.page.wait_for_selector("#plane[data-drawn]")


@pytest.mark.parametrize("nodes", [10, 500, 5000])
async def test_every_node_is_drawn_and_the_key_counts_every_gpu(visited: Visited, nodes: int) -> None:
    async with visited(fleet(nodes)) as visit:
        await drawn(visit)
        assert await visit.page.get_attribute("#plane", "data-drawn") == str(nodes)
        counts = await visit.page.locator("#key .dim").all_inner_texts()
        assert sum(int(count.replace(",", "")) for count in counts) == nodes * 8
        assert visit.wrongs == []


@pytest.mark.parametrize("colour", ["queue", "gang", "state", "idle"])
async def test_whatever_the_colour_tells_the_cells_are_painted(visited: Visited, colour: str) -> None:
    async with visited(fleet(40)) as visit:
        await drawn(visit, f"/map?colour={colour}")
        colours = await visit.page.evaluate(
            """() => { const canvas = document.getElementById('cells');
                const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
                const seen = new Set();
                for (let at = 0; at < data.length; at += 4)
                    if (data[at + 3] === 255) seen.add(data.slice(at, at + 3).join());
                return seen.size; }"""
        )
        assert colours > 3 and visit.wrongs == []


async def test_pointing_at_a_gpu_tells_whose_it_is(visited: Visited) -> None:
    async with visited(fleet(10)) as visit:
        await drawn(visit)
        plane = await visit.page.locator("#cells").bounding_box()
        await visit.page.mouse.move(plane["x"] + 18, plane["y"] + 50)
        told = await visit.page.inner_text("#told")
        assert "node-0 in block block-0, rack rack-0" in told
        assert "used by work/train-0 (running, queue search, priority train)" in told


async def test_a_node_that_was_clicked_stays_told_and_has_an_address(visited: Visited) -> None:
    async with visited(fleet(10)) as visit:
        await drawn(visit)
        plane = await visit.page.locator("#cells").bounding_box()
        await visit.page.mouse.click(plane["x"] + 18, plane["y"] + 50)
        await visit.page.mouse.move(0, 0)
        assert "node-0" in await visit.page.inner_text("#told")
        assert visit.page.url.endswith("/map?node=node-0")
        await drawn(visit, "/map?node=node-3")
        assert "node-3" in await visit.page.inner_text("#told")


async def test_the_drawing_stays_where_it_is_while_one_points_at_it(visited: Visited) -> None:
    async with visited(fleet(40)) as visit:
        await drawn(visit)
        before = await visit.page.locator("#cells").bounding_box()
        for right, down in ((18, 50), (300, 50), (330, 90)):
            await visit.page.mouse.move(before["x"] + right, before["y"] + down)
            assert await visit.page.locator("#cells").bounding_box() == before


async def test_blocks_of_racks_fill_the_width_of_the_page(visited: Visited) -> None:
    async with visited(fleet(500)) as visit:
        await drawn(visit)
        width = await visit.page.evaluate(
            """() => { const canvas = document.getElementById('cells');
                const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
                let last = 0;
                for (let at = 3; at < data.length; at += 4)
                    if (data[at]) last = Math.max(last, (at >> 2) % canvas.width);
                return last / canvas.width; }"""
        )
        assert width > 0.9


async def test_arrow_keys_go_from_node_to_node_and_enter_opens_one(visited: Visited) -> None:
    async with visited(fleet(10)) as visit:
        await drawn(visit)
        await visit.page.focus("#plane")
        await visit.page.keyboard.press("ArrowRight")
        await visit.page.keyboard.press("ArrowRight")
        assert "node-1 in" in await visit.page.inner_text("#told")
        await visit.page.keyboard.press("Enter")
        await visit.page.wait_for_url("**/node/node-1")


async def test_a_colour_of_the_key_shows_only_what_it_stands_for(visited: Visited) -> None:
    async with visited(fleet(40)) as visit:
        await drawn(visit)
        before = await visit.page.evaluate("document.getElementById('cells').toDataURL()")
        await visit.page.click("#key button:has-text('search')")
        assert await visit.page.get_attribute("#key button:has-text('search')", "aria-pressed") == "true"
        assert await visit.page.evaluate("document.getElementById('cells').toDataURL()") != before


async def test_choosing_what_colours_tell_takes_effect_at_once(visited: Visited) -> None:
    async with visited(fleet(10)) as visit:
        await drawn(visit)
        await visit.page.select_option("select[name=colour]", "state")
        await visit.page.wait_for_url("**/map?colour=state")
        await visit.page.wait_for_selector("#key button:has-text('running')")


async def test_a_reserved_gpu_tells_for_whom_and_until_when_whatever_the_colours_tell(visited: Visited) -> None:
    async with visited(fleet(40)) as visit:
        for colour in ("queue", "idle"):
            await drawn(visit, f"/map?colour={colour}&node=node-15")
            told = await visit.page.inner_text("#told")
            assert "8 reserved for work/wait-0 until" in told


async def test_the_key_of_causes_counts_every_idle_gpu(visited: Visited) -> None:
    async with visited(fleet(40)) as visit:
        await drawn(visit, "/map?colour=idle")
        words = await visit.page.locator("#key button").all_inner_texts()
        assert {" ".join(word.split()) for word in words} == {
            "in use 261",
            "fragments 20",
            "quota 16",
            "reserved 16",
            "taint or cordon 7",
        }


async def test_a_queue_keeps_its_colour_when_other_queues_come(visited: Visited) -> None:
    seen = []
    for nodes in (10, 40):
        async with visited(fleet(nodes)) as visit:
            await drawn(visit)
            keys = await visit.page.locator("#key button").all()
            seen.append(
                {
                    await key.get_attribute("data-value"): await key.locator(".swatch").get_attribute("class")
                    for key in keys
                }
            )
    few, all_queues = seen
    assert {"search", "speech"} <= set(few) and "maps" not in few and "maps" in all_queues
    assert {name: all_queues[name] for name in few} == few
    own = [all_queues[name] for name in ("maps", "robots", "search", "speech", "vision")]
    assert len(set(own)) == 5


async def test_what_is_reserved_is_part_of_what_is_free(visited: Visited) -> None:
    async with visited(fleet(40)) as visit:
        await drawn(visit)
        assert "52 free, of which 16 reserved" in await visit.page.inner_text("main")
        keys = [" ".join(key.split()) for key in await visit.page.locator("#key button").all_inner_texts()]
        assert "free 36" in keys and "reserved 16" in keys


async def test_a_choice_that_takes_effect_at_once_has_no_button_also_after_the_page_was_renewed(
    visited: Visited,
) -> None:
    async with visited(fleet(10)) as visit:
        await drawn(visit)
        button = visit.page.locator("form[data-at-once] button")
        assert await button.count() == 1 and not await button.is_visible()
        await visit.page.evaluate(
            "document.addEventListener('renewed', () => (document.documentElement.dataset.renewed = true))"
        )
        await visit.page.click("#pause")
        await visit.page.click("#pause")
        await visit.page.wait_for_selector("html[data-renewed]")
        assert not await button.is_visible()


async def test_what_is_chosen_in_the_key_is_in_the_address_and_can_be_shared(visited: Visited) -> None:
    async with visited(fleet(40)) as visit:
        await drawn(visit)
        await visit.page.click("#key button:has-text('vision')")
        await visit.page.wait_for_url("**/map?only=vision")
        alone = await visit.page.evaluate("document.getElementById('cells').toDataURL()")
        await drawn(visit, "/map?only=vision")
        assert await visit.page.get_attribute("#key button:has-text('vision')", "aria-pressed") == "true"
        assert await visit.page.evaluate("document.getElementById('cells').toDataURL()") == alone
        await visit.page.click("#key button:has-text('vision')")
        await visit.page.wait_for_url("**/map")


async def test_what_nobody_has_any_more_hides_nothing(visited: Visited) -> None:
    async with visited(fleet(40)) as visit:
        await drawn(visit)
        whole = await visit.page.evaluate("document.getElementById('cells').toDataURL()")
        await drawn(visit, "/map?only=gone")
        assert await visit.page.evaluate("document.getElementById('cells').toDataURL()") == whole


async def test_a_gang_leads_to_its_gpus_on_the_map_however_many_are_larger(visited: Visited) -> None:
    async with visited(fleet(500)) as visit:
        await visit.go("/gang/work/train-62")
        await visit.page.get_by_role("link", name="Its GPUs on the map").click()
        await visit.page.wait_for_selector("#plane[data-drawn]")
        key = visit.page.locator("#key button[aria-pressed=true]")
        assert (await key.inner_text()).split() == ["work/train-62", "28"]
        assert "other" not in str(await key.locator(".swatch").get_attribute("class"))


async def test_a_node_leads_to_its_place_on_the_map_which_is_brought_into_sight(visited: Visited) -> None:
    async with visited(fleet(500), height=500) as visit:
        await visit.go("/node/node-499")
        await visit.page.get_by_role("link", name="On the map").click()
        await visit.page.wait_for_selector("#plane[data-drawn]")
        assert "node-499 in block block-7, rack rack-31" in await visit.page.inner_text("#told")
        assert await visit.page.evaluate("scrollY") > 0
