"""Config and SchedulingShards decide what runs: deployed, changed, switched off, taken away, and told of at every
step."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from gangline.api.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CONFIG,
    CONFIG_MAP,
    DEPLOYMENT,
    MUTATING_WEBHOOK,
    POD,
    ROLE,
    SCHEDULING_SHARD,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    VALIDATING_WEBHOOK,
    Kind,
)
from gangline.api.meta import Raw
from gangline.cli.deploy import install, uninstall
from gangline.client import Client, Request, Response, Transport
from gangline.components import build
from gangline.components.options import ComponentOptions
from gangline.local import Platform, account, write_kubeconfig
from journeys.story import Story, told

SPACE = "kai-scheduler"
OURS = {"app.kubernetes.io/managed-by": "gangline-installer"}


class Impersonated:
    """A transport under the account of the installer: on a real control plane too it has its own rights and no more."""

    def __init__(self, carrier: Transport) -> None:
        self._carrier = carrier

    async def send(self, request: Request) -> Response:
        headers = {**request.headers, "impersonate-user": account("installer").name}
        return await self._carrier.send(msgspec.structs.replace(request, headers=headers))

    async def close(self) -> None:
        await self._carrier.close()


@pytest.fixture
async def story() -> AsyncIterator[Story]:
    async with told() as story:
        carrier = story.platform._connect("installer").transport
        client = (
            None
            if isinstance(story.platform, Platform)
            else Client(Impersonated(carrier), manager="gangline-installer")
        )
        await story.platform.hire(build("installer", ComponentOptions()), client)
        yield story


def config(**spec: Any) -> Raw:
    return {"apiVersion": "kai.scheduler/v1", "kind": "Config", "metadata": {"name": "kai-config"}, "spec": spec}


def shard(name: str, **spec: Any) -> Raw:
    return {"apiVersion": "kai.scheduler/v1", "kind": "SchedulingShard", "metadata": {"name": name}, "spec": spec}


async def conditions(story: Story, kind: Kind[Any], name: str) -> dict[str, str]:
    """Of the generation that is there."""
    obj: Any = await story.client.get(kind, name)
    return {
        condition["type"]: condition["status"]
        for condition in obj.status.get("conditions", ())
        if condition["observedGeneration"] == obj.metadata.generation
    }


async def ready(story: Story, *wanted: tuple[Kind[Any], str]) -> None:
    async def all_ready() -> bool:
        return all([(await conditions(story, kind, name)).get("Ready") == "True" for kind, name in wanted])

    await story.until(all_ready, f"{', '.join(f'{kind.kind} {name}' for kind, name in wanted)} ready")


async def left(story: Story, *kinds: Kind[Any]) -> list[str]:
    return [f"{kind.kind} {item.name}" for kind in kinds for item in (await story.client.list(kind, labels=OURS)).items]


async def gone(story: Story, name: str) -> None:
    async def none_left() -> bool:
        return not [item for item in await left(story, DEPLOYMENT, CONFIG_MAP, POD) if name in item]

    await story.until(none_left, f"nothing of {name}")


async def images(story: Story, app: str) -> set[str]:
    pods = (await story.client.list(POD, SPACE, {"app": app})).items
    return {
        container["image"]
        for pod in pods
        for container in (await story.client.get_raw(POD, pod.name, SPACE))["spec"]["containers"]
    }


async def test_components_follow_their_config_from_the_first_to_the_last(story: Story) -> None:
    await story.nodes(2, gpus=8)
    await story.apply(config(binder={"replicas": 2}))
    await story.apply(shard("default"))
    await story.apply(shard("blue", partitionLabelValue="blue", placementStrategy={"gpu": "spread"}))
    await ready(story, (CONFIG, "kai-config"), (SCHEDULING_SHARD, "default"), (SCHEDULING_SHARD, "blue"))
    assert await conditions(story, CONFIG, "kai-config") == {
        "Reconciling": "False",
        "Deployed": "True",
        "Available": "True",
        "DependenciesFulfilled": "True",
        "Ready": "True",
    }
    running = {item.name: item.status.available_replicas for item in (await story.client.list(DEPLOYMENT, SPACE)).items}
    assert running == {
        "admission": 1,
        "binder": 2,
        "explainer": 1,
        "gangline-operator": 1,
        "kai-scheduler-blue": 1,
        "kai-scheduler-default": 1,
        "node-scale-adjuster": 1,
        "pod-grouper": 1,
        "podgroup-controller": 1,
        "queue-controller": 1,
    }

    async def asked() -> bool:
        return len(await left(story, MUTATING_WEBHOOK, VALIDATING_WEBHOOK)) == 2

    await story.until(asked, "both webhook configurations")

    await story.apply(config(binder={"replicas": 2, "service": {"image": {"tag": "next"}}}))
    await ready(story, (CONFIG, "kai-config"))

    async def rolled() -> bool:
        return await images(story, "binder") == {"gangline:next"}

    await story.until(rolled, "pods of the new image only")

    await story.client.patch(DEPLOYMENT, "pod-grouper", SPACE, {"spec": {"replicas": 0}})
    await story.client.delete(SERVICE, "queue-controller", SPACE)

    async def repaired() -> bool:
        grouper = await story.client.get(DEPLOYMENT, "pod-grouper", SPACE)
        return grouper.spec.replicas == 1 and "Service queue-controller" in await left(story, SERVICE)

    await story.until(repaired, "what was changed by hand put back")

    await story.apply(config(binder={"service": {"enabled": False}}))
    await gone(story, "binder")
    await ready(story, (CONFIG, "kai-config"))

    await story.client.delete(SCHEDULING_SHARD, "blue")
    await gone(story, "kai-scheduler-blue")
    assert "Deployment kai-scheduler-default" in await left(story, DEPLOYMENT)

    await story.client.delete(CONFIG, "kai-config")

    async def nothing_left() -> bool:
        return not await left(
            story,
            DEPLOYMENT,
            POD,
            SERVICE,
            SERVICE_ACCOUNT,
            CONFIG_MAP,
            SECRET,
            ROLE,
            CLUSTER_ROLE,
            CLUSTER_ROLE_BINDING,
            MUTATING_WEBHOOK,
            VALIDATING_WEBHOOK,
        )

    async def shard_waits() -> bool:
        return (await conditions(story, SCHEDULING_SHARD, "default"))["Ready"] == "False"

    await story.until(nothing_left, "nothing left of it")
    await story.until(shard_waits, "the shard is told as not ready")


async def kubeconfig(story: Story, folder: Path) -> str:
    if isinstance(story.platform, Platform):
        return str(write_kubeconfig(story.platform, await story.platform.listen(), folder / "kubeconfig"))
    return str(cast("Any", story.platform).home.plane.kubeconfig)


async def test_two_commands_bring_it_into_a_cluster_and_one_takes_it_out(
    story: Story, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await story.nodes(2, gpus=8)
    where = await kubeconfig(story, tmp_path)
    await install._install(install.manifests("registry.example/gangline:1", None, "both"), where, 120)
    told = capsys.readouterr().out
    assert "configs.kai.scheduler/kai-config created" in told and told.endswith("everything is at work\n")
    installer = await story.client.get(DEPLOYMENT, "gangline-installer", "gangline-system")
    assert installer.spec.template["spec"]["containers"][0]["image"] == "registry.example/gangline:1"
    running = {item.name for item in (await story.client.list(DEPLOYMENT, SPACE)).items}
    assert {
        "admission",
        "binder",
        "gangline-operator",
        "kai-scheduler-default",
    } <= running and "node-scale-adjuster" not in running

    await install._install(install.manifests("registry.example/gangline:1", None, "both"), where, 120)
    assert "created" not in capsys.readouterr().out

    await uninstall._uninstall(where, False, 120)
    assert await left(story, DEPLOYMENT, SERVICE, SERVICE_ACCOUNT, CLUSTER_ROLE, VALIDATING_WEBHOOK) == []
