"""The accounts and roles that the installer makes are enough: under them, and no others, the components do their
work."""

from __future__ import annotations

import asyncio

import pytest

from embedded import PATIENCE
from gangline.api.kinds import CONFIG, JOB, POD, POD_CLIQUE_SET, POD_GROUP, QUEUE, SCHEDULING_SHARD
from gangline.client import Client, User
from gangline.components import EVERYWHERE, build, lease
from gangline.components.options import ComponentOptions
from gangline.errors import Forbidden
from gangline.installer.objects.services import SERVICES
from gangline.runtime import SystemClock
from gangline.runtime.leading.election import Election
from gangline.runtime.leading.lease import ElectionSettings
from installer.installer_story import SPACE, InstallerStory, installer_story

ACCOUNTS = {service.component: service.name for service in SERVICES if service.component != "admission"} | {
    "scheduler": "scheduler",
    "backend-kai": "gangline-backend-kai",
}


def client(cluster: InstallerStory, account: str) -> Client:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{SPACE}", "system:authenticated")
    user = User(f"system:serviceaccount:{SPACE}:{account}", groups)
    return Client(cluster.platform.server.transport(user), manager=f"gangline-{account}")


async def start(cluster: InstallerStory, component: str, options: ComponentOptions | None = None) -> None:
    """As `gangline run` does inside the cluster: first the lease, then the work."""
    mine, said = client(cluster, ACCOUNTS[component]), options or ComponentOptions(period=0.0)
    if component not in EVERYWHERE:
        await asyncio.wait_for(
            Election(mine, SystemClock(), ElectionSettings(lease(component, ComponentOptions()), SPACE)).win(), PATIENCE
        )
    await asyncio.wait_for(cluster.platform.hire(build(component, said), mine), PATIENCE)


async def test_a_job_and_a_set_run_under_the_accounts_that_the_installer_made_with_a_backend_on_its_own() -> None:
    async with installer_story() as cluster:
        await cluster.config(admission={"service": {"enabled": False}}, workload={"scheduler": {"outside": ["kai"]}})
        await cluster.shard("default")
        await cluster.ready(CONFIG, "kai-config")
        await cluster.ready(SCHEDULING_SHARD, "default")
        for component in ACCOUNTS:
            await start(cluster, component, ComponentOptions(period=0.0, outside=("kai",)))
        pod = {
            "schedulerName": "kai-scheduler",
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
        }
        template = {
            "metadata": {"annotations": {"gangline.io/run-seconds": "0"}},
            "spec": pod | {"restartPolicy": "Never"},
        }
        await cluster.client.create(
            JOB, {"metadata": {"name": "train", "namespace": "default"}, "spec": {"template": template}}
        )
        await cluster.client.create(
            POD_CLIQUE_SET,
            {
                "metadata": {"name": "llm", "namespace": "default"},
                "spec": {
                    "replicas": 1,
                    "template": {"cliques": [{"name": "a", "spec": {"roleName": "a", "replicas": 2, "podSpec": pod}}]},
                },
            },
        )

        async def done() -> bool:
            running = [
                item
                for item in (await cluster.client.list(POD, "default", {"grove.io/podclique": "llm-0-a"})).items
                if item.status.phase == "Running"
            ]
            return (await cluster.client.get(JOB, "train", "default")).status.succeeded == 1 and len(running) == 2

        await cluster.until(done, "the Job done and the set running")
        groups = (await cluster.client.list(POD_GROUP, "default")).items
        assert len(groups) == 2 and all(group.spec.queue == "default-queue" for group in groups)


async def test_an_account_may_not_do_the_work_of_another() -> None:
    async with installer_story() as cluster:
        await cluster.config()
        await cluster.ready(CONFIG, "kai-config")
        assert (await client(cluster, "queue-controller").list(QUEUE)).items
        with pytest.raises(
            Forbidden, match='"system:serviceaccount:kai-scheduler:queue-controller" cannot list resource "pods"'
        ):
            await client(cluster, "queue-controller").list(POD)
        with pytest.raises(Forbidden, match='cannot create resource "pods/binding"'):
            await client(cluster, "scheduler").bind("p", "default", "n")
