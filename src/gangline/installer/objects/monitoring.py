"""Prometheus for time-based fair share: an instance of our own, or monitors for one that is there, and where schedulers
ask.

All of it needs the definitions of the Prometheus operator; without them a Config that wants it gets a condition. Pure.
"""

from __future__ import annotations

from gangline.api.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, PROMETHEUS, SERVICE, SERVICE_ACCOUNT, SERVICE_MONITOR
from gangline.api.meta import Raw
from gangline.installer.config_reader import ConfigReading, at
from gangline.installer.contract import APP, InstallFacts, WantedObjects, meta
from gangline.installer.objects.shapes import account
from gangline.rules.values.times import duration, seconds, timestamp

ADDRESS = "usage-prometheus"
RETIRED = "kai/deprecation-timestamp"
TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"
RULES = [
    {
        "apiGroups": [""],
        "resources": ["endpoints", "nodes", "nodes/metrics", "pods", "services"],
        "verbs": ["get", "list", "watch"],
    },
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["get", "list", "watch"]},
]
NEEDED = (
    "prometheus operator: install the definitions of monitoring.coreos.com, or set spec.prometheus.enabled to false"
)


def usage_address(reading: ConfigReading) -> str | None:
    """Where schedulers ask for the history of usage, if somewhere."""
    if reading.at("prometheus.externalPrometheusUrl"):
        return str(reading.at("prometheus.externalPrometheusUrl"))
    return (
        f"http://{ADDRESS}.{reading.namespace}.svc.cluster.local:9090"
        if reading.at("prometheus.enabled", False)
        else None
    )


def add_monitoring(wishes: WantedObjects, reading: ConfigReading, facts: InstallFacts) -> None:
    external = bool(reading.at("prometheus.externalPrometheusUrl"))
    if not reading.at("prometheus.enabled", False) and not external:
        for instance in facts.instances:
            _retire(wishes, instance, facts.now)
        return
    if SERVICE_MONITOR.resource not in facts.served or (not external and PROMETHEUS.resource not in facts.served):
        wishes.missing.append(NEEDED)
        return
    if not external:
        _add_instance(wishes, reading)
    if reading.at("prometheus.serviceMonitor.enabled", True):
        for name, port, places, labels in (
            (
                "queue-controller",
                str(reading.at("queueController.controllerService.metrics.name", "metrics")),
                [reading.namespace],
                {APP: "queue-controller"},
            ),
            ("kube-state-metrics", "http", ["monitoring", "default"], {"app.kubernetes.io/name": "kube-state-metrics"}),
        ):
            wishes.add(SERVICE_MONITOR, _monitor(reading, name, port, places, labels))


def _accounting(reading: ConfigReading) -> dict[str, str]:
    key = str(reading.at("prometheus.accountingLabelKey") or "kai.scheduler/accounting")
    return {key: str(reading.at("prometheus.accountingLabelValue") or "true")}


def _add_instance(wishes: WantedObjects, reading: ConfigReading) -> None:
    name = str(reading.at("prometheus.instanceName") or "prometheus")
    role = f"{reading.namespace}-{name}"
    wishes.add(SERVICE_ACCOUNT, account(reading, name))
    wishes.add(CLUSTER_ROLE, {"metadata": meta(name, role), "rules": RULES})
    wishes.add(
        CLUSTER_ROLE_BINDING,
        {
            "metadata": meta(name, role),
            "roleRef": {"apiGroup": CLUSTER_ROLE.group, "kind": CLUSTER_ROLE.kind, "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": reading.namespace}],
        },
    )
    wishes.add(PROMETHEUS, {"metadata": meta(name, name, reading.namespace), "spec": _instance(reading, name)})
    wishes.add(
        SERVICE,
        {
            "metadata": meta(name, ADDRESS, reading.namespace),
            "spec": {
                "type": "ClusterIP",
                "selector": {"prometheus": name},
                "ports": [{"name": "web", "port": 9090, "protocol": "TCP", "targetPort": 9090}],
            },
        },
    )


def _instance(reading: ConfigReading, name: str) -> Raw:
    chosen = {"matchLabels": _accounting(reading)}
    spec: Raw = {
        "serviceAccountName": name,
        "podMetadata": {"labels": {APP: name}},
        "ruleSelector": chosen,
        "ruleNamespaceSelector": {},
        "retention": str(reading.at("prometheus.retentionPeriod") or "2w"),
        "scrapeInterval": str(reading.at("prometheus.sampleInterval") or "1m"),
    }
    if reading.at("prometheus.serviceMonitor.enabled", True):
        spec |= {"serviceMonitorSelector": chosen, "serviceMonitorNamespaceSelector": {}}
    if reading.at("prometheus.enablePersistentStorage", True):
        spec["storage"] = {
            "volumeClaimTemplate": {
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": str(reading.at("prometheus.storageClassName") or "standard"),
                    "resources": {"requests": {"storage": str(reading.at("prometheus.storageSize") or "50Gi")}},
                }
            }
        }
    return spec


def _retire(wishes: WantedObjects, instance: Raw, now: float) -> None:
    """An instance that is no longer wanted keeps its history until that has run out, in case somebody changes his
    mind."""
    name, annotations = instance["metadata"]["name"], instance["metadata"].get("annotations") or {}
    since = seconds(annotations.get(RETIRED))
    try:
        kept = duration(str(at(instance, "spec.retention", "30d")))
    except ValueError:
        kept = duration("30d")
    if since is not None and now > since + kept:
        return
    stamp = annotations[RETIRED] if since is not None else timestamp(now)
    metadata = meta(name, name, instance["metadata"]["namespace"]) | {"annotations": {RETIRED: stamp}}
    wishes.add(PROMETHEUS, {"metadata": metadata, "spec": instance["spec"]})
    wishes.kept.append(name)
    wishes.notes.append(
        f"Prometheus {name} is no longer wanted; it goes when its history has run out ({kept / 86400:g} days)"
    )


def _monitor(reading: ConfigReading, name: str, port: str, places: list[str], labels: dict[str, str]) -> Raw:
    words = reading.at("prometheus.serviceMonitor", {})
    endpoint = {
        "port": port,
        "interval": words.get("interval") or "30s",
        "scrapeTimeout": words.get("scrapeTimeout") or "10s",
        "bearerTokenFile": words.get("bearerTokenFile") or TOKEN,
    }
    return {
        "metadata": meta(name, name, reading.namespace, _accounting(reading)),
        "spec": {
            "jobLabel": name,
            "namespaceSelector": {"matchNames": places},
            "selector": {"matchLabels": labels},
            "endpoints": [endpoint],
        },
    }
