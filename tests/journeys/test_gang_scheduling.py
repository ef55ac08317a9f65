"""Gang scheduling of sets (GS1–GS12): a gang starts with its minimum or not at all, and every increment is a gang of
its own.

Ten pods to a replica, one pod to a node; nodes are given and taken by cordons. In WL1 every pod is needed; in WL2 the
base gang needs one pod of each clique, and each further replica of the scaling group is a gang that needs two."""

from __future__ import annotations

from journeys.sets import WL1, WL2, Sets


async def test_GS1_a_set_waits_whole_for_its_last_node(sets: Sets) -> None:
    await sets.nodes(10, usable=9)
    await sets.create(WL1)
    await sets.running(0, of=10)
    await sets.uncordon()
    await sets.running(10)


async def test_GS2_a_larger_scaling_group_gets_its_new_replica_as_a_gang(sets: Sets) -> None:
    await sets.nodes(14, usable=10)
    await sets.create(WL1)
    await sets.running(10)
    await sets.scale_group(3)
    await sets.running(10, of=14)
    await sets.uncordon(3)
    await sets.running(10, of=14)
    await sets.uncordon()
    await sets.running(14)


async def test_GS3_a_larger_set_gets_its_new_replica_as_a_gang(sets: Sets) -> None:
    await sets.nodes(20, usable=10)
    await sets.create(WL1)
    await sets.running(10)
    await sets.scale(2)
    await sets.running(10, of=20)
    await sets.uncordon(9)
    await sets.running(10, of=20)
    await sets.uncordon()
    await sets.running(20)


async def test_GS4_group_set_and_second_group_grow_gang_by_gang(sets: Sets) -> None:
    await sets.nodes(28, usable=10)
    await sets.create(WL1)
    await sets.running(10)
    await sets.scale_group(3)
    await sets.running(10, of=14)
    await sets.uncordon(4)
    await sets.running(14)
    await sets.scale(2)
    await sets.running(14, of=24)
    await sets.uncordon(10)
    await sets.running(24)
    await sets.scale_group(3, of=1)
    await sets.running(24, of=28)
    await sets.uncordon()
    await sets.running(28)


async def test_GS5_the_minimum_of_the_base_gang_starts_first_and_the_rest_when_there_is_room(sets: Sets) -> None:
    await sets.nodes(10, usable=2)
    await sets.create(WL2)
    await sets.running(0, of=10)
    await sets.uncordon(1)
    await sets.running(3, of=10)
    assert await sets.running_by_clique() == {"0-pc-a": 1, "0-sg-x-0-pc-b": 1, "0-sg-x-0-pc-c": 1}
    await sets.uncordon()
    await sets.running(10)


async def test_GS6_a_new_replica_of_the_group_starts_with_its_minimum(sets: Sets) -> None:
    await sets.nodes(14, usable=2)
    await sets.create(WL2)
    await sets.running(0, of=10)
    await sets.uncordon(1)
    await sets.running(3, of=10)
    await sets.uncordon(7)
    await sets.running(10)
    await sets.scale_group(3)
    await sets.uncordon(1)
    await sets.running(10, of=14)
    await sets.uncordon(1)
    await sets.running(12, of=14)
    assert (await sets.running_by_clique())["0-sg-x-2-pc-b"] == (await sets.running_by_clique())["0-sg-x-2-pc-c"] == 1
    await sets.uncordon()
    await sets.running(14)


async def test_GS7_base_gang_then_scaled_gang_then_the_rest(sets: Sets) -> None:
    await sets.nodes(14, usable=2)
    await sets.create(WL2)
    await sets.running(0, of=10)
    await sets.uncordon(1)
    await sets.running(3, of=10)
    await sets.uncordon(2)
    await sets.running(5, of=10)
    by_clique = await sets.running_by_clique()
    assert by_clique["0-sg-x-1-pc-b"] == by_clique["0-sg-x-1-pc-c"] == 1
    await sets.uncordon(5)
    await sets.running(10)
    await sets.scale_group(3)
    await sets.uncordon(2)
    await sets.running(12, of=14)
    await sets.uncordon()
    await sets.running(14)


async def test_GS8_a_group_that_grew_before_there_was_room_starts_in_order(sets: Sets) -> None:
    await sets.nodes(14, usable=2)
    await sets.create(WL2)
    await sets.scale_group(3)
    await sets.running(0, of=14)
    await sets.uncordon(1)
    await sets.running(3, of=14)
    await sets.uncordon(4)
    await sets.running(7, of=14)
    assert set((await sets.running_by_clique()).values()) == {1}
    await sets.uncordon()
    await sets.running(14)


async def test_GS9_a_new_replica_of_the_set_starts_with_its_minimum(sets: Sets) -> None:
    await sets.nodes(20, usable=10)
    await sets.create(WL2)
    await sets.running(10)
    await sets.scale(2)
    await sets.uncordon(2)
    await sets.running(10, of=20)
    await sets.uncordon(1)
    await sets.running(13, of=20)
    await sets.uncordon()
    await sets.running(20)


async def test_GS10_a_set_that_grew_before_there_was_room_starts_minima_first(sets: Sets) -> None:
    await sets.nodes(20, usable=2)
    await sets.create(WL2)
    await sets.scale(2)
    await sets.running(0, of=20)
    await sets.uncordon(4)
    await sets.running(6, of=20)
    await sets.uncordon(4)
    await sets.running(10, of=20)
    assert set((await sets.running_by_clique()).values()) == {1}
    await sets.uncordon()
    await sets.running(20)


async def test_GS11_group_set_and_second_group_grow_each_by_its_minimum(sets: Sets) -> None:
    await sets.nodes(28, usable=10)
    await sets.create(WL2)
    await sets.running(10)
    await sets.scale_group(3)
    await sets.uncordon(2)
    await sets.running(12, of=14)
    await sets.uncordon(2)
    await sets.running(14)
    await sets.scale(2)
    await sets.uncordon(3)
    await sets.running(17, of=24)
    await sets.uncordon(7)
    await sets.running(24)
    await sets.scale_group(3, of=1)
    await sets.uncordon(2)
    await sets.running(26, of=28)
    await sets.uncordon()
    await sets.running(28)


async def test_GS12_set_and_groups_that_grew_before_there_was_room_start_minima_first(sets: Sets) -> None:
    await sets.nodes(28, usable=2)
    await sets.create(WL2)
    await sets.scale(2)
    await sets.scale_group(3, of=0)
    await sets.scale_group(3, of=1)
    await sets.running(0, of=28)
    await sets.uncordon(4)
    await sets.running(6, of=28)
    await sets.uncordon(8)
    await sets.running(14, of=28)
    assert set((await sets.running_by_clique()).values()) == {1}
    await sets.uncordon()
    await sets.running(28)
