"""The small controllers as `gangline run` starts them, one component each."""

from __future__ import annotations

from gangline.config import NATIVE, Manner
from gangline.controllers import node_scale, numa, podgroup, queue
from gangline.controllers.journeys import controller as journeys
from gangline.controllers.journeys.exporter import configured_exporter
from gangline.controllers.queue_metrics import QueueMetrics
from gangline.controllers.scaling_pods import NodeScaleSettings
from gangline.rules.schedulers import SERVED
from gangline.runtime import Component


def pod_group_controller(schedulers: tuple[str, ...] = SERVED, manner: Manner = NATIVE) -> Component:
    exporter = configured_exporter()
    traces = (journeys.controller(exporter, schedulers),) if exporter is not None else ()
    return Component("podgroup-controller", (podgroup.controller(schedulers, manner), *traces))


def queue_controller(metrics: QueueMetrics | None = None) -> Component:
    return Component("queue-controller", (queue.controller(metrics),))


def node_scale_adjuster(settings: NodeScaleSettings | None = None) -> Component:
    return Component("node-scale-adjuster", (node_scale.controller(settings),))


def numa_placement_exporter() -> Component:
    """For simulated nodes: all of them in one process."""
    return Component("numa-placement-exporter", (numa.controller(),))
