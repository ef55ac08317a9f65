"""Rules of Grove that show only where something is out of the ordinary: empty values, gangs that stay incomplete, edits
of labels.

Each was seen on Grove's own operator with sets made at random. Where ours differs on purpose, both manners are told.
"""

from __future__ import annotations

import msgspec
import pytest

from gangline.api.grove import PodClique, PodCliqueSet
from gangline.api.kinds import POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, RESOURCE_CLAIM_TEMPLATE, SCALING_GROUP
from gangline.api.meta import Raw, condition
from gangline.config import manner
from gangline.operator.backends.contract import Facts
from gangline.operator.backends.volcano import VolcanoBackend
from gangline.rules.sets import OperatorSettings
from operator_world import NAMESPACE, OperatorWorld, clique, group, operator_world, pod_clique_set

LIKE_GROVE = OperatorSettings(manner=manner(["grove"]))
QUEUE = {"kai.scheduler/queue": "default-queue"}


def impossible(name: str, replicas: int = 1) -> Raw:
    """A clique whose pods the server refuses."""
    found = clique(name, replicas)
    found["spec"]["podSpec"]["preemptionPolicy"] = "Never"
    return found


async def clique_of(here: OperatorWorld, name: str) -> PodClique:
    return await here.client.get(POD_CLIQUE, name, NAMESPACE)


async def test_a_clique_is_made_without_what_its_template_gives_empty() -> None:
    pod = {
        "containers": [
            {"name": "main", "image": "i", "args": [], "env": [{"name": "A", "value": ""}], "securityContext": {}}
        ],
        "nodeName": "",
        "volumes": [{"name": "v", "emptyDir": {}}],
        "schedulerName": "kai-scheduler",
    }
    async with operator_world() as here:
        await here.apply(pod_clique_set("p", clique("a", podSpec=pod)))
        made = (await clique_of(here, "p-0-a")).spec.pod_spec
        assert made["containers"] == [
            {"name": "main", "image": "i", "env": [{"name": "A"}], "resources": {}, "securityContext": {}}
        ]
        assert "nodeName" not in made and made["volumes"] == [{"name": "v", "emptyDir": {}}]


async def test_pods_of_a_clique_that_fail_alike_are_told_of_once() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("p", impossible("bad", 3)))
        [error] = (await clique_of(here, "p-0-bad")).status.last_errors
        assert error.code == "ERR_CREATE_POD" and error.description.endswith("(and 2 more)")


@pytest.mark.parametrize(
    ("settings", "held", "counted"),
    [
        (OperatorSettings(), {"p-0-a", "p-0-g-0-b"}, {"p-0-a": 1, "p-0-g-0-b": 1}),
        (LIKE_GROVE, {"p-0-a"}, {"p-0-a": 0, "p-0-g-0-b": 1}),
    ],
)
async def test_a_gang_that_cannot_be_complete_holds_its_pods_and_in_groves_manner_lets_those_of_groups_go(
    settings: OperatorSettings, held: set[str], counted: dict[str, int]
) -> None:
    async with operator_world(settings) as here:
        await here.apply(
            pod_clique_set("p", clique("a"), clique("b"), impossible("bad"), groups=[group("g", ["b"])], labels=QUEUE)
        )
        assert {pod.labels["grove.io/podclique"] for pod in await here.pods() if pod.spec.scheduling_gates} == held
        assert {name: (await clique_of(here, name)).status.replicas for name in counted} == counted


async def test_in_groves_manner_a_clique_of_an_incomplete_gang_counts_its_pods_once_it_is_changed() -> None:
    async with operator_world(LIKE_GROVE) as here:
        await here.apply(pod_clique_set("p", clique("a", 2, 1), impossible("bad"), labels=QUEUE))
        assert (await clique_of(here, "p-0-a")).status.replicas == 0
        await here.client.patch(POD_CLIQUE, "p-0-a", NAMESPACE, {"spec": {"replicas": 1}})
        await here.settles()
        assert (await clique_of(here, "p-0-a")).status.replicas == 1
        assert [pod.spec.scheduling_gates for pod in await here.pods("p-0-a")] == [()]


@pytest.mark.parametrize(("settings", "breached"), [(OperatorSettings(), "True"), (LIKE_GROVE, "False")])
async def test_a_member_that_failed_at_once_breaks_its_groups_minimum_but_not_in_groves_manner(
    settings: OperatorSettings, breached: str
) -> None:
    async with operator_world(settings) as here:
        await here.apply(pod_clique_set("p", impossible("bad"), groups=[group("g", ["bad"])], labels=QUEUE))
        assert (await clique_of(here, "p-0-g-0-bad")).status.conditions == ()
        found = condition(
            (await here.client.get(SCALING_GROUP, "p-0-g", NAMESPACE)).status.conditions, "MinAvailableBreached"
        )
        assert found is not None and found.status == breached


@pytest.mark.parametrize(
    ("settings", "left"), [(OperatorSettings(), []), (LIKE_GROVE, ["ERR_SYNC_PCLQ_RESOURCE_CLAIM"])]
)
async def test_an_error_that_is_over_is_cleared_but_in_groves_manner_stays_until_the_next(
    settings: OperatorSettings, left: list[str]
) -> None:
    shared = clique("a") | {"resourceSharing": [{"name": "late", "scope": "AllReplicas"}]}
    requests = {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}
    async with operator_world(settings) as here:
        await here.apply(pod_clique_set("p", shared, labels=QUEUE))
        assert [error.code for error in (await clique_of(here, "p-0-a")).status.last_errors] == [
            "ERR_SYNC_PCLQ_RESOURCE_CLAIM"
        ]
        template = {"metadata": {"name": "late", "namespace": NAMESPACE}, "spec": {"spec": {"devices": requests}}}
        await here.client.create(RESOURCE_CLAIM_TEMPLATE, template)
        await here.settles()
        assert len(await here.pods("p-0-a")) == 1
        assert [error.code for error in (await clique_of(here, "p-0-a")).status.last_errors] == left


@pytest.mark.parametrize(("settings", "heard"), [(OperatorSettings(), True), (LIKE_GROVE, False)])
async def test_a_new_label_of_a_set_reaches_its_gang_at_once_and_in_groves_manner_with_the_next_trigger(
    settings: OperatorSettings, heard: bool
) -> None:
    async with operator_world(settings) as here:
        await here.apply(pod_clique_set("p", clique("a"), labels=QUEUE))
        await here.client.patch(POD_CLIQUE_SET, "p", NAMESPACE, {"metadata": {"labels": {"team": "red"}}})
        await here.settles()
        assert ("team" in (await here.gang("p-0")).labels) == heard
        await here.client.patch(
            POD_CLIQUE_SET, "p", NAMESPACE, {"metadata": {"annotations": {"grove.io/reconcile-trigger": "1"}}}
        )
        await here.settles()
        assert (await here.client.get(POD_GANG, "p-0", NAMESPACE)).labels["team"] == "red"


@pytest.mark.parametrize(("settings", "noted"), [(OperatorSettings(), True), (LIKE_GROVE, False)])
async def test_a_strategy_that_is_switched_reaches_groups_at_once_and_in_groves_manner_with_the_next_update(
    settings: OperatorSettings, noted: bool
) -> None:
    async with operator_world(settings) as here:
        await here.apply(pod_clique_set("p", clique("a"), groups=[group("g", ["a"])], labels=QUEUE))
        await here.client.patch(POD_CLIQUE_SET, "p", NAMESPACE, {"spec": {"updateStrategy": {"type": "OnDelete"}}})
        await here.settles()
        progress = (await here.client.get(SCALING_GROUP, "p-0-g", NAMESPACE)).status.update_progress
        assert (progress is not None) == noted
        await here.client.patch(POD_CLIQUE_SET, "p", NAMESPACE, {"spec": {"template": {"priorityClassName": "high"}}})
        await here.settles()
        assert (await here.client.get(SCALING_GROUP, "p-0-g", NAMESPACE)).status.update_progress is not None


async def test_cliques_of_a_group_whose_turn_has_not_come_stay_with_their_template_in_groves_manner() -> None:
    async with operator_world(LIKE_GROVE) as here:
        cliques = clique("a"), clique("b"), clique("c")
        await here.apply(pod_clique_set("p", *cliques, groups=[group("g", ["b", "c"])], labels=QUEUE, replicas=2))
        before = (await clique_of(here, "p-1-g-0-b")).status.current_pod_clique_set_generation_hash
        body = [{"op": "add", "path": "/spec/template/cliques/2/labels", "value": {"tier": "new"}}]
        await here.client.patch(POD_CLIQUE_SET, "p", NAMESPACE, body, content_type="application/json-patch+json")
        await here.settles()
        after = (await here.the_set("p")).status.current_generation_hash
        assert (
            before != after
            and (await clique_of(here, "p-1-g-0-b")).status.current_pod_clique_set_generation_hash == before
        )


@pytest.mark.parametrize(
    ("on_set", "on_first", "on_second", "fine"),
    [
        ("", "", "", True),
        ("team-a", "", "team-a", True),
        ("", "team-a", "team-a", True),
        (" team-a ", "", "", True),
        ("", "team-a", "", False),
        ("team-a", "team-b", "", False),
    ],
)
def test_a_clique_that_names_no_volcano_queue_goes_to_the_sets_or_to_the_default_one(
    on_set: str, on_first: str, on_second: str, fine: bool
) -> None:
    key = "scheduling.grove.io/volcano-queue"
    cliques = [
        clique(name, scheduler="volcano") | ({"annotations": {key: queue}} if queue else {})
        for name, queue in (("a", on_first), ("b", on_second))
    ]
    pcs = msgspec.convert(pod_clique_set("p", *cliques, annotations={key: on_set} if on_set else {}), PodCliqueSet)
    told = [problem.message for problem in VolcanoBackend().check(pcs, Facts())]
    assert fine == (told == []), told
