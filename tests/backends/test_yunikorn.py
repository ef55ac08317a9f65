"""YuniKorn: everything is written on the pods."""

from __future__ import annotations

import json
from dataclasses import replace

import msgspec
import pytest

from backends.scene import DECODE, EMPTY, PREFILL, a_gang, a_pod, a_set, live, objects, released, with_pods
from gangline.api import names
from gangline.api.grove import GangPack
from gangline.api.kinds import POD
from gangline.operator.backends.contract import CannotTranslate, Facts
from gangline.operator.backends.yunikorn import YunikornBackend, application, requests
from held_objects import held
from operator_world import clique, operator_world, pod_clique_set

GROUPS = [
    {
        "name": PREFILL,
        "minMember": 2,
        "minResource": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "1"},
        "labels": {"grove.io/podgang": "llm-0"},
    },
    {
        "name": DECODE,
        "minMember": 4,
        "minResource": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "2"},
        "labels": {"grove.io/podgang": "llm-0"},
    },
]


def test_a_pod_carries_the_whole_gang_and_its_own_place_in_it() -> None:
    gang = a_gang(pcs=a_set(labels={"yunikorn.apache.org/queue": "root.team-a"}))
    meta = YunikornBackend().prepare_pod(a_pod(), gang)["metadata"]
    assert meta["labels"] == a_pod()["metadata"]["labels"] | {
        "yunikorn.apache.org/app-id": f"serve-llm-0-{names.suffix(gang.uid)}",
        "yunikorn.apache.org/queue": "root.team-a",
    }
    groups = meta["annotations"].pop("yunikorn.apache.org/task-groups")
    assert json.loads(groups) == GROUPS
    assert meta["annotations"] == {
        "own": "note",
        "yunikorn.apache.org/task-group-name": PREFILL,
        "yunikorn.apache.org/schedulingPolicyParameters": "placeholderTimeoutInSeconds=900 gangSchedulingStyle=Hard",
    }
    assert objects(YunikornBackend(), gang) == []


def test_every_pod_of_a_gang_says_the_same_about_the_gang() -> None:
    said = [
        YunikornBackend().prepare_pod(a_pod(group, index), a_gang())["metadata"]["annotations"][
            "yunikorn.apache.org/task-groups"
        ]
        for group, index in ((PREFILL, 0), (PREFILL, 2), (DECODE, 3))
    ]
    assert len(set(said)) == 1


def test_placeholders_follow_where_the_pods_may_go() -> None:
    pcs = a_set()
    pcs.spec.template.cliques[0].spec.pod_spec["nodeSelector"] = {"zone": "a"}
    said = YunikornBackend().prepare_pod(a_pod(), a_gang(pcs=pcs))["metadata"]["annotations"][
        "yunikorn.apache.org/task-groups"
    ]
    assert json.loads(said)[0]["nodeSelector"] == {"zone": "a"} and "nodeSelector" not in json.loads(said)[1]


def test_a_placeholder_is_as_large_as_the_pod_at_its_largest() -> None:
    assert requests(
        {
            "initContainers": [
                {"resources": {"requests": {"cpu": "3", "memory": "1Gi"}}},
                {"restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}},
            ],
            "containers": [{"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "nvidia.com/gpu": 1}}}],
            "overhead": {"memory": "128Mi"},
        }
    ) == {"cpu": "3", "memory": "1152Mi", "nvidia.com/gpu": "1"}


def test_a_group_without_a_minimum_is_no_task_group_and_a_released_gang_keeps_its_usual_minima() -> None:
    gang = released(a_gang())
    said = YunikornBackend().prepare_pod(a_pod(), gang)["metadata"]["annotations"]["yunikorn.apache.org/task-groups"]
    assert json.loads(said) == GROUPS


def test_an_application_id_fits_into_a_label() -> None:
    long = application(a_gang(name="x" * 80))
    assert len(long) <= 63 and long != application(a_gang(name="x" * 81))


def test_a_gang_made_anew_is_another_application() -> None:
    assert application(replace(a_gang(), uid="1")) != application(replace(a_gang(), uid="2"))


def test_a_required_domain_is_refused() -> None:
    [problem] = YunikornBackend().check(
        a_set(topologyConstraint={"topologyName": "t", "pack": {"required": "block"}}), Facts()
    )
    assert problem.message == "yunikorn cannot keep a gang inside one block"
    assert problem.hint.endswith(
        "default on Kubernetes 1.36, default on Kubernetes 1.37, default on Kubernetes 1.37 with "
        "CompositePodGroup, kai, koordinator, volcano"
    )
    with pytest.raises(CannotTranslate, match=r"yunikorn cannot keep gang llm-0 inside one example.com/block"):
        objects(YunikornBackend(), a_gang(constraint=GangPack(required="example.com/block")))


def test_a_pod_that_yunikorn_gave_up_or_skipped_explains_the_gang() -> None:
    failed = {"metadata": {"name": "p"}, "status": {"phase": "Failed", "reason": "ResourceReservationTimeout"}}
    said = YunikornBackend().gang_status(with_pods(a_gang(), failed), EMPTY)
    assert (said.why, said.reason) == (
        "YuniKorn gave up pod p: ResourceReservationTimeout",
        "ResourceReservationTimeout",
    )
    refused = {
        "metadata": {"name": "p"},
        "status": {"phase": "Failed", "reason": "ApplicationRejected", "message": " no queue root.x"},
    }
    said = YunikornBackend().gang_status(
        with_pods(a_gang(pcs=a_set(labels={"yunikorn.apache.org/queue": "root.x"})), refused), EMPTY
    )
    assert (
        said.blocked
        and said.reason == "ApplicationRejected"
        and said.why
        == (
            "YuniKorn rejected the gang: no queue root.x; see that queue root.x exists in YuniKorn's configuration "
            "and takes applications, or "
            "name another one with label yunikorn.apache.org/queue; it is tried again every minute"
        )
    )
    skipped = {
        "metadata": {"name": "p", "labels": {"grove.io/podclique": PREFILL}},
        "status": {
            "conditions": [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "SchedulingSkipped",
                    "message": "queue quota exceeded",
                }
            ]
        },
    }
    assert YunikornBackend().gang_status(with_pods(a_gang(), skipped), EMPTY).why == "YuniKorn: queue quota exceeded"


def test_while_a_gang_waits_its_placeholders_explain_it() -> None:
    waiting = {
        "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "waits for resources"}
        ]
    }
    owned = {"name": "tg-1", "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}]}
    shelf = held(
        live(POD, "other"), (POD, msgspec.convert({"metadata": owned, "spec": {}, "status": waiting}, POD.type))
    )
    said = YunikornBackend().gang_status(with_pods(a_gang(), {"metadata": {"name": "p", "uid": "u"}}), shelf)
    assert (said.why, said.reason) == ("YuniKorn: placeholder tg-1: waits for resources", "Unschedulable")


async def test_a_gang_that_yunikorn_gave_up_is_tried_again_under_a_new_application() -> None:
    async with operator_world() as here:
        await here.apply(
            pod_clique_set(
                "llm",
                clique("a", 2, scheduler=""),
                clique("b", 1, scheduler=""),
                annotations={"grove.io/scheduler-backend": "yunikorn"},
            )
        )
        first = await here.pods()
        before = {pod.labels["yunikorn.apache.org/app-id"] for pod in first}
        assert len(before) == 1
        for pod in first:
            await here.client.patch(
                POD,
                pod.name,
                pod.namespace,
                {"status": {"phase": "Failed", "reason": "ResourceReservationTimeout"}},
                subresource="status",
            )
        await here.settles()
        second = await here.pods()
        [application] = {pod.labels["yunikorn.apache.org/app-id"] for pod in second}
        assert len(second) == 3 and not {pod.uid for pod in first} & {pod.uid for pod in second}
        assert application.startswith("default-llm-0-") and application not in before
