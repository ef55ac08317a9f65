"""Updates of the strategy RollingRecreate (RU7–RU21): one replica of the set at a time, in it one pod or one replica of
the group.

An update is stopped half-way by cordons: the first pod it gives up finds no node, and everything after that waits.
"""

from __future__ import annotations

import re

from journeys.sets import WL1, WL2, Sets, set_replica


def group_replica(clique: str) -> str:
    """w-0-sg-x-1-pc-b → w-0-sg-x-1; a standalone clique stands for itself."""
    return re.sub(r"(sg-x-\d+)-.*", r"\1", clique)


async def half_way(sets: Sets, *cliques: str) -> None:
    """The update of these cliques has begun and cannot go on."""
    await sets.cordon_all()
    await sets.update(*cliques)
    await sets.story.settles()


async def test_RU7_a_standalone_clique_changes_pod_by_pod_and_replica_by_replica(sets: Sets) -> None:
    await sets.runs(WL1, 2)
    async with sets.diary() as diary:
        await sets.update("pc-a")
        await sets.updated(2, 20)
    assert diary.most_pods_away() == 1
    assert diary.order(set_replica) == ["0", "1"]
    assert await sets.images() == {"app:2": 4, "app:1": 16}
    assert len(diary.made) == 4


async def test_RU8_a_grouped_clique_changes_one_replica_of_its_group_after_the_other(sets: Sets) -> None:
    await sets.runs(WL1, 2)
    async with sets.diary() as diary:
        await sets.update("pc-b")
        await sets.updated(2, 20)
    assert diary.most_away(group_replica) == 1
    assert diary.order(lambda pod: group_replica(pod.labels["grove.io/podclique"])) == [
        "w-0-sg-x-0",
        "w-0-sg-x-1",
        "w-1-sg-x-0",
        "w-1-sg-x-1",
    ]
    assert len(diary.made) == 16 and not {pod.labels["grove.io/podclique"] for pod in diary.made} & {
        "w-0-pc-a",
        "w-1-pc-a",
    }


async def test_RU9_all_cliques_change_one_replica_of_the_set_after_the_other(sets: Sets) -> None:
    await sets.runs(WL1, 2)
    async with sets.diary() as diary:
        await sets.update("pc-a", "pc-b", "pc-c")
        await sets.updated(2, 20)
    assert diary.most_away(lambda clique: clique.split("-")[1]) == 1
    assert diary.order(set_replica) == ["0", "1"]
    assert await sets.images() == {"app:2": 20} and len(diary.made) == 20


async def test_RU10_without_room_one_pod_waits_and_the_update_goes_on_when_there_is_room_again(sets: Sets) -> None:
    await sets.runs(WL1)
    before = await sets.uids()
    await half_way(sets, "pc-a")
    await sets.running(9, of=10)
    assert len(before & await sets.uids()) == 9
    assert not ((await sets.the_set()).status.update_progress or {}).get("updateEndedAt")
    await sets.uncordon()
    await sets.updated(1, 10)
    assert await sets.images("0-pc-a") == {"app:2": 2}


async def test_RU11_a_replica_added_to_the_set_during_an_update_starts_with_the_new_template(sets: Sets) -> None:
    await sets.runs(WL1, spare=10)
    await half_way(sets, "pc-a")
    async with sets.diary() as diary:
        await sets.scale(2)
        await sets.uncordon()
        await sets.updated(2, 20)
    assert await sets.images("1-pc-a") == {"app:2": 2}
    assert sum(pod.labels["grove.io/podcliqueset-replica-index"] == "1" for pod in diary.made) == 10


async def test_RU12_the_set_shrinks_while_its_last_replica_is_updated(sets: Sets) -> None:
    await sets.runs(WL1, 2)
    await sets.cordon(*[pod.spec.node_name for pod in await sets.pods("1-")])
    await sets.update("pc-a")
    await sets.running(19, of=20)
    assert ((await sets.the_set()).status.update_progress or {})["currentlyUpdating"][0]["replicaIndex"] == 1
    await sets.scale(1)
    await sets.updated(1, 10)
    assert await sets.images("0-pc-a") == {"app:2": 2}


async def test_RU13_the_set_shrinks_after_its_last_replica_was_updated(sets: Sets) -> None:
    await sets.runs(WL1, 2)
    await sets.update("pc-a", "pc-b", "pc-c")
    await sets.updated(2, 20)
    kept = await sets.uids("0-")
    await sets.scale(1)
    await sets.updated(1, 10)
    assert await sets.uids() == kept and await sets.images() == {"app:2": 10}


async def test_RU14_a_replica_added_to_the_group_during_an_update_is_made_once_with_the_new_template(
    sets: Sets,
) -> None:
    await sets.runs(WL1, spare=4)
    await half_way(sets, "pc-b", "pc-c")
    async with sets.diary() as diary:
        await sets.scale_group(3)
        await sets.uncordon()
        await sets.updated(1, 14)
    assert await sets.images("0-sg-x") == {"app:2": 12}
    assert sum(pod.labels["grove.io/podcliquescalinggroup-replica-index"] == "2" for pod in diary.made) == 4


async def test_RU15_a_group_that_grew_just_before_an_update_ends_with_new_pods_everywhere(sets: Sets) -> None:
    await sets.runs(WL1, spare=4)
    await sets.scale_group(3)
    async with sets.diary() as diary:
        await sets.update("pc-b", "pc-c")
        await sets.updated(1, 14)
    assert await sets.images("0-sg-x") == {"app:2": 12}
    assert len(diary.made) == 12


async def test_RU16_the_group_shrinks_during_an_update(sets: Sets) -> None:
    await sets.runs(WL2)
    await half_way(sets, "pc-b", "pc-c")
    await sets.scale_group(1)
    await sets.uncordon()
    await sets.updated(1, 6)
    assert await sets.images("0-sg-x") == {"app:2": 4}


async def test_RU17_the_group_shrinks_just_before_an_update(sets: Sets) -> None:
    await sets.runs(WL2)
    await sets.scale_group(1)
    await sets.update("pc-b", "pc-c")
    await sets.updated(1, 6)
    assert await sets.images("0-sg-x") == {"app:2": 4}


async def test_RU18_a_clique_grows_during_an_update(sets: Sets) -> None:
    await sets.runs(WL1, spare=1)
    await half_way(sets, "pc-a")
    async with sets.diary() as diary:
        await sets.scale_clique(3)
        await sets.uncordon()
        await sets.updated(1, 11)
    assert await sets.images("0-pc-a") == {"app:2": 3}
    assert len(diary.made) == 2


async def test_RU19_a_clique_grows_just_before_an_update(sets: Sets) -> None:
    await sets.runs(WL1, spare=1)
    await sets.scale_clique(3)
    await sets.running(11)
    async with sets.diary() as diary:
        await sets.update("pc-a")
        await sets.updated(1, 11)
    assert await sets.images("0-pc-a") == {"app:2": 3}
    assert diary.most_pods_away() == 1


async def test_RU20_a_clique_shrinks_during_an_update(sets: Sets) -> None:
    await sets.runs(WL2)
    await half_way(sets, "pc-a")
    await sets.scale_clique(1)
    await sets.uncordon()
    await sets.updated(1, 9)
    assert await sets.images("0-pc-a") == {"app:2": 1}


async def test_RU21_a_clique_shrinks_just_before_an_update(sets: Sets) -> None:
    await sets.runs(WL2)
    await sets.scale_clique(1)
    await sets.update("pc-a")
    await sets.updated(1, 9)
    assert await sets.images("0-pc-a") == {"app:2": 1}
