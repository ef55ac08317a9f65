"""Is the told cause true? Counts again from the plain objects and the proof in the answer, without the scheduler's
code.

Small on purpose, to be checked by reading it. `problem(objects, gang, data)` gives "" where every figure and every
node's refusal holds and no node was left out, else the first thing that is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from truth.spread_checker import firm_rules, uneven

Raw = dict[str, Any]
PLACES = {"gpu": "nvidia.com/gpu", "cpu": "cpu", "memory": "memory", "pods": "pods"}
UNITS = {"Ti": 2.0**40, "Gi": 2.0**30, "Mi": 2.0**20, "m": 0.001}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TRIED = ("volume", "devices", "pod-affinity")
"""The zone, the devices and the neighbours of other nodes: tried with the remedy."""


def number(text: Any) -> float:
    """A quantity of the few forms that these clusters use."""
    written = str(text)
    unit = next((unit for unit in UNITS if written.endswith(unit)), "")
    return float(written.removesuffix(unit)) * UNITS.get(unit, 1.0)


def asks(pod: Raw) -> dict[str, float]:
    total: dict[str, float] = {"pods": 1.0}
    for container in pod["spec"]["containers"]:
        for name, value in container["resources"]["requests"].items():
            total[name] = total.get(name, 0.0) + number(value)
    part = pod["metadata"]["annotations"].get("gpu-fraction")
    return total if part is None else total | {PLACES["gpu"]: number(part)}


def sums(pods: Iterable[Raw], name: str) -> float:
    return sum(asks(pod).get(name, 0.0) for pod in pods)


def problem(objects: list[Raw], gang: str, data: Raw) -> str:
    by_kind: dict[str, dict[str, Raw]] = {}
    for item in objects:
        by_kind.setdefault(item["kind"], {})[item["metadata"]["name"]] = item
    proof = data["proof"]
    by_kind["Pod"] = {name: _with_devices(pod, by_kind) for name, pod in by_kind["Pod"].items()}
    if "queues" in proof:
        return next((told for figure in proof["queues"] if (told := _figure(by_kind, gang, figure))), "")
    return _nodes(by_kind["Node"], by_kind["Pod"], proof) if "nodes" in proof else f"no proof of {data['cause']}"


def _with_devices(pod: Raw, by_kind: dict[str, dict[str, Raw]]) -> Raw:
    """Devices that it claims count as GPUs that it asks for."""
    named = [by_kind["ResourceClaim"][item["resourceClaimName"]] for item in pod["spec"].get("resourceClaims") or ()]
    counts = [item["spec"]["devices"]["requests"][0]["exactly"]["count"] for item in named]
    claimed = [{"resources": {"requests": {PLACES["gpu"]: count}}} for count in counts]
    return {**pod, "spec": {**pod["spec"], "containers": [*pod["spec"]["containers"], *claimed]}}


def _figure(by_kind: dict[str, dict[str, Raw]], gang: str, figure: Raw) -> str:
    queues, groups, pods = by_kind["Queue"], by_kind["PodGroup"], by_kind["Pod"].values()

    def counts(pod: Raw) -> bool:
        spec = groups[_group(pod)]["spec"]
        firm = figure["bound"] != "quota" or spec.get("preemptibility") == "non-preemptible"
        return bool(pod["spec"].get("nodeName")) and figure["queue"] in _line(queues, spec["queue"]) and firm

    resource = figure["resource"]
    field = queues[figure["queue"]]["spec"]["resources"][resource][figure["bound"]]
    allowed = field * 1e6 if resource == "memory" else field
    scale = 1000.0 if resource == "cpu" else 1.0
    mine = [pod for pod in pods if _group(pod) == gang and not pod["spec"].get("nodeName")]
    held, asked = (sums(of, PLACES[resource]) * scale for of in ([pod for pod in pods if counts(pod)], mine))
    told = (figure["held"], figure["asked"], figure["allowed"])
    if any(abs(left - right) > 1e-3 for left, right in zip((held, asked, allowed), told, strict=True)):
        return f"figures of queue {figure['queue']} are {held}, {asked}, {allowed}, not {figure}"
    return f"queue {figure['queue']} would let it in" if held + asked <= allowed + 1e-6 else ""


def _line(queues: dict[str, Raw], name: str) -> list[str]:
    """A queue and those above it."""
    return [name, *_line(queues, queues[name]["spec"].get("parentQueue", ""))] if name else []


def _group(pod: Raw) -> str:
    return str(pod["metadata"]["annotations"]["pod-group-name"])


def _nodes(nodes: dict[str, Raw], pods: dict[str, Raw], proof: Raw) -> str:
    where = {name: pod["spec"]["nodeName"] for name, pod in pods.items() if pod["spec"].get("nodeName")}
    where |= proof["beside"]
    level, among = proof["level"], proof["among"]
    if set(among) != set(nodes) and not level:
        return f"nodes {set(nodes) - set(among)} were not asked"
    if level and len({nodes[name]["metadata"]["labels"].get(level) for name in among}) > 1:
        return f"nodes {among} are not of one {level}"
    for name in among:
        told = proof["nodes"].get(name) or [{"code": "nothing is said"}]
        near = [pods[item] for item, place in where.items() if place == name]
        pod, node = pods[proof["pod"]], nodes[name]
        spread = uneven(pod, node, nodes, pods, where)
        wrong = [item for item in told if not (spread if item["code"] == "spread" else _holds(item, pod, node, near))]
        if wrong:
            return f"not true of node {name}: {wrong}"
    return ""


def _holds(fact: Raw, pod: Raw, node: Raw, near: list[Raw]) -> bool:
    code, spec, labels = fact["code"], node["spec"], node["metadata"]["labels"]
    if code == "cordon":
        return bool(spec.get("unschedulable"))
    if code == "not-ready":
        return any(item["type"] == "Ready" and item["status"] != "True" for item in node["status"]["conditions"])
    if code == "taint":
        tolerated = {toleration["key"] for toleration in pod["spec"].get("tolerations") or ()}
        hard = [taint for taint in spec.get("taints") or () if taint["effect"] in ("NoSchedule", "NoExecute")]
        return any(taint["key"] not in tolerated for taint in hard)
    if code == "label":
        other = any(labels.get(key) != value for key, value in (pod["spec"].get("nodeSelector") or {}).items())
        absent = any(term["topologyKey"] not in labels for term in (*_terms(pod, "podAffinity"), *firm_rules(pod)))
        return other or absent or not _affine(pod, labels)
    if code == "anti-affinity":
        far = any(term["topologyKey"] != "kubernetes.io/hostname" for term in _terms(pod, "podAntiAffinity"))
        mine = pod["metadata"]["labels"].get("app")
        return far or any(other["metadata"]["labels"].get("app") == mine and other is not pod for other in near)
    if code not in ("size", "busy", "slots"):
        return code in TRIED
    place = PLACES.get(str(fact.get("resource", "")), str(fact.get("resource", "")))
    has, need = number(node["status"]["allocatable"].get(place, 0)), asks(pod).get(place, 0.0)
    if code == "size":
        return need > has
    parts = [item for item in (pod, *near) if "gpu-fraction" in item["metadata"]["annotations"]]
    return need + (len(parts) if code == "slots" else 0) > has - sums(near, place)


def _terms(pod: Raw, kind: str) -> Any:
    return ((pod["spec"].get("affinity") or {}).get(kind) or {}).get(REQUIRED) or ()


def _affine(pod: Raw, labels: Raw) -> bool:
    """By the one requirement that these clusters have."""
    terms = _terms(pod, "nodeAffinity")
    for asked in terms["nodeSelectorTerms"][0]["matchExpressions"] if terms else ():
        value, values, operator = labels.get(asked["key"]), list(asked.get("values") or ()), asked["operator"]
        listed, there = value in values, value is not None
        above = operator == "Gt" and there and int(str(value)) > int(values[0])
        if not {"In": listed, "NotIn": not listed, "Exists": there, "DoesNotExist": not there, "Gt": above}[operator]:
            return False
    return True
