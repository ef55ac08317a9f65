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
from gangline.installer.contract import APP, OURS, InstallFacts, Wishes, meta
from gangline.installer.objects.services import Port

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


def command(running: RunningComponent, said: ConfigReading) -> list[str]:
    """The whole command line of the container."""
    options = [
        "--log-format=json" if said.at("global.jsonLog", False) else "--log-format=text",
        *(f"--compat={item}" for item in said.compat),
        *([f"--config={running.config}"] if running.config else []),
    ]
    flags = [f"--{name}={value}" for name, value in running.flags.items()]
    return ["gangline", "run", *(running.words or (running.component,)), *options, *flags]


def account(said: ConfigReading, name: str, namespace: str = "", app: str = "") -> Raw:
    found: Raw = {"metadata": meta(app or name, name, namespace or said.namespace)}
    return found | ({"imagePullSecrets": said.pull_secrets()} if said.pull_secrets() else {})


def add_running(
    wishes: Wishes, said: ConfigReading, running: RunningComponent, ports: Sequence[Port], facts: InstallFacts
) -> None:
    """Everything that one component needs to run, but its rights."""
    if not running.account:
        wishes.add(SERVICE_ACCOUNT, account(said, running.app))
    if ports:
        wishes.add(SERVICE, service(said, running.app, ports))
    wishes.add(DEPLOYMENT, deployment(said, running))
    budget = said.at(f"{running.section}.service.podDisruptionBudget", {})
    if budget.get("enabled") and said.replicas(running.section) > 1:
        wishes.add(PDB, _budget(said, running.app, int(budget.get("maxUnavailable") or 1)))
    _add_autoscaler(wishes, said, running, facts)


def service(
    said: ConfigReading,
    app: str,
    ports: Sequence[Port],
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
    metadata = meta(app, app, said.namespace) | {"annotations": {"prometheus.io/scrape": "true"}}
    return {"metadata": metadata, "spec": spec}


def deployment(said: ConfigReading, running: RunningComponent) -> Raw:
    replicas = said.replicas(running.section)
    annotations = {"annotations": {names.CONFIG_HASH: running.mark}} if running.mark else {}
    template = {"metadata": {"labels": {APP: running.app, **OURS}} | annotations, "spec": _pod(said, running, replicas)}
    return {
        "metadata": meta(running.app, running.app, said.namespace),
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {APP: running.app}},
            "strategy": _strategy(said, running),
            "template": template,
        },
    }


def _strategy(said: ConfigReading, running: RunningComponent) -> Raw:
    """A second copy of a component with a lease could only wait for the first; a server must answer all the time."""
    if not running.everywhere:
        return {"type": "Recreate"}
    step = {"maxSurge": 0, "maxUnavailable": 1} if said.strictly_apart else {"maxSurge": 1, "maxUnavailable": 0}
    return {"type": "RollingUpdate", "rollingUpdate": step}


def _pod(said: ConfigReading, running: RunningComponent, replicas: int) -> Raw:
    spec: Raw = {
        "serviceAccountName": running.account or running.app,
        "containers": [_container(said, running, replicas)],
        "affinity": said.affinity(running.section, running.app),
    }
    if running.mounts:
        spec["volumes"] = [volume for _, volume in running.mounts]
    return spec | _wherever(said)


def _wherever(said: ConfigReading) -> Raw:
    """What `global` says of every pod."""
    found = {
        "nodeSelector": said.at("global.nodeSelector"),
        "tolerations": said.at("global.tolerations"),
        "priorityClassName": said.at("global.priorityClassName"),
        "imagePullSecrets": said.pull_secrets(),
    }
    return {key: value for key, value in found.items() if value}


def _container(said: ConfigReading, running: RunningComponent, replicas: int) -> Raw:
    image = said.image(f"{running.section}.service.image")
    found: Raw = {
        "name": running.app,
        "image": str(image),
        "imagePullPolicy": image.pull_policy,
        "command": command(running, said),
        "env": ENVIRONMENT,
        "resources": said.resources(running.section, running.resources),
        "livenessProbe": _probe("/healthz", running.probe) | {"failureThreshold": 6},
        "readinessProbe": _probe("/readyz" if running.everywhere or replicas == 1 else "/healthz", running.probe),
    }
    security = said.security()
    if security is not None:
        found["securityContext"] = security
    if running.mounts:
        found["volumeMounts"] = [
            {"name": volume["name"], "mountPath": folder, "readOnly": True} for folder, volume in running.mounts
        ]
    return found


def _probe(path: str, port: int) -> Raw:
    """Of several copies with one lease those that wait are well, though not at work."""
    return {"httpGet": {"path": path, "port": port}, "periodSeconds": 5, "timeoutSeconds": 3}


def _budget(said: ConfigReading, app: str, unavailable: int) -> Raw:
    return {
        "metadata": meta(app, app, said.namespace),
        "spec": {"maxUnavailable": unavailable, "selector": {"matchLabels": {APP: app}}},
    }


def _add_autoscaler(wishes: Wishes, said: ConfigReading, running: RunningComponent, facts: InstallFacts) -> None:
    wanted = said.autoscaler(running.section)
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
    wishes.add(VPA, {"metadata": meta(running.app, running.app, said.namespace), "spec": spec})
