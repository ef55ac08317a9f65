"""Whatever happens to a set, it comes to rest as the plan computed from scratch, and nothing is written after that."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangline.api import names
from gangline.api.kinds import POD, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, SCALING_GROUP
from gangline.api.meta import Raw
from gangline.operator.component import component
from gangline.operator.desired.layout import gang_places, group_places, standalone_places
from gangline.rules.sets import OperatorSettings
from gangline.runtime import key_of
from operator_world import NAMESPACE, OperatorWorld, clique, group, operator_world, pod_clique_set
from properties.examples import examples

SIZES = st.tuples(st.integers(1, 3), st.integers(1, 3)).map(lambda pair: (max(pair), min(pair)))
"""Replicas and minimum."""
FREE_SIZES = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(lambda pair: (max(pair), min(pair)))
"""The same, and possibly nothing: for all but the first clique, which keeps the gang's minimum."""
WISHES = st.sampled_from([{}, {"gangline.io/max-unavailable": "2"}, {"gangline.io/max-unavailable": "50%"}])
DEEDS = st.sampled_from(["set", "group", "clique", "lose", "run", "image", "restart"])


@st.composite
def sets(draw: Any) -> Raw:
    count = draw(st.integers(1, 3))
    cliques = [
        clique(name, *draw(FREE_SIZES if index else SIZES), scheduler="") for index, name in enumerate("abc"[:count])
    ]
    scheduler = draw(st.sampled_from(["kai-scheduler", "default-scheduler"]))
    for item in cliques:
        item["spec"]["podSpec"]["schedulerName"] = scheduler
    members = [item["name"] for item in cliques[1:]]
    groups = [group("g", members, *draw(FREE_SIZES))] if members and draw(st.booleans()) else []
    if groups and not any(item["spec"]["minAvailable"] for item in cliques[1:]):
        cliques[1]["spec"] |= {"replicas": 2, "minAvailable": 1}
    return pod_clique_set(
        "p",
        *cliques,
        replicas=draw(st.integers(1, 2)),
        groups=groups,
        annotations=draw(WISHES),
        strategy=draw(st.sampled_from(["", "OnDelete"])),
    )


@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(sets(), st.lists(st.tuples(DEEDS, st.integers(0, 3)), max_size=5))
def test_a_set_converges_to_its_plan(pcs: Raw, deeds: list[tuple[str, int]]) -> None:
    asyncio.run(story(pcs, deeds))


async def story(pcs: Raw, deeds: list[tuple[str, int]]) -> None:
    async with operator_world() as here:
        await here.apply(pcs)
        for deed, number in deeds:
            await act(here, deed, number)
            await here.settles()
        await kubelet(here)
        await as_planned(here)
        await quiet(here)


async def act(here: OperatorWorld, deed: str, number: int) -> None:
    match deed:
        case "set":
            await here.client.patch(POD_CLIQUE_SET, "p", NAMESPACE, {"spec": {"replicas": number}})
        case "group":
            for item in await here.every(SCALING_GROUP):
                least = item.spec.min_available or 1
                await here.client.patch(SCALING_GROUP, item.name, NAMESPACE, {"spec": {"replicas": max(number, least)}})
        case "clique":
            for item in (await here.every(POD_CLIQUE))[:1]:
                least = (
                    item.spec.min_available or 1
                )  # below it the gang can never run: tests/operator/test_operator_sizes.py
                await here.client.patch(
                    POD_CLIQUE, item.name, NAMESPACE, {"spec": {"replicas": max(number + 1, least)}}
                )
        case "lose":
            for pod in (await here.pods())[:number]:
                await here.client.delete(POD, pod.name, NAMESPACE, grace=0)
        case "run":
            await here.run(
                *[pod for pod in await here.pods() if not pod.spec.scheduling_gates and not pod.metadata.deleting]
            )
        case "image":
            cliques = (await here.client.get_raw(POD_CLIQUE_SET, "p", NAMESPACE))["spec"]["template"]["cliques"]
            cliques[number % len(cliques)]["labels"] = {"version": str(number)}
            await here.client.patch(POD_CLIQUE_SET, "p", NAMESPACE, {"spec": {"template": {"cliques": cliques}}})
        case "restart":
            await here.start(component(OperatorSettings()), here.manager.context.client.transport)


async def kubelet(here: OperatorWorld) -> None:
    """Everything that may run does, until nothing changes any more."""
    before = -1
    while before != here.server.revision:
        before = here.server.revision
        for pod in await here.pods():
            if pod.metadata.deleting:
                await here.client.delete(POD, pod.name, NAMESPACE, grace=0)
        await here.settles()
        waiting = [
            pod
            for pod in await here.pods()
            if not pod.spec.scheduling_gates
            and not pod.metadata.deleting
            and not any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions)
        ]
        await here.run(*waiting)


async def as_planned(here: OperatorWorld) -> None:
    pcs = await here.the_set("p")
    sizes = {item.name: item.spec.replicas for item in await here.every(SCALING_GROUP)}
    wanted = {place.name for replica in range(pcs.spec.replicas) for place in standalone_places(pcs, replica)}
    for replica in range(pcs.spec.replicas):
        for config in pcs.spec.template.pod_clique_scaling_groups:
            for index in range(sizes[names.scaling_group("p", replica, config.name)]):
                wanted |= {place.name for place in group_places(pcs, replica, config, index)}
    cliques = {item.name: item for item in await here.every(POD_CLIQUE)}
    assert set(cliques) == wanted
    gangs = await here.every(POD_GANG)
    assert {gang.name for gang in gangs} == {place.name for place in gang_places(pcs, sizes)}
    pods = await here.pods()
    for name, live in cliques.items():
        mine = [pod for pod in pods if pod.labels[names.POD_CLIQUE] == name]
        assert len({pod.spec.hostname for pod in mine}) == len(mine) == live.spec.replicas
        assert live.status.ready_replicas == live.status.replicas == live.spec.replicas
    listed = [reference.name for gang in gangs for entry in gang.spec.podgroups for reference in entry.pod_references]
    assert sorted(listed) == sorted(pod.name for pod in pods)
    assert all(len(pod.name) <= 63 for pod in pods)
    assert pcs.status.available_replicas == pcs.spec.replicas
    assert all(gang.status.phase == "Running" for gang in gangs)


async def quiet(here: OperatorWorld) -> None:
    before = here.server.revision
    for running in here.manager.running:
        kind = running.controller.watches[0].kind
        for obj in here.manager.cache.list(kind):
            running.queue.add(key_of(obj))
    await here.settles()
    assert here.server.revision == before
