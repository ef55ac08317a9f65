"""The placement score of a gang: what it counts, and that the gang carries it while it is placed."""

from __future__ import annotations

import pytest
from prometheus_client import REGISTRY

from gangline.api.kinds import NODE, POD, POD_CLIQUE_SET, TOPOLOGY_BINDING
from gangline.config import manner
from gangline.operator.gangs.placement import score
from gangline.rules.sets import OperatorSettings
from operator_world import NAMESPACE, clique, operator_world, pod, pod_clique_set

ZONE, RACK = "example.com/zone", "example.com/rack"
NODES = {"a": {ZONE: "z", RACK: "r1"}, "b": {ZONE: "z", RACK: "r1"}, "c": {ZONE: "z", RACK: "r2"}, "bare": {}}


@pytest.mark.parametrize(
    ("nodes", "keys", "expected"),
    [
        ("aa", [], 1.0),
        ("ab", [], 0.5),
        ("abc", [], 0.333),
        ("", [ZONE], None),
        (["a", "b"], [ZONE, RACK], 1.0),
        (["a", "c"], [ZONE, RACK], 0.75),
        (["a", "bare"], [ZONE], 0.5),
        (["bare", "gone"], [RACK], 0.5),
    ],
)
def test_the_score_is_the_chance_that_two_pods_share_a_domain(
    nodes: list[str], keys: list[str], expected: float | None
) -> None:
    pods = [pod(index, node=node) for index, node in enumerate(nodes)] + [pod(9), pod(8, node="c", leaving=True)]
    assert score(pods, keys, NODES.get) == expected


async def test_a_gang_carries_its_score_while_it_is_placed() -> None:
    async with operator_world() as here:
        for name, labels in NODES.items():
            await here.client.create(NODE, {"metadata": {"name": name, "labels": labels}})
        levels = [{"domain": "zone", "key": ZONE}, {"domain": "rack", "key": RACK}]
        await here.client.create(TOPOLOGY_BINDING, {"metadata": {"name": "dc"}, "spec": {"levels": levels}})
        await here.apply(
            pod_clique_set(
                "w", clique("a", 2), topologyConstraint={"topologyName": "dc", "pack": {"preferred": "rack"}}
            )
        )
        assert (await here.gang("w-0")).status.placement_score is None
        for one, node in zip(await here.pods(), "ac", strict=True):
            await here.client.bind(one.name, NAMESPACE, node, uid=one.uid)
        await here.run(*await here.pods())
        assert (await here.gang("w-0")).status.placement_score == 0.75
        [summary] = (await here.the_set("w")).status.pod_gang_statuses
        assert summary["phase"] == "Running"
        [first, _] = await here.pods()
        await here.client.delete(POD, first.name, NAMESPACE, grace=0)
        await here.settles()
        assert (await here.gang("w-0")).status.placement_score is None


async def test_in_groves_manner_no_score_is_told() -> None:
    async with operator_world(OperatorSettings(manner=manner(["grove"]))) as here:
        await here.apply(pod_clique_set("w", clique("a", 2), labels={"kai.scheduler/queue": "q"}))
        await here.run(*await here.pods())
        assert (await here.gang("w-0")).status.placement_score is None
        await here.client.delete(POD_CLIQUE_SET, "w", NAMESPACE)


async def test_a_set_tells_of_each_gang_its_phase_and_conditions_and_of_many_only_what_is_wrong() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("few", clique("a"), replicas=2))
        await here.apply(pod_clique_set("many", clique("a"), replicas=21))
        await here.run(*[pod for pod in await here.pods() if pod.name.startswith(("few-0", "many-0"))])
        few, many = (
            (await here.the_set("few")).status.pod_gang_statuses,
            (await here.the_set("many")).status.pod_gang_statuses,
        )
        assert [(item["name"], item["phase"]) for item in few] == [("few-0", "Running"), ("few-1", "Pending")]
        assert [[condition["type"] for condition in gang["conditions"]] for gang in few] == [
            ["Initialized", "Scheduled", "Ready"]
        ] * 2
        told = {gang["name"]: [condition["type"] for condition in gang.get("conditions", [])] for gang in many}
        assert len(told) == 21 and told["many-0"] == [] and told["many-1"] == ["Scheduled"]


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def test_writes_and_their_outcomes_are_counted_by_kind() -> None:
    made = {"kind": "Pod", "verb": "create", "outcome": "done"}
    before = (
        counted("gangline_operator_writes_total", **made),
        counted("gangline_operator_write_seconds_count", verb="create"),
    )
    async with operator_world() as here:
        await here.apply(pod_clique_set("w", clique("a", 3)))
    assert counted("gangline_operator_writes_total", **made) == before[0] + 3
    assert counted("gangline_operator_write_seconds_count", verb="create") > before[1] + 3
