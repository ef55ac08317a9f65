"""Does a node really refuse a pod because of its topologySpreadConstraints? Counted again from the plain objects,
without the scheduler's code."""

from __future__ import annotations

from typing import Any

Raw = dict[str, Any]


def firm_rules(pod: Raw) -> list[Raw]:
    asked = pod["spec"].get("topologySpreadConstraints") or ()
    return [item for item in asked if item["whenUnsatisfiable"] == "DoNotSchedule"]


def uneven(pod: Raw, node: Raw, nodes: dict[str, Raw], pods: dict[str, Raw], where: dict[str, str]) -> bool:
    """Whether one of the constraints would be broken with the pod on the node."""
    return any(_broken(item, pod, node, nodes, pods, where) for item in firm_rules(pod))


def _broken(rule: Raw, pod: Raw, node: Raw, nodes: dict[str, Raw], pods: dict[str, Raw], where: dict[str, str]) -> bool:
    key, keys = rule["topologyKey"], [item["topologyKey"] for item in firm_rules(pod)]
    domains: dict[str, int] = {}
    for name, other in nodes.items():
        labels = other["metadata"]["labels"]
        if all(item in labels for item in keys) and _included(rule, pod, other):
            near = [pods[item] for item, place in where.items() if place == name]
            domains[labels[key]] = domains.get(labels[key], 0) + sum(_counted(rule, pod, item) for item in near)
    fewest = min(domains.values()) if len(domains) >= rule.get("minDomains", 1) else 0
    there = domains.get(node["metadata"]["labels"].get(key, ""), 0) + _counted(rule, pod, pod)
    return bool(there - fewest > rule["maxSkew"])


def _counted(rule: Raw, pod: Raw, other: Raw) -> bool:
    mine, labels = pod["metadata"]["labels"], other["metadata"]["labels"]
    wanted = dict(rule["labelSelector"]["matchLabels"])
    wanted |= {key: mine[key] for key in rule.get("matchLabelKeys") or () if key in mine}
    same = pod["metadata"]["namespace"] == other["metadata"]["namespace"]
    return same and all(labels.get(key) == value for key, value in wanted.items())


def _included(rule: Raw, pod: Raw, node: Raw) -> bool:
    labels, spec = node["metadata"]["labels"], pod["spec"]
    elsewhere = any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items())
    if rule.get("nodeAffinityPolicy") != "Ignore" and elsewhere:
        return False
    tolerated = {item["key"] for item in spec.get("tolerations") or ()}
    taints = [item for item in node["spec"].get("taints") or () if item["effect"] != "PreferNoSchedule"]
    return rule.get("nodeTaintsPolicy") != "Honor" or all(item["key"] in tolerated for item in taints)
