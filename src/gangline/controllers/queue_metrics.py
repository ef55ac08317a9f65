"""The Queue controller's metrics, with upstream's names: `kai_queue_info`, `…_deserved_gpus`, `…_allocated_gpus` and so
on.

Time-based fair share can be fed from these through Prometheus. Labels of queues may be passed on as metric labels.
"""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Gauge

from gangline.api import resources
from gangline.api.kai import Queue, QueueResource, QueueResources

UNLIMITED = -1.0
MEGA = 10**6
GAUGES = {
    "info": "Always 1; the labels say which queue",
    "deserved_gpus": "GPUs the queue is promised",
    "quota_cpu_cores": "CPU cores the queue is promised",
    "quota_memory_bytes": "Memory the queue is promised",
    "allocated_gpus": "GPUs that pods of the queue hold",
    "allocated_cpu_cores": "CPU cores that pods of the queue hold",
    "allocated_memory_bytes": "Memory that pods of the queue hold",
}


def values(queue: Queue, allocated: Mapping[str, str]) -> dict[str, float]:
    """What each gauge shows for a queue."""
    quota = queue.spec.resources or QueueResources()
    gpus = next((allocated[name] for name in sorted(allocated) if name.endswith("/gpu")), "0")
    return {
        "info": 1.0,
        "deserved_gpus": quota.gpu.quota,
        "quota_cpu_cores": _scaled(quota.cpu, 1 / 1000),
        "quota_memory_bytes": _scaled(quota.memory, MEGA),
        "allocated_gpus": round(resources.number(gpus), 4),
        "allocated_cpu_cores": round(resources.number(allocated.get("cpu", "0")), 4),
        "allocated_memory_bytes": round(resources.number(allocated.get("memory", "0")), 4),
    }


def _scaled(resource: QueueResource, factor: float) -> float:
    return UNLIMITED if resource.quota == UNLIMITED else resource.quota * factor


class QueueMetrics:
    """`labels`: label of a Queue → metric label; `defaults`: what the metric label says when the Queue has no such
    label."""

    def __init__(
        self,
        namespace: str = "kai",
        labels: Mapping[str, str] | None = None,
        defaults: Mapping[str, str] | None = None,
        registry: CollectorRegistry | None = None,
    ) -> None:
        self._passed = sorted((labels or {}).items())
        self._defaults = dict(defaults or {})
        self._shown: dict[str, tuple[str, ...]] = {}
        self.registry = registry or CollectorRegistry()
        names = ["queue_name", "queue_metadata_name", "queue_display_name", *(metric for _, metric in self._passed)]
        self._gauges = {
            name: Gauge(f"{namespace}_queue_{name}", text, names, registry=self.registry)
            for name, text in GAUGES.items()
        }

    def show(self, queue: Queue, allocated: Mapping[str, str]) -> None:
        passed = (queue.labels.get(label, self._defaults.get(label, "")) for label, _ in self._passed)
        labels = (queue.name, queue.name, queue.spec.display_name, *passed)
        if self._shown.get(queue.name) != labels:
            self.drop(queue.name)
            self._shown[queue.name] = labels
        for name, value in values(queue, allocated).items():
            self._gauges[name].labels(*labels).set(value)

    def drop(self, queue: str) -> None:
        labels = self._shown.pop(queue, None)
        if labels is not None:
            for gauge in self._gauges.values():
                gauge.remove(*labels)
