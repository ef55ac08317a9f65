"""Kubernetes' own scheduler and controllers do their work on the embedded server, beside our simulated nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from clients.manifests import SLEEPER, deployment
from gangline.api.kinds import CONFIG_MAP, DEPLOYMENT, JOB, NAMESPACE, POD, REPLICA_SET, SERVICE_ACCOUNT, WORKLOAD
from gangline.errors import NotFound
from gangline.local import write_kubeconfig
from journeys.story import Story, embedded_platform
from real.plane import missing
from real.programs import Programs

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
PATIENCE = 60.0
CONTENT_TYPES = ("application/json", "application/vnd.kubernetes.protobuf")


class Stage:
    """The embedded platform and the programs that take the place of a part of it."""

    def __init__(self, story: Story, programs: Programs) -> None:
        self.story = story
        self.client = story.client
        self.programs = programs

    async def until(self, condition: Callable[[], Awaitable[bool]], what: str) -> None:
        try:
            await self.story.until(condition, what, PATIENCE)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.programs.log()}") from None


@asynccontextmanager
async def staged(folder: Path, content_type: str, *absent: str) -> AsyncIterator[Stage]:
    platform = embedded_platform(without=absent)
    await platform.start()
    programs = Programs(
        folder, write_kubeconfig(platform, await platform.listen(), folder / "kubeconfig"), content_type
    )
    story = Story(platform)
    await story.nodes(2, gpus=8)
    try:
        yield Stage(story, programs)
    finally:
        await programs.stop()
        await platform.stop()


@pytest.fixture(params=CONTENT_TYPES)
async def unscheduled(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """Our controllers, but nobody to schedule bystanders."""
    async with staged(tmp_path, request.param, "default-scheduler") as stage:
        yield stage


@pytest.fixture(params=CONTENT_TYPES)
async def bare(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """Neither controllers nor a scheduler for bystanders."""
    async with staged(tmp_path, request.param, "controller-manager", "default-scheduler", "autoscaler") as stage:
        yield stage


def pod(name: str, **spec: object) -> dict[str, object]:
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": [SLEEPER], **spec}}


async def test_kube_scheduler_binds_pods_and_whole_gangs(unscheduled: Stage) -> None:
    stage = unscheduled
    await stage.programs.scheduler()
    await stage.client.create(POD, pod("alone"))
    gang = {"podGroups": [{"name": "g", "policy": {"gang": {"minCount": 3}}}]}
    await stage.client.create(WORKLOAD, {"metadata": {"name": "w", "namespace": "default"}, "spec": gang})
    for number in range(2):
        await stage.client.create(POD, pod(f"g{number}", workloadRef={"name": "w", "podGroup": "g"}))
    await stage.story.running(1)
    assert [item.name for item in await stage.story.pods(phase="Running")] == ["alone"]
    await stage.client.create(POD, pod("g2", workloadRef={"name": "w", "podGroup": "g"}))

    async def all_run() -> bool:
        return len(await stage.story.pods(phase="Running")) == 4

    await stage.until(all_run, "the whole gang runs")


async def test_kube_scheduler_says_why_a_pod_waits(unscheduled: Stage) -> None:
    stage = unscheduled
    await stage.programs.scheduler()
    await stage.client.create(POD, pod("picky", nodeSelector={"nowhere": "yes"}))

    async def told() -> bool:
        found = await stage.client.get(POD, "picky", "default")
        return any(
            condition.reason == "Unschedulable" and "2 node(s) didn't match" in condition.message
            for condition in found.status.conditions
        )

    await stage.until(told, "the condition PodScheduled")


async def test_kube_controller_manager_makes_scales_and_collects(bare: Stage) -> None:
    stage = bare
    await stage.programs.scheduler()
    await stage.programs.controllers()
    await stage.client.create(DEPLOYMENT, deployment("web", 2))

    async def available() -> bool:
        return (await stage.client.get(DEPLOYMENT, "web", "default")).status.available_replicas == 2

    await stage.until(available, "the Deployment is available")
    await stage.client.patch(DEPLOYMENT, "web", "default", {"spec": {"replicas": 3}})
    await stage.until(lambda: _running(stage, 3), "three pods")
    await stage.client.delete(DEPLOYMENT, "web", "default", propagation="Foreground")

    async def gone() -> bool:
        return (
            not await stage.story.all(DEPLOYMENT)
            and not await stage.story.all(REPLICA_SET)
            and not await stage.story.pods()
        )

    await stage.until(gone, "nothing is left of the Deployment")


async def test_kube_controller_manager_completes_jobs_and_empties_namespaces(bare: Stage) -> None:
    stage = bare
    await stage.programs.scheduler()
    await stage.programs.controllers()
    runs = {
        "metadata": {"annotations": {"gangline.io/run-seconds": "0"}},
        "spec": {"restartPolicy": "Never", "containers": [SLEEPER]},
    }
    await stage.client.create(
        JOB, {"metadata": {"name": "j", "namespace": "default"}, "spec": {"completions": 2, "template": runs}}
    )
    await stage.client.create(NAMESPACE, {"metadata": {"name": "team"}})

    async def settled() -> bool:
        accounts = (await stage.client.list(SERVICE_ACCOUNT, "team")).items
        return [account.name for account in accounts] == ["default"]

    await stage.until(settled, "the namespace's account")
    await stage.client.create(CONFIG_MAP, {"metadata": {"name": "c", "namespace": "team"}})
    await stage.client.delete(NAMESPACE, "team")

    async def gone() -> bool:
        try:
            await stage.client.get(NAMESPACE, "team")
        except NotFound:
            return True
        return False

    await stage.until(gone, "the namespace is gone")

    async def complete() -> bool:
        return (await stage.client.get(JOB, "j", "default")).status.succeeded == 2

    await stage.until(complete, "the Job is complete")


async def _running(stage: Stage, count: int) -> bool:
    return len(await stage.story.pods(phase="Running")) == count
