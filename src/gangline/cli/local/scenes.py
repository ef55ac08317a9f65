"""What `gangline demo` plays: the platform in memory and six scenes, one after the other.

The scenes apply the files of `examples/`, so what is shown is what a user can repeat by hand.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

import click

from gangline.api import names, resources
from gangline.api.kai import Queue
from gangline.api.kinds import (
    BIND_REQUEST,
    EVENT,
    JOB,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    POD_GROUP,
    QUEUE,
    WORKLOAD,
    Kind,
)
from gangline.api.meta import Object
from gangline.cli import manifests
from gangline.cli.connection import ClusterConnection
from gangline.cli.explain import headline
from gangline.cli.local.examples import applying, shipped
from gangline.cli.objects.apply import apply_one, kind_of
from gangline.cli.terminal import painted
from gangline.errors import GanglineError
from gangline.explaining.explain import explain_name
from gangline.explaining.platform_trial import apply_change
from gangline.local import Platform, PlatformSettings

PATIENCE = 30.0
NAMESPACE = "default"


class SceneFailed(GanglineError):
    """A step did not come true in time."""


async def demo() -> None:
    started = time.monotonic()
    click.echo("gangline demo: six scenes on 4 simulated nodes of 8 GPUs each\n")
    platform = Platform(PlatformSettings())
    try:
        await platform.start()
        stage = SceneStage(platform)
        for number, (title, scene) in enumerate(SCENES, 1):
            click.echo(painted(f"[{number}/{len(SCENES)}] {title}", bold=True))
            await scene(stage)
    except SceneFailed as failed:
        click.echo(painted(f"\n✗ {failed}", "red"), err=True)
        sys.exit(1)
    finally:
        await platform.stop()
    click.echo(painted(f"\nall {len(SCENES)} scenes went well ({time.monotonic() - started:.0f} s)", "green"))
    click.echo(f"next: `gangline up`, and in another terminal: {applying('01-gang')}")


class SceneStage:
    """What a scene may do: apply an example, take a step that must come true, look around."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.client = platform.admin
        self._connection = ClusterConnection(platform.admin, NAMESPACE, "the demo's server")

    async def apply(self, path: str) -> None:
        for obj in manifests.read([str(shipped() / path)]):
            await apply_one(self._connection, await kind_of(self._connection, obj), obj)
        click.echo(f"      applied example {path}")

    async def step(self, text: str, look: Callable[[], Awaitable[str | None]]) -> None:
        """Wait until `look` gives a remark (it may be empty); then the step is done and the remark is shown, below if
        it is indented."""
        started = time.monotonic()
        while (remark := await look()) is None:
            if time.monotonic() - started > PATIENCE:
                raise SceneFailed(f"after {PATIENCE:.0f} s still not true: {text}")
            await asyncio.sleep(0.02)
        tick, took = painted("✓", "green"), time.monotonic() - started
        short, below = ("", f"\n{remark}") if remark.startswith(" ") else (f": {remark}" if remark else "", "")
        click.echo(f"      {tick} {text}{short}  ({took:.1f} s){below}")

    async def owned(self, kind: Kind[Object], part_of: str) -> list[Object]:
        return (await self.client.list(kind, NAMESPACE, {names.PART_OF: part_of})).items

    async def running(self, part_of: str) -> str | None:
        pods = (await self.client.list(POD, NAMESPACE, {names.PART_OF: part_of})).items
        nodes = {pod.spec.node_name for pod in pods if pod.status.phase == "Running"}
        if not pods or any(pod.status.phase != "Running" for pod in pods):
            return None
        return f"{len(pods)} pods on {len(nodes)} node{'s' if len(nodes) > 1 else ''}"

    async def all_run(self, *parts: tuple[str, int]) -> str | None:
        """Whether so many pods of each name run, at least."""
        pods = [pod for pod in (await self.client.list(POD, NAMESPACE)).items if pod.status.phase == "Running"]
        counts = {name: sum(pod.name.startswith(f"{name}-") for pod in pods) for name, _ in parts}
        if any(counts[name] < least for name, least in parts):
            return None
        return ", ".join(f"{name} {count} pods" for name, count in counts.items())

    async def queues(self, uses: int) -> None:
        """Draw the queue tree once it shows so many GPUs in use, and adds up."""

        async def drawn() -> str | None:
            queues = (await self.client.list(QUEUE)).items
            if used(queues, "company") < uses or not adds_up(queues, "company"):
                return None
            return "\n".join(queue_lines(queues, "company"))

        await self.step("the queues now (█ in use, within quota; ▒ borrowed; ░ idle quota)", drawn)

    async def evictions(self, action: str, name: str, gangs: int) -> None:
        """Wait for the events of so many gangs that made room, and show their text."""

        async def seen() -> str | None:
            events = [
                item
                for item in (await self.client.list(EVENT, NAMESPACE)).items
                if item.reason == "Evict"
                and item.annotations.get("evictor-action-type") == action
                and item.involved_object.get("name", "").partition("pg-")[2].startswith(f"{name}-")
            ]
            if len(events) < gangs:
                return None
            return "\n".join(made_room(event.involved_object["name"], event.annotations) for event in events)

        await self.step(f"{gangs} gang{'s' if gangs > 1 else ''} of {name} made room, whole, by {action}", seen)

    async def remove(self, name: str) -> None:
        await self.client.delete(POD_CLIQUE_SET, name, NAMESPACE, propagation="Background")

        async def gone() -> str | None:
            left = [kind.plural for kind in (POD_CLIQUE, POD_GANG, POD) if await self.owned(kind, name)]
            left += [
                item.name
                for kind in (POD_GROUP, WORKLOAD, BIND_REQUEST)
                for item in (await self.client.list(kind, NAMESPACE)).items
                if f"{name}-" in item.name
            ]
            return None if left else ""

        await self.step(f"{name} deleted, nothing of it is left", gone)


async def gang_by_kai(stage: SceneStage) -> None:
    await stage.apply("01-gang/llm.yaml")

    async def gang() -> str | None:
        gangs = await stage.owned(POD_GANG, "llm")
        return f"{gangs[0].name}, backend {gangs[0].labels.get(names.SCHEDULER_BACKEND)}" if gangs else None

    async def group() -> str | None:
        groups = (await stage.client.list(POD_GROUP, NAMESPACE)).items
        if not groups:
            return None
        parts = ", ".join(f"{sub_group.name} ≥ {sub_group.min_member}" for sub_group in groups[0].spec.sub_groups)
        return f"needs {groups[0].spec.min_member} pods together ({parts})"

    await stage.step("one PodGang", gang)
    await stage.step("the KAI backend wrote its PodGroup", group)
    await stage.step("gates lifted, gang placed, bound and running", lambda: stage.running("llm"))

    async def status() -> str | None:
        pcs = await stage.client.get(POD_CLIQUE_SET, "llm", NAMESPACE)
        gangs = (await stage.client.list(POD_GANG, NAMESPACE, {names.PART_OF: "llm"})).items
        ready = pcs.status.available_replicas == 1 and gangs and gangs[0].status.phase == "Running"
        available = f"{pcs.status.available_replicas}/{pcs.spec.replicas}"
        return f"PodGang {gangs[0].status.phase}, set {available} available" if ready else None

    await stage.step("status flowed back", status)
    await stage.remove("llm")


async def gang_by_default(stage: SceneStage) -> None:
    await stage.apply("02-default-scheduler/chat.yaml")

    async def workload() -> str | None:
        workloads = (await stage.client.list(WORKLOAD, NAMESPACE)).items
        return f"{workloads[0].name}" if workloads else None

    await stage.step("the default backend wrote a Workload", workload)
    await stage.step("the default scheduler started the pods", lambda: stage.running("chat"))
    await stage.remove("chat")


async def job(stage: SceneStage) -> None:
    await stage.apply("03-job/train.yaml")

    async def grouped() -> str | None:
        groups = (await stage.client.list(POD_GROUP, NAMESPACE)).items
        return (
            f"{groups[0].name}, minMember {groups[0].spec.min_member}, queue {groups[0].spec.queue}" if groups else None
        )

    async def complete() -> str | None:
        done = (await stage.client.get(JOB, "train", NAMESPACE)).status.succeeded
        return f"{done} of 4 pods succeeded" if done == 4 else None

    await stage.step("the pod grouper made a PodGroup", grouped)
    await stage.step("the Job ran as a gang and completed", complete)
    await stage.client.delete(JOB, "train", NAMESPACE, propagation="Background")


async def waiting(stage: SceneStage) -> None:
    await stage.apply("04-waiting/large.yaml")
    await stage.platform.settles()

    async def explained() -> str | None:
        return await headline(stage.client, "large-0", NAMESPACE)

    await stage.step("the gang waits as a whole", explained)
    if await stage.running("large") is not None:
        raise SceneFailed("a gang that cannot fit has running pods")
    [(answer, remedies)] = await explain_name(stage.client, "gang/large-0", NAMESPACE)
    if not remedies:
        raise SceneFailed("no remedy was found that would start it")
    for change in remedies[0].changes:
        await apply_change(stage.client, change)
    click.echo(f"      applied as printed: {answer.data['remedies'][0]['text']}")
    await stage.step("it started", lambda: stage.running("large"))
    await stage.remove("large")
    for change in remedies[0].changes:
        await stage.client.delete(change.kind, change.name, change.namespace)


async def reclaim(stage: SceneStage) -> None:
    await stage.apply("06-company/queues.yaml")
    await stage.apply("06-company/load.yaml")
    await stage.step(
        "three gangs of a set, a gang of a Job, two notebooks on one GPU",
        lambda: stage.all_run(("sweep", 6), ("embed", 4), ("notebook", 2)),
    )
    await stage.queues(uses=29)
    await stage.apply("06-company/claim.yaml")
    await stage.step("serving takes its 16 GPUs back and runs", lambda: stage.all_run(("serve", 4)))
    await stage.evictions("reclaim", "sweep", 2)
    await stage.queues(uses=29)


async def preempt(stage: SceneStage) -> None:
    await stage.apply("06-company/urgent.yaml")
    await stage.step("the urgent gang runs", lambda: stage.all_run(("urgent", 2)))
    await stage.evictions("preempt", "serve", 1)
    await stage.step(
        "the Job, the notebooks and the other gangs never noticed",
        lambda: stage.all_run(("embed", 4), ("notebook", 2), ("serve", 2), ("sweep", 2)),
    )
    await stage.queues(uses=29)

    async def waiting_reason() -> str | None:
        return await headline(stage.client, "serve-1", NAMESPACE) or await headline(stage.client, "serve-0", NAMESPACE)

    await stage.step("and the one that made room knows why it waits", waiting_reason)


SCENES: list[tuple[str, Callable[[SceneStage], Awaitable[None]]]] = [
    ("A PodCliqueSet becomes a gang, placed all-or-nothing", gang_by_kai),
    ("The same without a scheduler name: kube-scheduler's Workload", gang_by_default),
    ("A plain Job becomes a gang by one annotation", job),
    ("A gang that does not fit waits whole, says why, and starts when a node comes", waiting),
    ("A queue tree with a mixed load: who lent a share takes it back, a gang at a time", reclaim),
    ("What matters more goes first, in its own queue", preempt),
]


def made_room(group: str, facts: Mapping[str, str]) -> str:
    mark = painted("✗", "yellow")
    return (
        f"        {mark} {gang_of(group)} ({facts['num-evicted-pods']} pods) for "
        f"{gang_of(facts['evictor-pod-group-name'])}"
    )


def gang_of(group: str) -> str:
    """The gang's name within its PodGroup's: `pg-<gang>-<uid>`."""
    return group.removeprefix("pg-")[:-37]


def gpus_of(quantities: Mapping[str, Any]) -> float:
    return sum(resources.milli(value) / 1000 for name, value in quantities.items() if name.endswith("gpu"))


def used(queues: Iterable[Queue], name: str) -> float:
    return sum(gpus_of(queue.status.allocated) for queue in queues if queue.name == name)


def adds_up(queues: Sequence[Queue], name: str) -> bool:
    """Whether every queue of the tree uses what those below it use: statuses are written one after the other."""
    below = [item.name for item in queues if item.spec.parent_queue == name]
    return not below or (
        used(queues, name) == sum(used(queues, child) for child in below)
        and all(adds_up(queues, child) for child in below)
    )


BELOW = {"": "", "└─ ": "   ", "├─ ": "│  "}
"""What stands below each mark of a tree."""


def queue_lines(queues: Sequence[Queue], name: str, indent: str = "        ", mark: str = "") -> list[str]:
    """The queue and those below it, one a line, with a bar of GPUs."""
    queue = next(item for item in queues if item.name == name)
    quota = round(queue.spec.resources.gpu.quota) if queue.spec.resources is not None else 0
    uses = used(queues, name)
    bar = "█" * round(min(uses, quota)) + "▒" * round(max(uses - quota, 0)) + "░" * round(max(quota - uses, 0))
    head = f"{indent}{mark}{name}".ljust(28)
    lines = [f"{head}{uses:>3g} of {quota:<3}{painted(bar, 'yellow' if uses > quota else 'green')}"]
    below = sorted(item.name for item in queues if item.spec.parent_queue == name)
    inner = indent + BELOW[mark]
    for place, child in enumerate(below):
        lines += queue_lines(queues, child, inner, "└─ " if place == len(below) - 1 else "├─ ")
    return lines
