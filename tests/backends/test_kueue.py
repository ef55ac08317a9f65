"""Kueue: a group has exactly the size it announces, and Kueue makes the object."""

from __future__ import annotations

import pytest

from backends.scene import DECODE, EMPTY, PREFILL, a_gang, a_pod, a_set, live, objects, one_group, released
from gangline.api.grove import GangPack
from gangline.api.kinds import KUEUE_WORKLOAD
from gangline.operator.backends.contract import CannotTranslate, Facts
from gangline.operator.backends.kueue import HELD, KueueBackend
from held_objects import held
from operator_world import clique, operator_world, pod_clique_set

IN_QUEUE = a_set(labels={"kueue.x-k8s.io/queue-name": "team-a"})


def test_a_pod_of_the_minimum_belongs_to_a_group_of_just_the_minima() -> None:
    meta = KueueBackend().prepare_pod(
        a_pod(DECODE, 3), a_gang(pcs=IN_QUEUE, decode=GangPack(required="example.com/rack"))
    )["metadata"]
    assert meta["labels"] == a_pod(DECODE, 3)["metadata"]["labels"] | {
        "kueue.x-k8s.io/queue-name": "team-a",
        "kueue.x-k8s.io/pod-group-name": "llm-0",
    }
    assert meta["annotations"] == {
        "own": "note",
        "kueue.x-k8s.io/pod-group-total-count": "6",
        "kueue.x-k8s.io/pod-group-serving": "true",
        "kueue.x-k8s.io/role-hash": DECODE,
        "kueue.x-k8s.io/podset-required-topology": "example.com/rack",
    }


def test_a_surplus_pod_is_a_workload_of_its_own() -> None:
    meta = KueueBackend().prepare_pod(
        a_pod(PREFILL, 2), a_gang(pcs=IN_QUEUE, prefill=GangPack(preferred="example.com/rack"))
    )["metadata"]
    assert meta["labels"] == a_pod(PREFILL, 2)["metadata"]["labels"] | {"kueue.x-k8s.io/queue-name": "team-a"}
    assert meta["annotations"] == {
        "own": "note",
        "kueue.x-k8s.io/podset-preferred-topology": "example.com/rack",
        "kueue.x-k8s.io/admission-gated-by": "kueue.x-k8s.io/gang",
    }


async def test_a_surplus_pod_takes_no_quota_before_the_minimum_is_placed() -> None:
    async with operator_world() as here:
        await here.apply(
            pod_clique_set(
                "llm",
                clique("a", 3, 2, scheduler=""),
                labels={"kueue.x-k8s.io/queue-name": "team-a"},
                annotations={"grove.io/scheduler-backend": "kueue"},
            )
        )
        [waiting] = [pod for pod in await here.pods() if pod.spec.scheduling_gates]
        assert (
            waiting.annotations[HELD] == "kueue.x-k8s.io/gang" and waiting.labels["grove.io/podclique-pod-index"] == "2"
        )
        await here.run(*(pod for pod in await here.pods() if not pod.spec.scheduling_gates))
        assert [pod.name for pod in await here.pods() if pod.spec.scheduling_gates or HELD in pod.annotations] == []


def test_while_every_minimum_is_zero_new_pods_announce_the_usual_size() -> None:
    meta = KueueBackend().prepare_pod(a_pod(PREFILL, 1), released(a_gang(pcs=IN_QUEUE)))["metadata"]
    assert meta["annotations"]["kueue.x-k8s.io/pod-group-total-count"] == "6"


def test_a_bound_excludes_a_wish_which_is_told_to_be_lost() -> None:
    gang = a_gang(pcs=IN_QUEUE, decode=GangPack(required="example.com/block", preferred="example.com/rack"))
    notes = KueueBackend().prepare_pod(a_pod(DECODE), gang)["metadata"]["annotations"]
    assert notes["kueue.x-k8s.io/podset-required-topology"] == "example.com/block"
    assert KueueBackend().gang_status(gang, EMPTY).lost == (
        "group llm-0-decode would rather be in one example.com/rack",
    )


def test_a_required_domain_of_the_gang_is_refused_unless_it_has_one_group() -> None:
    pcs = a_set(labels=IN_QUEUE.labels, topologyConstraint={"topologyName": "t", "pack": {"required": "block"}})
    [problem] = KueueBackend().check(pcs, Facts())
    assert problem.message == "kueue cannot keep a gang inside one block"
    with pytest.raises(CannotTranslate, match=r"kueue cannot keep gang llm-0 inside one example.com/block"):
        objects(KueueBackend(), a_gang(pcs=IN_QUEUE, constraint=GangPack(required="example.com/block")))
    pod = KueueBackend().prepare_pod(
        a_pod(DECODE), one_group(Facts(config={"queue": "q"}), gang=GangPack(required="example.com/block"))
    )
    assert pod["metadata"]["annotations"]["kueue.x-k8s.io/podset-required-topology"] == "example.com/block"


def test_a_queue_must_be_named_once() -> None:
    [none] = KueueBackend().check(a_set(), Facts())
    assert str(none) == "spec: names no queue (label the PodCliqueSet with kueue.x-k8s.io/queue-name)"
    assert list(KueueBackend().check(a_set(), Facts(config={"queue": "q"}))) == []
    two = a_set(labels=IN_QUEUE.labels, decode={"labels": {"kueue.x-k8s.io/queue-name": "team-b"}})
    [several] = KueueBackend().check(two, Facts())
    assert several.message == "names several queues (team-a, team-b); all cliques of a set go to one"
    with pytest.raises(CannotTranslate, match="gang llm-0 names no queue; label the PodCliqueSet with kueue"):
        objects(KueueBackend(), a_gang())


def test_kueues_workload_explains_why_a_gang_waits() -> None:
    waiting = {
        "conditions": [
            {"type": "QuotaReserved", "status": "False", "reason": "WaitingForQuota", "message": "no quota for 8 GPUs"}
        ]
    }
    said = KueueBackend().gang_status(a_gang(), held(live(KUEUE_WORKLOAD, "llm-0", status=waiting)))
    assert (said.why, said.reason) == ("Kueue: no quota for 8 GPUs", "WaitingForQuota")
    assert KueueBackend().gang_status(a_gang(), EMPTY).why == ""
