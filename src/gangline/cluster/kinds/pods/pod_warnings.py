"""What a pod, or a template of one, asks for that is accepted but probably not meant: the texts of Warning headers.

Pure. Who has a pod template asks here: pods.py, and the workloads beside this room.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gangline.api import resources
from gangline.cluster.kinds.checks import Obj, with_paths
from gangline.cluster.kinds.networking.addresses import legacy_warnings
from gangline.rules.values.names import label_problems, label_value_problems
from gangline.rules.values.problems import quote

Warnings = Iterator[str]
_OLD_NODE_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
_OLD_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
_OLD_VOLUMES = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_SHOWN = {"storageos": "storageOS"}
_SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_NEGATIVE_GRACE = "must be >= 0; negative values are invalid and will be treated as 1"
_NO_SELECTOR = "a null labelSelector results in matching no pod"
_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


_PLACED = {"nodeSelector", "affinity", "topologySpreadConstraints"}
_ADDRESSED = {"dnsConfig", "hostAliases"}


def pod_warnings(pod: Obj, path: str = "") -> list[str]:
    """Of a pod, or (with its path) of a template. Most pods say little of what is looked at here, so each part is asked
    only where the pod has its fields."""
    spec, notes = pod.get("spec") or {}, (pod.get("metadata") or {}).get("annotations") or {}
    start = f"{path}." if path else ""
    where = f"{start}spec"
    warnings: list[str] = []
    if not _PLACED.isdisjoint(spec):
        warnings += _placement(spec, where)
    if not _OLD_ANNOTATIONS.keys().isdisjoint(notes):
        warnings += [
            f"{start}metadata.annotations[{key}]: {_OLD_ANNOTATIONS[key]}" for key in _OLD_ANNOTATIONS if key in notes
        ]
    warnings += _volumes(spec.get("volumes"), f"{where}.volumes")
    if "hostAliases" in spec:
        warnings += _repeated(spec["hostAliases"], f"{where}.hostAliases", "ip")
    if "imagePullSecrets" in spec:
        warnings += _pull_secrets(spec["imagePullSecrets"], f"{where}.imagePullSecrets")
    warnings += _fractions(spec.get("overhead"), _BYTES, f"{where}.overhead")
    if notes:
        warnings += _seccomp(spec.get("securityContext"), notes, "seccomp.security.alpha.kubernetes.io/pod", start)
    warnings += _containers(spec, where, notes, start, bool(path))
    warnings += _ports(spec, where)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        warnings.append(f"{where}.terminationGracePeriodSeconds: {_NEGATIVE_GRACE}")
    if "affinity" in spec:
        warnings += _affinities(spec, where)
    if not _ADDRESSED.isdisjoint(spec):
        warnings += _addresses(spec, where)
    return warnings


def _pull_secrets(secrets: Any, path: str) -> Warnings:
    yield from _repeated(secrets, path, "name")
    for at, secret in with_paths(secrets, path):
        if not secret.get("name"):
            yield f'{at}.name: invalid empty name ""'


def name_warnings(name: str, uses: str = "Pod names and hostnames") -> list[str]:
    """A name that pods get theirs from should be a label."""
    problems = label_problems(name)
    text = f"metadata.name: this is used in {uses}, which can result in surprising behavior; a DNS label is recommended"
    return [f"{text}: [{' '.join(problems)}]"] if problems else []


def claim_warnings(spec: Obj, path: str) -> Warnings:
    """Of a claim for a volume."""
    wanted = spec.get("resources") or {}
    for kind in ("requests", "limits"):
        yield from _fractions(wanted.get(kind), ("storage",), f"{path}.resources.{kind}")


def old_label_warnings(labels: Any, path: str) -> Warnings:
    """Of labels of nodes that have a new name."""
    for key in sorted(labels or {}):
        if key in _OLD_NODE_LABELS:
            yield f"{path}[{key}]: {_OLD_NODE_LABELS[key]}"


def _old_key(key: str, path: str) -> Warnings:
    if key in _OLD_NODE_LABELS:
        yield f"{path}: {key} is {_OLD_NODE_LABELS[key]}"


def node_term_warnings(term: Obj, path: str, preferred: bool = False) -> Warnings:
    """Of one term of a selector of nodes."""
    for where, expression in with_paths(term.get("matchExpressions"), f"{path}.matchExpressions"):
        yield from _old_key(expression.get("key") or "", f"{where}.key")
        for at, value in with_paths(expression.get("values") if preferred else None, f"{where}.values"):
            yield from (f"{at}: {value} is invalid, {why}" for why in label_value_problems(value))


def _placement(spec: Obj, path: str) -> Warnings:
    yield from old_label_warnings(spec.get("nodeSelector"), f"{path}.nodeSelector")
    affinity = (spec.get("affinity") or {}).get("nodeAffinity")
    if affinity:
        yield from _node_affinity(affinity, f"{path}.affinity.nodeAffinity")
    for at, spread in with_paths(spec.get("topologySpreadConstraints"), f"{path}.topologySpreadConstraints"):
        yield from _old_key(spread.get("topologyKey") or "", f"{at}.topologyKey")
        if spread.get("labelSelector") is None:
            yield f"{at}.labelSelector: {_NO_SELECTOR}"


def _node_affinity(affinity: Obj, path: str) -> Warnings:
    terms = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms")
    for at, term in with_paths(terms, f"{path}.{_REQUIRED}.nodeSelectorTerms"):
        yield from node_term_warnings(term, at)
    for at, term in with_paths(affinity.get(_PREFERRED), f"{path}.{_PREFERRED}"):
        yield from node_term_warnings(term.get("preference") or {}, f"{at}.preference", preferred=True)


def _volumes(items: Any, path: str) -> Warnings:
    for where, volume in with_paths(items, path):
        if not _OLD_VOLUMES.keys().isdisjoint(volume):
            for name, text in _OLD_VOLUMES.items():
                if volume.get(name) is not None:
                    yield f"{where}.{_SHOWN.get(name, name)}: {text}"
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
        if template is not None:
            yield from claim_warnings(template.get("spec") or {}, f"{where}.ephemeral.volumeClaimTemplate.spec")
    for volume in items or []:
        yield from _overlaps(volume)


_Source = tuple[str, str]
"""A path in a volume, and what puts a file there."""


_FILES = {"configMap", "secret", "downwardAPI", "projected"}
"""Volumes in which files are put at paths that the pod names."""


def _overlaps(volume: Obj) -> Warnings:
    if _FILES.isdisjoint(volume):
        return
    name = quote(volume.get("name") or "")
    for kind, called, noun in (("configMap", "name", "ConfigMap"), ("secret", "secretName", "Secret")):
        source = volume.get(kind) or {}
        for pair in _clashes(_paths(source, "")):
            yield f"volume {name} ({noun} {quote(source.get(called) or '')}): overlapping paths: {pair}"
    own = _clashes(_paths(volume.get("downwardAPI") or {}, ""))
    yield from (f"volume {name} (DownwardAPI): overlapping paths: {pair}" for pair in own)
    projected: list[_Source] = []
    for source in (volume.get("projected") or {}).get("sources") or []:
        if not source:
            yield f"volume {name} (Projected) has no sources provided"
        projected += _projected(source)
    yield from (f"volume {name} (Projected): overlapping paths: {pair}" for pair in _clashes(projected))


def _projected(source: Obj) -> list[_Source]:
    for kind, noun in (("configMap", "ConfigMap"), ("secret", "Secret")):
        if source.get(kind) is not None:
            return _paths(source[kind], f"{noun} {quote(source[kind].get('name') or '')}")
    if source.get("downwardAPI") is not None:
        return _paths(source["downwardAPI"], "DownwardAPI")
    if source.get("serviceAccountToken") is not None:
        return [(source["serviceAccountToken"].get("path") or "", "ServiceAccountToken")]
    bundle = source.get("clusterTrustBundle")
    if bundle is None:
        return []
    name = bundle.get("name") or bundle.get("signerName") or ""
    return [(bundle.get("path") or "", f"ClusterTrustBundle {quote(name)}")]


def _paths(source: Obj, origin: str) -> list[_Source]:
    return [(item.get("path") or "", origin) for item in source.get("items") or []]


def _clashes(sources: list[_Source]) -> Warnings:
    """Files that would lie upon or inside one another, each with the earlier one."""
    earlier: list[_Source] = []
    for whole, origin in sources:
        path = whole.rstrip("/")
        for other, by in earlier:
            if path and other and (f"{other}/".startswith(f"{path}/") or f"{path}/".startswith(f"{other}/")):
                yield f"{_source(path, origin)} with {_source(other, by)}"
        earlier.append((path, origin))


def _source(path: str, origin: str) -> str:
    return f"{quote(path)} ({origin})" if origin else quote(path)


def _repeated(items: Any, path: str, key: str) -> Warnings:
    seen: set[str] = set()
    for where, item in with_paths(items, path):
        value = item.get(key) or ""
        if value in seen:
            yield f"{where}.{key}: duplicate {key} {quote(value)}"
        seen.add(value)


_BYTES = ("memory", "ephemeral-storage")


def _fractions(amounts: Any, names: Iterable[str], path: str) -> Warnings:
    """Parts of a byte."""
    for name in names if amounts else ():
        amount = amounts.get(name)
        if amount is not None and resources.nanos(amount) % resources.NANO:
            yield f"{path}[{name}]: fractional byte value {quote(amount)} is invalid, must be an integer"


def _seccomp(context: Any, notes: Obj, key: str, start: str) -> Warnings:
    if key in notes and (context or {}).get("seccompProfile") is None:
        yield f"{start}metadata.annotations[{key}]: {_SECCOMP}"


def _visited(spec: Obj, path: str) -> Iterator[tuple[str, Obj]]:
    for name in ("initContainers", "containers"):
        yield from with_paths(spec.get(name), f"{path}.{name}")


def _containers(spec: Obj, path: str, notes: Obj, start: str, template: bool) -> Warnings:
    for where, container in _visited(spec, path):
        name, context = container.get("name") or "", container.get("securityContext") or {}
        if notes:
            yield from _seccomp(context, notes, f"container.seccomp.security.alpha.kubernetes.io/{name}", start)
        armour = f"container.apparmor.security.beta.kubernetes.io/{name}"
        if template and armour in notes and context.get("appArmorProfile") is None:
            yield (
                f"{start}metadata.annotations[{armour}]: "
                'deprecated since v1.30; use the "appArmorProfile" field instead'
            )
        amounts = container.get("resources") or {}
        for kind in _BYTES if amounts else ():
            for bound in ("limits", "requests"):
                yield from _fractions(amounts.get(bound), (kind,), f"{where}.resources.{bound}")
        yield from _environment(container.get("env") or [], where)


def _environment(variables: list[Obj], path: str) -> Warnings:
    seen: set[str] = set()
    for index, variable in enumerate(variables):
        name = variable.get("name") or ""
        if name in seen and _hides_earlier(variable, f"$({name})"):
            yield (
                f"{path}.env[{index}]: hides previous definition of {quote(name)}, "
                "which may be dropped when using apply"
            )
        seen.add(name)


def _hides_earlier(variable: Obj, reference: str) -> bool:
    """One that only adds to the earlier of its name (`$(PATH):/bin`) does not."""
    value = variable.get("value") or ""
    return variable.get("valueFrom") is not None or value == reference or reference not in value


def _ports(spec: Obj, path: str) -> Warnings:
    """Ports of all containers that get in one another's way; then names that stand twice."""
    taken: dict[Any, list[tuple[str, Obj]]] = {}
    names: dict[str, str] = {}
    twice: list[str] = []
    for where, container in _visited(spec, path):
        for at, port in with_paths(container.get("ports"), f"{where}.ports"):
            others = taken.setdefault((port.get("containerPort"), port.get("protocol")), [])
            for other, earlier in others:
                yield from _clash(port, earlier, at, other)
            others.append((at, port))
            name = port.get("name") or ""
            if name and name in names:
                twice.append(
                    f"{at}: duplicate port name {quote(name)} with {names[name]}, services and probes that select "
                    f"ports by name will use {names[name]}"
                )
            elif name:
                names[name] = at
    yield from twice


def _clash(port: Obj, other: Obj, at: str, where: str) -> Warnings:
    mine, theirs = ((item.get("hostPort") or 0, item.get("hostIP") or "") for item in (port, other))
    if mine == theirs:
        yield f"{at}: duplicate port definition with {where}"
    elif not mine[0] or not theirs[0]:
        yield f"{at}: overlapping port definition with {where}"
    elif mine[0] == theirs[0] and bool(mine[1]) != bool(theirs[1]):
        yield f"{at}: dangerously ambiguous port definition with {where}"


def _affinities(spec: Obj, path: str) -> Warnings:
    given = spec.get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity") if given else ():
        affinity, where = given.get(kind) or {}, f"{path}.affinity.{kind}"
        for at, term in with_paths(affinity.get(_REQUIRED), f"{where}.{_REQUIRED}"):
            if term.get("labelSelector") is None:
                yield f"{at}.labelSelector: {_NO_SELECTOR}"
        for at, weighted in with_paths(affinity.get(_PREFERRED), f"{where}.{_PREFERRED}"):
            if (weighted.get("podAffinityTerm") or {}).get("labelSelector") is None:
                yield f"{at}.podAffinityTerm.labelSelector: {_NO_SELECTOR}"


def _addresses(spec: Obj, path: str) -> Warnings:
    for at, server in with_paths((spec.get("dnsConfig") or {}).get("nameservers"), f"{path}.dnsConfig.nameservers"):
        yield from legacy_warnings(server, at)
    for at, alias in with_paths(spec.get("hostAliases"), f"{path}.hostAliases"):
        yield from legacy_warnings(alias.get("ip") or "", f"{at}.ip")
