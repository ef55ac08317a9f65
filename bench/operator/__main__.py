"""Numbers of the workload half, one JSON line per scenario.

    python bench/operator [--only TEXT] [--scale F] [--profile]

The operator works on the embedded server in the same process, with simulated nodes and the minimal default scheduler
where pods must run. Every line has the seconds of its phases, processor seconds of the whole process, API writes of the
operator per pod, and memory. A folder, because a file `operator.py` would stand before the standard library's.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import pstats
import resource
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from gangline.api.core import Pod
from gangline.api.kinds import POD, POD_CLIQUE_SET
from gangline.api.meta import Raw
from gangline.client import Client, Request, Response, Transport
from gangline.components import Options, build
from gangline.local import Platform, PlatformSettings, account
from gangline.runtime import Manager, key_of

WORLD = ("kubelet", "controller-manager", "default-scheduler")
PATIENCE = 300.0
NODES = "nodes:\n- name: node\n  count: 100\n"


class Counting:
    """A transport that counts the operator's writes."""

    def __init__(self, inner: Transport, counts: Counter[str]) -> None:
        self._inner, self._counts = inner, counts

    async def send(self, request: Request) -> Response:
        if request.method != "GET" and "/events" not in request.path:
            self._counts[request.method] += 1
        return await self._inner.send(request)

    async def close(self) -> None:
        await self._inner.close()


def a_set(name: str, replicas: int, pods: int, scheduler: str = "") -> Raw:
    pod_spec: Raw = {"containers": [{"name": "main", "image": "registry.example/app:1", "resources": {"requests": {"cpu": "10m"}}}]}
    if scheduler:
        pod_spec["schedulerName"] = scheduler
    clique = {"name": "worker", "spec": {"roleName": "worker", "replicas": pods, "minAvailable": pods, "podSpec": pod_spec}}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"replicas": replicas, "template": {"cliques": [clique]}}}


def is_ready(pod: Pod) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)


class Bench:
    """A platform whose operator is counted."""

    def __init__(self, world: bool) -> None:
        self.platform = Platform(PlatformSettings(
            components=WORLD if world else ("controller-manager",), options=Options(period=0.05, nodes=NODES)))
        self.counts: Counter[str] = Counter()
        self.operator: Manager | None = None

    async def __aenter__(self) -> Bench:
        await self.platform.start()
        transport = Counting(self.platform.server.transport(account("operator")), self.counts)
        self.operator = Manager(build("operator", Options()), Client(transport, manager="gangline-operator"))
        await self.operator.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self.operator is not None
        await self.operator.stop()
        await self.platform.stop()

    async def make(self, pcs: Raw) -> None:
        await self.platform.admin.create(POD_CLIQUE_SET, pcs)

    async def scale(self, name: str, replicas: int) -> None:
        await self.platform.admin.patch(POD_CLIQUE_SET, name, "default", {"spec": {"replicas": replicas}})

    def pods(self) -> list[Pod]:
        assert self.operator is not None
        return self.operator.cache.list(POD)

    async def until(self, what: Callable[[], bool]) -> float:
        started = time.monotonic()
        while not what():
            if time.monotonic() - started > PATIENCE:
                raise TimeoutError(f"not done after {PATIENCE} s")
            await asyncio.sleep(0.005)
        return round(time.monotonic() - started, 3)

    def ungated(self, count: int) -> bool:
        pods = self.pods()
        return len(pods) == count and not any(pod.spec.scheduling_gates for pod in pods)

    def ready(self, count: int) -> bool:
        pods = self.pods()
        return len(pods) == count and all(is_ready(pod) for pod in pods)

    def available(self, count: int) -> bool:
        assert self.operator is not None
        return any(pcs.status.available_replicas == count for pcs in self.operator.cache.list(POD_CLIQUE_SET))

    async def no_op(self) -> float:
        """One look at the whole set when nothing changed."""
        assert self.operator is not None
        [running] = [each for each in self.operator.running if each.controller.name == "podcliqueset"]
        for pcs in self.operator.cache.list(POD_CLIQUE_SET):
            running.queue.add(key_of(pcs))
        return await self.until(lambda: running.idle)


async def small(scale: float) -> Raw:
    async with Bench(world=False) as bench:
        await bench.make(a_set("s", 1, 10, "kai-scheduler"))
        return {"gates_gone": await bench.until(lambda: bench.ungated(10)), "pods": 10, "writes": bench.counts.total()}


async def wide(scale: float) -> Raw:
    replicas = int(250 * scale)
    async with Bench(world=False) as bench:
        await bench.make(a_set("w", replicas, 2, "kai-scheduler"))
        return {"gates_gone": await bench.until(lambda: bench.ungated(2 * replicas)), "pods": 2 * replicas, "writes": bench.counts.total()}


async def thousand(scale: float) -> Raw:
    replicas = int(500 * scale)
    async with Bench(world=True) as bench:
        await bench.make(a_set("t", replicas, 2))
        found: Raw = {"pods": 2 * replicas, "all_ready": await bench.until(lambda: bench.ready(2 * replicas))}
        found["set_available"] = await bench.until(lambda: bench.available(replicas))
        found["writes"] = bench.counts.total()
        await asyncio.sleep(1)
        before = bench.counts.total()
        found |= {"no_op": await bench.no_op(), "no_op_writes": bench.counts.total() - before}
        await bench.scale("t", 0)
        found["down_to_zero"] = await bench.until(lambda: not bench.pods())
        await bench.scale("t", replicas)
        found["up_from_zero"] = await bench.until(lambda: bench.ready(2 * replicas))
        return found


SCENARIOS: dict[str, Callable[[float], Awaitable[Raw]]] = {"small": small, "wide": wide, "thousand": thousand}


def line(name: str, found: dict[str, Any]) -> str:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    per_pod = round(found["writes"] / found["pods"], 2)
    return json.dumps({"bench": "operator", "scenario": name, **found, "writes_per_pod": per_pod, "process_mib": memory})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only scenarios whose name has this text")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the large scenarios")
    parser.add_argument("--profile", action="store_true", help="print where the time went")
    arguments = parser.parse_args()
    for name, scenario in SCENARIOS.items():
        if arguments.only in name:
            profile = cProfile.Profile()
            if arguments.profile:
                profile.enable()
            before = time.process_time()
            found: dict[str, object] = asyncio.run(scenario(arguments.scale))  # type: ignore[arg-type]
            print(line(name, found | {"cpu": round(time.process_time() - before, 2)}), flush=True)
            if arguments.profile:
                profile.disable()
                pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(40)


if __name__ == "__main__":
    main()
