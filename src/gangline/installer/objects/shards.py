"""A SchedulingShard → its scheduler: the config.yaml, the flags, and the objects around it.

Plugins and actions are KAI's, in KAI's order. Unless the manner is KAI's, our own placement, reservations and price of
evictions are added. Then comes what the shard changes, and the scheduler's own reader says whether it could start with
the result. The pods of several copies stand behind a Service for which only the leader answers. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangline.api import names
from gangline.api.kinds import CONFIG_MAP, ENDPOINT_SLICE, SERVICE
from gangline.api.meta import Raw
from gangline.api.yaml_text import yaml_text
from gangline.config import manner
from gangline.installer.config_reader import ConfigReading, at
from gangline.installer.contract import ComponentParts, InstallFacts, WantedObjects, digest, meta
from gangline.installer.objects.monitoring import usage_address
from gangline.installer.objects.services import HUGE, SCHEDULER, ServicePort, given
from gangline.installer.objects.shapes import RunningComponent, add_running, service

FOLDER, FILE = "/etc/config", "config.yaml"
RECORDING = "recording-folder"
BINPACK, SPREAD, FEWEST_FRAGMENTS = "binpack", "spread", "fewest-fragments"
OFF = {
    BINPACK: {"gpuspread"},
    SPREAD: {"gpupack", "gpusharingorder"},
    FEWEST_FRAGMENTS: {"gpuspread", "gpupack", "gpusharingorder"},
}
"""Plugins that a placement strategy has no use for."""
PLUGINS = {
    "predicates": 1900,
    "proportion": 1800,
    "priority": 1700,
    "nodeavailability": 1600,
    "resourcetype": 1500,
    "podaffinity": 1400,
    "elastic": 1300,
    "kubeflow": 1200,
    "ray": 1100,
    "subgrouporder": 1000,
    "taskorder": 900,
    "nominatednode": 800,
    "dynamicresources": 700,
    "minruntime": 600,
    "topology": 500,
    "snapshot": 400,
    "sg-nodelocalgreedy": 360,
    "sg-multinodegang": 350,
    "gpupack": 300,
    "gpuspread": 300,
    "nodeplacement": 200,
    "gpusharingorder": 100,
    "topologyspread": 60,
    "volumerestrictions": 55,
    "reservations": 50,
    "disruption": 40,
}
NATIVE = {"topologyspread", "volumerestrictions", "reservations", "disruption"}
ACTIONS = {"allocate": 500, "consolidation": 400, "reclaim": 300, "preempt": 200, "stalegangeviction": 100}


def app_of(reading: ConfigReading, shard: str) -> str:
    """The name of everything that belongs to a shard."""
    return f"{reading.scheduler_name}-{shard}"


def wishes_of_shard(
    reading: ConfigReading, name: str, spec: Raw, facts: InstallFacts, parts: ComponentParts
) -> WantedObjects:
    wishes = WantedObjects()
    if not reading.enabled(SCHEDULER):
        wishes.notes.append("no scheduler runs: spec.scheduler.service.enabled of the Config is false")
        return wishes
    config, flags = config_yaml(reading, spec, wishes), scheduler_flags(reading, spec, parts, wishes)
    _check(wishes, reading, spec, facts, parts.check("scheduler", flags, config, reading.compat), config)
    if wishes.problems:
        wishes.kept.append(app_of(reading, name))
        return wishes
    _add_objects(wishes, reading, name, flags, yaml_text(config), facts)
    return wishes


def _check(
    wishes: WantedObjects, reading: ConfigReading, spec: Raw, facts: InstallFacts, refused: str, config: Raw
) -> None:
    if refused:
        wishes.problems.append(f"the scheduler would not start: {refused}")
    actions = [item.strip() for item in config["actions"].split(",")]
    wishes.problems += [
        f"spec.queueDepthPerAction.{name}: is none of this shard's actions ({config['actions']}); remove it or switch "
        "that action on"
        for name in spec.get("queueDepthPerAction") or {}
        if name not in actions
    ]
    if facts.rivals:
        pool = spec.get("partitionLabelValue") or ""
        wishes.problems.append(
            f"spec.partitionLabelValue: shard {facts.rivals[0]} serves {_pool(reading, pool)} already; two schedulers "
            "would give the same nodes away twice: choose another value, or delete one of the shards"
        )


def _pool(reading: ConfigReading, value: str) -> str:
    if not reading.pool_key:
        return "every node (spec.global.nodePoolLabelKey of the Config is empty)"
    return f"the nodes labelled {reading.pool_key}={value}" if value else f"the nodes without label {reading.pool_key}"


# --- config.yaml ------------------------------------------------------------------------------------------------------


def config_yaml(reading: ConfigReading, spec: Raw, wishes: WantedObjects) -> Raw:
    written: Raw = {
        "actions": ", ".join(_actions(spec)),
        "tiers": [{"plugins": _plugins(spec, manner(reading.compat).decides_as_upstream)}],
    }
    for key in ("queueDepthPerAction", "scenarioSearchBudgets"):
        written |= {key: spec[key]} if spec.get(key) else {}
    usage = _usage(reading, spec, wishes)
    return written | ({"usageDBConfig": usage} if usage else {})


def _actions(spec: Raw) -> list[str]:
    moves = SPREAD not in (at(spec, "placementStrategy.gpu"), at(spec, "placementStrategy.cpu"))
    usual = {
        name: {"enabled": name != "consolidation" or moves, "priority": priority} for name, priority in ACTIONS.items()
    }
    return [name for name, _ in _ordered(usual, spec.get("actions") or {})]


def _plugins(spec: Raw, as_upstream: bool) -> list[Raw]:
    """Native by default: GPU pods go where they leave the fewest fragments, pods spread over domains as they
    ask, a claim of one pod serves one pod, gangs that do not fit reserve their start, and evictions have a price."""
    gpu = at(spec, "placementStrategy.gpu", BINPACK if as_upstream else FEWEST_FRAGMENTS)
    off = OFF.get(gpu, OFF[SPREAD]) | (NATIVE if as_upstream else set())
    arguments = {
        "nodeplacement": {"gpu": gpu, "cpu": at(spec, "placementStrategy.cpu", BINPACK)},
        "proportion": given([("kValue", _number(spec.get("kValue")))]),
        "minruntime": given(
            [
                (f"default{word}MinRuntime", at(spec, f"minRuntime.{word.lower()}MinRuntime"))
                for word in ("Preempt", "Reclaim")
            ]
        ),
    }
    usual = {
        name: {"enabled": name not in off, "priority": priority, "arguments": arguments.get(name, {})}
        for name, priority in PLUGINS.items()
    }
    return [
        {"name": name} | ({"arguments": words["arguments"]} if words.get("arguments") else {})
        for name, words in _ordered(usual, spec.get("plugins") or {})
    ]


def _number(value: Any) -> str | None:
    """As Go prints it: 2, not 2.0."""
    return None if value is None else f"{value:.15g}"


def _ordered(usual: Mapping[str, Raw], given: Mapping[str, Raw]) -> list[tuple[str, Raw]]:
    """Those that are switched on, the highest priority first. Switch and priority are changed one by one, arguments as
    a whole."""
    settings = dict(usual)
    for name, words in given.items():
        changes = {key: value for key, value in words.items() if value is not None}
        settings[name] = {"enabled": True, "priority": 0} | settings.get(name, {}) | changes
    on = [(name, words) for name, words in settings.items() if words["enabled"]]
    return sorted(on, key=lambda item: (-item[1]["priority"], item[0]))


def _usage(reading: ConfigReading, spec: Raw, wishes: WantedObjects) -> Raw | None:
    usage: Raw | None = spec.get("usageDBConfig")
    if (
        usage is None
        or usage.get("clientType") != "prometheus"
        or usage.get("connectionString")
        or usage.get("connectionStringEnvVar")
    ):
        return usage
    address = usage_address(reading)
    if address is None:
        wishes.problems.append(
            "spec.usageDBConfig: nothing says where Prometheus is; give connectionString, or set "
            "spec.prometheus.enabled or spec.prometheus.externalPrometheusUrl of the Config"
        )
        return usage
    return {**usage, "connectionString": address}


# --- flags ------------------------------------------------------------------------------------------------------------


def scheduler_flags(reading: ConfigReading, spec: Raw, parts: ComponentParts, wishes: WantedObjects) -> dict[str, str]:
    """What follows from Config and shard, then the shard's own `args`."""
    args = spec.get("args") or {}
    strange = sorted(name for name in args if name not in parts.scheduler_flags)
    wishes.notes += [f"spec.args.{name}: the scheduler has no such flag; it is left out" for name in strange]
    flags = given(
        [
            ("scheduler-conf", f"{FOLDER}/{FILE}"),
            ("scheduler-name", reading.scheduler_names),
            ("namespace", reading.namespace),
            ("resource-reservation-app-label", reading.reservation_app),
            ("queue-label-key", reading.queue_key),
            ("listen-address", f":{_port(reading).target}"),
            ("metrics-namespace", reading.at("queueController.metricsNamespace")),
        ]
    )
    if _grouper_chooses(reading):
        flags["singles-at-once"] = "false"
    pool = {"nodepool-label-key": reading.pool_key, "partition-label-value": str(spec.get("partitionLabelValue") or "")}
    return flags | pool | {name: str(value) for name, value in sorted(args.items()) if name not in strange}


def _grouper_chooses(reading: ConfigReading) -> bool:
    """Whether the grouper is told what a scheduler is not: whom it serves, or which priorities are usual."""
    selects = reading.at("global.namespaceLabelSelector", {}) or reading.at("global.podLabelSelector", {})
    return bool(selects or reading.at("podGrouper.args.defaultPrioritiesConfigMapName"))


def lease_of(reading: ConfigReading, spec: Raw) -> str:
    """The lease that only one of a shard's pods holds."""
    return "-".join(filter(None, (reading.scheduler_name, str(spec.get("partitionLabelValue") or ""))))


# --- objects ----------------------------------------------------------------------------------------------------------


def _port(reading: ConfigReading) -> ServicePort:
    words = reading.at("scheduler.schedulerService", {})
    port = int(words.get("port") or 8080)
    return ServicePort("http-metrics", port, int(words.get("targetPort") or port))


def _add_objects(
    wishes: WantedObjects, reading: ConfigReading, name: str, flags: Mapping[str, str], text: str, facts: InstallFacts
) -> None:
    app, port, alone = app_of(reading, name), _port(reading), reading.replicas(SCHEDULER) == 1
    wishes.add(CONFIG_MAP, {"metadata": meta(app, app, reading.namespace), "data": {FILE: text}})
    kind = str(reading.at("scheduler.schedulerService.type") or "ClusterIP")
    wishes.add(SERVICE, service(reading, app, [port], selector=alone, kind=kind, headless=kind == "ClusterIP"))
    if not alone:
        wishes.add(ENDPOINT_SLICE, _leader_slice(reading, app, port, facts))
    mounts: tuple[tuple[str, Raw], ...] = ((FOLDER, {"name": "config", "configMap": {"name": app}}),)
    if not manner(reading.compat).decides_as_upstream and RECORDING not in flags:
        flags = {**flags, RECORDING: names.RECORDINGS}
        mounts = (*mounts, (names.RECORDINGS, {"name": "recording", "emptyDir": {}}))
    add_running(
        wishes,
        reading,
        RunningComponent(
            app, "scheduler", SCHEDULER, flags, HUGE, port.target, account=SCHEDULER, mounts=mounts, mark=digest(text)
        ),
        (),
        facts,
    )


def _leader_slice(reading: ConfigReading, app: str, port: ServicePort, facts: InstallFacts) -> Raw:
    """The one address of a Service without a selector: the pod that leads."""
    endpoints, leader = [], facts.leader
    if leader is not None:
        endpoints = [
            {
                "addresses": [leader.ip],
                "conditions": {"ready": True},
                "targetRef": {"kind": "Pod", "namespace": reading.namespace, "name": leader.pod, "uid": leader.uid},
            }
        ]
    labels = {"kubernetes.io/service-name": app, "endpointslice.kubernetes.io/managed-by": names.INSTALLER}
    family = "IPv6" if leader is not None and ":" in leader.ip else "IPv4"
    return {
        "metadata": meta(app, f"{app}-leader", reading.namespace, labels),
        "addressType": family,
        "endpoints": endpoints,
        "ports": [{"name": port.name, "port": port.target, "protocol": "TCP"}],
    }
