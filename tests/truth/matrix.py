"""The matrix: causes for which a workload does not run, each with the facts that the answer must hold and the number
of pods that run once the first remedy was applied as printed. docs/guide/why.md is printed from it. The cases stand in
`causes/`, one file per family; player.py plays them."""

from __future__ import annotations

from truth.causes.chains import CHAINS
from truth.causes.claims import CLAIMS
from truth.causes.gpus import GPUS
from truth.causes.in_parts import IN_PARTS
from truth.causes.more_causes import MORE_CAUSES
from truth.causes.more_kinds import MORE_KINDS
from truth.causes.more_sets import MORE_SETS
from truth.causes.nodes import NODES
from truth.causes.other_makers import OTHER_MAKERS
from truth.causes.others import OTHERS
from truth.causes.pairs import PAIRS
from truth.causes.pods import PODS
from truth.causes.queues import QUEUES
from truth.causes.rarer import RARER
from truth.causes.room import ROOM
from truth.causes.schedulers import SCHEDULERS
from truth.causes.second_looks import SECOND_LOOKS
from truth.causes.sets import SETS
from truth.causes.sizes import SIZES
from truth.causes.slips import SLIPS
from truth.causes.spreads import SPREADS
from truth.causes.states import STATES
from truth.causes.things import THINGS
from truth.causes.topologies import TOPOLOGIES
from truth.causes.workloads import WORKLOADS
from truth.player import TruthCase

CHAPTERS: dict[str, list[TruthCase]] = {
    "Too large, or used up": SIZES,
    "GPUs": GPUS,
    "Nodes that may not be used": NODES,
    "Volumes, claims and config maps": THINGS,
    "Topology": TOPOLOGIES,
    "Spread over domains": SPREADS,
    "Queues": QUEUES,
    "Nobody makes room": ROOM,
    "Pods that are missing or held back": PODS,
    "Schedulers and components": SCHEDULERS,
    "Sets": SETS,
    "Not waiting": STATES,
    "Several at once, and other workloads": [*WORKLOADS, *OTHERS],
    "More of what people meet": MORE_CAUSES,
    "Rarer causes": RARER,
    "Slips of the pen, storage, Secrets and spreads": SLIPS,
    "Sets, cause by cause": MORE_SETS,
    "Kinds of other makers, Deployments, StatefulSets and devices": OTHER_MAKERS,
    "Chains of causes": CHAINS,
    "Second looks": SECOND_LOOKS,
    "Claims of devices and volumes, case by case": CLAIMS,
    "Workloads that come in parts": IN_PARTS,
    "Two obstacles at once": PAIRS,
    "More kinds, sub-groups and webhooks": MORE_KINDS,
}
MATRIX: list[TruthCase] = [case for cases in CHAPTERS.values() for case in cases]
