"""A cluster switches from Grove's operator to ours while its sets run: no pod restarts."""

from __future__ import annotations

from typing import Any

from gangline.api import names
from gangline.api.kinds import POD, POD_CLIQUE, POD_CLIQUE_SET, SCALING_GROUP, Kind
from gangline.config import manner
from gangline.operator.component import component
from gangline.rules.sets import OperatorSettings
from operator_world import NAMESPACE, OperatorWorld, clique, group, operator_world, pod_clique_set

UPSTREAM = "549d57d7b6769496d7df"
SETTINGS = OperatorSettings(manner=manner(["grove"]))


async def as_upstream_left_it(here: OperatorWorld) -> None:
    """The operator goes, and every hash is one of Grove's own."""
    await here.kill("operator")
    labelled: tuple[Kind[Any], ...] = (POD, POD_CLIQUE)
    for kind in labelled:
        for obj in await here.every(kind):
            await here.client.patch(
                kind, obj.name, NAMESPACE, {"metadata": {"labels": {names.TEMPLATE_HASH: UPSTREAM}}}
            )
    for kind in (POD_CLIQUE, SCALING_GROUP):
        for obj in await here.every(kind):
            fields: dict[str, Any] = {"currentPodCliqueSetGenerationHash": UPSTREAM}
            if kind is POD_CLIQUE:
                fields |= {"currentPodTemplateHash": UPSTREAM}
                if obj.status.update_progress:
                    fields["updateProgress"] = {"podCliqueSetGenerationHash": UPSTREAM, "podTemplateHash": UPSTREAM}
            await here.client.patch(kind, obj.name, NAMESPACE, {"status": fields}, subresource="status")
    await here.client.patch(
        POD_CLIQUE_SET, "llm", NAMESPACE, {"status": {"currentGenerationHash": UPSTREAM}}, subresource="status"
    )


async def ours_comes(here: OperatorWorld) -> None:
    await here.start(component(SETTINGS))
    await here.settles()


async def a_running_set(here: OperatorWorld) -> set[str]:
    await here.apply(
        pod_clique_set(
            "llm",
            clique("a", 2, 1),
            clique("w", 2),
            groups=[group("g", ["w"], 1, 1)],
            labels={"kai.scheduler/queue": "team"},
        )
    )
    await here.run(*[pod for pod in await here.pods() if not pod.spec.scheduling_gates])
    return {pod.uid for pod in await here.pods()}


async def test_a_set_of_upstreams_operator_is_taken_over_and_no_pod_restarts() -> None:
    async with operator_world(SETTINGS) as here:
        before = await a_running_set(here)
        await as_upstream_left_it(here)
        await ours_comes(here)
        assert before == {pod.uid for pod in await here.pods() if not pod.metadata.deleting}
        found = (await here.the_set("llm")).status
        assert found.current_generation_hash != UPSTREAM and found.update_progress is None
        assert (found.available_replicas, found.updated_replicas) == (1, 1)
        assert UPSTREAM not in {pod.labels[names.TEMPLATE_HASH] for pod in await here.pods()}


async def test_a_set_that_was_changed_meanwhile_is_updated() -> None:
    async with operator_world(SETTINGS) as here:
        await a_running_set(here)
        await as_upstream_left_it(here)
        changed = clique("a", 2, 1)
        changed["spec"]["podSpec"]["containers"][0]["image"] = "registry.example/app:2"
        await here.client.patch(
            POD_CLIQUE_SET, "llm", NAMESPACE, {"spec": {"template": {"cliques": [changed, clique("w", 2)]}}}
        )
        await ours_comes(here)
        assert (await here.the_set("llm")).status.update_progress is not None
        assert any(pod.metadata.deleting for pod in await here.pods("llm-0-a"))
