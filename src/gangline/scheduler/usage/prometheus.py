"""History of usage from Prometheus, with upstream's queries.

Sliding windows are one instant query; tumbling and cron windows too, with the window cut to the time since the last
reset (upstream asks for a range there and cannot read the answer). The transport is handed in, so the queries can be
tested without a Prometheus.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from gangline.errors import GanglineError
from gangline.scheduler.usage.windows import RESOURCES, UsageSettings, parts, window_start

METRICS = {
    "gpu": "kai_queue_allocated_gpus",
    "cpu": "kai_queue_allocated_cpu_cores",
    "memory": "kai_queue_allocated_memory_bytes",
}
CAPACITY = {
    name: f'sum(kube_node_status_capacity{{resource="{resource}"}})'
    for name, resource in (("gpu", "nvidia_com_gpu"), ("cpu", "cpu"), ("memory", "memory"))
}
QUEUE = "queue_name"

Ask = Callable[[str, Mapping[str, str]], Awaitable[dict[str, Any]]]
"""GET of an address with parameters → the answer's JSON."""


class PrometheusError(GanglineError):
    """Prometheus could not be asked, or answered with an error."""


def queries(settings: UsageSettings, now: float) -> dict[tuple[str, str], str]:
    """(what, resource) → query, at this moment."""
    window = math.ceil(now - window_start(settings, now))
    by_resource: dict[tuple[str, str], str] = {}
    for name in RESOURCES:
        used = settings.extra.get(f"{name}AllocationMetric", METRICS[name])
        capacity = settings.extra.get(f"{name}CapacityMetric", CAPACITY[name])
        for what, metric in (("used", used), ("capacity", capacity)):
            faded = (
                metric
                if settings.half_life is None
                else f"({metric}) * (0.5 ^ (({now:.0f} - time()) / {settings.half_life:g}))"
            )
            by_resource[what, name] = f"sum_over_time(({faded})[{max(window, 1)}s:{settings.resolution:g}s])"
    return by_resource


def read_vector(answer: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Queue and value of each line of an instant query's answer."""
    if answer.get("status") != "success":
        raise PrometheusError(f"Prometheus answered: {answer.get('error') or answer.get('status')}")
    data = answer.get("data") or {}
    if data.get("resultType") != "vector":
        raise PrometheusError(f"Prometheus answered with a {data.get('resultType')}, not a vector")
    return [
        (str((item.get("metric") or {}).get(QUEUE, "")), float(item["value"][1])) for item in data.get("result") or ()
    ]


async def usage(settings: UsageSettings, now: float, ask: Ask) -> dict[str, dict[str, float]]:
    used: dict[str, dict[str, float]] = {}
    capacity: dict[str, float] = {}
    for (what, name), query in queries(settings, now).items():
        answer = await ask(f"{settings.address.rstrip('/')}/api/v1/query", {"query": query, "time": f"{now:.3f}"})
        for queue, value in read_vector(answer):
            if what == "used" and queue:
                used.setdefault(queue, {})[name] = value
            elif what == "capacity":
                capacity[name] = capacity.get(name, 0.0) + value
    return parts(used, capacity)
