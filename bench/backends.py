"""How fast the backend layer is: choosing a backend, translating a gang, keeping many gangs in step. One JSON line
each.

    python bench/backends.py [--gangs N] [--backend NAME] [--profile]

Choosing and translating are pure; the third scenario runs the podgang controller alone on an embedded server, with
gangs that are there already: first every gang is translated, then a second pass over the same gangs writes nothing."""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import pstats
import time
from collections.abc import Callable

import msgspec

from gangline.api import names
from gangline.api.crds import crds
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import (
    COMPOSITE_POD_GROUP,
    CRD,
    KUBE_POD_GROUP,
    KUBE_POD_GROUP_V1ALPHA2,
    POD_CLIQUE_SET,
    POD_GANG,
    WORKLOAD,
    WORKLOAD_V1BETA1,
)
from gangline.api.meta import Raw
from gangline.client import Client, User
from gangline.cluster.server.server import Server, ServerSettings
from gangline.operator.backends import Registry
from gangline.operator.backends.contract import Backend, Facts, GroupInfo, PodGangInfo
from gangline.operator.component import backend_component
from gangline.operator.desired.gangs import pod_gang
from gangline.operator.desired.layout import base_gang
from gangline.rules.sets import OperatorSettings
from gangline.runtime import Key, Manager

ADMIN = User("admin", ("system:masters",))
GROUPS = 8
GENERATIONS = {
    "1.35": Facts(frozenset([WORKLOAD]), known=True),
    "1.36": Facts(frozenset([KUBE_POD_GROUP_V1ALPHA2]), known=True),
    "1.37": Facts(frozenset([KUBE_POD_GROUP, WORKLOAD_V1BETA1, COMPOSITE_POD_GROUP]), known=True),
}
OBJECTLESS = ("yunikorn", "kueue", "passthrough")


def a_set(name: str, backend: str = "", groups: int = GROUPS) -> Raw:
    pod = {
        "containers": [{"name": "main", "image": "app", "resources": {"requests": {"cpu": "8", "nvidia.com/gpu": "1"}}}]
    }
    cliques = [
        {"name": f"c{number}", "spec": {"roleName": "r", "replicas": 4, "minAvailable": 2 + number % 2, "podSpec": pod}}
        for number in range(groups)
    ]
    meta = {
        "name": name,
        "namespace": "default",
        "labels": {"kueue.x-k8s.io/queue-name": "q"},
        "annotations": {},
        "uid": name,
        "generation": 1,
    }
    if backend:
        meta["annotations"] = {names.SCHEDULER_BACKEND: backend}
    return {"metadata": meta, "spec": {"replicas": 1, "template": {"cliques": cliques}}}


def typed(raw: Raw) -> PodCliqueSet:
    return msgspec.convert(raw, PodCliqueSet)


def rate(call: Callable[[], object], seconds: float = 0.5) -> float:
    """Microseconds of this process per call, the best of three."""
    best = float("inf")
    for _ in range(3):
        count, started = 0, time.process_time()
        while time.process_time() - started < seconds / 3:
            for _ in range(100):
                call()
            count += 100
        best = min(best, (time.process_time() - started) / count)
    return best * 1e6


def tell(scenario: str, **figures: object) -> None:
    print(json.dumps({"bench": "backends", "scenario": scenario, **figures}), flush=True)


def choose() -> None:
    registry = Registry(OperatorSettings())
    pcs = typed(a_set("p"))
    registry.for_set(pcs)
    cached = rate(lambda: registry.for_set(pcs))
    nameless = typed(a_set("p") | {"metadata": {"name": "p", "namespace": "default"}})
    tell(
        "selection",
        cached_us=round(cached, 2),
        fresh_us=round(rate(lambda: registry.for_set(nameless)), 2),
        target_cached_us=2,
    )


def translate() -> None:
    pcs = typed(a_set("p"))
    groups = tuple(
        GroupInfo(f"p-0-{clique.name}", clique.spec.min_available or 0, template=clique)
        for clique in pcs.spec.template.cliques
    )
    for backend in Registry(OperatorSettings()):
        for generation, facts in GENERATIONS.items() if backend.name == "default" else (("", Facts()),):
            gang = PodGangInfo("p-0", "default", "u", groups, labels=pcs.labels, annotations={}, pcs=pcs, facts=facts)
            translate_one(backend, generation, gang)


def translate_one(backend: Backend, generation: str, gang: PodGangInfo) -> None:
    pod = {"metadata": {"labels": {names.POD_CLIQUE: "p-0-c0", names.POD_INDEX: "0"}}, "spec": {}}
    tell(
        "translation",
        backend=backend.name,
        generation=generation,
        groups=GROUPS,
        gang_us=round(rate(lambda: list(backend.gang_objects(gang, gang.facts))), 1),
        pod_us=round(rate(lambda: backend.prepare_pod(pod, gang)), 1),
        target_gang_us=100,
    )


class Watch:
    """Seconds on the wall and of this process: on a busy machine the second says more."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        return round(time.perf_counter() - self._wall, 2), round(time.process_time() - self._cpu, 2)


async def sync(backend: str, gangs: int) -> None:
    """Every gang translated; then looked at again without a write."""
    server = Server(ServerSettings())
    await server.open()
    client = Client(server.transport(ADMIN), "bench")
    for crd in crds():
        await client.create(CRD, crd)
    pcs = a_set("p", backend, groups=2)
    pcs["spec"]["replicas"] = gangs
    made = await client.create(POD_CLIQUE_SET, pcs)
    chosen = Registry(OperatorSettings()).for_set(made).chosen
    for number in range(gangs):
        await client.create(POD_GANG, pod_gang(made, base_gang(made, number), lambda name: (), chosen, None))
    manager = Manager(backend_component(OperatorSettings(), backend), Client(server.transport(ADMIN), "gangline"))
    [kind] = [kind for item in Registry(OperatorSettings(backends=(backend,))) for kind in item.writes][:1]
    before, watch = server.revision, Watch()
    await manager.start()
    await _until(lambda: manager.idle and len(manager.cache.list(kind)) == gangs)
    first, writes = watch.read(), server.revision - before
    [running] = manager.running
    before, watch = server.revision, Watch()
    for number in range(gangs):
        running.queue.add(Key("default", f"p-{number}"))
    await _until(lambda: manager.idle)
    second = watch.read()
    tell(
        "sync",
        backend=backend,
        gangs=gangs,
        first_s=first[0],
        first_cpu_s=first[1],
        writes_per_gang=round(writes / gangs, 2),
        second_s=second[0],
        second_cpu_s=second[1],
        second_writes=server.revision - before,
        target_first_s=5,
        target_second_s=0.5,
    )
    await manager.stop()
    await server.close()


async def _until(done: Callable[[], bool]) -> None:
    while not done():  # noqa: ASYNC110
        await asyncio.sleep(0.001)


def main() -> None:
    parser = argparse.ArgumentParser(description="The backend layer: one JSON line per scenario.")
    parser.add_argument("--gangs", type=int, default=2000)
    parser.add_argument("--backend", default="kai", help="which backend keeps the gangs in step")
    parser.add_argument("--profile", action="store_true", help="print where the time of the synchronisation goes")
    given = parser.parse_args()
    if given.backend in OBJECTLESS:
        parser.error(f"{given.backend} writes no objects")
    choose()
    translate()
    profile = cProfile.Profile()
    if given.profile:
        profile.enable()
    asyncio.run(sync(given.backend, given.gangs))
    if given.profile:
        profile.disable()
        pstats.Stats(profile).sort_stats("cumulative").print_stats(35)


if __name__ == "__main__":
    main()
