"""lightkube: its asynchronous client, typed models, generic resources of our kinds, apply and wait."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clients.manifests import deployment, podcliqueset
from journeys.story import Story

lightkube = pytest.importorskip("lightkube", reason="lightkube is not installed")


@pytest.fixture
def client(kubeconfig: Path) -> Any:
    return lightkube.AsyncClient(lightkube.KubeConfig.from_file(str(kubeconfig)), field_manager="lightkube")


async def test_a_deployment_becomes_available_and_is_patched(story: Story, client: Any) -> None:
    from lightkube.resources.apps_v1 import Deployment
    from lightkube.resources.core_v1 import Pod

    await client.create(Deployment.from_dict(deployment("web")))
    await client.wait(Deployment, "web", for_conditions=["Available"])
    assert [pod.status.phase async for pod in client.list(Pod, labels={"app": "web"})] == ["Running", "Running"]
    await client.patch(Deployment, "web", {"spec": {"replicas": 1}})
    await story.running(1)


async def test_our_kinds_are_generic_resources(story: Story, client: Any) -> None:
    from lightkube.generic_resource import create_namespaced_resource

    kind: Any = create_namespaced_resource("grove.io", "v1alpha1", "PodCliqueSet", "podcliquesets")
    await client.apply(kind(podcliqueset("llm")))
    await story.running(2, of="llm")
    found = await client.get(kind, "llm")
    assert found.spec["replicas"] == 1
    await client.delete(kind, "llm")
    with pytest.raises(lightkube.ApiError) as refusal:
        await client.get(kind, "nobody")
    assert refusal.value.status.reason == "NotFound"


async def test_a_watch_tells_what_happens(client: Any) -> None:
    from lightkube.models.meta_v1 import ObjectMeta
    from lightkube.resources.core_v1 import ConfigMap

    await client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default"), data={"k": "1"}))
    told = []
    async for operation, found in client.watch(ConfigMap, fields={"metadata.name": "a"}):
        told.append((operation, (found.data or {}).get("k")))
        if operation == "ADDED":
            await client.patch(ConfigMap, "a", {"data": {"k": "2"}})
        elif operation == "MODIFIED":
            await client.delete(ConfigMap, "a")
        else:
            break
    assert told == [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]
