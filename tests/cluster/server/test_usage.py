"""What simulated nodes and pods use, for `kubectl top`."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from cluster.server.conftest import Api, in_process
from gangline.cluster.server.server import Server, ServerSettings

METRICS = "/apis/metrics.k8s.io/v1beta1"
PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    server = Server(ServerSettings(resource_metrics=True))
    await server.open()
    yield in_process(server)
    await server.close()


async def run_pod(api: Api, name: str, cpu: str, phase: str = "Running") -> None:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}
    labels = {"app": name}
    await api.post(
        PODS, {"metadata": {"name": name, "labels": labels}, "spec": {"nodeName": "n", "containers": [container]}}
    )
    await api.merge(f"{PODS}/{name}/status", {"status": {"phase": phase}})


async def test_running_pods_use_what_they_request_and_nodes_what_their_pods_use(api: Api) -> None:
    await api.post("/api/v1/nodes", {"metadata": {"name": "n"}})
    await api.post("/api/v1/nodes", {"metadata": {"name": "idle"}})
    await run_pod(api, "a", "250m")
    await run_pod(api, "b", "500m")
    await run_pod(api, "done", "4", "Succeeded")
    nodes = await api.get(f"{METRICS}/nodes")
    assert {item["metadata"]["name"]: item["usage"] for item in nodes.body["items"]} == {
        "idle": {"cpu": "0", "memory": "0"},
        "n": {"cpu": "750m", "memory": "2147483648"},
    }
    pods = await api.get(f"{METRICS}/namespaces/default/pods")
    assert pods.names == ["a", "b"]
    assert (await api.get(f"{METRICS}/namespaces/default/pods", labelSelector="app=b")).names == ["b"]
    one = await api.get(f"{METRICS}/namespaces/default/pods/a")
    assert one.body["containers"] == [{"name": "c", "usage": {"cpu": "250m", "memory": "1073741824"}}]
    waiting = await api.get(f"{METRICS}/namespaces/default/pods/done")
    assert (waiting.status, waiting.message) == (404, 'podmetrics.metrics.k8s.io "done" not found')


async def test_nobody_writes_metrics(api: Api) -> None:
    assert (await api.post(f"{METRICS}/nodes", {"metadata": {"name": "n"}})).status == 405


async def test_without_the_setting_there_is_no_such_group() -> None:
    server = Server(ServerSettings())
    await server.open()
    assert (await in_process(server).get(f"{METRICS}/nodes")).status == 404
    await server.close()
