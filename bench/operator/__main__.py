"""Numbers of the workload half, one JSON line per scenario.

    python bench/operator [--only TEXT] [--scale F] [--profile]

The operator works on the embedded server in the same process, with simulated nodes and the minimal default scheduler
where pods must run. Every line has the seconds of its phases, processor seconds of the whole process (also per phase:
on a busy machine they say more than the clock), API writes of the operator per pod, and memory. `apart` runs the
operator as a process of its own, so that its memory and its processor time can be told from the server's. A folder,
because a file `operator.py` would stand before the standard library's."""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from gangline.api.core import Pod
from gangline.api.kinds import POD, POD_CLIQUE_SET
from gangline.api.meta import Raw
from gangline.client import Client, Request, Response, Transport
from gangline.components import build
from gangline.components.options import ComponentOptions
from gangline.local import Platform, PlatformSettings, account, write_kubeconfig
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
    pod_spec: Raw = {
        "containers": [{"name": "main", "image": "registry.example/app:1", "resources": {"requests": {"cpu": "10m"}}}]
    }
    if scheduler:
        pod_spec["schedulerName"] = scheduler
    clique = {
        "name": "worker",
        "spec": {"roleName": "worker", "replicas": pods, "minAvailable": pods, "podSpec": pod_spec},
    }
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"replicas": replicas, "template": {"cliques": [clique]}},
    }


def is_ready(pod: Pod) -> bool:
    return any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions)


async def until(what: Callable[[], bool], patience: float = PATIENCE) -> float:
    started = time.monotonic()
    while not what():
        if time.monotonic() - started > patience:
            raise TimeoutError(f"not done after {patience} s")
        await asyncio.sleep(0.005)
    return round(time.monotonic() - started, 3)


class Bench:
    """A platform whose operator is counted."""

    def __init__(self, world: bool) -> None:
        self.platform = Platform(
            PlatformSettings(
                components=WORLD if world else ("controller-manager",),
                options=ComponentOptions(period=0.05, nodes=NODES),
            )
        )
        self.counts: Counter[str] = Counter()
        self.operator: Manager | None = None

    async def __aenter__(self) -> Bench:
        await self.platform.start()
        transport = Counting(self.platform.server.transport(account("operator")), self.counts)
        self.operator = Manager(build("operator", ComponentOptions()), Client(transport, manager="gangline-operator"))
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

    async def phase(self, name: str, what: Callable[[], bool]) -> Raw:
        """Seconds by the clock and of the processor until something is so."""
        before = time.process_time()
        return {name: await until(what), f"{name}_cpu": round(time.process_time() - before, 3)}

    def ungated(self, count: int) -> bool:
        pods = self.pods()
        return len(pods) == count and not any(pod.spec.scheduling_gates for pod in pods)

    def ready(self, count: int) -> bool:
        pods = self.pods()
        return len(pods) == count and all(is_ready(pod) for pod in pods)

    def available(self, count: int) -> bool:
        assert self.operator is not None
        return any(pcs.status.available_replicas == count for pcs in self.operator.cache.list(POD_CLIQUE_SET))

    async def no_op(self) -> Raw:
        """One look at the whole set when nothing changed."""
        assert self.operator is not None
        [running] = [item for item in self.operator.running if item.controller.name == "podcliqueset"]
        for pcs in self.operator.cache.list(POD_CLIQUE_SET):
            running.queue.add(key_of(pcs))
        return await self.phase("no_op", lambda: running.idle)


async def small(scale: float) -> Raw:
    async with Bench(world=False) as bench:
        await bench.make(a_set("s", 1, 10, "kai-scheduler"))
        return await bench.phase("gates_gone", lambda: bench.ungated(10)) | {"pods": 10, "writes": bench.counts.total()}


async def wide(scale: float) -> Raw:
    replicas = int(250 * scale)
    async with Bench(world=False) as bench:
        await bench.make(a_set("w", replicas, 2, "kai-scheduler"))
        found = await bench.phase("gates_gone", lambda: bench.ungated(2 * replicas))
        return found | {"pods": 2 * replicas, "writes": bench.counts.total()}


async def thousand(scale: float) -> Raw:
    replicas = int(500 * scale)
    async with Bench(world=True) as bench:
        await bench.make(a_set("t", replicas, 2))
        found: Raw = {"pods": 2 * replicas} | await bench.phase("all_ready", lambda: bench.ready(2 * replicas))
        found |= await bench.phase("set_available", lambda: bench.available(replicas))
        found["writes"] = bench.counts.total()
        await asyncio.sleep(1)
        before = bench.counts.total()
        found |= await bench.no_op() | {"no_op_writes": bench.counts.total() - before}
        await bench.scale("t", 0)
        found |= await bench.phase("down_to_zero", lambda: not bench.pods())
        await bench.scale("t", replicas)
        return found | await bench.phase("up_from_zero", lambda: bench.ready(2 * replicas))


class Apart:
    """The operator as `gangline run operator` starts it, seen from outside."""

    def __init__(self, kubeconfig: Path) -> None:
        command = [str(Path(sys.executable).with_name("gangline")), "run", "operator", "--kubeconfig", str(kubeconfig)]
        self._process = subprocess.Popen(command)

    def cpu(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return round((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), 2)

    def mib(self, what: str) -> int:
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) // 1024 for line in lines if line.startswith(what))

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


async def apart(scale: float) -> Raw:
    """10,000 pods of one set with their gates gone, by an operator in a process of its own."""
    replicas = int(5000 * scale)
    platform = Platform(PlatformSettings(components=("controller-manager",), options=ComponentOptions(nodes=NODES)))
    with tempfile.TemporaryDirectory() as folder:
        await platform.start()
        operator = Apart(write_kubeconfig(platform, await platform.listen("127.0.0.1", 0), Path(folder) / "kubeconfig"))
        try:
            await platform.admin.create(POD_CLIQUE_SET, a_set("m", replicas, 2, "kai-scheduler"))
            found: Raw = {"pods": 2 * replicas, "gates_gone": await _free(platform, 2 * replicas)}
            found |= {
                "operator_cpu": operator.cpu(),
                "operator_mib": operator.mib("VmRSS"),
                "operator_peak_mib": operator.mib("VmHWM"),
            }
            return found
        finally:
            operator.stop()
            await platform.stop()


async def _free(platform: Platform, count: int) -> float:
    started = time.monotonic()
    while True:
        pods = (await platform.admin.list(POD, "default")).items
        if len(pods) == count and not any(pod.spec.scheduling_gates for pod in pods):
            return round(time.monotonic() - started, 1)
        await asyncio.sleep(5)


SCENARIOS: dict[str, Callable[[float], Awaitable[Raw]]] = {
    "small": small,
    "wide": wide,
    "thousand": thousand,
    "apart": apart,
}


def line(name: str, found: dict[str, Any]) -> str:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    writes = {"writes_per_pod": round(found["writes"] / found["pods"], 2)} if found.get("writes") else {}
    return json.dumps({"bench": "operator", "scenario": name, **found, **writes, "process_mib": memory})


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
