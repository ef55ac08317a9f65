"""Updates of the strategy OnDelete (OD1–OD9): a new template waits until the user gives up a pod.

The workload is pc-a 2/1, pc-b 1/1, pc-c 3/3, the group 2/2.
"""

from __future__ import annotations

from journeys.sets import ON_DELETE, Sets

NODE_NAME = "kubernetes.io/hostname"


async def test_OD1_a_new_template_deletes_nothing_and_the_update_has_ended_at_once(sets: Sets) -> None:
    await sets.runs(ON_DELETE)
    before = await sets.uids()
    await sets.update("pc-a")
    await sets.story.settles()
    assert await sets.uids() == before and await sets.images() == {"app:1": 10}
    progress = (await sets.the_set()).status.update_progress or {}
    assert progress["updateEndedAt"] and "currentlyUpdating" not in progress


async def test_OD2_a_deleted_pod_returns_with_the_new_template_and_the_counts_follow(sets: Sets) -> None:
    await sets.runs(ON_DELETE)
    await sets.update("pc-a")
    await sets.story.settles()
    for updated in (1, 2):
        old = next(pod for pod in await sets.pods("0-pc-a") if pod.spec.containers[0].image == "app:1")
        await sets.kill(old)
        await sets.running(10)
        assert (await sets.images("0-pc-a"))["app:2"] == updated
        assert (await sets.the_clique()).status.updated_replicas == updated
    assert await sets.images() == {"app:1": 8, "app:2": 2}


async def test_OD3_scaling_in_removes_the_outdated_pod_first(sets: Sets) -> None:
    await sets.runs(ON_DELETE)
    await sets.update("pc-a")
    await sets.story.settles()
    await sets.kill((await sets.pods("0-pc-a"))[0])
    await sets.running(10)
    await sets.scale_clique(1)
    await sets.running(9)
    assert await sets.images("0-pc-a") == {"app:2": 1}


async def test_OD4_a_new_template_of_a_grouped_clique_deletes_nothing(sets: Sets) -> None:
    await sets.runs(ON_DELETE)
    before = await sets.uids()
    await sets.update("pc-c")
    await sets.story.settles()
    assert await sets.uids() == before
    assert ((await sets.the_group()).status.update_progress or {})["updateEndedAt"]


async def test_OD5_a_deleted_pod_of_a_group_returns_with_the_new_template(sets: Sets) -> None:
    await sets.runs(ON_DELETE)
    before = await sets.uids()
    await sets.update("pc-c")
    await sets.story.settles()
    old = (await sets.pods("0-sg-x-1-pc-c"))[0]
    await sets.kill(old)
    await sets.running(10)
    assert before - await sets.uids() == {old.uid}
    assert await sets.images("0-sg-x-1-pc-c") == {"app:1": 2, "app:2": 1}
    assert (await sets.the_clique("0-sg-x-1-pc-c")).status.updated_replicas == 1


async def test_OD6_standalone_and_grouped_cliques_change_pod_by_pod(sets: Sets) -> None:
    await sets.runs(ON_DELETE)
    await sets.update("pc-a", "pc-b", "pc-c")
    await sets.story.settles()
    assert await sets.images() == {"app:1": 10}
    await sets.kill((await sets.pods("0-pc-a"))[0], (await sets.pods("0-sg-x-0-pc-b"))[0])
    await sets.running(10)
    assert await sets.images() == {"app:1": 8, "app:2": 2}
    await sets.kill(*[pod for pod in await sets.pods() if pod.spec.containers[0].image == "app:1"])
    await sets.running(10)
    assert await sets.images() == {"app:2": 10}
    assert (await sets.the_set()).status.updated_replicas == 1


async def test_OD7_replicas_of_the_set_change_independently(sets: Sets) -> None:
    await sets.runs(ON_DELETE, 2)
    await sets.update("pc-a")
    await sets.story.settles()
    await sets.kill(*await sets.pods("1-pc-a"))
    await sets.running(20)
    assert await sets.images("0-pc-a") == {"app:1": 2} and await sets.images("1-pc-a") == {"app:2": 2}


async def test_OD8_a_bad_node_is_left_by_an_affinity_and_the_deletion_of_its_pod(sets: Sets) -> None:
    await sets.runs(ON_DELETE, spare=1)
    before = await sets.uids()
    lost = (await sets.pods("0-pc-a"))[0]
    bad = lost.spec.node_name
    avoid = {"matchExpressions": [{"key": NODE_NAME, "operator": "NotIn", "values": [bad]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [avoid]}}
    await sets.edit(("/spec/template/cliques/0/spec/podSpec/affinity", {"nodeAffinity": required}))
    await sets.story.settles()
    assert await sets.uids() == before
    await sets.kill(lost)
    await sets.running(10)
    assert before - await sets.uids() == {lost.uid}
    assert bad not in {pod.spec.node_name for pod in await sets.pods()}


async def test_OD9_the_strategy_may_change_back_and_forth(sets: Sets) -> None:
    await sets.runs(ON_DELETE)
    await sets.update("pc-a")
    await sets.story.settles()
    assert await sets.images("0-pc-a") == {"app:1": 2}
    await sets.edit(("/spec/updateStrategy/type", "RollingRecreate"))
    await sets.update("pc-a", image="app:3")
    await sets.updated(1, 10)
    assert await sets.images("0-pc-a") == {"app:3": 2}
    before = await sets.uids()
    await sets.edit(("/spec/updateStrategy/type", "OnDelete"))
    await sets.update("pc-a", image="app:4")
    await sets.story.settles()
    assert await sets.uids() == before


async def test_OD9_pods_that_the_strategy_before_left_behind_are_replaced_by_the_next_update(sets: Sets) -> None:
    await sets.runs(ON_DELETE)
    await sets.update("pc-c")
    await sets.story.settles()
    await sets.edit(("/spec/updateStrategy/type", "RollingRecreate"))
    await sets.update("pc-a")
    await sets.updated(1, 10)
    assert await sets.images("0-pc-a") == {"app:2": 2}
    assert await sets.images("0-sg-x-0-pc-c") == await sets.images("0-sg-x-1-pc-c") == {"app:2": 3}
