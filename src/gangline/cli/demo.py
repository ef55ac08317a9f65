"""`gangline demo`: the platform in memory, five scenes with visible progress, and an exit code that says whether all went well.

The scenes apply the files of `examples/`, so what is shown is what a user can repeat by hand.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import click

from gangline.api import names
from gangline.api.kinds import (
    BIND_REQUEST,
    JOB,
    NODE,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    POD_GROUP,
    WORKLOAD,
    Kind,
)
from gangline.api.meta import Object
from gangline.cli import manifests
from gangline.cli.apply import apply_one, kind_of
from gangline.cli.connection import Connection, run
from gangline.cli.explain import headline
from gangline.errors import GanglineError
from gangline.local import Platform, PlatformSettings

PATIENCE = 30.0
NAMESPACE = "default"


class SceneFailed(GanglineError):
    """A step did not come true in time."""


@click.command(help="Start the platform in memory, play five scenes, stop. Exit code 0 if all went well.")
@click.option("--log", "level", default="error", type=click.Choice(["debug", "info", "warning", "error"]), show_default=True)
def command(level: str) -> None:
    from gangline.runtime.logs import set_up

    set_up(level)
    run(_demo())


async def _demo() -> None:
    started = time.monotonic()
    click.echo("gangline demo: five scenes on 4 simulated nodes of 8 GPUs each\n")
    platform = Platform(PlatformSettings())
    try:
        await platform.start()
        stage = Stage(platform)
        for number, (title, scene) in enumerate(SCENES, 1):
            click.secho(f"[{number}/{len(SCENES)}] {title}", bold=True)
            await scene(stage)
    except SceneFailed as failed:
        click.secho(f"\n✗ {failed}", fg="red", err=True)
        sys.exit(1)
    finally:
        await platform.stop()
    click.secho(f"\nall {len(SCENES)} scenes went well ({time.monotonic() - started:.0f} s)", fg="green")
    click.echo("next: `gangline up`, then kubectl; docs/tour.md follows one object through the code")


class Stage:
    """What a scene may do: apply an example, take a step that must come true, look around."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.client = platform.admin
        self._connection = Connection(platform.admin, NAMESPACE, "the demo's server")

    async def apply(self, path: str) -> None:
        for obj in manifests.read([str(_examples() / path)]):
            await apply_one(self._connection, await kind_of(self._connection, obj), obj)
        click.echo(f"      applied examples/{path}")

    async def step(self, text: str, look: Callable[[], Awaitable[str | None]]) -> None:
        """Wait until `look` gives a remark (it may be empty); then the step is done and the remark is shown."""
        started = time.monotonic()
        while (remark := await look()) is None:
            if time.monotonic() - started > PATIENCE:
                raise SceneFailed(f"after {PATIENCE:.0f} s still not true: {text}")
            await asyncio.sleep(0.02)
        tick, took = click.style("✓", fg="green"), time.monotonic() - started
        click.echo(f"      {tick} {text}{': ' if remark else ''}{remark}  ({took:.1f} s)")

    async def owned(self, kind: Kind[Object], part_of: str) -> list[Object]:
        return (await self.client.list(kind, NAMESPACE, {names.PART_OF: part_of})).items

    async def running(self, part_of: str) -> str | None:
        pods = (await self.client.list(POD, NAMESPACE, {names.PART_OF: part_of})).items
        nodes = {pod.spec.node_name for pod in pods if pod.status.phase == "Running"}
        if not pods or any(pod.status.phase != "Running" for pod in pods):
            return None
        return f"{len(pods)} pods on {len(nodes)} node{'s' if len(nodes) > 1 else ''}"

    async def remove(self, name: str) -> None:
        await self.client.delete(POD_CLIQUE_SET, name, NAMESPACE, propagation="Background")

        async def gone() -> str | None:
            left = [kind.plural for kind in (POD_CLIQUE, POD_GANG, POD) if await self.owned(kind, name)]
            left += [each.name for kind in (POD_GROUP, WORKLOAD, BIND_REQUEST) for each in
                     (await self.client.list(kind, NAMESPACE)).items if f"{name}-" in each.name]
            return None if left else ""

        await self.step(f"{name} deleted, nothing of it is left", gone)


async def gang_by_kai(stage: Stage) -> None:
    await stage.apply("01-gang/llm.yaml")

    async def gang() -> str | None:
        gangs = await stage.owned(POD_GANG, "llm")
        return f"{gangs[0].name}, backend {gangs[0].labels.get(names.SCHEDULER_BACKEND)}" if gangs else None

    async def group() -> str | None:
        groups = (await stage.client.list(POD_GROUP, NAMESPACE)).items
        if not groups:
            return None
        parts = ", ".join(f"{each.name} ≥ {each.min_member}" for each in groups[0].spec.sub_groups)
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


async def gang_by_default(stage: Stage) -> None:
    await stage.apply("02-default-scheduler/chat.yaml")

    async def workload() -> str | None:
        found = (await stage.client.list(WORKLOAD, NAMESPACE)).items
        return f"{found[0].name}" if found else None

    await stage.step("the default backend wrote a Workload", workload)
    await stage.step("the default scheduler started the pods", lambda: stage.running("chat"))
    await stage.remove("chat")


async def job(stage: Stage) -> None:
    await stage.apply("03-job/train.yaml")

    async def grouped() -> str | None:
        groups = (await stage.client.list(POD_GROUP, NAMESPACE)).items
        return f"{groups[0].name}, minMember {groups[0].spec.min_member}, queue {groups[0].spec.queue}" if groups else None

    async def complete() -> str | None:
        done = (await stage.client.get(JOB, "train", NAMESPACE)).status.succeeded
        return f"{done} of 4 pods succeeded" if done == 4 else None

    await stage.step("the pod grouper made a PodGroup", grouped)
    await stage.step("the Job ran as a gang and completed", complete)
    await stage.client.delete(JOB, "train", NAMESPACE, propagation="Background")


async def waiting(stage: Stage) -> None:
    await stage.apply("04-waiting/large.yaml")
    await stage.platform.settles()

    async def explained() -> str | None:
        return await headline(stage.client, "large-0", NAMESPACE)

    await stage.step("the gang waits as a whole", explained)
    if await stage.running("large") is not None:
        raise SceneFailed("a gang that cannot fit has running pods")
    template = await stage.client.get_raw(NODE, "node-0")
    meta = {"name": "node-4", "labels": template["metadata"]["labels"] | {"kubernetes.io/hostname": "node-4"}}
    await stage.client.create(NODE, {"metadata": meta, "spec": {}, "status": template["status"]})
    await stage.client.patch(NODE, "node-4", "", {"status": template["status"]}, subresource="status")
    click.echo("      added node-4 with 8 GPUs")
    await stage.step("it started", lambda: stage.running("large"))
    await stage.remove("large")
    await stage.client.delete(NODE, "node-4")


async def queues(stage: Stage) -> None:
    await stage.apply("05-queues/queues.yaml")
    await stage.apply("05-queues/borrow.yaml")
    await stage.step("research uses 32 GPUs, 16 of them borrowed", lambda: stage.running("sweep"))
    await stage.apply("05-queues/claim.yaml")
    await stage.step("serving took 8 GPUs back and runs", lambda: stage.running("serve"))

    async def whole() -> str | None:
        pods = (await stage.client.list(POD, NAMESPACE, {names.PART_OF: "sweep"})).items
        running = [pod.labels.get(names.POD_GANG, "") for pod in pods if pod.status.phase == "Running"]
        gangs = {gang: running.count(gang) for gang in running}
        if len(pods) == 8 and len(gangs) == 3 and set(gangs.values()) == {2}:
            lost = {pod.labels.get(names.POD_GANG, "") for pod in pods} - set(gangs)
            return f"{', '.join(sorted(lost))} was evicted whole and waits; the other three kept running"
        return None

    await stage.step("reclaim took one whole gang", whole)


SCENES: list[tuple[str, Callable[[Stage], Awaitable[None]]]] = [
    ("A PodCliqueSet becomes a gang, placed all-or-nothing", gang_by_kai),
    ("The same without a scheduler name: kube-scheduler's Workload", gang_by_default),
    ("A plain Job becomes a gang by one annotation", job),
    ("A gang that does not fit waits whole, says why, and starts when a node comes", waiting),
    ("Two queues: one borrows, the other takes its share back", queues),
]


def _examples() -> Path:
    """The examples, from the repository or from the installed package."""
    inside = Path(__file__).parents[1] / "examples"
    return inside if inside.is_dir() else Path(__file__).parents[3] / "examples"
