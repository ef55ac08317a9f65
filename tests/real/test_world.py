"""The world's own controllers, scheduler and kubelet on a real API server that has none: everything lives as on a
cluster."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from typing import Any

import pytest

from cluster.world.simulated_world import SimulatedWorld, pod_spec, world
from gangline.api import names
from gangline.api.kinds import (
    CONFIG_MAP,
    DAEMON_SET,
    DEPLOYMENT,
    ENDPOINT_SLICE,
    HPA,
    JOB,
    NAMESPACE,
    NODE,
    PDB,
    POD,
    REPLICA_SET,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_QUOTA,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    STATEFUL_SET,
    STORAGE_CLASS,
    WORKLOAD,
)
from gangline.api.meta import Raw
from gangline.cluster.world.nodes.nodes import NodePool

pytestmark = pytest.mark.skipif(os.environ.get("GANGLINE_SERVER") != "real", reason="`make test-real` runs it")


@pytest.fixture
async def cluster() -> AsyncIterator[SimulatedWorld]:
    pools = (NodePool(name="n", count=2, gpus=8), NodePool(name="d", gpus=2, dra=True))
    async with world(*pools, root_ca="CA") as lived:
        yield lived


def of(app: str, **more: Any) -> Raw:
    template = {"metadata": {"labels": {"app": app}}, **pod_spec()}
    return {"spec": {"selector": {"matchLabels": {"app": app}}, "template": template, **more}}


async def test_workloads_run_scale_and_go(cluster: SimulatedWorld) -> None:
    client = cluster.client
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "storageClassName": "fast",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    await cluster.make(DEPLOYMENT, "web", of("web", replicas=2))
    await cluster.make(
        HPA,
        "web",
        {"spec": {"scaleTargetRef": target, "maxReplicas": 4, "metrics": [cpu]}},
        annotations={names.METRIC: "100"},
    )
    await cluster.make(SERVICE, "web", {"spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}})
    await cluster.make(PDB, "web", {"spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}}})
    await cluster.make(
        STORAGE_CLASS, "fast", {"provisioner": "example.com/disk", "volumeBindingMode": "WaitForFirstConsumer"}
    )
    await cluster.make(STATEFUL_SET, "db", of("db", replicas=2, serviceName="db", volumeClaimTemplates=[claim]))
    await cluster.make(DAEMON_SET, "agent", of("agent"))
    await cluster.make(
        JOB,
        "j",
        {
            "spec": {
                "parallelism": 2,
                "completions": 3,
                "completionMode": "Indexed",
                "template": pod_spec(restartPolicy="Never"),
            }
        },
    )

    async def live() -> bool:
        slices = (await client.list(ENDPOINT_SLICE, "default", {"kubernetes.io/service-name": "web"})).items
        return (
            (await client.get(DEPLOYMENT, "web", "default")).status.available_replicas == 4
            and (await client.get(STATEFUL_SET, "db", "default")).status.ready_replicas == 2
            and ((await client.get(DAEMON_SET, "agent", "default")).status or {}).get("numberReady") == 3
            and (await client.get(JOB, "j", "default")).status.succeeded == 3
            and ((await client.get(PDB, "web", "default")).status or {}).get("disruptionsAllowed") == 1
            and sum(len(slice_.endpoints or ()) for slice_ in slices) == 4
        )

    await cluster.until(live, "everything runs")
    await client.delete(HPA, "web", "default")
    await client.delete(DEPLOYMENT, "web", "default", propagation="Foreground")
    await cluster.until(lambda: cluster.is_gone(DEPLOYMENT, "web"), "foreground deletion")
    assert (await client.list(REPLICA_SET, "default")).items == []


async def test_gangs_claims_accounts_namespaces_and_nodes(cluster: SimulatedWorld) -> None:
    client = cluster.client
    await cluster.make(WORKLOAD, "w", {"spec": {"podGroups": [{"name": "g", "policy": {"gang": {"minCount": 2}}}]}})
    for number in range(2):
        await cluster.make(POD, f"g{number}", pod_spec(gpus=8, workloadRef={"name": "w", "podGroup": "g"}))
    await cluster.make(
        RESOURCE_CLAIM_TEMPLATE,
        "gpu",
        {
            "spec": {
                "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}}
            }
        },
    )
    await cluster.make(POD, "claimer", pod_spec(resourceClaims=[{"name": "g", "resourceClaimTemplateName": "gpu"}]))
    await cluster.make(SERVICE_ACCOUNT, "robot")
    await cluster.make(
        SECRET,
        "t",
        {"type": "kubernetes.io/service-account-token"},
        annotations={"kubernetes.io/service-account.name": "robot"},
    )
    await cluster.make(RESOURCE_QUOTA, "q", {"spec": {"hard": {"pods": "10"}}})

    async def live() -> bool:
        pods = (await client.list(POD, "default")).items
        return (
            len(pods) == 3
            and all(pod.status.phase == "Running" for pod in pods)
            and len((await client.list(RESOURCE_CLAIM, "default")).items) == 1
            and bool((await client.get(SECRET, "t", "default")).data.get("token"))
            and ((await client.get(RESOURCE_QUOTA, "q", "default")).status or {}).get("used") == {"pods": "3"}
        )

    await cluster.until(live, "everything runs")
    await cluster.make(NAMESPACE, "team")
    await cluster.make(CONFIG_MAP, "c", namespace="team")
    await client.delete(NAMESPACE, "team")
    await cluster.until(lambda: cluster.is_gone(NAMESPACE, "team", ""), "the namespace is gone")
    lost = (await client.get(POD, "g0", "default")).spec.node_name
    await client.delete(NODE, lost)
    await cluster.until(lambda: cluster.is_gone(POD, "g0"), "the pod of a removed node is gone")
