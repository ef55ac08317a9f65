"""Gangs with an inner structure: sub-groups with minima of their own, trees of them, and places they must share."""

from __future__ import annotations

from typing import Any

import pytest

from journeys.story import Story
from journeys.words import numbered

ZONE, RACK, HOST = "example.com/zone", "example.com/rack", "kubernetes.io/hostname"


async def racks(story: Story, racks: int, *, zone: str = "z", nodes: int = 2, gpus: int = 2, first: int = 0) -> None:
    """Racks of a zone, each with so many nodes of so many GPUs."""
    for rack in range(first, first + racks):
        await story.nodes(nodes, gpus=gpus, name=f"{zone}-{rack}", labels={ZONE: zone, RACK: f"{zone}-{rack}"})


async def racks_of(story: Story, gang: str) -> dict[str, int]:
    """Rack → pods of the gang there."""
    found: dict[str, int] = {}
    for node, count in (await story.nodes_of(gang)).items():
        rack = node.rpartition("-")[0]
        found[rack] = found.get(rack, 0) + count
    return found


async def by_leaf(story: Story, gang: str) -> dict[str, int]:
    """Sub-group → its running pods."""
    names = [name.removeprefix(f"{gang}-").rpartition("-")[0] for name in await story.running_of(gang)]
    return {leaf: names.count(leaf) for leaf in sorted(set(names))}


# --- so many of its sub-groups ----------------------------------------------------------------------------------------


async def test_a_gang_starts_when_enough_of_its_sub_groups_fit(story: Story) -> None:
    await story.nodes(1, gpus=3)
    await story.tree("a", {"x": (1, 1), "y": (1, 1), "z": (1, 1)}, minSubGroup=2)
    assert await by_leaf(story, "a") == {"x": 1, "y": 1, "z": 1}


async def test_only_as_many_sub_groups_start_as_there_is_room_for(story: Story) -> None:
    await story.nodes(1, gpus=4)
    await story.tree("a", {"x": (2, 2), "y": (2, 2), "z": (2, 2)}, minSubGroup=2)
    found = await by_leaf(story, "a")
    assert sorted(found.values()) == [2, 2]


async def test_a_gang_with_too_few_sub_groups_that_fit_does_not_start(story: Story) -> None:
    await story.nodes(1, gpus=3)
    await story.tree("a", {"x": (2, 2), "y": (2, 2), "z": (2, 2)}, minSubGroup=2)
    assert await by_leaf(story, "a") == {}
    assert (await story.scheduled("a-x-0")) is not None


async def test_without_a_number_every_sub_group_is_needed(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.tree("a", {"x": (1, 1), "y": (1, 1), "z": (1, 1)})
    assert await by_leaf(story, "a") == {}
    await story.nodes(1, gpus=1)
    assert await by_leaf(story, "a") == {"x": 1, "y": 1, "z": 1}


async def test_a_flat_group_with_sub_groups_as_older_releases_wrote_it_starts_whole(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.tree("a", {"x": (1, 1), "y": (1, 1)}, minMember=2)
    assert await by_leaf(story, "a") == {"x": 1, "y": 1}


PAIRS = {"l1": "left", "l2": "left", "r1": "right", "r2": "right"}


@pytest.mark.parametrize(("gpus", "started"), [(4, {"l1": 1, "l2": 1, "r1": 1, "r2": 1}), (3, {})])
async def test_a_tree_of_two_levels_starts_when_both_branches_do(
    story: Story, gpus: int, started: dict[str, int]
) -> None:
    await story.nodes(1, gpus=gpus)
    await story.tree("a", dict.fromkeys(PAIRS, (1, 1)), parents={"left": 2, "right": 2}, under=PAIRS, minSubGroup=2)
    assert await by_leaf(story, "a") == started


async def test_a_child_that_cannot_reach_its_minimum_blocks_the_whole_tree(story: Story) -> None:
    await story.nodes(1, gpus=4)
    leaves = dict.fromkeys(PAIRS, (1, 1)) | {"l2": (4, 4)}
    await story.tree("a", leaves, parents={"left": 2, "right": 2}, under=PAIRS, minSubGroup=2)
    assert await by_leaf(story, "a") == {}


async def test_a_branch_may_ask_for_fewer_children_than_it_has(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.tree("a", dict.fromkeys(PAIRS, (1, 1)), parents={"left": 1, "right": 1}, under=PAIRS, minSubGroup=2)
    found = await by_leaf(story, "a")
    assert len([leaf for leaf in found if leaf[0] == "l"]) == len([leaf for leaf in found if leaf[0] == "r"]) == 1


async def test_a_branch_that_needs_no_child_is_optional(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.tree(
        "a",
        {"l1": (1, 1), "l2": (1, 1), "r1": (2, 2)},
        parents={"left": 2, "right": 0},
        under={"l1": "left", "l2": "left", "r1": "right"},
        minSubGroup=2,
    )
    assert await by_leaf(story, "a") == {"l1": 1, "l2": 1}


# --- sub-groups -------------------------------------------------------------------------------------------------------


async def test_sub_groups_start_with_their_minima_when_room_is_short(story: Story) -> None:
    await story.nodes(1, gpus=3)
    await story.tree("a", {"x": (1, 3), "y": (1, 3)})
    found = await by_leaf(story, "a")
    assert sum(found.values()) == 3 and set(found) == {"x", "y"}


async def test_two_gangs_of_sub_groups_share_the_rest(story: Story) -> None:
    for name in ("a", "b"):
        await story.tree(name, {"x": (1, 2), "y": (1, 2)})
    await story.nodes(1, gpus=6)
    await story.shares(a=3, b=3)


async def test_one_sub_group_that_does_not_fit_keeps_the_gang_waiting(story: Story) -> None:
    await story.nodes(1, gpus=4)
    await story.tree("a", {"x": (1, 1), "y": (4, 4)})
    assert await by_leaf(story, "a") == {}


async def test_a_pod_of_a_sub_group_that_is_not_there_is_told_so_and_hurts_nobody(story: Story) -> None:
    await story.nodes(1, gpus=4)
    await story.tree("a", {"x": (1, 1)})
    await story.members("a", 1, leaf="nowhere", gpus=1)
    assert await by_leaf(story, "a") == {"x": 1}
    await story.waits("a-nowhere-0")
    said = await story.scheduled("a-nowhere-0")
    assert said is not None and "nowhere" in said.message


# --- topology ---------------------------------------------------------------------------------------------------------


async def levels(story: Story) -> None:
    await story.topology("rows", ZONE, (RACK, "rack"), HOST)


def within(required: str = "", preferred: str = "") -> dict[str, Any]:
    said = {"topology": "rows", "requiredTopologyLevel": required, "preferredTopologyLevel": preferred}
    return {"topologyConstraint": {key: value for key, value in said.items() if value}}


async def test_a_gang_that_requires_a_rack_gets_one_rack(story: Story) -> None:
    await levels(story)
    await racks(story, 1, nodes=1)
    await racks(story, 2, first=1)
    await story.gang("a", 4, **within(required=RACK))
    assert list((await racks_of(story, "a")).values()) == [4]


async def test_a_gang_that_requires_a_rack_too_small_for_it_waits(story: Story) -> None:
    await levels(story)
    await racks(story, 3)
    await story.gang("a", 5, **within(required=RACK))
    await story.shares()
    assert "rack" in await story.explain("a")


async def test_a_rack_may_be_named_by_its_alias(story: Story) -> None:
    await levels(story)
    await racks(story, 2)
    await story.gang("a", 4, **within(required="rack"))
    assert list((await racks_of(story, "a")).values()) == [4]


@pytest.mark.parametrize(("size", "used"), [(4, 1), (6, 2)])
async def test_a_preferred_rack_is_used_if_it_is_large_enough(story: Story, size: int, used: int) -> None:
    await levels(story)
    await racks(story, 3)
    await story.gang("a", size, **within(preferred=RACK))
    assert len(await racks_of(story, "a")) == used


@pytest.mark.parametrize(("size", "hosts"), [(2, 1), (4, 2)])
async def test_within_a_required_rack_a_preferred_node_is_used_if_it_is_large_enough(
    story: Story, size: int, hosts: int
) -> None:
    await levels(story)
    await racks(story, 2)
    await story.gang("a", size, **within(required=RACK, preferred=HOST))
    assert len(await story.nodes_of("a")) == hosts and len(await racks_of(story, "a")) == 1


async def test_within_a_required_zone_as_few_racks_as_possible_are_used(story: Story) -> None:
    await levels(story)
    await racks(story, 1, zone="small")
    await racks(story, 3, zone="large")
    await story.gang("a", 8, **within(required=ZONE, preferred=RACK))
    found = await racks_of(story, "a")
    assert len(found) == 2 and all(rack.startswith("large") for rack in found)


async def test_each_sub_group_may_have_a_rack_of_its_own(story: Story) -> None:
    await levels(story)
    await racks(story, 2)
    leaves = [{"name": name, "minMember": 3, **within(required=RACK)} for name in ("x", "y")]
    await story.group("a", subGroups=leaves)
    for leaf in ("x", "y"):
        await story.members("a", 3, leaf=leaf, gpus=1)
    placed = await story.runs(*numbered("a-x", 3), *numbered("a-y", 3))
    homes = {leaf: {placed[name].rpartition("-")[0] for name in numbered(f"a-{leaf}", 3)} for leaf in ("x", "y")}
    assert len(homes["x"]) == len(homes["y"]) == 1 and homes["x"] != homes["y"]
