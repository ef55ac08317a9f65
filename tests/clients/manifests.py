"""What the clients make."""

from __future__ import annotations

from typing import Any

SLEEPER = {"name": "main", "image": "example/sleeper:1", "resources": {"requests": {"cpu": "100m"}}}


def deployment(name: str, replicas: int = 2) -> dict[str, Any]:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [SLEEPER]}},
        },
    }


def podcliqueset(name: str) -> dict[str, Any]:
    clique = {
        "name": "worker",
        "spec": {
            "roleName": "worker",
            "replicas": 2,
            "minAvailable": 2,
            "podSpec": {"schedulerName": "kai-scheduler", "containers": [SLEEPER]},
        },
    }
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"replicas": 1, "template": {"cliques": [clique]}},
    }
