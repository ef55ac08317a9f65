"""THE table of services: what is deployed for a Config, which section speaks of it, and the flags its component is
started with.

One line per service, and a function that turns the Config's words into flags that exist; desired.py makes the objects,
shards.py does the same for schedulers. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gangline.config import manner
from gangline.installer.config_reader import ConfigReading, at
from gangline.installer.contract import Address, InstallFacts
from gangline.installer.settings import BOTH

PROBES, METRICS = 8081, 8080
CERTIFICATES = "/etc/gangline/certificates"
RESERVATION_COMMAND = ["gangline", "run", "resource-reservation"]
SMALL: Mapping[str, Mapping[str, str]] = {
    "requests": {"cpu": "50m", "memory": "200Mi"},
    "limits": {"cpu": "1", "memory": "512Mi"},
}
LARGE: Mapping[str, Mapping[str, str]] = {
    "requests": {"cpu": "100m", "memory": "256Mi"},
    "limits": {"cpu": "2", "memory": "1Gi"},
}
HUGE: Mapping[str, Mapping[str, str]] = {
    "requests": {"cpu": "250m", "memory": "512Mi"},
    "limits": {"cpu": "2", "memory": "2Gi"},
}
"""What components ask for unless a Config says otherwise. Python reads its modules at start, which a tenth of a CPU
would take long for."""


@dataclass(frozen=True, slots=True)
class ServicePort:
    name: str
    port: int
    target: int


@dataclass(frozen=True, slots=True)
class InstalledService:
    name: str
    """Of the Deployment, its account, its container and the label `app`: KAI's."""
    component: str
    """What `gangline run` starts."""
    section: str
    """Of the Config."""
    flags: Callable[[ConfigReading, InstallFacts], dict[str, str]]
    ports: Callable[[ConfigReading], tuple[ServicePort, ...]] = lambda reading: ()
    """Of its Service; none: it has no Service."""
    resources: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: SMALL)
    everywhere: bool = False
    """Every copy works; of the others only the one that holds the lease."""
    words: tuple[str, ...] = ()
    """What follows `gangline run`; empty: the component."""


def given(pairs: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Flags, without those that were not set."""
    return {name: _text(value) for name, value in pairs if value is not None and value != ""}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _labels(labels: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def _operator(reading: ConfigReading, facts: InstallFacts) -> dict[str, str]:
    return {"init-container-image": str(reading.settings.image), "leader-elect": "true"}


def _grouper(reading: ConfigReading, facts: InstallFacts) -> dict[str, str]:
    args = reading.at("podGrouper.args", {})
    defaults = [args.get(f"defaultPrioritiesConfigMap{part}") for part in ("Name", "Namespace")]
    named = defaults if all(defaults) else [None, None]
    return given(
        [
            ("scheduler-name", reading.scheduler_names),
            ("queue-label-key", reading.queue_key),
            ("knative-gang-schedule", args.get("gangScheduleKnative")),
            ("generic-karta-fallback", args.get("genericKartaFallback")),
            ("default-priorities-configmap-name", named[0]),
            ("default-priorities-configmap-namespace", named[1]),
            ("max-concurrent-reconciles", reading.at("podGrouper.maxConcurrentReconciles")),
            ("namespace-label-selector", _labels(reading.at("global.namespaceLabelSelector", {}))),
            ("pod-label-selector", _labels(reading.at("global.podLabelSelector", {}))),
        ]
    ) | {"nodepool-label-key": reading.pool_key}


PLUGINS: dict[str, dict[str, Any]] = {
    "volumebinding": {"enabled": True, "priority": 300},
    "dynamicresources": {"enabled": True, "priority": 200},
    "gpusharing": {"enabled": True, "priority": 100},
    "hamicore": {"enabled": False, "priority": 50},
}


def binder_plugins(reading: ConfigReading, facts: InstallFacts) -> dict[str, dict[str, Any]]:
    """KAI's plugins with what the Config says of each: switch and priority one by one, arguments as a whole."""
    seconds = str(reading.at("binder.volumeBindingTimeoutSeconds", 120))
    usual = {"volumebinding": {"bindTimeoutSeconds": seconds}, "dynamicresources": {"bindTimeoutSeconds": seconds}}
    plugins = {name: {**rest, "arguments": dict(usual.get(name, {}))} for name, rest in PLUGINS.items()}
    for name, words in sorted(reading.at("binder.plugins", {}).items()):
        base = plugins.get(name) or {"enabled": True, "priority": 0, "arguments": {}}
        plugins[name] = base | {key: value for key, value in words.items() if value is not None}
    sharing = plugins["gpusharing"]
    cdi = {"cdiEnabled": _text(bool(reading.at("binder.cdiEnabled", facts.cdi)))}
    plugins["gpusharing"] = sharing | {"arguments": cdi | sharing["arguments"]}
    return plugins


def _binder(reading: ConfigReading, facts: InstallFacts) -> dict[str, str]:
    reserves = reading.at("binder.resourceReservation", {})
    own_image = at(reserves, "image.name") or at(reserves, "image.repository")
    security = reserves.get("reservationContainerSecurityContext") or reading.security()
    flags = given(
        [
            ("scheduler-name", reading.scheduler_names),
            ("resource-reservation-namespace", reading.reservation_namespace),
            ("resource-reservation-service-account", reading.reservation_account),
            ("resource-reservation-app-label", reading.reservation_app),
            ("resource-reservation-pod-image", reading.image("binder.resourceReservation.image")),
            ("resource-reservation-pod-command", None if own_image else _json(RESERVATION_COMMAND)),
            ("resource-reservation-allocation-timeout", reserves.get("allocationTimeout")),
            ("resource-reservation-pod-resources", _json(reserves.get("podResources"))),
            ("resource-reservation-pod-security-context", _json(reserves.get("reservationPodSecurityContext"))),
            ("resource-reservation-container-security-context", _json(security)),
            ("runtime-class-name", reserves.get("runtimeClassName")),
            ("scale-adjust-namespace", reading.scale_namespace),
            ("max-concurrent-reconciles", reading.at("binder.maxConcurrentReconciles")),
            ("plugins", _json(binder_plugins(reading, facts))),
        ]
    )
    return flags | ({"fake-gpu-nodes": "true"} if facts.fake_gpus else {})


def _json(value: Any) -> str | None:
    return json.dumps(value, sort_keys=True, separators=(",", ":")) if value else None


def _pod_groups(reading: ConfigReading, facts: InstallFacts) -> dict[str, str]:
    return given(
        [
            ("scheduler-name", reading.scheduler_names),
            ("max-concurrent-reconciles", reading.at("podGroupController.maxConcurrentReconciles")),
        ]
    )


def _queues(reading: ConfigReading, facts: InstallFacts) -> dict[str, str]:
    section = reading.at("queueController", {})
    return given(
        [
            ("metrics-namespace", section.get("metricsNamespace") or "kai"),
            ("queue-label-to-metric-label", section.get("queueLabelToMetricLabel")),
            ("queue-label-to-default-metric-value", section.get("queueLabelToDefaultMetricValue")),
        ]
    )


def _node_scale(reading: ConfigReading, facts: InstallFacts) -> dict[str, str]:
    ratio = reading.at("nodeScaleAdjuster.args.gpuMemoryToFractionRatio")
    return given(
        [
            ("scheduler-name", reading.scheduler_names),
            ("scale-adjust-namespace", reading.scale_namespace),
            ("scaling-pod-service-account", reading.scale_account),
            ("scaling-pod-image", reading.image("nodeScaleAdjuster.args.scalingPodImage")),
            ("gpu-memory-to-fraction-ratio", ratio),
        ]
    )


def _admission(reading: ConfigReading, facts: InstallFacts) -> dict[str, str]:
    section = reading.at("admission", {})
    old, new = section.get("gpuPodRuntimeClassName"), section.get("gpuFractionRuntimeClassName")
    runtime = (
        {"gpu-pod-runtime-class-name": old}
        if new is None and old is not None
        else {"gpu-fraction-runtime-class-name": "nvidia" if new is None else new}
    )
    return (
        given(
            [
                ("scheduler-name", reading.scheduler_names),
                ("gpu-sharing-enabled", bool(section.get("gpuSharing", False))),
                ("block-nvidia-visible-devices", bool(section.get("blockNvidiaVisibleDevices", False))),
                ("namespace", reading.namespace),
                ("half", reading.settings.half),
                ("cert-dir", CERTIFICATES),
                ("webhook-addr", reading.at("admission.webhook.targetPort", 9443)),
                ("queue-label-key", reading.queue_key),
                ("schedule-queued-pods", section.get("scheduleQueuedPods")),
                ("hami-core-enabled", binder_plugins(reading, facts)["hamicore"]["enabled"] or None),
            ]
        )
        | runtime
    )


def probe_ports(reading: ConfigReading, section: str) -> tuple[int, int]:
    """Where a component is asked whether it lives, and for its metrics."""
    where = "admission.webhook" if section == "admission" else section
    metrics = (
        reading.at("queueController.controllerService.metrics.targetPort") if section == "queueController" else None
    )
    return int(reading.at(f"{where}.probePort", PROBES)), int(metrics or reading.at(f"{where}.metricsPort", METRICS))


def admission_address(reading: ConfigReading) -> Address:
    return Address("admission", reading.namespace, int(reading.at("admission.webhook.port", 443)))


def _admission_ports(reading: ConfigReading) -> tuple[ServicePort, ...]:
    metrics = probe_ports(reading, "admission")[1]
    return (
        ServicePort("webhook", admission_address(reading).port, int(reading.at("admission.webhook.targetPort", 9443))),
        ServicePort("http-metrics", metrics, metrics),
    )


def _binder_ports(reading: ConfigReading) -> tuple[ServicePort, ...]:
    metrics = probe_ports(reading, "binder")[1]
    return (ServicePort("http-metrics", metrics, metrics),)


def _queue_ports(reading: ConfigReading) -> tuple[ServicePort, ...]:
    path = "queueController.controllerService.metrics"
    target = probe_ports(reading, "queueController")[1]
    return (ServicePort(str(reading.at(f"{path}.name", "metrics")), int(reading.at(f"{path}.port", METRICS)), target),)


def plain_ports(reading: ConfigReading) -> tuple[ServicePort, ...]:
    return (ServicePort("http-metrics", METRICS, METRICS),)


def _explainer(reading: ConfigReading, facts: InstallFacts) -> dict[str, str]:
    return {}


OPERATOR = InstalledService("gangline-operator", "operator", "workload", _operator, plain_ports, LARGE)
EXPLAINER = InstalledService("explainer", "explainer", "explainer", _explainer, plain_ports, LARGE)
ADMISSION = InstalledService("admission", "admission", "admission", _admission, _admission_ports, everywhere=True)
SERVICES = (
    OPERATOR,
    InstalledService("pod-grouper", "grouper", "podGrouper", _grouper, plain_ports),
    InstalledService("binder", "binder", "binder", _binder, _binder_ports),
    InstalledService("podgroup-controller", "podgroup-controller", "podGroupController", _pod_groups, plain_ports),
    InstalledService("queue-controller", "queue-controller", "queueController", _queues, _queue_ports),
    InstalledService("node-scale-adjuster", "node-scale-adjuster", "nodeScaleAdjuster", _node_scale, plain_ports),
    EXPLAINER,
    ADMISSION,
)
SCHEDULER = "scheduler"
"""The account that the schedulers of all shards share, and their section of the Config."""


def services(reading: ConfigReading) -> list[InstalledService]:
    """Those that this Config wants; whether there is an operator of sets at all, the installer is told at start. In
    upstream's manner PodGroups carry upstream's words only, so that nobody explains."""
    left_out = [] if reading.settings.half == BOTH else [OPERATOR]
    left_out += [EXPLAINER] if manner(reading.compat).decides_as_upstream else []
    return [service for service in SERVICES if reading.enabled(service.section) and service not in left_out]
