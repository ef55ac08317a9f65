"""Where the league is played: a real control plane with simulated nodes, on which one peer after the other plays one
row after the other, and what is seen of it.

The nodes are simulated in this process, so that their writes and ours can be told from the peer's."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import aiohttp
from bench.league.figures import Timeline, summary, without_leases, writes
from bench.league.peers import BORROWER, HIGH, LENDER, RACK_LABEL, SPACE, TOPOLOGY, Objects, Peer
from bench.league.programs import Running
from bench.league.rows import GPUS, RACK, Row
from bench.parts.counting import Counting
from bench.parts.processes import Beside

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.kinds import EVENT, NAMESPACE, NODE, POD, POD_GROUP, PRIORITY_CLASS, QUEUE, Kind
from gangline.api.kinds import TOPOLOGY as TOPOLOGY_KIND
from gangline.api.meta import Raw
from gangline.client import Client, Request
from gangline.client.kubeconfig import load, transport
from gangline.components.options import ComponentOptions
from gangline.errors import AlreadyExists
from gangline.local import Team
from gangline.runtime import Cache, SystemClock
from real.plane import TOKEN, trust_all
from real.platform import Home
from real.releases import Release

IN_FLIGHT = 64
PATIENCE = 300.0
"""Seconds for what must come about before or after a row."""
REST = 120.0
QUIET = 0.15
"""Processor seconds in one second that count as rest, of a peer's programs together."""
STILL = 4
"""Seconds of rest in a row that are one."""


class Arena(Home):
    """`patience`: seconds that a peer has for a row."""

    def __init__(self, release: Release, nodes: int, peers: Iterable[Peer], patience: float = PATIENCE) -> None:
        super().__init__(release)
        self._patience = patience
        self.plane.scheduler = False
        self.nodes, self._peers = nodes, [peer for peer in peers if peer.release is release]
        self.counts: Counter[str] = Counter()
        self.times = Timeline()
        self._placed: set[str] = set()

    def connect(self, name: str) -> Client:
        return Client(Counting(transport(load(self.plane.kubeconfig), f"gangline-{name}"), self.counts, name), name)

    # --- the ground ---------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        await self.plane.start_server()
        racks = f"topology: {{{RACK_LABEL}: {RACK}}}"
        shape = f"{{name: node, count: {self.nodes}, gpus: {GPUS}, cpu: 128, memory: 1Ti, pods: 110, {racks}}}"
        self.team = Team(self.connect, ComponentOptions(nodes=f"nodes:\n- {shape}\n"), SystemClock())
        self.client = self.team.admin
        await self._furnish()
        await self.team.install()
        self.plane.start_rest()
        await self._populated(self.client)
        await self._common()
        self.cache = Cache(self.client)
        self.cache.informer(POD).on_change(self._pod_changed)
        self.cache.informer(POD_GROUP).on_change(self._group_changed)
        self.cache.informer(NODE)
        await self.cache.start()
        await self.team.start_component("kubelet")
        await self.until(lambda: sum(not node.spec.taints for node in self.cache.list(NODE)) >= self.nodes)
        self._server = [Beside(name, pid) for name, pid in self.plane.processes().items() if "manager" not in name]

    async def _furnish(self) -> None:
        """Kinds and namespaces that third parties take for granted."""
        for peer in self._peers:
            if peer.proof is not None and not peer.missing():
                for name in peer.proof.namespaces:
                    await self._make(NAMESPACE, {"metadata": {"name": name}})
                for kind, obj in peer.proof.installs(0):
                    await self._make(kind, obj)

    async def _common(self) -> None:
        await self._make(NAMESPACE, {"metadata": {"name": SPACE}})
        levels = [{"nodeLabel": RACK_LABEL}]
        await self._make(TOPOLOGY_KIND, {"metadata": {"name": TOPOLOGY}, "spec": {"levels": levels}})
        await self._make(PRIORITY_CLASS, {"metadata": {"name": HIGH}, "value": 1000})
        plenty = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
        whole = self.nodes * GPUS
        for name, quota in (("org", whole), (LENDER, whole / 2), (BORROWER, whole / 2)):
            gpu = {"quota": quota, "limit": -1, "overQuotaWeight": 1}
            spec: Raw = {"resources": {"cpu": plenty, "memory": plenty, "gpu": gpu}}
            spec |= {} if name == "org" else {"parentQueue": "org"}
            await self._make(QUEUE, {"metadata": {"name": name}, "spec": spec})

    async def _make(self, kind: Kind[Any], obj: Raw) -> None:
        with contextlib.suppress(AlreadyExists):
            await self.client.create(kind, obj)

    # --- what is seen -------------------------------------------------------------------------------------------------

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        seen = after or before
        assert seen is not None
        if seen.namespace != SPACE:
            return
        gang, now = seen.name.rpartition("-")[0], time.perf_counter()
        if after is None or after.metadata.deleting:
            self._placed.discard(seen.name)
            self.times.unbound(gang, seen.name)
        elif after.spec.node_name:
            self._placed.add(seen.name)
            self.times.bound(gang, seen.name, now)
        elif any(item.type == "PodScheduled" and item.status == "False" for item in after.status.conditions):
            self.times.told(gang, now)

    def _group_changed(self, before: PodGroup | None, after: PodGroup | None) -> None:
        if after is not None and after.namespace == SPACE and names.VERDICT in after.annotations:
            self.times.told(after.name, time.perf_counter())

    async def until(self, done: Callable[[], bool], seconds: float = PATIENCE) -> bool:
        deadline = time.monotonic() + seconds
        while not done():
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(0.005)
        return True

    async def _writes(self) -> Counter[str]:
        """By anybody but the bench and its simulated nodes."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.get(f"{self.plane.url}/metrics", ssl=trust_all()) as answer,
        ):
            written = writes(await answer.text())
        for what, number in self.counts.items():
            written[what.partition(" ")[2]] -= number
        return written

    async def _minus(self, before: Counter[str]) -> Counter[str]:
        """What was written since."""
        now = Counter(await self._writes())
        now.subtract(before)
        return now

    def _server_seconds(self) -> float:
        return sum(item.seconds() for item in self._server)

    # --- a row --------------------------------------------------------------------------------------------------------

    async def play(self, peer: Peer, row: Row) -> dict[str, Any]:
        running = Running(peer, self.plane.folder, self.plane.kubeconfig)
        try:
            await running.start()
            await self._warm(peer, row)
            await self._stage(peer, row)
            return await self._measured(peer, row, running)
        finally:
            running.stop()
            await self._clean()

    async def _warm(self, peer: Peer, row: Row) -> None:
        """Until the peer binds anything at all: it is up then."""
        await self.client.create(POD, peer.filler(row, "warm-0", 1))
        if not await self.until(lambda: "warm-0" in self._placed, 60):
            raise SystemExit(f"{peer.name} binds nothing: see its log in {self.plane.folder}")
        await self.client.delete(POD, "warm-0", SPACE, grace=0)
        await self.until(lambda: "warm-0" not in self._placed)

    async def _stage(self, peer: Peer, row: Row) -> None:
        """Fillers run; the clock has not started."""
        await self._many([(POD, peer.filler(row, f"filler-{item}", GPUS)) for item in range(row.filler)])
        await self.until(lambda: self._running("filler-") == row.filler)

    def _running(self, family: str) -> int:
        pods = self.cache.list(POD, SPACE)
        return sum(pod.status.phase == "Running" and pod.name.startswith(family) for pod in pods)

    async def _measured(self, peer: Peer, row: Row, running: Running) -> dict[str, Any]:
        await self._rest(running)
        gangs = [f"gang-{number}" for number in range(row.gangs)]
        self.times = Timeline()
        for gang in gangs:
            self.times.expect(gang, row.size)
        server, spent, written = self._server_seconds(), running.seconds(), await self._writes()
        began = time.perf_counter()
        await self._many([item for gang in gangs for item in peer.gang(row, gang)])
        await self._many([(POD, peer.member(row, gang, item)) for gang in gangs for item in range(row.size)])
        await self.until(lambda: bool(self._is_done(row) or running.ended()), self._patience)
        bound, used = self._server_seconds() - server, running.seconds()
        until = Counter({what: number for what, number in (await self._minus(written)).items() if number})
        await self._rest(running)
        end = time.perf_counter()
        written = Counter({what: number for what, number in (await self._minus(written)).items() if number})
        line = {"bench": "league", "row": row.name, "peer": peer.name, "nodes": row.nodes, "pods": row.pods}
        line |= summary(self.times, began, end, row.waits) | {
            "cpu_seconds": round(sum(used.values()) - sum(spent.values()), 2),
            "cpu_by_program": {name: round(used[name] - spent[name], 2) for name in used},
            "server_cpu_seconds": round(bound, 2),
            "at_rest_cpu_seconds": round(sum(running.seconds().values()) - sum(spent.values()), 2),
            "at_rest_server_cpu_seconds": round(self._server_seconds() - server, 2),
            "writes_per_pod": round(sum(written.values()) / row.pods, 2),
            "writes": {what: round(number / row.pods, 2) for what, number in written.most_common(8)},
            "writes_until_bound": {what: round(number / row.pods, 2) for what, number in until.most_common(8)},
            "memory_mib": running.memory(),
            "load": round(os.getloadavg()[0], 1),
        }
        if row.waits:
            line["behind_seconds"] = await self._behind(peer, row)
        return line | ({"ended": running.ended()} if running.ended() else {})

    def _is_done(self, row: Row) -> bool:
        return self.times.told_gangs == row.gangs if row.waits else self.times.whole >= row.fits

    async def _behind(self, peer: Peer, row: Row) -> float | None:
        """How long a single that fits takes while the queue stands."""
        began = time.perf_counter()
        await self.client.create(POD, peer.filler(row, "behind-0", 1))
        done = await self.until(lambda: "behind-0" in self._placed, 60)
        return round(time.perf_counter() - began, 3) if done else None

    async def _many(self, objects: Objects) -> None:
        rest = iter(objects)

        async def worker() -> None:
            for kind, item in rest:
                if kind is POD:
                    self._note(item)
                await self.client.create_only(kind, item)

        await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))

    def _note(self, pod: Raw) -> None:
        gang = str(pod["metadata"]["name"]).rpartition("-")[0]
        if gang in self.times.gangs:
            self.times.created(gang, time.perf_counter())

    async def _rest(self, running: Running) -> None:
        """Until the peer's programs do next to nothing, and have written nothing for some seconds: on a busy machine
        a program that has much to do may do little of it."""
        quiet, deadline = 0, time.monotonic() + REST
        while quiet < STILL and time.monotonic() < deadline:
            used, written = sum(running.seconds().values()), without_leases(await self._writes())
            await asyncio.sleep(1)
            busy = sum(running.seconds().values()) - used >= QUIET
            quiet = 0 if busy or without_leases(await self._writes()) != written else quiet + 1

    async def _clean(self) -> None:
        """Everything of the namespace goes; definitions, queues and nodes stay."""
        self.times = Timeline()
        for kind in dict.fromkeys((*(kind for peer in self._peers for kind in peer.leaves()), EVENT, POD)):
            await self._sweep(kind)
        await self.until(lambda: not self.cache.list(POD, SPACE) and not self.cache.list(POD_GROUP, SPACE))

    async def _sweep(self, kind: Kind[Any]) -> None:
        body = b'{"gracePeriodSeconds":0,"propagationPolicy":"Background"}'
        await self.client.transport.send(Request("DELETE", kind.path(SPACE), body=body))

    async def stop(self) -> None:
        await self.team.stop_components()
        await self.client.close()
        self.plane.end()
        self._folder.cleanup()
