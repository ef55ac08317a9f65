"""Wishes that a set states in annotations: several at once in updates, a deadline for progress, gangs that are never
ended."""

from __future__ import annotations

import asyncio

from gangline.api.kinds import EVENT, POD, POD_CLIQUE, POD_CLIQUE_SET
from gangline.api.meta import Condition, Raw, condition
from gangline.client.wire import JSON_PATCH
from gangline.rules import wishes
from gangline.runtime import ManualClock
from operator_world import NAMESPACE, OperatorWorld, clique, operator_world, pod_clique_set, running

IMAGE = "/spec/template/cliques/0/spec/podSpec/containers/0/image"


def test_a_share_is_rounded_down_and_never_nothing() -> None:
    said = {"gangline.io/max-unavailable": "30%"}
    assert [wishes.max_unavailable(said, size) for size in (1, 3, 10, 100)] == [1, 1, 3, 30]
    assert (
        wishes.max_unavailable({"gangline.io/max-unavailable": "4"}, 2) == 4 and wishes.max_unavailable({}, 9) is None
    )


async def change_image(here: OperatorWorld, image: str) -> None:
    await here.client.patch(
        POD_CLIQUE_SET, "w", NAMESPACE, [{"op": "replace", "path": IMAGE, "value": image}], content_type=JSON_PATCH
    )
    await here.settles()


async def test_several_replicas_of_a_set_are_updated_at_once() -> None:
    async with operator_world() as here:
        await here.apply(
            pod_clique_set("w", clique("a"), replicas=5, annotations={"gangline.io/max-unavailable": "40%"})
        )
        await here.run(*await here.pods())
        await change_image(here, "registry.example/app:2")
        progress = (await here.the_set("w")).status.update_progress or {}
        assert [item["replicaIndex"] for item in progress["currentlyUpdating"]] == [0, 1]
        for _ in range(5):
            for item in await here.pods():
                if item.metadata.deleting:
                    await here.client.delete(POD, item.name, NAMESPACE, grace=0)
            await here.settles()
            await here.run(*[item for item in await here.pods() if not item.spec.node_name])
        found = await here.the_set("w")
        assert (found.status.update_progress or {}).get("updateEndedAt") and found.status.updated_replicas == 5
        assert {item.spec.containers[0].image for item in await here.pods()} == {"registry.example/app:2"}


async def moves(here: OperatorWorld) -> Condition | None:
    return condition((await here.the_set("w")).status.conditions, "Progressing")


async def test_an_update_that_does_not_move_is_named_after_its_deadline_and_goes_on_when_it_can() -> None:
    clock = ManualClock()
    async with operator_world(clock=clock) as here:
        await here.apply(pod_clique_set("w", clique("a", 2), annotations={"gangline.io/progress-deadline": "10m"}))
        await here.run(*await here.pods())
        assert await moves(here) is None
        await change_image(here, "registry.example/app:2")
        found = await moves(here)
        assert found is not None and (found.status, found.reason) == ("True", "Updating")
        clock.advance(601)
        await asyncio.sleep(0)
        await here.settles()
        stuck = await moves(here)
        assert stuck is not None and (stuck.status, stuck.reason, stuck.message) == (
            "False",
            "ProgressDeadlineExceeded",
            "updated: 0 of 1 cliques (1 pods), 0 of 0 scaling groups; nothing has moved for 10m0s",
        )
        [event] = [item for item in await here.every(EVENT) if item.reason == "ProgressDeadlineExceeded"]
        assert (event.type, event.count) == ("Warning", 1)
        for _ in range(4):
            for item in await here.pods():
                if item.metadata.deleting:
                    await here.client.delete(POD, item.name, NAMESPACE, grace=0)
            await here.settles()
            await here.run(*[item for item in await here.pods() if not item.spec.node_name])
        done = await moves(here)
        assert done is not None and (done.status, done.reason) == ("True", "UpdateComplete")


async def lose(here: OperatorWorld, clock: ManualClock) -> list[str]:
    """A pod fails and the delay passes; gives the uids of cliques after that."""
    clock.advance(60)
    [first, *_] = await here.pods()
    await here.client.patch(POD, first.name, NAMESPACE, {"status": running(ready=False)}, subresource="status")
    await here.settles()
    clock.advance(5 * 3600)
    await asyncio.sleep(0)
    await here.settles()
    return [item.uid for item in await here.every(POD_CLIQUE)]


async def test_gangs_of_a_set_that_opts_out_are_not_ended_and_those_of_others_are() -> None:
    told: Raw = {"gangline.io/gang-termination": "disabled"}
    for notes, stays in ((told, True), ({}, False)):
        clock = ManualClock()
        async with operator_world(clock=clock) as here:
            await here.apply(pod_clique_set("w", clique("a", 2), annotations=notes))
            await here.run(*await here.pods())
            before = [item.uid for item in await here.every(POD_CLIQUE)]
            assert (await lose(here, clock) == before) is stays
