"""Deployments, StatefulSets and what further cases are made of. Plain data."""

from __future__ import annotations

from typing import Any

from gangline.api import names
from gangline.api.meta import Raw
from truth.objects import pod_spec


def deployment(name: str, pods: int, **asks: Any) -> Raw:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": pods,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": pod_spec(**asks)},
        },
    }


def stateful_set(name: str, pods: int, **asks: Any) -> Raw:
    made = deployment(name, pods, **asks)
    return made | {"kind": "StatefulSet", "spec": made["spec"] | {"serviceName": name}}


def queued(pcs: Raw, name: str) -> Raw:
    return pcs | {"metadata": pcs["metadata"] | {"labels": {names.QUEUE: name}}}


FEW = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "few", "namespace": "default"},
    "spec": {"hard": {"pods": "1"}},
}
SCALED: dict[str, Any] = {
    "podCliqueScalingGroups": [{"name": "g", "cliqueNames": ["a"], "replicas": 2, "minAvailable": 1}]
}
