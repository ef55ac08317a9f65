"""Topologies that cannot be met. Data only."""

from __future__ import annotations

from truth.causes.common import TWO
from truth.objects import job, near, topology
from truth.player import TruthCase, flat

TOPOLOGIES = [
    TruthCase(
        "a topology that does not exist",
        "job/x",
        ("topology fabric does not exist",),
        flat(job("x", 2, gpus=1, notes=near("fabric", "rack"))),
        TWO,
        runs=2,
    ),
    TruthCase(
        "a level that the topology has not",
        "job/x",
        ("topology fabric has no level rack", "zone"),
        flat(job("x", 2, gpus=1, notes=near("fabric", "rack"))),
        TWO,
        flat(topology("fabric", "zone")),
        runs=2,
    ),
    TruthCase(
        "a level whose label no node has",
        "job/x",
        ("no node has the label rack",),
        flat(job("x", 2, gpus=1, notes=near("fabric", "rack"))),
        TWO,
        flat(topology("fabric", "rack")),
        runs=2,
    ),
    TruthCase(
        "a gang that must stay in one rack",
        "job/x",
        ("one rack", "8 GPUs short"),
        flat(job("x", 2, gpus=8, notes=near("fabric", "rack"))),
        ({"name": "n", "count": 2, "gpus": 8, "topology": {"rack": 1}},),
        flat(topology("fabric", "rack")),
        runs=2,
    ),
]
