"""How fast the simulated world lives: pods from creation to running and ready, and from deletion to gone. One JSON line
each.

    python bench/world.py [--pods N] [--nodes N] [--profile]

Everything in one process: the embedded server, the default scheduler, the kubelet; then the same with every controller
beside them."""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import pstats
import time
from collections.abc import Awaitable, Callable

from gangline.api.kinds import POD
from gangline.client import Client, User
from gangline.cluster.server.server import Server, ServerSettings
from gangline.cluster.world.component import PARTS, components
from gangline.cluster.world.nodes.nodes import NodePool
from gangline.cluster.world.settings import WorldSettings
from gangline.runtime import Manager

IN_FLIGHT = 50
ADMIN = User("admin", ("system:masters",))
LEAN = frozenset(PARTS) - {"nodes", "heart", "kubelet", "scheduler", "lifecycle"}


async def live(name: str, pods: int, nodes: int, off: frozenset[str]) -> None:
    """One scenario: pods come, run, and go."""
    server = Server(ServerSettings())
    await server.open()
    settings = WorldSettings(nodes=(NodePool(name="n", count=nodes, gpus=8, pods=10_000),), off=off)
    managers = [
        Manager(component, Client(server.transport(ADMIN), component.name)) for component in components(settings)
    ]
    client = Client(server.transport(ADMIN), "bench")
    for manager in managers:
        await manager.start()
    kubelet = managers[0]
    await _until(lambda: all(manager.idle for manager in managers))
    revision, started = server.revision, time.perf_counter()
    await _each(pods, lambda number: _create(client, number))
    await _until(lambda: sum(pod.status.phase == "Running" for pod in kubelet.cache.list(POD)) == pods)
    running = time.perf_counter() - started
    writes, started = server.revision - revision, time.perf_counter()
    await _each(pods, lambda number: client.delete(POD, f"p{number}", "default"))
    await _until(lambda: not kubelet.cache.list(POD))
    gone = time.perf_counter() - started
    print(
        json.dumps(
            {
                "bench": "world",
                "scenario": name,
                "pods": pods,
                "nodes": nodes,
                "running_s": round(running, 2),
                "running_per_s": round(pods / running),
                "writes_per_pod": round(writes / pods, 1),
                "gone_s": round(gone, 2),
                "gone_per_s": round(pods / gone),
            }
        ),
        flush=True,
    )
    for manager in managers:
        await manager.stop()
    await server.close()


async def _create(client: Client, number: int) -> None:
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": "1m"}}}
    await client.create(
        POD,
        {
            "metadata": {"name": f"p{number}", "namespace": "default", "labels": {"app": "bench"}},
            "spec": {"containers": [container]},
        },
    )


async def _each(count: int, do: Callable[[int], Awaitable[None]]) -> None:
    for start in range(0, count, IN_FLIGHT):
        await asyncio.gather(*(do(number) for number in range(start, min(start + IN_FLIGHT, count))))


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def both(options: argparse.Namespace) -> None:
    await live("scheduler and kubelet", options.pods, options.nodes, LEAN)
    await live("every controller", options.pods, options.nodes, frozenset())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=2000)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    profile = cProfile.Profile() if options.profile else None
    if profile:
        profile.enable()
    asyncio.run(both(options))
    if profile:
        profile.disable()
        pstats.Stats(profile).sort_stats("tottime").print_stats(40)


if __name__ == "__main__":
    main()
