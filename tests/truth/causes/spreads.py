"""topologySpreadConstraints that cannot be kept. Data only."""

from __future__ import annotations

from typing import Any

from gangline.api.meta import Raw
from truth.causes.common import HOST, TWO, ZONE
from truth.objects import gang, job
from truth.player import TruthCase, flat


def spread(key: str = ZONE, skew: int = 1, app: str = "x", **more: Any) -> list[Raw]:
    return [
        {
            "maxSkew": skew,
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": app}},
            **more,
        }
    ]


def zones(**gpus: int) -> tuple[Raw, ...]:
    return tuple({"name": zone, "gpus": count, "labels": {ZONE: zone}} for zone, count in gpus.items())


SPREADS = [
    TruthCase(
        "a spread over zones that is kept",
        "job/x",
        ("x runs: 3 pods on a (2), b",),
        flat(job("x", 3, gpus=1, topologySpreadConstraints=spread())),
        zones(a=8, b=8),
        never=("unevenly",),
    ),
    TruthCase(
        "a zone without room for an even spread",
        "job/x",
        (
            "3 of 4 pods find a node",
            f"finds none beside the others: node a is in {ZONE}=a, which has 2 pods with app=x: with this one the skew "
            f"would be 2 ({ZONE}=b has 1), and topologySpreadConstraints allows maxSkew 1",
            f"{ZONE}=b\n",
        ),
        flat(job("x", 4, gpus=1, topologySpreadConstraints=spread())),
        zones(a=8, b=1),
        runs=4,
    ),
    TruthCase(
        "a zone whose only node is cordoned",
        "job/x",
        (f"{ZONE}=b has 0", "Node/b had spec.unschedulable: false"),
        flat(job("x", 2, gpus=1, topologySpreadConstraints=spread())),
        zones(a=8, b=8),
        node_patches={"b": {"spec": {"unschedulable": True}}},
        runs=2,
    ),
    TruthCase(
        "a spread over more zones than there are",
        "job/x",
        ("there are 2 domains, fewer than minDomains 3, so the fewest counts as 0", "the skew would be 2"),
        flat(job("x", 3, gpus=1, topologySpreadConstraints=spread(minDomains=3))),
        zones(a=8, b=8),
        runs=3,
    ),
    TruthCase(
        "a spread by a label that no node has",
        "job/x",
        (f"has no label {ZONE}, which topologySpreadConstraints goes by", f"metadata.labels[{ZONE}]"),
        flat(job("x", 2, gpus=1, topologySpreadConstraints=spread())),
        TWO,
        runs=2,
    ),
    TruthCase(
        "a spread over nodes that its node selector excludes",
        "job/x",
        (
            f"node a is in {ZONE}=a, which has 2 pods with app=x: with this one the skew would be 3 ({ZONE}=b has 0)",
            "Job/x were made anew with spec.template.spec.topologySpreadConstraints",
        ),
        flat(job("x", gpus=1, topologySpreadConstraints=spread(nodeAffinityPolicy="Ignore"), nodeSelector={HOST: "a"})),
        zones(a=8, b=8),
        flat(gang("old", 2, gpus=1, labels={"app": "x"}, pod_extra={"nodeSelector": {HOST: "a"}})),
        runs=1,
    ),
    TruthCase(
        "pods of another workload that fill a zone",
        "job/x",
        (f"{ZONE}=b, which has 2 pods with team=red", "maxSkew 1"),
        flat(
            job(
                "x",
                2,
                gpus=1,
                pod_labels={"team": "red"},
                topologySpreadConstraints=[{**spread()[0], "labelSelector": {"matchLabels": {"team": "red"}}}],
            )
        ),
        zones(a=0, b=8),
        flat(job("old", 2, gpus=1, pod_labels={"team": "red"})),
        runs=2,
    ),
]
