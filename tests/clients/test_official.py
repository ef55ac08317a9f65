"""The official Python client: typed and dynamic objects, watches, patches, its own waiting and its errors."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from clients.manifests import deployment, podcliqueset
from journeys.story import Story

kubernetes = pytest.importorskip("kubernetes", reason="the official Python client is not installed")


@pytest.fixture
def api(kubeconfig: Path) -> Any:
    return kubernetes.config.new_client_from_config(str(kubeconfig))


def _make_and_watch(api: Any) -> list[str]:
    apps, core = kubernetes.client.AppsV1Api(api), kubernetes.client.CoreV1Api(api)
    apps.create_namespaced_deployment("default", deployment("web"))
    seen = []
    for event in kubernetes.watch.Watch().stream(
        core.list_namespaced_pod, "default", label_selector="app=web", timeout_seconds=30
    ):
        pod = event["object"]
        if pod.status.phase == "Running" and pod.metadata.name not in seen:
            seen.append(pod.metadata.name)
        if len(seen) == 2:
            break
    return seen


async def test_a_deployment_is_made_watched_scaled_and_deleted(story: Story, api: Any) -> None:
    names = await asyncio.to_thread(_make_and_watch, api)
    assert all(name.startswith("web-") for name in names)
    apps = kubernetes.client.AppsV1Api(api)
    scaled = await asyncio.to_thread(
        apps.patch_namespaced_deployment_scale, "web", "default", {"spec": {"replicas": 3}}
    )
    assert scaled.spec.replicas == 3
    await story.running(3)
    await asyncio.to_thread(apps.delete_namespaced_deployment, "web", "default", propagation_policy="Foreground")

    async def gone() -> bool:
        return not await story.pods()

    await story.until(gone, "no pods")


async def test_our_kinds_are_found_by_discovery_and_applied(story: Story, api: Any) -> None:
    def use() -> Any:
        sets = kubernetes.dynamic.DynamicClient(api).resources.get(api_version="grove.io/v1alpha1", kind="PodCliqueSet")
        sets.server_side_apply(body=podcliqueset("llm"), name="llm", namespace="default", field_manager="official")
        return sets.get(name="llm", namespace="default")

    made = await asyncio.to_thread(use)
    assert (made.kind, made.metadata.managedFields[0].manager) == ("PodCliqueSet", "official")
    await story.running(2, of="llm")


async def test_pages_and_refusals_arrive_as_its_own_types(api: Any) -> None:
    core = kubernetes.client.CoreV1Api(api)

    def use() -> tuple[list[str], Any]:
        for name in ("a", "b", "c"):
            core.create_namespaced_config_map("default", {"metadata": {"name": name, "labels": {"mine": ""}}})
        first = core.list_namespaced_config_map("default", limit=2, label_selector="mine")
        rest = core.list_namespaced_config_map("default", label_selector="mine", _continue=first.metadata._continue)
        with pytest.raises(kubernetes.client.ApiException) as refusal:
            core.read_namespaced_config_map("d", "default")
        return [item.metadata.name for item in first.items + rest.items], refusal.value

    names, refusal = await asyncio.to_thread(use)
    assert names == ["a", "b", "c"]
    assert (refusal.status, refusal.reason) == (404, "Not Found")
    assert 'configmaps \\"d\\" not found' in refusal.body
