"""Coscheduling: one flat minimum."""

from __future__ import annotations

from backends.crds import install
from backends.scene import EMPTY, a_gang, a_pod, a_set, live, objects, released, with_pods
from embedded import until
from gangline.api.grove import GangPack
from gangline.api.kinds import COSCHEDULING_POD_GROUP, POD
from gangline.operator.backends.contract import SURPLUS_GATED, Facts
from gangline.operator.backends.coscheduling import CoschedulingBackend
from gangline.runtime import ManualClock
from operator_world import clique, operator_world, pod_clique_set


def test_a_gang_is_one_pod_group_with_the_sum_of_the_minima_and_a_patient_timeout() -> None:
    assert objects(CoschedulingBackend(), a_gang()) == [
        {
            "apiVersion": "scheduling.x-k8s.io/v1alpha1",
            "kind": "PodGroup",
            "metadata": {"name": "llm-0", "namespace": "serve", "labels": {}},
            "spec": {"minMember": 6, "scheduleTimeoutSeconds": 300},
        }
    ]
    assert CoschedulingBackend().capabilities.groups == SURPLUS_GATED


def test_a_pod_names_its_group() -> None:
    assert CoschedulingBackend().prepare_pod(a_pod(), a_gang())["metadata"] == {
        "labels": a_pod()["metadata"]["labels"] | {"scheduling.x-k8s.io/pod-group": "llm-0"},
        "annotations": {"own": "note"},
    }


def test_while_every_minimum_is_zero_the_former_minimum_stands() -> None:
    assert objects(CoschedulingBackend(), released(a_gang()))[0]["spec"]["minMember"] == 6
    kept = released(a_gang(), live(COSCHEDULING_POD_GROUP, "llm-0", {"minMember": 5}))
    assert objects(CoschedulingBackend(), kept)[0]["spec"]["minMember"] == 5


def test_a_required_domain_is_refused_and_a_preferred_one_told_to_be_lost() -> None:
    [problem] = CoschedulingBackend().check(
        a_set(topologyConstraint={"topologyName": "t", "pack": {"required": "block"}}), Facts()
    )
    assert problem.message == "coscheduling cannot keep a gang inside one block"
    assert (
        list(
            CoschedulingBackend().check(
                a_set(topologyConstraint={"topologyName": "t", "pack": {"preferred": "block"}}), Facts()
            )
        )
        == []
    )
    said = CoschedulingBackend().gang_status(a_gang(constraint=GangPack(preferred="example.com/block")), EMPTY)
    assert said.lost == ("gang llm-0 would rather be in one example.com/block",)


async def test_a_gang_that_waits_is_shown_to_the_scheduler_again_every_half_minute_until_it_is_placed() -> None:
    clock = ManualClock()
    async with operator_world(clock=clock) as here:
        await install(here.client, COSCHEDULING_POD_GROUP)

        def noticed() -> bool:
            clock.advance(1)
            return here.manager.cache.revision(COSCHEDULING_POD_GROUP) > 0

        await until(noticed, "coscheduling's kinds to be noticed")
        await here.apply(
            pod_clique_set(
                "llm", clique("a", 2, scheduler=""), annotations={"grove.io/scheduler-backend": "coscheduling"}
            )
        )

        async def asked(seconds: float) -> str:
            clock.advance(seconds)
            await here.settles()
            [group] = await here.every(COSCHEDULING_POD_GROUP)
            assert group.spec["minMember"] == 2
            return str(group.annotations.get("gangline.io/asked-again", ""))

        refused = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}
        for pod in await here.pods():
            await here.client.patch(
                POD, pod.name, pod.namespace, {"status": {"conditions": [refused]}}, subresource="status"
            )
        assert await asked(20) == ""
        first = await asked(11)
        assert first and await asked(20) == first
        second = await asked(11)
        assert second > first
        await here.run(*await here.pods())
        assert await asked(100) == second


def test_a_pod_that_was_refused_explains_that_the_whole_found_no_room() -> None:
    refused = {
        "metadata": {"name": "p"},
        "status": {
            "conditions": [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": "0/1 nodes are available",
                }
            ]
        },
    }
    said = CoschedulingBackend().gang_status(with_pods(a_gang(), refused), EMPTY)
    assert (said.why, said.reason) == (
        "coscheduling found no room for 6 pods at once; pod p: 0/1 nodes are available",
        "Unschedulable",
    )
