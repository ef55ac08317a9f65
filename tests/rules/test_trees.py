"""A set as a tree: what `gangline tree` draws and the dashboard shows."""

from __future__ import annotations

import msgspec

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet
from gangline.rules.trees import Branch, of_set


def texts(branch: Branch, depth: int = 0) -> list[str]:
    return [" " * depth + branch.text, *(text for item in branch.below for text in texts(item, depth + 1))]


def test_scaling_groups_cliques_and_pods_stand_below_their_set_with_their_states() -> None:
    pcs = msgspec.convert({"metadata": {"name": "llm"}, "spec": {"replicas": 1}}, PodCliqueSet)
    scaled = msgspec.convert({"metadata": {"name": "llm-0-d"}, "spec": {"replicas": 2}}, PodCliqueScalingGroup)
    cliques = [
        msgspec.convert({"metadata": {"name": name, "labels": labels}, "spec": {"replicas": 2}}, PodClique)
        for name, labels in (("llm-0-d-0-w", {names.SCALING_GROUP: "llm-0-d"}), ("llm-0-a", {}))
    ]
    pods = [
        msgspec.convert({"metadata": {"name": name, "labels": {names.POD_CLIQUE: clique}}, **more}, Pod)
        for name, clique, more in (
            ("b", "llm-0-a", {"spec": {"schedulingGates": [{"name": "g"}]}}),
            ("a", "llm-0-a", {"spec": {"nodeName": "n"}, "status": {"phase": "Running"}}),
            ("w", "llm-0-d-0-w", {}),
        )
    ]
    assert texts(of_set(pcs, [], [scaled], cliques, pods)) == [
        "llm  0/1 available; gangs: none yet",
        " llm-0-a  0/2 ready, minimum 2",
        "  a  Running on n",
        "  b  Gated (g)",
        " llm-0-d  scaling group, 0/2 available",
        "  llm-0-d-0-w  0/2 ready, minimum 2",
        "   w  Pending",
    ]
