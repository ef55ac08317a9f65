"""Is the told cause true? Counts again from the plain objects and the proof in the answer, without the scheduler's
code.

Small on purpose: what it says can be checked by reading it. `problem(objects, gang, data)` gives "" where every
figure and every node's refusal holds and no node was left out, else the first thing that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Raw = dict[str, Any]
BLOCKING = ("NoSchedule", "NoExecute")
PLACES = {"gpu": "nvidia.com/gpu", "cpu": "cpu", "memory": "memory", "pods": "pods"}
PER_FIELD = {"cpu": 1000.0, "memory": 1.0, "gpu": 1.0}


def number(text: Any) -> float:
    """A quantity of the few forms that these clusters use."""
    written = str(text)
    for unit, size in (("Ti", 2.0**40), ("Gi", 2.0**30), ("Mi", 2.0**20), ("m", 0.001)):
        if written.endswith(unit):
            return float(written.removesuffix(unit)) * size
    return float(written)


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
    proof, claims = (
        data["proof"],
        {item["metadata"]["name"]: item for item in objects if item["kind"] == "ResourceClaim"},
    )
    objects = [_with_devices(item, claims) if item["kind"] == "Pod" else item for item in objects]
    if "queues" in proof:
        return _queues(objects, gang, proof["queues"])
    return _nodes(objects, proof) if "nodes" in proof else f"no proof of {data['cause']}"


def _with_devices(pod: Raw, claims: dict[str, Raw]) -> Raw:
    """Devices that it claims count as GPUs that it asks for."""
    named = [claims[item["resourceClaimName"]] for item in pod["spec"].get("resourceClaims") or ()]
    counts = [item["spec"]["devices"]["requests"][0]["exactly"]["count"] for item in named]
    claimed = [{"resources": {"requests": {PLACES["gpu"]: count}}} for count in counts]
    return {**pod, "spec": {**pod["spec"], "containers": [*pod["spec"]["containers"], *claimed]}}


# --- queues
# ---------------------------------------------------------------------------------------------------------------


def _queues(objects: list[Raw], gang: str, told: list[Raw]) -> str:
    queues = {item["metadata"]["name"]: item for item in objects if item["kind"] == "Queue"}
    groups = {item["metadata"]["name"]: item for item in objects if item["kind"] == "PodGroup"}
    pods = [item for item in objects if item["kind"] == "Pod"]
    for figure in told:
        below = {name for name in queues if figure["queue"] in _line(queues, name)}
        firm = figure["bound"] == "quota"
        mine = [pod for pod in pods if _group(pod) == gang and not pod["spec"].get("nodeName")]
        held = [
            pod
            for pod in pods
            if pod["spec"].get("nodeName")
            and groups[_group(pod)]["spec"]["queue"] in below
            and (not firm or groups[_group(pod)]["spec"].get("preemptibility") == "non-preemptible")
        ]
        resource = figure["resource"]
        field = queues[figure["queue"]]["spec"]["resources"][resource][figure["bound"]]
        allowed = field * 1e6 if resource == "memory" else field
        scale = PER_FIELD[resource]
        counted = [sums(pods, PLACES[resource]) * scale for pods in (held, mine)]
        if (
            abs(counted[0] - figure["held"]) > 1e-3
            or abs(counted[1] - figure["asked"]) > 1e-3
            or allowed != figure["allowed"]
        ):
            return f"figures of queue {figure['queue']} are {allowed}, {counted}, not {figure}"
        if counted[0] + counted[1] <= allowed + 1e-6:
            return f"queue {figure['queue']} would let it in"
    return ""


def _line(queues: dict[str, Raw], name: str) -> list[str]:
    found = []
    while name:
        found.append(name)
        name = queues[name]["spec"].get("parentQueue", "")
    return found


def _group(pod: Raw) -> str:
    return str(pod["metadata"]["annotations"]["pod-group-name"])


# --- nodes
# ----------------------------------------------------------------------------------------------------------------


def _nodes(objects: list[Raw], proof: Raw) -> str:
    nodes = {item["metadata"]["name"]: item for item in objects if item["kind"] == "Node"}
    pods = {item["metadata"]["name"]: item for item in objects if item["kind"] == "Pod"}
    where = {name: pod["spec"]["nodeName"] for name, pod in pods.items() if pod["spec"].get("nodeName")} | proof[
        "beside"
    ]
    stuck = pods[proof["pod"]]
    if set(proof["among"]) != set(nodes) and not proof.get("level"):
        return f"nodes {set(nodes) - set(proof['among'])} were not asked"
    if len({nodes[name]["metadata"]["labels"].get(proof["level"]) for name in proof["among"]}) > 1 and proof["level"]:
        return f"nodes {proof['among']} are not of one {proof['level']}"
    for name in proof["among"]:
        node = nodes[name]
        told = proof["nodes"].get(name)
        if not told:
            return f"nothing is said against node {name}"
        near = [pods[item] for item, place in where.items() if place == name]
        wrong = [item for item in told if not _holds(item, stuck, node, near)]
        if wrong:
            return f"not true of node {name}: {wrong}"
    return ""


def _holds(fact: Raw, pod: Raw, node: Raw, near: list[Raw]) -> bool:
    code, spec = fact["code"], node["spec"]
    if code == "cordon":
        return bool(spec.get("unschedulable"))
    if code == "not-ready":
        return any(
            condition["type"] == "Ready" and condition["status"] != "True" for condition in node["status"]["conditions"]
        )
    if code == "taint":
        tolerated = {toleration["key"] for toleration in pod["spec"].get("tolerations") or ()}
        return any(taint["effect"] in BLOCKING and taint["key"] not in tolerated for taint in spec.get("taints") or ())
    if code == "label":
        labels, selector = node["metadata"]["labels"], pod["spec"].get("nodeSelector") or {}
        absent = any(term["topologyKey"] not in labels for term in _terms(pod, "podAffinity"))
        return any(labels.get(key) != value for key, value in selector.items()) or absent or not _affine(pod, labels)
    if code in ("volume", "devices", "pod-affinity"):
        return True  # the zone, the devices and the neighbours of other nodes: tried with the remedy
    has = {key: number(value) for key, value in node["status"]["allocatable"].items()}
    place = PLACES.get(str(fact.get("resource", "")), str(fact.get("resource", "")))
    if code == "size":
        return asks(pod).get(place, 0.0) > has.get(place, 0.0)
    if code in ("busy", "slots"):
        parts = [item for item in (pod, *near) if "gpu-fraction" in item["metadata"]["annotations"]]
        reserved = len(parts) if code == "slots" else 0
        return asks(pod).get(place, 0.0) + reserved > has.get(place, 0.0) - sums(near, place)
    if code == "anti-affinity":
        if any(term["topologyKey"] != "kubernetes.io/hostname" for term in _terms(pod, "podAntiAffinity")):
            return True
        labels = pod["metadata"]["labels"]
        return any(other["metadata"]["labels"].get("app") == labels.get("app") and other is not pod for other in near)
    return False


def _terms(pod: Raw, kind: str) -> Any:
    return ((pod["spec"].get("affinity") or {}).get(kind) or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    ) or ()


def _affine(pod: Raw, labels: Raw) -> bool:
    """By the one requirement that these clusters have."""
    terms = _terms(pod, "nodeAffinity")
    for asked in terms["nodeSelectorTerms"][0]["matchExpressions"] if terms else ():
        value, values = labels.get(asked["key"]), asked.get("values") or ()
        good = {
            "In": value in values,
            "NotIn": value not in values,
            "Exists": value is not None,
            "DoesNotExist": value is None,
            "Gt": value is not None
            and values != ()
            and value.isdigit()
            and int(value) > int(values[0] if values else 0),
        }
        if not good[asked["operator"]]:
            return False
    return True
