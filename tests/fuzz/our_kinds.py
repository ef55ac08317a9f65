"""One object of each of our own kinds, full enough that mutations reach their rules; and DRA objects that hold CEL."""

from __future__ import annotations

from typing import Any

Obj = dict[str, Any]
POD_SPEC: Obj = {
    "schedulerName": "kai-scheduler",
    "containers": [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}}],
}
HERE = "namespaces/default"


def _clique(name: str) -> Obj:
    return {
        "name": name,
        "labels": {"a": "b"},
        "annotations": {"c": "d"},
        "topologyConstraint": {"topologyName": "t", "pack": {"required": "rack"}},
        "spec": {
            "roleName": name,
            "replicas": 3,
            "minAvailable": 2,
            "startsAfter": [] if name == "a" else ["a"],
            **({"autoScalingConfig": {"minReplicas": 2, "maxReplicas": 5, "metrics": []}} if name == "a" else {}),
            "podSpec": POD_SPEC,
        },
    }


def _of(api_version: str, kind: str, name: str, **fields: Any) -> Obj:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


SET = _of(
    "grove.io/v1alpha1",
    "PodCliqueSet",
    "set",
    spec={
        "replicas": 2,
        "updateStrategy": {"type": "RollingRecreate"},
        "template": {
            "cliques": [_clique("a"), _clique("b")],
            "cliqueStartupType": "CliqueStartupTypeExplicit",
            "terminationDelay": "4h",
            "priorityClassName": "high",
            "headlessServiceConfig": {"publishNotReadyAddresses": True},
            "podCliqueScalingGroups": [
                {
                    "name": "g",
                    "cliqueNames": ["b"],
                    "replicas": 2,
                    "minAvailable": 1,
                    "scaleConfig": {"minReplicas": 1, "maxReplicas": 4},
                }
            ],
        },
    },
)
CEL: Obj = {"cel": {"expression": "device.attributes['gpu.example.com'].model == 'a' && device.driver == 'x'"}}
OUR_KINDS: dict[str, Obj] = {
    f"/apis/grove.io/v1alpha1/{HERE}/podcliquesets": SET,
    f"/apis/grove.io/v1alpha1/{HERE}/podcliques": _of(
        "grove.io/v1alpha1", "PodClique", "clique", spec=_clique("a")["spec"], status={"replicas": 1}
    ),
    f"/apis/grove.io/v1alpha1/{HERE}/podcliquescalinggroups": _of(
        "grove.io/v1alpha1",
        "PodCliqueScalingGroup",
        "group",
        spec={"replicas": 2, "minAvailable": 1, "cliqueNames": ["a"]},
    ),
    "/apis/grove.io/v1alpha1/clustertopologybindings": _of(
        "grove.io/v1alpha1", "ClusterTopologyBinding", "t", spec={"levels": [{"domain": "rack", "key": "x.io/rack"}]}
    ),
    f"/apis/scheduler.grove.io/v1alpha1/{HERE}/podgangs": _of(
        "scheduler.grove.io/v1alpha1",
        "PodGang",
        "gang",
        spec={
            "podgroups": [{"name": "a", "minReplicas": 1, "podReferences": [{"namespace": "default", "name": "p"}]}],
            "topologyConstraint": {"packConstraint": {"required": "x.io/rack"}},
            "priorityClassName": "high",
        },
    ),
    "/apis/scheduling.run.ai/v2/queues": _of(
        "scheduling.run.ai/v2",
        "Queue",
        "queue",
        spec={
            "parentQueue": "",
            "priority": 100,
            "resources": {kind: {"quota": 4, "limit": -1, "overQuotaWeight": 1} for kind in ("gpu", "cpu", "memory")},
        },
    ),
    f"/apis/scheduling.run.ai/v2alpha2/{HERE}/podgroups": _of(
        "scheduling.run.ai/v2alpha2",
        "PodGroup",
        "podgroup",
        spec={
            "minMember": 2,
            "queue": "queue",
            "priorityClassName": "train",
            "subGroups": [{"name": "a", "minSubGroup": 1}, {"name": "b", "minMember": 1, "parent": "a"}],
            "topologyConstraint": {"topology": "topology", "requiredTopologyLevel": "x.io/rack"},
        },
    ),
    f"/apis/scheduling.run.ai/v1alpha2/{HERE}/bindrequests": _of(
        "scheduling.run.ai/v1alpha2",
        "BindRequest",
        "bind",
        spec={
            "podName": "p",
            "selectedNode": "n",
            "receivedResourceType": "Fraction",
            "receivedGPU": {"count": 1, "portion": "0.5"},
            "selectedGPUGroups": ["0"],
            "backoffLimit": 3,
        },
    ),
    "/apis/kai.scheduler/v1alpha1/topologies": _of(
        "kai.scheduler/v1alpha1",
        "Topology",
        "topology",
        spec={"levels": [{"nodeLabel": "x.io/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]},
    ),
    "/apis/kai.scheduler/v1/configs": _of(
        "kai.scheduler/v1",
        "Config",
        "kai-config",
        spec={"namespace": "kai", "scheduler": {"replicas": 1}, "global": {"schedulerName": "kai-scheduler"}},
    ),
    "/apis/kai.scheduler/v1/schedulingshards": _of(
        "kai.scheduler/v1",
        "SchedulingShard",
        "shard",
        spec={"partitionLabelValue": "a", "placementStrategy": {"gpu": "binpack", "cpu": "spread"}},
    ),
    "/apis/resource.k8s.io/v1/deviceclasses": _of(
        "resource.k8s.io/v1", "DeviceClass", "gpu.example.com", spec={"selectors": [CEL]}
    ),
    f"/apis/resource.k8s.io/v1/{HERE}/resourceclaims": _of(
        "resource.k8s.io/v1",
        "ResourceClaim",
        "claim",
        spec={
            "devices": {
                "requests": [
                    {"name": "a", "exactly": {"deviceClassName": "gpu.example.com", "count": 2, "selectors": [CEL]}}
                ],
                "constraints": [{"requests": ["a"], "matchAttribute": "gpu.example.com/numa"}],
                "config": [{"opaque": {"driver": "x.io", "parameters": {"a": 1}}}],
            }
        },
    ),
}
