"""Workloads of other makers' kinds with the pods that their operators have made. Plain data."""

from __future__ import annotations

from typing import Any

from gangline.api import names
from gangline.api.meta import Raw
from truth.causes.other_makers import KIND
from truth.objects import job, pod, pod_spec


def definition(plural: str, kind: str, api_group: str, version: str) -> Raw:
    called = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    versions = [KIND["spec"]["versions"][0] | {"name": version}]
    spec = KIND["spec"] | {"group": api_group, "names": called, "versions": versions}
    return KIND | {"metadata": {"name": f"{plural}.{api_group}"}, "spec": spec}


def owned(item: Raw, api_version: str, kind: str) -> Raw:
    reference = {"apiVersion": api_version, "kind": kind, "name": "x", "controller": True}
    return item | {"metadata": item["metadata"] | {"ownerReferences": [reference]}}


def top(api_version: str, kind: str, queue_name: str, **spec: Any) -> Raw:
    labels = {names.QUEUE: queue_name} if queue_name else {}
    meta = {"name": "x", "namespace": "default", "labels": labels}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, "spec": spec}


def job_set(pods: int, gpus: int, queue_name: str = "") -> list[Raw]:
    """A JobSet, and the one Job that its operator has made."""
    version = "jobset.x-k8s.io/v1alpha2"
    template = {"spec": {"parallelism": pods, "completions": pods, "template": {"spec": pod_spec(gpus)}}}
    labels = {
        "jobset.sigs.k8s.io/jobset-name": "x",
        "jobset.sigs.k8s.io/replicatedjob-name": "w",
        "jobset.sigs.k8s.io/job-index": "0",
    }
    made = owned(job("x-w-0", pods, gpus=gpus, labels=labels, pod_labels=labels), version, "JobSet")
    made["metadata"]["annotations"] = {}
    jobs = [{"name": "w", "replicas": 1, "template": template}]
    kind = definition("jobsets", "JobSet", "jobset.x-k8s.io", "v1alpha2")
    return [kind, top(version, "JobSet", queue_name, replicatedJobs=jobs), made]


def ray(workers: int, gpus: int, queue_name: str = "", **extra: Any) -> list[Raw]:
    """A RayCluster with its head and workers."""
    groups = [{"groupName": "g", "replicas": workers, "minReplicas": workers, "template": {"spec": pod_spec(gpus)}}]
    head = {"ray.io/node-type": "head", "ray.io/cluster": "x", "ray.io/group": "headgroup"}
    worker = {"ray.io/node-type": "worker", "ray.io/cluster": "x", "ray.io/group": "g"}
    pods = [
        pod("x-head", labels=head),
        *(pod(f"x-g-{number}", gpus=gpus, labels=worker, **extra) for number in range(workers)),
    ]
    spec = {"headGroupSpec": {"template": {"spec": pod_spec()}}, "workerGroupSpecs": groups}
    kind = definition("rayclusters", "RayCluster", "ray.io", "v1")
    return [
        kind,
        top("ray.io/v1", "RayCluster", queue_name, **spec),
        *(owned(p, "ray.io/v1", "RayCluster") for p in pods),
    ]


def leader_workers(size: int, gpus: int, queue_name: str = "", **extra: Any) -> list[Raw]:
    """A LeaderWorkerSet with one group."""
    version, prefix = "leaderworkerset.x-k8s.io/v1", "leaderworkerset.sigs.k8s.io"
    pods = [
        pod(
            f"x-0-{number}" if number else "x-0",
            gpus=gpus,
            labels={f"{prefix}/name": "x", f"{prefix}/group-index": "0", f"{prefix}/worker-index": str(number)},
            notes={f"{prefix}/size": str(size)},
            **extra,
        )
        for number in range(size)
    ]
    spec = {"replicas": 1, "leaderWorkerTemplate": {"size": size, "workerTemplate": {"spec": pod_spec(gpus)}}}
    kind = definition("leaderworkersets", "LeaderWorkerSet", "leaderworkerset.x-k8s.io", "v1")
    return [
        kind,
        top(version, "LeaderWorkerSet", queue_name, **spec),
        *(owned(p, version, "LeaderWorkerSet") for p in pods),
    ]


def run_of_cron_job(**spec: Any) -> list[Raw]:
    """A CronJob, and the Job of its last run."""
    template = {"spec": {"template": {"spec": pod_spec() | {"restartPolicy": "Never"}}}}
    cron = top("batch/v1", "CronJob", "", schedule="0 0 1 1 *", jobTemplate=template)
    return [cron, owned(job("x-1", **spec), "batch/v1", "CronJob")]
