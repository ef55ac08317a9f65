"""A gang that names an earlier one would rather have its places; a wish, told where it is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.scene import DECODE, EMPTY, PREFILL, a_gang, a_pod, with_pods
from backends.test_journeys import BACKEND, cluster, llm, said
from gangline.api.grove import PodReference
from gangline.api.kinds import COSCHEDULING_POD_GROUP, POD_GANG
from gangline.api.meta import Raw
from gangline.operator.backends.coscheduling import CoschedulingBackend
from gangline.operator.backends.kueue import KueueBackend
from gangline.operator.backends.places import affinity, placed
from gangline.operator.backends.yunikorn import YunikornBackend
from operator_world import NAMESPACE, OperatorWorld, clique, pod_clique_set

REUSE = "gangline.io/reuse-places-of"


def wish(*nodes: str) -> Raw:
    return {
        "weight": 100,
        "preference": {
            "matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}]
        },
    }


def wishes(affinity: Raw | None) -> Any:
    return ((affinity or {}).get("nodeAffinity") or {}).get("preferredDuringSchedulingIgnoredDuringExecution")


def test_a_wish_for_nodes_is_added_to_what_the_user_asked_for() -> None:
    own = {
        "podAffinity": {},
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}],
        },
    }
    assert affinity(own, ["n1"]) == {
        "podAffinity": {},
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}, wish("n1")],
        },
    }
    assert affinity(None, []) is None
    group = replace(a_gang().groups[0], places=("n1", "n2"))
    assert wishes(placed(a_pod(), group)["spec"]["affinity"]) == [wish("n1", "n2")]
    assert placed(a_pod(), a_gang().groups[0]) == a_pod()


def test_placeholders_of_yunikorn_share_the_wish() -> None:
    gang = a_gang()
    gang = replace(gang, groups=(replace(gang.groups[0], places=("n1",)), gang.groups[1]))
    notes = YunikornBackend().prepare_pod(a_pod(), gang)["metadata"]["annotations"]["yunikorn.apache.org/task-groups"]
    assert notes.count('"values":["n1"]') == 1 and PREFILL in notes and DECODE in notes


def test_a_wish_that_cannot_be_passed_on_is_told_and_so_is_one_that_came_too_late() -> None:
    gang = a_gang(reuse=PodReference(namespace="serve", name="old-0"))
    assert KueueBackend().gang_status(gang, EMPTY).lost == ("the places of old-0 would rather be used again",)
    assert CoschedulingBackend().gang_status(gang, EMPTY).lost == ()
    late = with_pods(gang, {"metadata": {"name": "p"}, "spec": {}})
    assert CoschedulingBackend().gang_status(late, EMPTY).lost == (
        "the places of old-0 would rather be used again (it had no bound pods of the same groups when these pods were "
        "made)",
    )
    early = with_pods(gang, {"metadata": {"name": "p"}, "spec": {"affinity": affinity(None, ["n1"])}})
    assert CoschedulingBackend().gang_status(early, EMPTY).lost == ()


async def old_and_new(here: OperatorWorld, backend: str) -> None:
    """The set `llm` runs on node-1; then `next` is made, which names it."""
    await here.apply(llm(backend))
    await here.run(*(pod for pod in await here.pods() if not pod.spec.scheduling_gates))
    await here.apply(
        pod_clique_set(
            "next",
            clique("prefill", 1, scheduler=""),
            clique("router", 1, scheduler=""),
            annotations={BACKEND: backend, REUSE: "llm"},
        )
    )


@pytest.mark.parametrize("backend", ["kai", "coscheduling", "default"])
async def test_pods_of_a_later_set_would_rather_go_where_the_same_groups_of_the_earlier_one_are(backend: str) -> None:
    async with cluster(COSCHEDULING_POD_GROUP) as here:
        await old_and_new(here, backend)
        gang = await here.gang("next-0")
        assert gang.spec.reuse_reservation_ref == PodReference(namespace=NAMESPACE, name="llm-0")
        [prefill], [router] = await here.pods("next-0-prefill"), await here.pods("next-0-router")
        assert wishes(prefill.spec.affinity) == [wish("node-1")]
        assert wishes(router.spec.affinity) is None


async def test_a_reference_that_somebody_wrote_on_a_gang_stays() -> None:
    async with cluster() as here:
        await here.apply(llm())
        await here.client.patch(
            POD_GANG, "llm-0", NAMESPACE, {"spec": {"reuseReservationRef": {"namespace": "x", "name": "old-0"}}}
        )
        await here.settles()
        assert (await here.gang("llm-0")).spec.reuse_reservation_ref == PodReference(namespace="x", name="old-0")
        assert "the places of old-0 would rather be used again" in (await said(here, "WishesDropped"))[2]
