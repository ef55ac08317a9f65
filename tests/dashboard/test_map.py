"""The map: every GPU stands where its node stands, with who holds it, shares it, or why it is idle."""

from __future__ import annotations

import msgspec

from dashboard.seen import Given, group, look, node, pod
from gangline.api.kinds import TOPOLOGY
from gangline.dashboard.look import ClusterView, IdleGpus, KnownIdle
from gangline.dashboard.map.data import MapNode
from gangline.dashboard.pages import map_page
from gangline.dashboard.views import document


def hall(*labels: str, name: str = "hall") -> Given:
    levels = [{"nodeLabel": label, "alias": label} for label in labels]
    return TOPOLOGY, {"metadata": {"name": name}, "spec": {"levels": levels}}


def nodes_of(view: ClusterView, **query: str) -> dict[str, MapNode]:
    return {mapped.name: mapped for domain in map_page(view, query).domains for mapped in domain.nodes}


def worked_out(view: ClusterView, *parts: IdleGpus) -> ClusterView:
    return msgspec.structs.replace(view, idle=KnownIdle(parts, at=view.source.now - 7))


def test_nodes_stand_in_their_rack_in_their_block_in_the_order_of_people() -> None:
    view = look(
        hall("block", "rack"),
        node("n-10", block="b1", rack="r1"),
        node("n-2", block="b1", rack="r1"),
        node("n-3", block="b1", rack="r10"),
        node("n-4", block="b0", rack="r2"),
        node("n-5"),
    )
    placed = [(domain.path, [mapped.name for mapped in domain.nodes]) for domain in map_page(view, {}).domains]
    assert placed == [
        (("", ""), ["n-5"]),
        (("b0", "r2"), ["n-4"]),
        (("b1", "r1"), ["n-2", "n-10"]),
        (("b1", "r10"), ["n-3"]),
    ]


def test_of_several_topologies_the_address_chooses_one() -> None:
    view = look(hall("block"), hall("row", name="other"), node("n", block="b", row="w"))
    assert [map_page(view, query).domains[0].path for query in ({}, {"topology": "other"})] == [("b",), ("w",)]


def test_a_node_without_gpus_is_not_on_the_map() -> None:
    assert nodes_of(look(node("n", 0))) == {}


def test_a_cell_is_held_shared_or_free() -> None:
    half = {"gpu-fraction": "0.5"}
    view = look(
        node("n", 4),
        group("g"),
        group("h"),
        pod("a", "g", 2, on="n"),
        pod("b", "h", on="n", notes=half, device="x"),
        pod("c", "g", on="n", notes=half, device="x"),
    )
    page = map_page(view, {})
    mapped = page.domains[0].nodes[0]
    titles = [gang.title for gang in page.gangs]
    assert [(titles[holding.gang], holding.gpus) for holding in mapped.held] == [("g", 2)]
    assert [(share.used, {titles[place] for place in share.gangs}) for share in mapped.shared] == [(1.0, {"g", "h"})]
    assert mapped.free == 1


def test_each_gang_on_a_shared_gpu_is_told_with_its_own_part() -> None:
    view = look(
        node("n", 2),
        group("g"),
        group("h"),
        pod("a", "g", on="n", notes={"gpu-fraction": "0.5"}, device="x"),
        pod("b", "h", on="n", notes={"gpu-fraction": "0.25"}, device="x"),
    )
    page = map_page(view, {})
    titles = [gang.title for gang in page.gangs]
    [share] = page.domains[0].nodes[0].shared
    assert dict(zip([titles[place] for place in share.gangs], share.parts, strict=True)) == {"g": 0.5, "h": 0.25}
    assert {title: gpus for _, _, title, gpus in page.rows.rows[0].gangs} == {"g": 0.5, "h": 0.25}


def test_gpus_of_a_pod_of_no_gang_are_held_by_nobody_known() -> None:
    [mapped] = nodes_of(look(node("n", 4), pod("a", "", 1, on="n"))).values()
    assert [(holding.gang, holding.gpus) for holding in mapped.held] == [(-1, 1)] and mapped.free == 3


def test_a_free_gpu_has_a_cause_as_far_as_it_is_known() -> None:
    closed = nodes_of(look(node("n", 4, cordoned=True)))["n"].idle
    calm = nodes_of(look(node("n", 4)))["n"].idle
    waited_for = nodes_of(look(node("n", 4), group("g"), pod("a", "g", 8)))["n"].idle
    assert [[(part.cause, part.gpus) for part in parts] for parts in (closed, calm, waited_for)] == [
        [("taint or cordon", 4)],
        [("no demand", 4)],
        [],
    ]


def test_what_was_worked_out_of_idle_gpus_is_shown_instead() -> None:
    view = worked_out(look(node("n", 4)), IdleGpus("n", "reserved", 3.0, "work/big", 12.0))
    [part] = nodes_of(view)["n"].idle
    assert (part.cause, part.gpus, part.gang, part.until) == ("reserved", 3.0, "work/big", 12.0)
    assert "3 reserved for work/big until" in document(map_page(view, {}))


def test_causes_are_told_of_gpus_that_are_still_free_and_of_no_others() -> None:
    """A cause was worked out a moment ago; since then a pod may have come."""
    view = worked_out(
        look(node("n", 4), group("g"), pod("a", "g", 2, on="n")),
        IdleGpus("n", "starting", 2.0),
        IdleGpus("n", "fragments", 1.25, "work/h"),
        IdleGpus("n", "reserved", 3.0, "work/big"),
    )
    assert [(part.cause, part.gpus) for part in nodes_of(view)["n"].idle] == [("fragments", 1), ("reserved", 1)]


def test_the_page_says_how_fresh_the_causes_are_or_why_there_are_none() -> None:
    view = look(node("n", 4))
    known = worked_out(view, IdleGpus("n", "no demand", 4.0))
    failed = msgspec.structs.replace(view, idle=KnownIdle(problem="not worked out: no server"))
    texts = [document(map_page(each, {"colour": "idle"})) for each in (view, known, failed)]
    assert "Why GPUs are idle is being worked out." in texts[0]
    assert "Worked out 7 s ago, as gangline idle does." in texts[1]
    assert "Why GPUs are idle is not worked out: no server." in texts[2]
    assert "Worked out" not in document(map_page(known, {}))


def test_the_table_says_the_same_in_words() -> None:
    text = document(map_page(look(hall("rack"), node("n", 4, rack="r7"), group("g"), pod("a", "g", 3, on="n")), {}))
    assert "4 GPUs on 1 node: 3 used, 1 free." in text
    assert 'data-label="Rack">r7<' in text and ">g</a> (3)" in text


def test_an_unknown_colour_is_the_usual_one() -> None:
    assert map_page(look(node("n")), {"colour": "<b>"}).colour == "queue"
