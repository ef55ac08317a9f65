"""Nodes that may not be used: labels, taints, affinity, cordons. Data only."""

from __future__ import annotations

from gangline.api import names
from truth.causes.common import ONE, TWO
from truth.objects import affinity, anti_affinity, job, node_affinity
from truth.player import TruthCase, flat

NODES = [
    TruthCase(
        "a selector for a label that no node has",
        "job/x",
        ("nodeSelector", "gpu-type=a100", "no label gpu-type"),
        flat(job("x", nodeSelector={"gpu-type": "a100"})),
        TWO,
        runs=1,
    ),
    TruthCase(
        "a selector for another value of a label",
        "job/x",
        ("gpu-type=h100", "gpu-type=a100"),
        flat(job("x", nodeSelector={"gpu-type": "a100"})),
        ({"name": "n", "count": 2, "labels": {"gpu-type": "h100"}},),
        runs=1,
    ),
    TruthCase(
        "a node affinity that no node meets",
        "job/x",
        ("nodeAffinity", "example.com/rack in (a, b)"),
        flat(job("x", **node_affinity("example.com/rack", "In", "a", "b"))),
        TWO,
        runs=1,
    ),
    TruthCase(
        "a node affinity by existence",
        "job/x",
        ("nodeAffinity", "example.com/fast"),
        flat(job("x", **node_affinity("example.com/fast", "Exists"))),
        TWO,
        runs=1,
    ),
    TruthCase(
        "a taint that is not tolerated",
        "job/x",
        ("taint dedicated=team-b:NoSchedule",),
        flat(job("x", gpus=1)),
        ({"name": "n", "gpus": 8, "taints": [{"key": "dedicated", "value": "team-b", "effect": "NoSchedule"}]},),
        runs=1,
    ),
    TruthCase(
        "a taint that evicts",
        "job/x",
        ("taint maintenance:NoExecute",),
        flat(job("x", gpus=1)),
        ({"name": "n", "gpus": 8, "taints": [{"key": "maintenance", "effect": "NoExecute"}]},),
        runs=1,
    ),
    TruthCase(
        "a label and a taint together",
        "job/x",
        ("taint dedicated=x:NoSchedule", "nodeSelector"),
        flat(job("x", nodeSelector={"disk": "ssd"})),
        ({"name": "n", "taints": [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}]},),
        runs=1,
    ),
    TruthCase(
        "cordoned nodes",
        "job/x",
        ("cordoned", "spec.unschedulable"),
        flat(job("x", gpus=1)),
        ({"name": "n", "count": 2, "gpus": 8, "unschedulable": True},),
        runs=1,
    ),
    TruthCase(
        "a node that is not ready",
        "job/x",
        ("NotReady since", "node n"),
        flat(job("x", gpus=1)),
        ONE,
        node_patches={"n": {"metadata": {"annotations": {names.HEALTH: "not-ready"}}}},
        runs=1,
    ),
    TruthCase(
        "two cordoned nodes of which both are needed",
        "job/x",
        ("cordoned",),
        flat(job("x", 2, gpus=8)),
        ({"name": "n", "count": 2, "gpus": 8, "unschedulable": True},),
        runs=2,
    ),
    TruthCase(
        "nodes that are closed for different reasons",
        "job/x",
        ("cordoned", "taint a:NoSchedule"),
        flat(job("x", gpus=1)),
        (
            {"name": "n", "gpus": 8, "unschedulable": True},
            {"name": "m", "gpus": 8, "taints": [{"key": "a", "effect": "NoSchedule"}]},
        ),
        runs=1,
    ),
    TruthCase(
        "anti-affinity that needs one node more",
        "job/x",
        ("podAntiAffinity", "app=x", "2 of 3 pods"),
        flat(job("x", 3, **anti_affinity("x"))),
        TWO,
        runs=3,
    ),
    TruthCase(
        "anti-affinity that needs two nodes more",
        "job/x",
        ("podAntiAffinity",),
        flat(job("x", 4, labels={"keep": "all"}, **anti_affinity("x"))),
        TWO,
        runs=4,
    ),
    TruthCase(
        "anti-affinity against another workload",
        "job/x",
        ("podAntiAffinity", "old-"),
        flat(job("x", **anti_affinity("old"))),
        ONE,
        flat(job("old")),
        runs=1,
    ),
    TruthCase(
        "affinity to pods that are not there",
        "job/x",
        ("podAffinity", "app=database"),
        flat(job("x", **affinity("database"))),
        ONE,
    ),
    TruthCase(
        "a host port that is taken",
        "job/x",
        ("host port 9000", "old-"),
        flat(
            job("x", containers=[{"name": "main", "image": "i", "ports": [{"containerPort": 9000, "hostPort": 9000}]}])
        ),
        ONE,
        flat(
            job(
                "old", containers=[{"name": "main", "image": "i", "ports": [{"containerPort": 9000, "hostPort": 9000}]}]
            )
        ),
        runs=1,
    ),
]
