"""Kubernetes' own scheduler and controllers do their work on the embedded server, beside our simulated nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from clients.manifests import SLEEPER, deployment
from gangline.api.kinds import (
    CONFIG_MAP,
    DEPLOYMENT,
    DEVICE_CLASS,
    JOB,
    LEASE,
    NAMESPACE,
    NODE,
    POD,
    REPLICA_SET,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    SERVICE_ACCOUNT,
    WORKLOAD,
)
from gangline.errors import NotFound
from gangline.local import Platform, write_kubeconfig
from journeys.story import Story, embedded_platform
from real.plane import missing
from real.programs import Programs

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
CONTENT_TYPES = ("application/json", "application/vnd.kubernetes.protobuf")


class ProgramsStory(Story):
    """The embedded platform, and programs that take the place of a part of it."""

    def __init__(self, platform: Platform, programs: Programs) -> None:
        super().__init__(platform)
        self.programs = programs

    async def picture(self) -> str:
        return f"{await super().picture()}\n{self.programs.log()}"


@asynccontextmanager
async def staged(folder: Path, content_type: str, *absent: str) -> AsyncIterator[ProgramsStory]:
    platform = embedded_platform(without=absent)
    await platform.start()
    programs = Programs(
        folder, write_kubeconfig(platform, await platform.listen(), folder / "kubeconfig"), content_type
    )
    story = ProgramsStory(platform, programs)
    await story.nodes(2, gpus=8)
    try:
        yield story
    finally:
        await programs.stop()
        await platform.stop()


@pytest.fixture(params=CONTENT_TYPES)
async def unscheduled(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[ProgramsStory]:
    """Our controllers, but nobody to schedule bystanders."""
    async with staged(tmp_path, request.param, "default-scheduler") as story:
        yield story


@pytest.fixture(params=CONTENT_TYPES)
async def bare(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[ProgramsStory]:
    """Neither controllers nor a scheduler for bystanders."""
    async with staged(tmp_path, request.param, "controller-manager", "default-scheduler", "autoscaler") as story:
        yield story


def pod(name: str, **spec: object) -> dict[str, object]:
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": [SLEEPER], **spec}}


async def test_kube_scheduler_binds_pods_and_whole_gangs(unscheduled: ProgramsStory) -> None:
    story = unscheduled
    await story.programs.scheduler()
    await story.client.create(POD, pod("alone"))
    gang = {"podGroups": [{"name": "g", "policy": {"gang": {"minCount": 3}}}]}
    await story.client.create(WORKLOAD, {"metadata": {"name": "w", "namespace": "default"}, "spec": gang})
    for number in range(2):
        await story.client.create(POD, pod(f"g{number}", workloadRef={"name": "w", "podGroup": "g"}))
    await story.running(1)
    assert [item.name for item in await story.pods(phase="Running")] == ["alone"]
    await story.client.create(POD, pod("g2", workloadRef={"name": "w", "podGroup": "g"}))

    async def all_run() -> bool:
        return len(await story.pods(phase="Running")) == 4

    await story.until(all_run, "the whole gang runs")


async def test_kube_scheduler_leads_by_a_lease_and_allocates_devices(unscheduled: ProgramsStory) -> None:
    story = unscheduled
    await story.programs.scheduler(leads=True)
    [node, *_] = sorted(item.name for item in (await story.client.list(NODE)).items)
    driver = "gpu.example.com"
    await story.client.create(
        DEVICE_CLASS,
        {
            "metadata": {"name": driver},
            "spec": {"selectors": [{"cel": {"expression": f"device.driver == '{driver}'"}}]},
        },
    )
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    devices = [
        {"name": "gpu-0", "attributes": {"model": {"string": "large"}}, "capacity": {"memory": {"value": "8Gi"}}}
    ]
    await story.client.create(
        RESOURCE_SLICE,
        {"metadata": {"name": "s"}, "spec": {"driver": driver, "nodeName": node, "pool": pool, "devices": devices}},
    )
    asked = {"name": "gpu", "exactly": {"deviceClassName": driver}}
    await story.client.create(
        RESOURCE_CLAIM, {"metadata": {"name": "c", "namespace": "default"}, "spec": {"devices": {"requests": [asked]}}}
    )
    await story.client.create(POD, pod("owner", resourceClaims=[{"name": "g", "resourceClaimName": "c"}]))
    await story.running(1)
    claim = await story.client.get(RESOURCE_CLAIM, "c", "default")
    [given] = (claim.status or {})["allocation"]["devices"]["results"]
    assert (given["driver"], given["pool"], given["device"]) == (driver, node, "gpu-0")
    assert (await story.client.get(LEASE, "kube-scheduler", "kube-system")).spec.holder_identity


async def test_kube_scheduler_says_why_a_pod_waits(unscheduled: ProgramsStory) -> None:
    story = unscheduled
    await story.programs.scheduler()
    await story.client.create(POD, pod("picky", nodeSelector={"nowhere": "yes"}))

    async def told() -> bool:
        found = await story.client.get(POD, "picky", "default")
        return any(
            condition.reason == "Unschedulable" and "2 node(s) didn't match" in condition.message
            for condition in found.status.conditions
        )

    await story.until(told, "the condition PodScheduled")


async def test_kube_controller_manager_makes_scales_and_collects(bare: ProgramsStory) -> None:
    story = bare
    await story.programs.scheduler()
    await story.programs.controllers()
    await story.client.create(DEPLOYMENT, deployment("web", 2))

    async def available() -> bool:
        return (await story.client.get(DEPLOYMENT, "web", "default")).status.available_replicas == 2

    await story.until(available, "the Deployment is available")
    await story.client.patch(DEPLOYMENT, "web", "default", {"spec": {"replicas": 3}})
    await story.until(lambda: _running(story, 3), "three pods")
    await story.client.delete(DEPLOYMENT, "web", "default", propagation="Foreground")

    async def gone() -> bool:
        return not await story.all(DEPLOYMENT) and not await story.all(REPLICA_SET) and not await story.pods()

    await story.until(gone, "nothing is left of the Deployment")


async def test_kube_controller_manager_completes_jobs_and_empties_namespaces(bare: ProgramsStory) -> None:
    story = bare
    await story.programs.scheduler()
    await story.programs.controllers()
    runs = {
        "metadata": {"annotations": {"gangline.io/run-seconds": "0"}},
        "spec": {"restartPolicy": "Never", "containers": [SLEEPER]},
    }
    await story.client.create(
        JOB, {"metadata": {"name": "j", "namespace": "default"}, "spec": {"completions": 2, "template": runs}}
    )
    await story.client.create(NAMESPACE, {"metadata": {"name": "team"}})

    async def settled() -> bool:
        accounts = (await story.client.list(SERVICE_ACCOUNT, "team")).items
        return [account.name for account in accounts] == ["default"]

    await story.until(settled, "the namespace's account")
    await story.client.create(CONFIG_MAP, {"metadata": {"name": "c", "namespace": "team"}})
    await story.client.delete(NAMESPACE, "team")

    async def gone() -> bool:
        try:
            await story.client.get(NAMESPACE, "team")
        except NotFound:
            return True
        return False

    await story.until(gone, "the namespace is gone")

    async def complete() -> bool:
        return (await story.client.get(JOB, "j", "default")).status.succeeded == 2

    await story.until(complete, "the Job is complete")


async def _running(story: ProgramsStory, count: int) -> bool:
    return len(await story.pods(phase="Running")) == count
