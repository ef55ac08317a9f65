"""Numbers of the scheduler half end to end, one JSON line per scenario.

    python bench/e2e.py [--kubeconfig FILE] [--nodes N] [--only TEXT] [--scale F] [--apart COMPONENT] [--process
    NAME=PID]

Grouper, scheduler, binder and controllers work on simulated nodes (8 GPUs each): on the embedded server in the same
process, or on any API server by its kubeconfig. Every line has the seconds from the first object to the last bind (or
verdict), processor seconds, API writes per pod and memory. Writes are counted until everything is at rest, and are
those of the components; those of simulated kubelets (statuses and leases, which any node writes) and of the user stand
beside them. `--apart` runs a component as a process of its own over HTTPS and tells its memory and processor time;
`--process` tells the same of a process that runs already, such as the API server of the kubeconfig."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from prometheus_client import REGISTRY

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.kinds import JOB, NAMESPACE, NODE, POD, POD_GROUP, QUEUE, TOPOLOGY
from gangline.api.meta import Raw
from gangline.client import Client
from gangline.components.options import ComponentOptions
from gangline.errors import AlreadyExists, NotFound
from gangline.local import Platform, PlatformSettings, Team, write_kubeconfig
from gangline.runtime import Cache, SystemClock
from gangline.runtime.process.memory import settle
from gangline.scheduler.loop.component import component
from gangline.scheduler.settings import SchedulerSettings

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.parts.counting import Counting
from bench.parts.processes import Beside

COMPONENTS = (
    "grouper",
    "scheduler",
    "binder",
    "podgroup-controller",
    "queue-controller",
    "kubelet",
    "controller-manager",
)
SPACE = "bench"
GPUS = 8
IN_FLIGHT = 64
PATIENCE = 600.0
QUIET = 0.1


class Apart(Beside):
    """A component in a process of its own."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        super().__init__(name, process.pid)
        self._process = process

    @classmethod
    async def start(cls, name: str, kubeconfig: Path, *flags: str) -> Apart:
        program = Path(sys.executable).with_name("gangline")
        process = await asyncio.create_subprocess_exec(
            program, "run", name, "--kubeconfig", kubeconfig, "--log", "error", *flags, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        while (line := await process.stdout.readline()) and line.strip() != b"ready":
            pass
        if not line:
            raise SystemExit(f"{name} did not start")
        return cls(name, process)

    async def stop(self) -> None:
        self._process.terminate()
        await self._process.wait()


class Bench:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.counts: Counter[str] = Counter()
        self.nodes: int = arguments.nodes
        self._bound: Counter[str] = Counter()
        self._running: Counter[str] = Counter()
        self.team: Team
        self.cache: Cache
        self.apart: list[Apart] = []
        self.beside = [Beside(name, int(pid)) for name, _, pid in (item.partition("=") for item in arguments.process)]

    def count(self, number: int) -> int:
        return max(1, round(number * float(self.arguments.scale)))

    async def start(self) -> None:
        racks = "topology: {example.com/block: 64, example.com/rack: 16}"
        nodes = (
            f"nodes:\n- {{name: node, count: {self.nodes}, gpus: {GPUS}, cpu: 128, memory: 1Ti, pods: 110, {racks}}}\n"
        )
        options = ComponentOptions(period=0.05, nodes=nodes)
        self.team = await self._connect(options)
        await self._make(NAMESPACE, {"metadata": {"name": SPACE}})
        levels = [{"nodeLabel": f"example.com/{level}"} for level in ("block", "rack")]
        await self._make(TOPOLOGY, {"metadata": {"name": "racks"}, "spec": {"levels": levels}})
        self.cache = Cache(self.client)
        self.cache.informer(POD).add_index("space", lambda pod: [pod.namespace])
        self.cache.informer(POD_GROUP)
        self.cache.informer(NODE)
        self.cache.informer(POD).on_change(self._count_pod)
        await self.cache.start()
        settle()
        await self.until(lambda: self.ready_nodes() >= self.nodes, "the nodes")

    async def _connect(self, options: ComponentOptions) -> Team:
        if self.arguments.kubeconfig:
            from gangline.client.kubeconfig import load, transport

            def counted(name: str) -> Client:
                return Client(Counting(transport(load(self.arguments.kubeconfig), name), self.counts, name), name)

            team = Team(counted, options, SystemClock())
            await team.install()
        else:
            platform = team = Platform(PlatformSettings(components=(), options=options))
            plain = platform._connect
            team._connect = lambda name: Client(Counting(plain(name).transport, self.counts, name), name)
            await platform.start()
        for name in COMPONENTS:
            if name in self.arguments.apart:
                await self._start_apart(team, name)
            elif name == "scheduler":
                await self._start_scheduler(team, options)
            elif name != "controller-manager" or not self.arguments.kubeconfig:
                await team.start_component(name)
        return team

    async def _start_apart(self, team: Team, name: str) -> None:
        if self.arguments.kubeconfig:
            config = Path(self.arguments.kubeconfig)
        else:
            assert isinstance(team, Platform)
            config = write_kubeconfig(team, await team.listen(), Path(tempfile.mkdtemp()) / "kubeconfig")
        period = ("--schedule-period", "0.05", "--max-consolidation-preemptees=-1") if name == "scheduler" else ()
        self.apart.append(await Apart.start(name, config, *period))

    async def _start_scheduler(self, team: Team, options: ComponentOptions) -> None:
        """Consolidation may move any number of pods, as upstream's benchmark has it."""
        scheduler = component(SchedulerSettings(max_consolidation_victims=-1), period=options.period)
        await team.hire(scheduler)

    @property
    def client(self) -> Client:
        return self.team.admin

    def ready_nodes(self) -> int:
        return sum(not node.spec.taints for node in self.cache.list(NODE))

    async def _make(self, kind: Any, obj: Raw) -> None:
        with contextlib.suppress(AlreadyExists):
            await self.client.create(kind, obj)

    async def until(self, done: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > deadline:
                raise SystemExit(f"{what}: not done in {PATIENCE:g} s")
            await asyncio.sleep(0.005)

    # --- objects ------------------------------------------------------------------------------------------------------

    async def queue(self, name: str, gpus: float = 0, parent: str = "", limit: float = -1) -> None:
        """Made, or given another quota where an earlier scenario left it."""
        plenty = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
        spec: Raw = {
            "resources": {"cpu": plenty, "memory": plenty, "gpu": {"quota": gpus, "limit": limit, "overQuotaWeight": 1}}
        }
        await self.client.apply(
            QUEUE, {"metadata": {"name": name}, "spec": spec | ({"parentQueue": parent} if parent else {})}
        )

    def pod(self, name: str, gpus: int, queue: str, group: str = "") -> Raw:
        asks = {"cpu": "1", "memory": "1Gi", names.NVIDIA_GPU: str(gpus)}
        meta: Raw = {"name": name, "namespace": SPACE, "labels": {names.QUEUE: queue}}
        if group:
            meta["annotations"] = {names.POD_GROUP_NAME: group, names.SKIP_GROUPER: "true"}
        container = {"name": "main", "image": "img", "resources": {"requests": asks, "limits": asks}}
        return {"metadata": meta, "spec": {"schedulerName": names.KAI_SCHEDULER, "containers": [container]}}

    async def gang(self, name: str, pods: int, gpus: int, queue: str, **spec: Any) -> None:
        await self.client.create(POD_GROUP, self.group(name, pods, queue, **spec))
        await self.many([self.pod(f"{name}-{number}", gpus, queue, name) for number in range(pods)])

    def group(self, name: str, pods: int, queue: str, **spec: Any) -> Raw:
        return {"metadata": {"name": name, "namespace": SPACE}, "spec": {"queue": queue, "minMember": pods, **spec}}

    def job(self, name: str, pods: int, gpus: int, queue: str) -> Raw:
        """A gang whose pods come back when they are evicted."""
        body = self.pod(name, gpus, queue)["spec"] | {"restartPolicy": "Never"}
        meta = {
            "name": name,
            "namespace": SPACE,
            "labels": {names.QUEUE: queue},
            "annotations": {names.BATCH_MIN_MEMBER: str(pods)},
        }
        spec = {
            "parallelism": pods,
            "completions": pods,
            "backoffLimit": 1000,
            "template": {
                "metadata": {"labels": {names.QUEUE: queue}, "annotations": {names.RUN_SECONDS: "1000000"}},
                "spec": body,
            },
        }
        return {"metadata": meta, "spec": spec}

    async def many(self, objects: list[Raw], kind: Any = POD) -> None:
        rest = iter(objects)

        async def worker() -> None:
            for item in rest:
                await self.client.create(kind, item)

        await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))

    def pods(self) -> list[Pod]:
        return self.cache.by(POD, "space", SPACE)

    def _count_pod(self, before: Pod | None, after: Pod | None) -> None:
        for pod, step in ((before, -1), (after, 1)):
            if pod is not None and pod.namespace == SPACE and not pod.metadata.deleting:
                for family in ("", pod.name.partition("-")[0]):
                    self._bound[family] += step * bool(pod.spec.node_name)
                    self._running[family] += step * (pod.status.phase == "Running")

    def bound(self, family: str = "") -> int:
        """How many pods are bound: all, or those whose name begins with this word."""
        return self._bound[family]

    def running(self, family: str = "") -> int:
        return self._running[family]

    def verdict(self, gang: str) -> bool:
        group: PodGroup | None = self.cache.get(POD_GROUP, gang, SPACE)
        return group is not None and names.VERDICT in group.annotations

    async def clean(self) -> None:
        for job in (await self.client.list(JOB, SPACE)).items:
            await self.client.delete(JOB, job.name, SPACE, propagation="Background")
        for kind in (POD, POD_GROUP):
            for obj in self.cache.list(kind, SPACE):
                with contextlib.suppress(NotFound):
                    await self.client.delete(kind, obj.name, SPACE, grace=0)
        await self.until(lambda: not self.pods() and not self.cache.list(POD_GROUP, SPACE), "clean-up")
        await self.rest()

    # --- measuring ----------------------------------------------------------------------------------------------------

    async def rest(self) -> None:
        """Until no component here has work left, and those apart do next to nothing."""
        with contextlib.suppress(TimeoutError):
            await self.team.settles(60)
        quiet = 0
        while self.apart and quiet < 3:
            used = sum(item.seconds() for item in self.apart)
            await asyncio.sleep(1)
            quiet = quiet + 1 if sum(item.seconds() for item in self.apart) - used < QUIET else 0

    async def measure(self, scenario: str, work: Callable[[], Awaitable[int]], **more: Any) -> None:
        if self.arguments.only and self.arguments.only not in scenario:
            return
        before, began, used = Counter(self.counts), time.perf_counter(), time.process_time()
        others = {item.name: item.seconds() for item in (*self.apart, *self.beside)}
        pods = await work()
        seconds, busy = time.perf_counter() - began, time.process_time() - used
        spent = {item.name: item.seconds() - others[item.name] for item in (*self.apart, *self.beside)}
        await self.rest()
        rested = time.perf_counter() - began
        written = self.counts - before
        nodes, user = (
            sum(number for what, number in written.items() if what.startswith(who)) for who in ("kubelet ", "admin ")
        )
        line = {
            "bench": "e2e",
            "scenario": scenario,
            "nodes": self.nodes,
            "pods": pods,
            "seconds": round(seconds, 2),
            "at_rest_seconds": round(rested, 2),
            "cpu_seconds": round(busy, 2),
            "pods_per_second": round(pods / seconds, 1),
            "writes_per_pod": round((written.total() - nodes - user) / max(pods, 1), 2),
            "kubelet_writes_per_pod": round(nodes / max(pods, 1), 2),
            "user_writes_per_pod": round(user / max(pods, 1), 2),
            "load": round(os.getloadavg()[0], 1),
            "memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        } | more
        for item in (*self.apart, *self.beside):
            line |= {f"{item.name}_cpu_seconds": round(spent[item.name], 2), f"{item.name}_memory_mib": item.memory()}
        print(json.dumps(line), flush=True)
        if self.arguments.verbose:
            for what, number in written.most_common(20):
                print(f"    {number / max(pods, 1):6.2f}  {what}")
        await self.clean()

    @contextlib.contextmanager
    def part(self, scenario: str, **more: Any) -> Iterator[None]:
        """The part of a scenario that counts, after its stage was set."""
        began, used, before = time.perf_counter(), time.process_time(), sum(self.counts.values())
        yield
        print(
            json.dumps(
                {
                    "bench": "e2e",
                    "scenario": scenario,
                    "seconds": round(time.perf_counter() - began, 2),
                    "cpu_seconds": round(time.process_time() - used, 2),
                    "writes": sum(self.counts.values()) - before,
                }
                | more
            ),
            flush=True,
        )

    async def singles(self) -> int:
        number = self.count(4000)
        await self.many([self.pod(f"single-{item}", 1, names.DEFAULT_QUEUE) for item in range(number)])
        await self.until(lambda: self.bound() == number, "all bound")
        return number

    async def gangs(self) -> int:
        """Gangs of 8 whose PodGroup the user writes, created at once."""
        gangs = [f"gang-{item}" for item in range(self.count(500))]
        await self.many([self.group(name, 8, names.DEFAULT_QUEUE) for name in gangs], POD_GROUP)
        await self.many(
            [self.pod(f"{name}-{item}", 1, names.DEFAULT_QUEUE, name) for name in gangs for item in range(8)]
        )
        await self.until(lambda: self.bound() == 8 * len(gangs), "all bound")
        return 8 * len(gangs)

    async def jobs(self) -> int:
        """Jobs of 8 pods that start together: the grouper makes their PodGroups."""
        number = self.count(500)
        await self.many([self.job(f"job-{item}", 8, 1, names.DEFAULT_QUEUE) for item in range(number)], JOB)
        await self.until(lambda: self.bound() == 8 * number, "all bound")
        return 8 * number

    async def one_gang(self) -> int:
        number = min(self.count(512), self.nodes * 2)
        rule = {"topology": "racks", "preferredTopologyLevel": "example.com/rack"}
        await self.gang("big", number, GPUS // 2, names.DEFAULT_QUEUE, topologyConstraint=rule)
        await self.until(lambda: self.bound() == number, "the gang to be bound")
        return number

    async def verdicts(self) -> int:
        """Gangs that cannot fit, one after the other; each is timed from its first pod to its verdict."""
        await self.gang("filler", self.nodes, GPUS, names.DEFAULT_QUEUE)
        await self.until(lambda: self.bound() == self.nodes, "the filler")
        times = []
        for number in range(self.count(50)):
            began = time.perf_counter()
            await self.gang(f"stuck-{number}", 10, GPUS, names.DEFAULT_QUEUE)
            await self.until(lambda name=f"stuck-{number}": self.verdict(name), "the verdict")  # type: ignore[misc]
            times.append(time.perf_counter() - began)
        ordered = sorted(times)
        print(
            json.dumps(
                {
                    "bench": "e2e",
                    "scenario": "verdict-times",
                    "p50": round(statistics.median(times), 3),
                    "p99": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))], 3),
                }
            ),
            flush=True,
        )
        return len(times) * 10

    async def reclaim_gang(self) -> int:
        """One queue borrows everything with pods of whole nodes; the other takes half of it back with one gang."""
        whole = self.nodes * GPUS
        await self._queues(whole / 2, whole / 2)
        await self.many([self.pod(f"borrowed-{item}", GPUS, "borrower") for item in range(self.nodes)])
        await self.until(lambda: self.running() == self.nodes, "the borrower")
        return await self._claim_gang()

    async def reclaim_gang_from_singles(self) -> int:
        """The same, from one-GPU pods: eight of them go for each pod of the gang."""
        whole = self.nodes * GPUS
        await self._queues(whole / 2, whole / 2)
        await self.many([self.pod(f"borrowed-{item}", 1, "borrower") for item in range(whole)])
        await self.until(lambda: self.running() == whole, "the borrower")
        return await self._claim_gang()

    async def _claim_gang(self) -> int:
        with self.part("reclaim-only"):
            number = self.nodes // 2
            await self.gang("claim", number, GPUS, "lender")
            await self.until(lambda: self.bound("claim") == number, "the claim")
        return number

    async def _queues(self, lender: float, borrower: float) -> None:
        await self.queue("org")
        for name, gpus in (("lender", lender), ("borrower", borrower)):
            await self.queue(name, gpus, "org")

    async def reclaim_singles(self) -> int:
        """A queue without quota has the whole cluster in one-GPU pods; another, whose it is, takes all of it back one
        by one."""
        number = self.count(self.nodes * GPUS)
        await self._queues(self.nodes * GPUS, 0)
        await self.many([self.pod(f"borrowed-{item}", 1, "borrower") for item in range(number)])
        await self.until(lambda: self.running() == number, "the borrower")
        with self.part("reclaim-only"):
            await self.many([self.pod(f"claim-{item}", 1, "lender") for item in range(number)])
            await self.until(lambda: self.bound("claim") == number, "the claim")
        return number

    async def consolidation(self) -> int:
        """Three one-GPU jobs are on every node, so nobody finds 6 GPUs; gangs of 10 × 6 GPUs, as many as there are GPUs
        for, need others to move together."""
        await self._queues(self.nodes * GPUS, self.nodes * GPUS)
        await self.many([self.pod(f"early-{item}", 5, "lender") for item in range(self.nodes)])
        await self.until(lambda: self.running("early") == self.nodes, "the first pods")
        loose, gangs = self.nodes * 3, self.nodes * 5 // 60
        await self.many([self.job(f"loose-{item}", 1, 1, "borrower") for item in range(loose)], JOB)
        await self.until(lambda: self.running("loose") == loose, "the one-GPU jobs")
        for pod in [pod for pod in self.pods() if pod.name.startswith("early")]:
            await self.client.delete(POD, pod.name, SPACE, grace=0)
        await self.until(lambda: not any(pod.name.startswith("early") for pod in self.pods()), "the early pods to go")
        with self.part("consolidation-only", gangs=gangs):
            await self.many([self.job(f"tight-{number}", 10, 6, "lender") for number in range(gangs)], JOB)
            await self.until(lambda: self.bound("tight") == gangs * 10, "the tight gangs")
        return gangs * 10

    async def filled_cluster(self) -> int:
        """A cluster in which much runs already: on every node a gang of six one-GPU pods and two without GPUs; then
        gangs of 8 for the rest of it, created at once; then one such gang after the other, and the cycles for them."""
        there = [f"placed-{node}" for node in range(self.nodes)]
        await self.many([self.group(name, 8, names.DEFAULT_QUEUE) for name in there], POD_GROUP)
        placed = [
            self.pod(f"{name}-{item}", int(item < 6), names.DEFAULT_QUEUE, name) for name in there for item in range(8)
        ]
        for body in placed:
            body["spec"]["nodeName"] = f"node-{body['metadata']['name'].split('-')[1]}"
        await self.many(placed)
        await self.until(lambda: self.running("placed") == len(placed), "what runs already")
        await self.rest()
        late = 20
        gangs = [f"gang-{item}" for item in range(self.nodes // 4 - late)]
        with self.part("filled-cluster-gangs", pods=8 * len(gangs)):
            await self.many([self.group(name, 8, names.DEFAULT_QUEUE) for name in gangs], POD_GROUP)
            await self.many(
                [self.pod(f"{name}-{item}", 1, names.DEFAULT_QUEUE, name) for name in gangs for item in range(8)]
            )
            await self.until(lambda: self.bound("gang") == 8 * len(gangs), "all bound")
        await self.rest()
        await self._idle_cpu(10)
        await self._one_by_one(late)
        return 8 * (len(gangs) + late)

    async def _one_by_one(self, gangs: int) -> None:
        """Gangs of 8 that come when everything is at rest; a cycle's time is the scheduler's own metric."""
        times, before = [], _cycles()
        for number in range(gangs):
            began = time.perf_counter()
            await self.gang(f"late-{number}", 8, 1, names.DEFAULT_QUEUE)
            await self.until(lambda most=8 * number + 8: self.bound("late") == most, "a late gang")  # type: ignore[misc]
            times.append(time.perf_counter() - began)
        count, seconds = (after - now for after, now in zip(_cycles(), before, strict=True))
        line = {
            "bench": "e2e",
            "scenario": "late-gangs",
            "nodes": self.nodes,
            "p50": round(statistics.median(times), 3),
        }
        line |= {"longest": round(max(times), 3), "cycles": int(count)}
        if count:
            line["mean_cycle_seconds"] = round(seconds / count, 4)
        print(json.dumps(line), flush=True)

    async def idle(self) -> int:
        number = self.count(4000)
        await self.many([self.pod(f"single-{item}", 1, names.DEFAULT_QUEUE) for item in range(number)])
        await self.until(lambda: self.running() == number, "all running")
        await self.rest()
        await self._idle_cpu(20)
        return number

    async def _idle_cpu(self, seconds: float) -> None:
        """What is spent while nothing happens."""
        used, began = time.process_time(), time.perf_counter()
        others = {item.name: item.seconds() for item in self.apart}
        await asyncio.sleep(seconds)
        waited = time.perf_counter() - began
        line = {
            "bench": "e2e",
            "scenario": "idle-cpu",
            "nodes": self.nodes,
            "percent_of_one_core": round((time.process_time() - used) / waited * 100, 2),
        }
        line |= {
            f"{item.name}_percent": round((item.seconds() - others[item.name]) / waited * 100, 2) for item in self.apart
        }
        print(json.dumps(line), flush=True)


def _cycles() -> tuple[float, float]:
    """How many cycles there were in this process, and how long they took together."""
    name = "gangline_scheduler_cycle_seconds"
    return tuple(REGISTRY.get_sample_value(f"{name}_{part}") or 0.0 for part in ("count", "sum"))  # type: ignore[return-value]


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kubeconfig", help="another API server than the embedded one")
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--only", default="", help="only scenarios whose name contains this")
    parser.add_argument("--scale", type=float, default=1.0, help="smaller numbers of pods and gangs")
    parser.add_argument("--apart", action="append", default=[], help="a component to run as a process of its own")
    parser.add_argument(
        "--process", action="append", default=[], metavar="NAME=PID", help="a process whose processor time is told too"
    )
    parser.add_argument("--verbose", action="store_true", help="show which writes there were")
    bench = Bench(parser.parse_args())
    await bench.start()
    await bench.measure("4000-singles", bench.singles)
    await bench.measure("gangs-of-8", bench.gangs)
    await bench.measure("jobs-of-8", bench.jobs)
    await bench.measure("512-gang", bench.one_gang)
    await bench.measure("unschedulable", bench.verdicts)
    await bench.measure("reclaim-gang", bench.reclaim_gang)
    await bench.measure("reclaim-gang-from-singles", bench.reclaim_gang_from_singles)
    await bench.measure("reclaim-singles", bench.reclaim_singles)
    await bench.measure("consolidation", bench.consolidation)
    await bench.measure("idle", bench.idle)
    await bench.measure("filled-cluster", bench.filled_cluster)
    for item in bench.apart:
        await item.stop()


if __name__ == "__main__":
    asyncio.run(main())
