"""Random clusters whose gang asks to be spread: those of wide_clusters.py with topologySpreadConstraints, beside
running pods of its kind. Plain objects, the same for the same number."""

from __future__ import annotations

import random
from typing import Any

from gangline.api.meta import Raw
from truth.clusters import GANG
from truth.wide_clusters import HOST, RACK, ZONE, wide_cluster

TEAM = {"team": "red"}


def spread_cluster(seed: int) -> list[Raw]:
    chance = random.Random(f"spread {seed}")
    raws = wide_cluster(seed)
    rules = [_rule(chance, key) for key in chance.sample([ZONE, RACK, HOST], chance.choice([1, 1, 2]))]
    for pod in (raw for raw in raws if raw["kind"] == "Pod"):
        mine = pod["metadata"]["annotations"]["pod-group-name"] == GANG
        pod["metadata"]["labels"] |= TEAM if mine or chance.random() < 0.3 else {}
        if mine:
            pod["spec"].pop("affinity", None)
            pod["spec"]["topologySpreadConstraints"] = rules
    return raws


def _rule(chance: random.Random, key: str) -> Raw:
    more: dict[str, Any] = {}
    if chance.random() < 0.2:
        more["minDomains"] = 3
    if chance.random() < 0.2:
        more["nodeAffinityPolicy"] = "Ignore"
    if chance.random() < 0.2:
        more["nodeTaintsPolicy"] = "Honor"
    if chance.random() < 0.2:
        more["matchLabelKeys"] = ["app"]
    return {
        "maxSkew": chance.choice([1, 1, 2]),
        "topologyKey": key,
        "whenUnsatisfiable": chance.choice(["DoNotSchedule"] * 4 + ["ScheduleAnyway"]),
        "labelSelector": {"matchLabels": TEAM},
        **more,
    }
