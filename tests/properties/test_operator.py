"""What must hold for every set and every history: random sets, random sizes, failures and updates, on an operator alone
with its server.

The test plays scheduler and kubelet. A model of a few numbers says what must be there in the end, whatever happened on
the way."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import POD, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, SCALING_GROUP, Kind
from gangline.api.meta import Raw, condition
from gangline.client.wire import JSON_PATCH
from gangline.runtime import key_of
from operator_world import NAMESPACE, OperatorWorld, clique, group, operator_world, pod_clique_set, running
from properties.examples import examples

ROUNDS = 200
"""More than any history needs; a set that moves for longer never converges."""
IMAGE = "/spec/template/cliques/{}/spec/podSpec/containers/0/image"
OWNERS: tuple[Kind[Any], ...] = (POD_CLIQUE_SET, POD_CLIQUE, SCALING_GROUP, POD_GANG)


@dataclass
class Model:
    """What the set asks for: its replicas, and the sizes that were changed in replica 0."""

    replicas: int
    a: tuple[int, int]
    b: tuple[int, int]
    group: tuple[int, int]
    strategy: str
    a0: int = 0
    group0: int = 0

    def __post_init__(self) -> None:
        self.a0, self.group0 = self.a[0], self.group[0]

    def manifest(self) -> Raw:
        return pod_clique_set(
            "w",
            clique("a", *self.a),
            clique("b", *self.b),
            replicas=self.replicas,
            strategy=self.strategy,
            groups=[group("g", ["b"], *self.group)],
        )

    def pods(self) -> Counter[str]:
        """Clique → pods."""
        found: Counter[str] = Counter()
        for replica in range(self.replicas):
            found[f"w-{replica}-a"] = self.a0 if replica == 0 else self.a[0]
            for index in range(self.group0 if replica == 0 else self.group[0]):
                found[f"w-{replica}-g-{index}-b"] = self.b[0]
        return found


def sizes(most: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.integers(1, most).flatmap(lambda size: st.tuples(st.just(size), st.integers(1, size)))


MODELS = st.builds(
    Model,
    replicas=st.integers(1, 2),
    a=sizes(3),
    b=sizes(2),
    group=sizes(3),
    strategy=st.sampled_from(["", "OnDelete"]),
)
HISTORIES = st.lists(
    st.tuples(st.sampled_from(["set", "group", "clique", "image", "kill", "fail", "run"]), st.integers(0, 9)),
    max_size=6,
)


async def happen(here: OperatorWorld, model: Model, what: str, number: int) -> None:
    match what:
        case "set":
            model.replicas = 1 + number % 3
            await here.client.patch(POD_CLIQUE_SET, "w", NAMESPACE, {"spec": {"replicas": model.replicas}})
        case "group":
            model.group0 = model.group[1] + number % 3
            await here.client.patch(SCALING_GROUP, "w-0-g", NAMESPACE, {"spec": {"replicas": model.group0}})
        case "clique":
            model.a0 = model.a[1] + number % 3
            await here.client.patch(POD_CLIQUE, "w-0-a", NAMESPACE, {"spec": {"replicas": model.a0}})
        case "image":
            change = [{"op": "replace", "path": IMAGE.format(number % 2), "value": f"registry.example/app:{number}"}]
            await here.client.patch(POD_CLIQUE_SET, "w", NAMESPACE, change, content_type=JSON_PATCH)
        case "run":
            await play(here)
        case _:
            await hurt(here, what, number)
    await here.settles()


async def hurt(here: OperatorWorld, what: str, number: int) -> None:
    pods = await here.pods()
    if not pods:
        return
    pod = pods[number % len(pods)]
    if what == "kill":
        await here.client.delete(POD, pod.name, NAMESPACE, grace=0)
    elif pod.spec.node_name:
        await here.client.patch(POD, pod.name, NAMESPACE, {"status": running(ready=False)}, subresource="status")


async def play(here: OperatorWorld) -> bool:
    """One round of scheduler and kubelet; False where nothing was left to do."""
    pods = await here.pods()
    leaving = [pod for pod in pods if pod.metadata.deleting]
    waiting = [pod for pod in pods if not pod.metadata.deleting and not pod.spec.scheduling_gates and not is_ready(pod)]
    for pod in leaving:
        await here.client.delete(POD, pod.name, NAMESPACE, grace=0)
    await here.run(*waiting)
    return bool(leaving or waiting)


def is_ready(pod: Pod) -> bool:
    found = condition(pod.status.conditions, "Ready")
    return found is not None and found.status == "True"


async def converge(here: OperatorWorld) -> None:
    for _ in range(ROUNDS):
        if not await play(here):
            return
    raise AssertionError(f"still moving after {ROUNDS} rounds")


async def reconcile_all(here: OperatorWorld) -> None:
    for item in here.manager.running:
        for kind in OWNERS:
            if item.controller.watches[0].kind is kind:
                for obj in here.manager.cache.list(kind):
                    item.queue.add(key_of(obj))
    await here.settles()


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(MODELS, HISTORIES)
def test_a_set_converges_to_what_it_asks_for_whatever_happened(model: Model, history: list[tuple[str, int]]) -> None:
    asyncio.run(_tell(model, history))


async def _tell(model: Model, history: list[tuple[str, int]]) -> None:
    async with operator_world() as here:
        await here.apply(model.manifest())
        for what, number in history:
            await happen(here, model, what, number)
        await converge(here)
        pods = await here.pods()
        assert Counter(pod.labels[names.POD_CLIQUE] for pod in pods) == model.pods()
        assert all(is_ready(pod) for pod in pods)
        _named_well(pods)
        await _each_in_one_gang(here, pods)
        await _updated(here, model, pods)
        before = here.server.revision
        await reconcile_all(here)
        assert here.server.revision == before


def _named_well(pods: list[Pod]) -> None:
    hostnames = [pod.spec.hostname for pod in pods]
    assert len(set(hostnames)) == len(hostnames) and all(len(pod.name) <= 63 for pod in pods)


async def _each_in_one_gang(here: OperatorWorld, pods: list[Pod]) -> None:
    listed = Counter(
        reference.name
        for gang in await here.every(POD_GANG)
        for podgroup in gang.spec.podgroups
        for reference in podgroup.pod_references
    )
    assert listed == Counter(pod.name for pod in pods)


async def _updated(here: OperatorWorld, model: Model, pods: list[Pod]) -> None:
    """A rolling update has ended, and no pod of an old template is left."""
    found = await here.the_set("w")
    progress = found.status.update_progress
    assert progress is None or progress.get("updateEndedAt")
    if not model.strategy:
        images = {
            template.name: template.spec.pod_spec["containers"][0]["image"] for template in found.spec.template.cliques
        }
        assert all(
            pod.spec.containers[0].image == images[pod.labels[names.POD_CLIQUE].rpartition("-")[2]] for pod in pods
        )
