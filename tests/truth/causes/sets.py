"""PodCliqueSets. Data only."""

from __future__ import annotations

from gangline.api import names
from truth.causes.common import TWO
from truth.objects import clique, pod_clique_set
from truth.player import TruthCase, flat

SETS = [
    TruthCase(
        "a set that is too large",
        "set/x",
        ("x-0 waits: 8 GPUs short",),
        flat(pod_clique_set("x", clique("w", 3, gpus=8))),
        TWO,
        runs=3,
    ),
    TruthCase(
        "a set of another scheduler that is not installed",
        "set/x",
        ("x-0 waits", "koord"),
        flat(pod_clique_set("x", clique("w", 2, scheduler="koord-scheduler"))),
        TWO,
    ),
    TruthCase(
        "a clique that starts after another",
        "set/x",
        ("startup order", "x-0-a"),
        flat(
            pod_clique_set(
                "x",
                clique("a", 1, notes={names.READY_SECONDS: "3600"}),
                clique("b", 1, starts_after=("a",)),
                cliqueStartupType="CliqueStartupTypeExplicit",
            )
        ),
        TWO,
    ),
]
