"""Random clusters with a gang that may wait: plain objects, the same for the same number; and how one is answered."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass
from typing import Any

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.why.answers import answer, titles_of
from gangline.why.causes import cause_of
from gangline.why.changes import ObjectChange, applied
from gangline.why.fixes.consequences import consequences
from gangline.why.objects import ClusterObjects
from gangline.why.remedies import remedies
from gangline.why.replay import at_rest
from gangline.why.subjects import find
from truth.checker import problem

GANG = "x"
STAMP = "2026-01-01T00:00:00Z"
NOW = 1_770_000_000.0
READ: tuple[kinds.Kind[Any], ...] = (
    kinds.NODE,
    kinds.QUEUE,
    kinds.POD_GROUP,
    kinds.POD,
    kinds.JOB,
    kinds.EVENT,
    kinds.LEASE,
    kinds.PRIORITY_CLASS,
)


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """`wrong`: what is not true of the told cause. `works`: the first remedy starts the gang; `minimal`: no part of
    it does."""

    cause: str
    wrong: str
    works: bool
    minimal: bool
    text: str


def judged(seed: int) -> CheckedAnswer | None:
    return judged_cluster(cluster(seed))


def judged_cluster(raws: list[Raw]) -> CheckedAnswer | None:
    """How a cluster is answered; None where there is room for its gang, or room is being made."""
    objects = objects_of(copy.deepcopy(raws))
    (subject,) = find(objects, GANG, "default")
    cause = cause_of(objects, subject, titles_of(objects))
    if cause.state != "waits" or cause.transient or cause.code == "no-scheduler":
        return None
    found = remedies(objects, subject, cause, titles_of(objects))
    told = answer(objects, subject, cause, found)
    changes = found[0].changes if found else ()
    works = bool(changes) and starts(raws, changes)
    fewer = [changes[:place] + changes[place + 1 :] for place in range(len(changes))]
    minimal = works and not any(starts(raws, item) for item in fewer if item)
    return CheckedAnswer(cause.code, problem(raws, GANG, told.data), works, minimal, told.text)


def starts(raws: list[Raw], changes: tuple[ObjectChange, ...]) -> bool:
    """On objects and a model that share nothing with those of the answer."""
    changed = consequences(applied(objects_of(copy.deepcopy(raws)), changes))
    return at_rest(objects_of(list(changed.everything()))).started(f"default/{GANG}")


def objects_of(raws: list[Raw]) -> ClusterObjects:
    of_kind: dict[str, list[Raw]] = {}
    for raw in raws:
        of_kind.setdefault(raw["kind"], []).append(raw)
    others = [kind for name in of_kind if (kind := kinds.known(of_kind[name][0]["apiVersion"], name)) is not None]
    return ClusterObjects.of([(kind, of_kind.get(kind.kind, [])) for kind in dict.fromkeys((*READ, *others))], NOW)


def cluster(seed: int) -> list[Raw]:
    chance = random.Random(seed)
    nodes = [_node(chance, number) for number in range(chance.randint(2, 8))]
    queues = _queues(chance)
    running = _running(chance, nodes)
    return [*nodes, *queues, *running, *_gang(chance)]


def plain_object(kind: str, name: str, version: str = "v1", namespace: str = "", **fields: Any) -> Raw:
    meta: Raw = {
        "name": name,
        "uid": f"{kind}-{name}",
        "creationTimestamp": STAMP,
        "labels": fields.pop("labels", {}),
        "annotations": fields.pop("annotations", {}),
        **({"namespace": namespace} if namespace else {}),
    }
    return {"apiVersion": version, "kind": kind, "metadata": meta, **fields}


def _node(chance: random.Random, number: int) -> Raw:
    name = f"n{number}"
    has = {
        "cpu": chance.choice(["16", "64"]),
        "memory": "256Gi",
        "pods": chance.choice(["4", "110"]),
        "nvidia.com/gpu": chance.choice(["4", "8"]),
    }
    spec: Raw = {}
    if chance.random() < 0.15:
        spec["unschedulable"] = True
    if chance.random() < 0.25:
        spec["taints"] = [{"key": "dedicated", "value": "b", "effect": "NoSchedule"}]
    ready = "False" if chance.random() < 0.1 else "True"
    labels = {
        "kubernetes.io/hostname": name,
        "type": chance.choice(["a100", "h100"]),
        "nvidia.com/gpu.count": has["nvidia.com/gpu"],
    }
    return plain_object(
        "Node",
        name,
        labels=labels,
        spec=spec,
        status={"allocatable": has, "capacity": has, "conditions": [{"type": "Ready", "status": ready}]},
    )


def _queues(chance: random.Random) -> list[Raw]:
    def queue(name: str, parent: str = "") -> Raw:
        def share() -> Raw:
            return {
                "quota": chance.choice([-1, 0, 4, 8]),
                "limit": chance.choice([-1, -1, -1, 8]),
                "overQuotaWeight": 1,
            }

        free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
        cpu = {"quota": -1, "limit": chance.choice([-1, -1, 16000]), "overQuotaWeight": 1}
        spec: Raw = {
            "resources": {"cpu": cpu, "memory": free, "gpu": share()},
            **({"parentQueue": parent} if parent else {}),
        }
        return plain_object("Queue", name, "scheduling.run.ai/v2", spec=spec)

    return [queue("org"), queue("a", "org"), queue("b", "org")]


def _running(chance: random.Random, nodes: list[Raw]) -> list[Raw]:
    made = []
    for node in nodes:
        gpus, slots = int(node["status"]["allocatable"]["nvidia.com/gpu"]), int(node["status"]["allocatable"]["pods"])
        for number in range(chance.randint(0, 3)):
            size = chance.choice([1, 2, 4])
            if size > gpus or slots < 1:
                continue
            gpus, slots = gpus - size, slots - 1
            name = f"old-{node['metadata']['name']}-{number}"
            firm = chance.random() < 0.3
            made += [
                _group(name, 1, chance.choice(["a", "b"]), "non-preemptible" if firm else "preemptible"),
                _pod(f"{name}-0", name, size, 1, nodeName=node["metadata"]["name"]),
            ]
    return made


def _gang(chance: random.Random) -> list[Raw]:
    pods, gpus, cpu = chance.randint(1, 5), chance.choice([0, 1, 2, 4, 8]), chance.choice([1, 8, 32])
    spec: Raw = {}
    if chance.random() < 0.3:
        spec["nodeSelector"] = {"type": chance.choice(["a100", "h100", "b200"])}
    if chance.random() < 0.3:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    if chance.random() < 0.25:
        spec["affinity"] = {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": {"matchLabels": {"app": GANG}}, "topologyKey": "kubernetes.io/hostname"}
                ]
            }
        }
    kind = chance.choice(["preemptible", "preemptible", "non-preemptible"])
    return [
        _group(GANG, pods, "a", kind),
        *(_pod(f"{GANG}-{number}", GANG, gpus, cpu, **spec) for number in range(pods)),
    ]


def _group(name: str, minimum: int, queue: str, preemptibility: str) -> Raw:
    return plain_object(
        "PodGroup",
        name,
        "scheduling.run.ai/v2alpha2",
        "default",
        spec={"minMember": minimum, "queue": queue, "preemptibility": preemptibility},
    )


def _pod(name: str, group: str, gpus: int, cpu: int, **spec: Any) -> Raw:
    wanted = {"cpu": str(cpu), "memory": "1Gi", **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    phase = "Running" if "nodeName" in spec else "Pending"
    return plain_object(
        "Pod",
        name,
        namespace="default",
        labels={"app": group},
        annotations={"pod-group-name": group},
        status={"phase": phase},
        spec={
            "schedulerName": "kai-scheduler",
            "containers": [{"name": "c", "resources": {"requests": wanted}}],
            **spec,
        },
    )


def full_cluster(size: int) -> list[Raw]:
    """Every GPU taken by gangs of four; twenty gangs wait."""
    raws: list[Raw] = [item for item in cluster(1) if item["kind"] == "Queue"]
    for raw in raws:
        raw["spec"]["resources"] = {
            name: {"quota": -1, "limit": -1, "overQuotaWeight": 1} for name in ("cpu", "memory", "gpu")
        }
    node, pod = (next(item for item in cluster(3) if item["kind"] == kind) for kind in ("Node", "Pod"))
    group = next(item for item in cluster(3) if item["kind"] == "PodGroup")

    def named(made: Any, name: str, **meta: Any) -> Any:
        return {**made, "metadata": {**made["metadata"], "name": name, "uid": f"{made['kind']}-{name}", **meta}}

    has = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}
    status = {"allocatable": has, "capacity": has, "conditions": [{"type": "Ready", "status": "True"}]}
    raws += [
        named(node, f"n{number}", labels={"kubernetes.io/hostname": f"n{number}"}) | {"spec": {}, "status": status}
        for number in range(size)
    ]
    wanted = {"requests": {"cpu": "1", "nvidia.com/gpu": "1"}}
    asked = {"schedulerName": "kai-scheduler", "containers": [{"name": "c", "resources": wanted}]}
    for number in range(2 * size + 20):
        waits = number >= 2 * size
        name = f"{GANG}{number}"
        raws.append(named(group, name) | {"spec": {"minMember": 4, "queue": "a"}})
        for place in range(4):
            spec = asked if waits else {**asked, "nodeName": f"n{number // 2}"}
            raws.append(
                named(pod, f"{name}-{place}", annotations={"pod-group-name": name})
                | {"spec": spec, "status": {"phase": "Pending" if waits else "Running"}}
            )
    return raws
