"""The small controllers as `gangline run` starts them, one component each."""

from __future__ import annotations

from gangline.api import names
from gangline.config import NATIVE, Manner
from gangline.controllers import podgroup, queue
from gangline.controllers.queue_metrics import QueueMetrics
from gangline.runtime import Component


def pod_group_controller(scheduler: str = names.KAI_SCHEDULER, manner: Manner = NATIVE) -> Component:
    return Component("podgroup-controller", (podgroup.controller(scheduler, manner),))


def queue_controller(metrics: QueueMetrics | None = None) -> Component:
    return Component("queue-controller", (queue.controller(metrics),))
