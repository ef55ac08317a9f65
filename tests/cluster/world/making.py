"""Typed objects for tests of pure parts: only what matters is stated."""

from __future__ import annotations

from typing import Any

import msgspec

from gangline.api.builtin import Job, Replicated
from gangline.api.core import Node, Pod
from gangline.api.meta import Raw
from gangline.runtime.clock import timestamp

START = 1_700_000_000.0


def when(seconds: float) -> str:
    """So many seconds after the start, as objects say it."""
    return timestamp(START + seconds)


def pod(name: str = "p", *, status: Raw | None = None, spec: Raw | None = None, **meta: Any) -> Pod:
    full = {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "creationTimestamp": when(0),
            **_camel(meta),
        },
        "spec": {"containers": [{"name": "main", "image": "app"}], **(spec or {})},
        "status": status or {},
    }
    return msgspec.convert(full, Pod)


def node(
    name: str = "n",
    *,
    labels: dict[str, str] | None = None,
    taints: list[Raw] | None = None,
    ready: str = "True",
    **amounts: Any,
) -> Node:
    offers = {
        "cpu": "8",
        "memory": "8Gi",
        "pods": "10",
        **{key.replace("gpus", "nvidia.com/gpu"): str(value) for key, value in amounts.items()},
    }
    return msgspec.convert(
        {
            "metadata": {"name": name, "uid": f"uid-{name}", "labels": labels or {}},
            "spec": {"taints": taints or []},
            "status": {"allocatable": offers, "conditions": [{"type": "Ready", "status": ready}]},
        },
        Node,
    )


def job(name: str = "j", *, status: Raw | None = None, **spec: Any) -> Job:
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
            "status": status or {},
            "spec": {"template": {"spec": {"containers": [{"name": "main"}], "restartPolicy": "Never"}}, **spec},
        },
        Job,
    )


def replicated(
    name: str = "r",
    *,
    status: Raw | None = None,
    labels: dict[str, str] | None = None,
    image: str = "app",
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> Replicated:
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "main", "image": image}]}}
    return msgspec.convert(
        {
            "metadata": {
                "name": name,
                "namespace": "default",
                "uid": f"uid-{name}",
                "generation": 1,
                "labels": labels or {},
                "annotations": annotations or {},
                "resourceVersion": "1",
            },
            "spec": {"selector": {"matchLabels": {"app": name}}, "template": template, **spec},
            "status": status or {},
        },
        Replicated,
    )


def ready_status(since: float = 0) -> Raw:
    return {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": when(since)}]}


def _camel(meta: Raw) -> Raw:
    return {_camel_case(key): value for key, value in meta.items()}


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)
