"""Flags of the small controllers, as upstream's binaries take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gangline.controllers.scaling_pods import NodeScaleSettings
from gangline.rules.flags import COMMON, Table, pairs, refuse_unknown, values
from gangline.rules.schedulers import read_names

POD_GROUP: Table = {"scheduler-name": ("schedulers", read_names)}
QUEUE: Table = {
    "metrics-namespace": ("namespace", str),
    "queue-label-to-metric-label": ("labels", pairs),
    "queue-label-to-default-metric-value": ("defaults", pairs),
}
NODE_SCALE: Table = {
    "scheduler-name": ("scheduler_names", read_names),
    "scale-adjust-namespace": ("namespace", str),
    "scaling-pod-image": ("image", str),
    "scaling-pod-app-label": ("app", str),
    "scaling-pod-service-account": ("service_account", str),
    "gpu-memory-to-fraction-ratio": ("memory_as_fraction", float),
}
SERVED_ELSEWHERE = ("enable-podgroup-webhook", "enable-webhook", "enable-quota-validation", "metrics-listen-address")
"""Webhooks are the admission component's; metrics are served by `gangline run`."""


def pod_group_flags(flags: Mapping[str, str]) -> dict[str, Any]:
    refuse_unknown("podgroup-controller", flags, (*POD_GROUP, *SERVED_ELSEWHERE, *COMMON))
    return values(flags, POD_GROUP)


def queue_flags(flags: Mapping[str, str]) -> dict[str, Any]:
    refuse_unknown("queue-controller", flags, (*QUEUE, *SERVED_ELSEWHERE, *COMMON))
    return values(flags, QUEUE)


def node_scale_flags(flags: Mapping[str, str]) -> NodeScaleSettings:
    refuse_unknown("node-scale-adjuster", flags, (*NODE_SCALE, *COMMON))
    return replace(NodeScaleSettings(), **values(flags, NODE_SCALE))
