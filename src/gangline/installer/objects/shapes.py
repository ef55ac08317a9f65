"""How the objects around a component look: account, Deployment, Service, budget, vertical autoscaler.

The same for every service and every shard; what differs comes in as arguments. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gangline.api import names
from gangline.api.kinds import DEPLOYMENT, PDB, SERVICE, SERVICE_ACCOUNT, VPA
from gangline.api.meta import Raw
from gangline.installer.config_reader import ConfigReading
from gangline.installer.contract import APP, OURS, InstallFacts, WantedObjects, meta
from gangline.installer.objects.services import ServicePort

ENVIRONMENT = [
    {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}
    for name, path in (("POD_NAME", "metadata.name"), ("POD_NAMESPACE", "metadata.namespace"))
]


@dataclass(frozen=True, slots=True)
class RunningComponent:
    """One component as pods run it."""

    app: str
    component: str
    section: str
    flags: Mapping[str, str]
    resources: Mapping[str, Mapping[str, str]]
    probe: int
    """The port that says whether it lives."""
    account: str = ""
    """Empty: one of its own, named like the app."""
    everywhere: bool = False
    mounts: tuple[tuple[str, Raw], ...] = ()
    """Folders, each with the volume that is seen there."""
    words: tuple[str, ...] = ()
    """What follows `gangline run`; empty: the component."""
    config: str = ""
    """The file that `--config` names; empty: none."""
    mark: str = ""
    """Changes when its pods must be started again."""


def command(running: RunningComponent, reading: ConfigReading) -> list[str]:
    """The whole command line of the container."""
    options = [
        "--log-format=json" if reading.at("global.jsonLog", False) else "--log-format=text",
        *(f"--compat={item}" for item in reading.compat),
        *([f"--config={running.config}"] if running.config else []),
    ]
    flags = [f"--{name}={value}" for name, value in running.flags.items()]
    return ["gangline", "run", *(running.words or (running.component,)), *options, *flags]


def account(reading: ConfigReading, name: str, namespace: str = "", app: str = "") -> Raw:
    account_object: Raw = {"metadata": meta(app or name, name, namespace or reading.namespace)}
    return account_object | ({"imagePullSecrets": reading.pull_secrets()} if reading.pull_secrets() else {})


def add_running(
    wishes: WantedObjects,
    reading: ConfigReading,
    running: RunningComponent,
    ports: Sequence[ServicePort],
    facts: InstallFacts,
) -> None:
    """Everything that one component needs to run, but its rights."""
    if not running.account:
        wishes.add(SERVICE_ACCOUNT, account(reading, running.app))
    if ports:
        wishes.add(SERVICE, service(reading, running.app, ports))
    wishes.add(DEPLOYMENT, deployment(reading, running))
    budget = reading.at(f"{running.section}.service.podDisruptionBudget", {})
    if budget.get("enabled") and reading.replicas(running.section) > 1:
        wishes.add(PDB, _budget(reading, running.app, int(budget.get("maxUnavailable") or 1)))
    _add_autoscaler(wishes, reading, running, facts)


def service(
    reading: ConfigReading,
    app: str,
    ports: Sequence[ServicePort],
    *,
    selector: bool = True,
    kind: str = "ClusterIP",
    headless: bool = False,
) -> Raw:
    spec: Raw = {
        "type": kind,
        "ports": [
            {"name": port.name, "port": port.port, "protocol": "TCP", "targetPort": port.target} for port in ports
        ],
    }
    spec |= {"selector": {APP: app}} if selector else {}
    spec |= {"clusterIP": "None"} if headless else {}
    metadata = meta(app, app, reading.namespace) | {"annotations": {"prometheus.io/scrape": "true"}}
    return {"metadata": metadata, "spec": spec}


def deployment(reading: ConfigReading, running: RunningComponent) -> Raw:
    replicas = reading.replicas(running.section)
    annotations = {"annotations": {names.CONFIG_HASH: running.mark}} if running.mark else {}
    template = {
        "metadata": {"labels": {APP: running.app, **OURS}} | annotations,
        "spec": _pod(reading, running, replicas),
    }
    return {
        "metadata": meta(running.app, running.app, reading.namespace),
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {APP: running.app}},
            "strategy": _strategy(reading, running),
            "template": template,
        },
    }


def _strategy(reading: ConfigReading, running: RunningComponent) -> Raw:
    """A second copy of a component with a lease could only wait for the first; a server must answer all the time."""
    if not running.everywhere:
        return {"type": "Recreate"}
    step = {"maxSurge": 0, "maxUnavailable": 1} if reading.strictly_apart else {"maxSurge": 1, "maxUnavailable": 0}
    return {"type": "RollingUpdate", "rollingUpdate": step}


def _pod(reading: ConfigReading, running: RunningComponent, replicas: int) -> Raw:
    spec: Raw = {
        "serviceAccountName": running.account or running.app,
        "containers": [_container(reading, running, replicas)],
        "affinity": reading.affinity(running.section, running.app),
    }
    if running.mounts:
        spec["volumes"] = [volume for _, volume in running.mounts]
    return spec | _wherever(reading)


def _wherever(reading: ConfigReading) -> Raw:
    """What `global` says of every pod."""
    fields = {
        "nodeSelector": reading.at("global.nodeSelector"),
        "tolerations": reading.at("global.tolerations"),
        "priorityClassName": reading.at("global.priorityClassName"),
        "imagePullSecrets": reading.pull_secrets(),
    }
    return {key: value for key, value in fields.items() if value}


def _container(reading: ConfigReading, running: RunningComponent, replicas: int) -> Raw:
    image = reading.image(f"{running.section}.service.image")
    container: Raw = {
        "name": running.app,
        "image": str(image),
        "imagePullPolicy": image.pull_policy,
        "command": command(running, reading),
        "env": ENVIRONMENT,
        "resources": reading.resources(running.section, running.resources),
        "livenessProbe": _probe("/healthz", running.probe) | {"failureThreshold": 6},
        "readinessProbe": _probe("/readyz" if running.everywhere or replicas == 1 else "/healthz", running.probe),
    }
    security = reading.security()
    if security is not None:
        container["securityContext"] = security
    if running.mounts:
        container["volumeMounts"] = [
            {"name": volume["name"], "mountPath": folder} | ({} if "emptyDir" in volume else {"readOnly": True})
            for folder, volume in running.mounts
        ]
    return container


def _probe(path: str, port: int) -> Raw:
    """Of several copies with one lease those that wait are well, though not at work."""
    return {"httpGet": {"path": path, "port": port}, "periodSeconds": 5, "timeoutSeconds": 3}


def _budget(reading: ConfigReading, app: str, unavailable: int) -> Raw:
    return {
        "metadata": meta(app, app, reading.namespace),
        "spec": {"maxUnavailable": unavailable, "selector": {"matchLabels": {APP: app}}},
    }


def _add_autoscaler(
    wishes: WantedObjects, reading: ConfigReading, running: RunningComponent, facts: InstallFacts
) -> None:
    wanted = reading.autoscaler(running.section)
    if wanted is None:
        return
    if VPA.resource not in facts.served:
        missing = "vertical pod autoscaler: install the definitions of autoscaling.k8s.io, or set vpa.enabled to false"
        wishes.missing += [missing] if missing not in wishes.missing else []
        return
    policy = {"updateMode": "InPlaceOrRecreate"} | wanted.get("updatePolicy", {})
    spec: Raw = {
        "targetRef": {"apiVersion": DEPLOYMENT.api_version, "kind": DEPLOYMENT.kind, "name": running.app},
        "updatePolicy": policy,
    }
    spec |= {"resourcePolicy": wanted["resourcePolicy"]} if wanted.get("resourcePolicy") else {}
    wishes.add(VPA, {"metadata": meta(running.app, running.app, reading.namespace), "spec": spec})
