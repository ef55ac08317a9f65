"""Random clusters with more to trip over than those of clusters.py: zones and volumes, racks, affinities, parts of
GPUs, device claims, priorities, minimum run times, and queues three levels deep. Plain objects, the same for the same
number."""

from __future__ import annotations

import random
from typing import Any

from gangline.api.meta import Raw
from truth.clusters import GANG, plain_object

ZONE, RACK, HOST = "topology.kubernetes.io/zone", "example.com/rack", "kubernetes.io/hostname"
CLASS = "gpu.example.com"
CLASSES = {"low": 20, "usual": 50, "high": 80}


def wide_cluster(seed: int) -> list[Raw]:
    chance = random.Random(f"wide {seed}")
    with_devices = chance.random() < 0.15
    nodes = [_node(chance, number) for number in range(chance.randint(2, 8))]
    classes = [
        plain_object("PriorityClass", name, "scheduling.k8s.io/v1", value=value) for name, value in CLASSES.items()
    ]
    levels = {"levels": [{"nodeLabel": ZONE}, {"nodeLabel": RACK}, {"nodeLabel": HOST}]}
    return [
        *nodes,
        *classes,
        *_queues(chance),
        plain_object("Topology", "racks", "kai.scheduler/v1alpha1", spec=levels),
        *_running(chance, nodes),
        *(_devices(chance, nodes) if with_devices else ()),
        *_gang(chance, with_devices),
    ]


def _node(chance: random.Random, number: int) -> Raw:
    name = f"n{number}"
    gpus = chance.choice(["0", "4", "8"])
    has = {
        "cpu": chance.choice(["16", "64"]),
        "memory": chance.choice(["64Gi", "256Gi"]),
        "pods": chance.choice(["4", "110"]),
        "ephemeral-storage": "1Ti",
        **({"nvidia.com/gpu": gpus} if gpus != "0" else {}),
    }
    spec: Raw = {"unschedulable": True} if chance.random() < 0.1 else {}
    taints = [
        {"key": key, "value": "b", "effect": effect}
        for key, effect in (("dedicated", "NoSchedule"), ("batch", "NoExecute"), ("soft", "PreferNoSchedule"))
        if chance.random() < 0.15
    ]
    spec |= {"taints": taints} if taints else {}
    labels = {
        HOST: name,
        ZONE: chance.choice(["a", "b"]),
        "type": chance.choice(["a100", "h100"]),
        "generation": str(chance.randint(1, 9)),
        **({RACK: f"r{number // 2}"} if chance.random() < 0.9 else {}),
        **({"nvidia.com/gpu.count": gpus, "nvidia.com/gpu.memory": "81920"} if gpus != "0" else {}),
    }
    ready = "False" if chance.random() < 0.08 else "True"
    status = {"allocatable": has, "capacity": has, "conditions": [{"type": "Ready", "status": ready}]}
    return plain_object("Node", name, labels=labels, spec=spec, status=status)


def _queues(chance: random.Random) -> list[Raw]:
    """org → division → team, twice at the bottom."""

    def queue(name: str, parent: str = "") -> Raw:
        def share(*quotas: int) -> Raw:
            limit = chance.choice([-1] * 9 + [4 * quotas[-1]])
            return {"quota": chance.choice([-1, 0, *quotas]), "limit": limit, "overQuotaWeight": 1}

        free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
        cpu = {"quota": -1, "limit": chance.choice([-1] * 11 + [24000]), "overQuotaWeight": 1}
        memory = {"quota": -1, "limit": chance.choice([-1] * 11 + [40000]), "overQuotaWeight": 1}
        spec: Raw = {"resources": {"cpu": cpu, "memory": memory if parent else free, "gpu": share(2, 4)}}
        spec |= {"parentQueue": parent} if parent else {}
        if chance.random() < 0.15:
            spec[chance.choice(["preemptMinRuntime", "reclaimMinRuntime"])] = "876000h"
        return plain_object("Queue", name, "scheduling.run.ai/v2", spec=spec)

    return [queue("org"), queue("division", "org"), queue("a", "division"), queue("b", "division"), queue("c", "org")]


def _running(chance: random.Random, nodes: list[Raw]) -> list[Raw]:
    made: list[Raw] = []
    for node in nodes:
        gpus, slots = (int(node["status"]["allocatable"].get(key, 0)) for key in ("nvidia.com/gpu", "pods"))
        for number in range(chance.randint(0, 3)):
            size = chance.choice([0, 1, 2, 4])
            if size > gpus or slots < 1:
                continue
            gpus, slots = gpus - size, slots - 1
            name = f"old-{node['metadata']['name']}-{number}"
            kind = chance.choice(["preemptible", "preemptible", "non-preemptible"])
            made += [
                _group(name, 1, chance.choice(["a", "b", "c"]), chance.choice(list(CLASSES)), preemptibility=kind),
                _pod(f"{name}-0", name, {"nvidia.com/gpu": size, "cpu": 1}, nodeName=node["metadata"]["name"]),
            ]
    return made


def _devices(chance: random.Random, nodes: list[Raw]) -> list[Raw]:
    made = [plain_object("DeviceClass", CLASS, "resource.k8s.io/v1", spec={"selectors": []})]
    for node in nodes:
        name = node["metadata"]["name"]
        if chance.random() < 0.6:
            devices = [{"name": f"d{number}"} for number in range(chance.randint(1, 3))]
            pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
            spec = {"driver": CLASS, "nodeName": name, "pool": pool, "devices": devices}
            made.append(plain_object("ResourceSlice", f"{name}-slice", "resource.k8s.io/v1", spec=spec))
    return made


def _gang(chance: random.Random, with_devices: bool) -> list[Raw]:
    pods = chance.randint(1, 5)
    asks: Raw = {
        "cpu": chance.choice([1, 8, 32]),
        "memory": chance.choice(["1Gi", "1Gi", "100Gi"]),
        "nvidia.com/gpu": 0 if with_devices else chance.choice([0, 1, 2, 4, 8]),
    }
    more: list[Raw] = []
    spec: Raw = {}
    notes: Raw = {}
    if chance.random() < 0.2:
        spec["nodeSelector"] = {"type": chance.choice(["a100", "h100", "b200"])}
    if chance.random() < 0.3:
        spec["tolerations"] = [{"key": chance.choice(["dedicated", "batch"]), "operator": "Exists"}]
    affinity = _affinity(chance, "nodeSelector" in spec)
    spec |= {"affinity": affinity} if affinity else {}
    if chance.random() < 0.15:
        more += _volume(chance)
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    if chance.random() < 0.15 and not with_devices:
        asks["nvidia.com/gpu"] = 0
        notes["gpu-fraction"] = chance.choice(["0.5", "0.7"])
    claims = [f"claim-{number}" for number in range(pods)] if with_devices else []
    more += [_claim(name, chance.choice([1, 1, 2])) for name in claims]
    group: Raw = {"preemptibility": chance.choice(["preemptible"] * 5 + ["non-preemptible"])}
    if chance.random() < 0.2:
        group["topologyConstraint"] = {"topology": "racks", "requiredTopologyLevel": chance.choice([ZONE, RACK])}
    made = [_group(GANG, pods, "a", chance.choice(list(CLASSES)), **group)]
    for number in range(pods):
        own: Raw = {"resourceClaims": [{"name": "device", "resourceClaimName": claims[number]}]} if claims else {}
        made.append(_pod(f"{GANG}-{number}", GANG, asks, notes, **spec, **own))
    return [*more, *made]


def _affinity(chance: random.Random, selected: bool) -> Raw:
    """`selected`: a selector asks for a type already, so that nothing against types is asked here."""
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    affinity: Raw = {}
    if chance.random() < 0.2:
        term = {"labelSelector": {"matchLabels": {"app": GANG}}, "topologyKey": chance.choice([HOST, HOST, RACK])}
        affinity[chance.choice(["podAntiAffinity", "podAntiAffinity", "podAffinity"])] = {required: [term]}
    if chance.random() < 0.2:
        key, operator, values = chance.choice(
            [
                *([] if selected else [("type", "NotIn", ["a100"]), ("type", "DoesNotExist", [])]),
                ("generation", "Gt", ["7"]),
                ("fast", "Exists", []),
                (ZONE, "In", ["a", "c"]),
            ]
        )
        expression = {"key": key, "operator": operator, **({"values": values} if values else {})}
        affinity["nodeAffinity"] = {required: {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    return affinity


def _volume(chance: random.Random) -> list[Raw]:
    """A bound claim whose volume is in one zone."""
    zone = {"key": ZONE, "operator": "In", "values": [chance.choice(["a", "b", "c"])]}
    nodes = {"required": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}}
    claim = {"volumeName": "volume", "accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    reference = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "data"}
    return [
        plain_object("PersistentVolume", "volume", spec={"nodeAffinity": nodes, "claimRef": reference}),
        plain_object("PersistentVolumeClaim", "data", namespace="default", spec=claim, status={"phase": "Bound"}),
    ]


def _claim(name: str, count: int) -> Raw:
    request = {"name": "device", "exactly": {"deviceClassName": CLASS, "count": count}}
    spec = {"devices": {"requests": [request]}}
    labels = {"kai.scheduler/queue": "a"}
    return plain_object("ResourceClaim", name, "resource.k8s.io/v1", "default", spec=spec, labels=labels)


def _group(name: str, minimum: int, queue: str, priority: str, **spec: Any) -> Raw:
    body = {"minMember": minimum, "queue": queue, "priorityClassName": priority, **spec}
    return plain_object("PodGroup", name, "scheduling.run.ai/v2alpha2", "default", spec=body)


def _pod(name: str, group: str, asks: Raw, notes: Raw | None = None, **spec: Any) -> Raw:
    wanted = {"memory": "1Gi", **{key: str(value) for key, value in asks.items() if value}}
    phase = "Running" if "nodeName" in spec else "Pending"
    body = {"schedulerName": "kai-scheduler", "containers": [{"name": "c", "resources": {"requests": wanted}}], **spec}
    return plain_object(
        "Pod",
        name,
        namespace="default",
        labels={"app": group},
        annotations={"pod-group-name": group, **(notes or {})},
        status={"phase": phase},
        spec=body,
    )
