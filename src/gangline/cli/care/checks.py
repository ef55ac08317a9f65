"""What `gangline doctor` judges: facts of a cluster → findings, each with a remedy. One function and one line
in `CHECKS` per examination. Pure: facts.py reads the cluster, doctor.py prints.

Certificates are read in certificates.py, definitions compared in definitions.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gangline import __version__
from gangline.api import names
from gangline.cli.care.definitions import check_definitions
from gangline.cli.care.findings import FAIL, OK, WARN, DoctorFinding
from gangline.cli.care.webhooks import check_webhooks
from gangline.rights import LEASES
from gangline.rules.schedulers import SERVED
from gangline.rules.values import times
from gangline.rules.values.parents import below_themselves

OLDEST, WORKLOADS = (1, 34), (1, 35)
"""Releases of Kubernetes: the oldest with the device claims we read, and the first with the Workload API."""
SKEW_NOTED, SKEW_BAD = 2.0, 10.0
"""Seconds between two clocks: from when on times in messages mislead, and from when on leases lapse too soon."""
RIGHTS = (
    ("list", "", "pods"),
    ("list", "", "nodes"),
    ("list", "", "events"),
    ("list", "scheduling.run.ai", "podgroups"),
    ("list", "scheduling.run.ai", "queues"),
    ("list", "scheduler.grove.io", "podgangs"),
    ("list", "grove.io", "podcliquesets"),
    ("create", "grove.io", "podcliquesets"),
    ("patch", "scheduling.run.ai", "queues"),
)
"""Verb, group and resource of what commands do: looking first, then changing."""
OURS = (*LEASES.values(), *SERVED, "gangline-")
"""How leases of components of ours are called, or how their names begin."""
HOLDERS = {lease: component for component, lease in LEASES.items()}


@dataclass(frozen=True, slots=True)
class AskedRight:
    verb: str
    group: str
    resource: str
    allowed: bool

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}{f'.{self.group}' if self.group else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFacts:
    server: str
    now: float
    version: Mapping[str, Any]
    skew: float | None
    user: str
    rights: tuple[AskedRight, ...] = ()
    lists: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    """Why a list could not be read, by its name."""


def examine(facts: DoctorFacts) -> list[DoctorFinding]:
    """All findings, in the order of `CHECKS`."""
    return [finding for check in CHECKS for finding in check(facts)]


def check_server(facts: DoctorFacts) -> Iterable[DoctorFinding]:
    shown = str(facts.version.get("gitVersion") or "?")
    numbers = re.match(r"v?(\d+)\.(\d+)", shown)
    release = (int(numbers[1]), int(numbers[2])) if numbers else OLDEST
    if release < OLDEST:
        remedy = "upgrade the cluster to 1.34 or newer; without that pods with ResourceClaims are not scheduled"
        yield DoctorFinding(WARN, "server", f"Kubernetes {shown} is older than what we test", remedy)
    elif release < WORKLOADS:
        remedy = "nothing, unless sets shall run on kube-scheduler as gangs: that needs 1.35"
        yield DoctorFinding(OK, "server", f"Kubernetes {shown} at {facts.server}, without the Workload API", remedy)
    else:
        yield DoctorFinding(OK, "server", f"Kubernetes {shown} at {facts.server}")


def check_clock(facts: DoctorFacts) -> Iterable[DoctorFinding]:
    if facts.skew is None:
        yield DoctorFinding(OK, "clock", "the server does not say what time it is")
        return
    apart = abs(facts.skew)
    if apart < SKEW_NOTED:
        yield DoctorFinding(OK, "clock", "this machine and the server agree")
        return
    level = FAIL if apart >= SKEW_BAD else WARN
    direction = "behind" if facts.skew > 0 else "ahead of"
    text = f"this machine is {apart:.0f} s {direction} the server"
    yield DoctorFinding(
        level, "clock", text, "let both follow a time server (chrony, systemd-timesyncd): ages and waits are wrong"
    )


def check_rights(facts: DoctorFacts) -> Iterable[DoctorFinding]:
    denied = [right for right in facts.rights if not right.allowed]
    who = facts.user or "you"
    blind = [str(right) for right in denied if right.verb == "list"]
    handless = [str(right) for right in denied if right.verb != "list"]
    if blind:
        remedy = (
            "ask for a role that may get, list and watch them in all namespaces (`gangline rights dashboard` prints "
            "one); the role view of one namespace shows what is there"
        )
        also = f"; nor {', '.join(handless)}" if handless else ""
        yield DoctorFinding(
            FAIL, "rights", f"{who} may not {', '.join(blind)}: explain, top and get cannot see all{also}", remedy
        )
    elif handless:
        yield DoctorFinding(OK, "rights", f"{who} may look; may not {', '.join(handless)}")
    else:
        yield DoctorFinding(OK, "rights", f"{who} may look at everything, make sets and change queues")


def check_components(facts: DoctorFacts) -> Iterable[DoctorFinding]:
    for lease in facts.lists.get("leases", []):
        meta, spec = lease["metadata"], lease.get("spec") or {}
        if not meta["name"].startswith(OURS) or meta.get("namespace") == "kube-node-lease":
            continue
        holder = spec.get("holderIdentity") or ""
        name = f"{HOLDERS.get(meta['name'], meta['name'])} (lease {meta.get('namespace')}/{meta['name']})"
        renewed, duration = times.seconds(spec.get("renewTime")), float(spec.get("leaseDurationSeconds") or 15)
        if not holder or renewed is None or facts.now - renewed > duration:
            since = "" if renewed is None else f" since {facts.now - renewed:.0f} s"
            remedy = (
                "start it, or look at its pod: `kubectl get pods -A | grep -e kai -e gangline`, then `kubectl logs`"
            )
            yield DoctorFinding(FAIL, "lease", f"nobody works as {name}{since}", remedy)
        else:
            yield DoctorFinding(OK, "lease", f"{holder.partition('_')[0]} works as {name}")


def check_installation(facts: DoctorFacts) -> Iterable[DoctorFinding]:
    for config in (*facts.lists.get("configs", []), *facts.lists.get("shards", [])):
        name = f"{config.get('kind') or 'Config or shard'} {config['metadata']['name']}"
        conditions = (config.get("status") or {}).get("conditions") or []
        if not conditions:
            remedy = f"does the installer run? `kubectl get pods -A -l app={names.INSTALLER}`, then `kubectl logs`"
            yield DoctorFinding(FAIL, "install", f"{name} has no conditions: no installer has read it", remedy)
        wrong = [
            condition
            for condition in conditions
            if condition.get("status") == "False"
            and condition.get("type") in ("Deployed", "Available", "DependenciesFulfilled")
        ]
        for condition in wrong:
            text = f"{name} is not {condition['type']}: {condition.get('message') or condition.get('reason')}"
            yield DoctorFinding(
                FAIL, "install", text, f"kubectl describe {name.split()[0].lower()} {config['metadata']['name']}"
            )


def check_deployments(facts: DoctorFacts) -> Iterable[DoctorFinding]:
    """Those that nobody's conditions speak of: the installer, and what was deployed by hand."""
    for deployment in facts.lists.get("deployments", []):
        meta, spec = deployment["metadata"], deployment["spec"]
        containers = spec["template"]["spec"].get("containers") or []
        ours = any((container.get("command") or [])[:2] == ["gangline", "run"] for container in containers)
        asked = 1 if spec.get("replicas") is None else spec["replicas"]
        ready = (deployment.get("status") or {}).get("availableReplicas") or 0
        if ours and not meta.get("ownerReferences") and ready < asked:
            where = f"-n {meta.get('namespace')}"
            remedy = f"`kubectl get pods {where}`, then `kubectl describe` and `kubectl logs` of one that is not ready"
            text = f"deployment {meta.get('namespace')}/{meta['name']}: {ready} of {asked} pods are ready"
            yield DoctorFinding(FAIL, "install", text, remedy)


def check_versions(facts: DoctorFacts) -> Iterable[DoctorFinding]:
    for deployment in facts.lists.get("deployments", []):
        containers = deployment["spec"]["template"]["spec"].get("containers") or []
        for container in containers:
            tag = re.search(r"gangline:v?(\d+\.\d+\.\d+)$", str(container.get("image") or ""))
            if tag and tag[1] != __version__:
                meta = deployment["metadata"]
                text = f"{meta.get('namespace')}/{meta['name']} runs gangline {tag[1]}, this is {__version__}"
                remedy = "use the same version on both sides: `pip install`, or `gangline install --image …`"
                yield DoctorFinding(WARN, "version", text, remedy)


def check_queues(facts: DoctorFacts) -> Iterable[DoctorFinding]:
    queues = {queue["metadata"]["name"]: queue.get("spec") or {} for queue in facts.lists.get("queues", [])}
    if not queues and "queues" not in facts.refused:
        remedy = "`gangline install` makes default-queue; or `gangline queue set NAME --create gpu.quota=…`"
        yield DoctorFinding(WARN, "queues", "there is no queue: no pod of the scheduler half can start", remedy)
    parents = {name: spec.get("parentQueue") or None for name, spec in queues.items()}
    circular = below_themselves(parents)
    for name in queues:
        parent = parents[name]
        if parent is not None and parent not in queues:
            remedy = f"make it, or name another: gangline queue set {name} parent=…"
            yield DoctorFinding(FAIL, "queues", f"queue {name} names the parent {parent}, which does not exist", remedy)
        elif name in circular:
            remedy = f"give it another parent: gangline queue set {name} parent=…"
            yield DoctorFinding(FAIL, "queues", f"queue {name} is below itself: its parents go in a circle", remedy)
    if queues:
        yield DoctorFinding(OK, "queues", f"{len(queues)} {'queue' if len(queues) == 1 else 'queues'}")


def check_nodes(facts: DoctorFacts) -> Iterable[DoctorFinding]:
    from gangline.rules import requests

    nodes = facts.lists.get("nodes", [])
    if "nodes" in facts.refused:
        return
    offered = [(node.get("status") or {}).get("allocatable") or {} for node in nodes]
    with_gpus = sum(any(requests.is_gpu(name) or requests.is_mig(name) for name in amounts) for amounts in offered)
    if not nodes:
        remedy = "do nodes still join? `kubectl get nodes`; `gangline run kubelet` simulates some, to try things"
        yield DoctorFinding(WARN, "nodes", "the cluster has no nodes: no pod can start", remedy)
    elif not with_gpus:
        remedy = "is a device plugin or DRA driver installed? `kubectl describe node` lists what a node offers"
        yield DoctorFinding(WARN, "nodes", f"none of {len(nodes)} nodes offers GPUs", remedy)
    else:
        yield DoctorFinding(
            OK, "nodes", f"{with_gpus} of {len(nodes)} {'node offers' if len(nodes) == 1 else 'nodes offer'} GPUs"
        )


SPOKEN = {
    "definitions": "custom resource definitions",
    "validating": "validating webhooks",
    "mutating": "mutating webhooks",
    "slices": "endpoint slices",
}
"""How people call what facts.py reads."""


def check_refusals(facts: DoctorFacts) -> Iterable[DoctorFinding]:
    hidden = [SPOKEN.get(name, name) for name, trouble in facts.refused.items() if " is forbidden: " in trouble]
    if hidden:
        text = f"not examined, because {facts.user or 'you'} may not list them: {', '.join(hidden)}"
        yield DoctorFinding(WARN, "unseen", text, "ask somebody who may list them to run `gangline doctor`")
    for name, trouble in facts.refused.items():
        if SPOKEN.get(name, name) not in hidden:
            text = f"{SPOKEN.get(name, name)} could not be examined: {trouble}"
            yield DoctorFinding(WARN, "unseen", text, "ask somebody who may read them")


CHECKS: tuple[Callable[[DoctorFacts], Iterable[DoctorFinding]], ...] = (
    check_server,
    check_clock,
    check_rights,
    lambda facts: check_definitions(facts.lists.get("definitions", []), "definitions" in facts.refused),
    lambda facts: check_webhooks(facts.lists, facts.now),
    check_components,
    check_installation,
    check_deployments,
    check_versions,
    check_queues,
    check_nodes,
    check_refusals,
)
