"""A job of a trace, a machine of a fleet, and how a trace that cannot be read says so.

The readers of `formats/` fill these; `engine.py` plays them. Nothing here knows where a line came from or what becomes
of a job."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from gangline.errors import BadInput


@dataclass(frozen=True, slots=True)
class TraceJob:
    """Pods that start together or not at all. Times are in seconds; `duration` may be endless.

    `gpus` is per pod; below 1 it is a share of one GPU. `models`: the GPU models that will do (none: any). `cpu` is in
    milli-cores, `memory` in bytes, both per pod. `checkpoint`: seconds between checkpoints (0: none); what ran since
    the last one is lost by an eviction. `topology`: the node label in whose domain all pods must be. `line`: where it
    stands in its trace (0: not known)."""

    name: str
    arrival: float
    duration: float = math.inf
    pods: int = 1
    gpus: float = 0
    cpu: float = 0
    memory: float = 0
    queue: str = "all"
    priority: int = 50
    topology: str = ""
    preemptible: bool = True
    checkpoint: float = 0
    models: tuple[str, ...] = ()
    line: int = 0

    @property
    def all_gpus(self) -> float:
        return self.pods * self.gpus


@dataclass(frozen=True, slots=True)
class Machine:
    """A node: `cpu` in milli-cores, `memory` in bytes. `labels`: for topology."""

    name: str
    gpus: int
    cpu: float
    memory: float
    model: str = ""
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeChange:
    """At this time a node goes, or (with `machine`) comes."""

    time: float
    name: str
    machine: Machine | None = None


@dataclass(frozen=True, slots=True)
class TraceProblem:
    line: int
    message: str


class BadTrace(BadInput):
    """Rows that cannot be read, every one with its line."""

    exit_code = 2

    def __init__(self, source: str, problems: list[TraceProblem]) -> None:
        shown = [f"  line {problem.line}: {problem.message}" for problem in problems]
        rows = "1 row" if len(problems) == 1 else f"{len(problems)} rows"
        super().__init__("\n".join([f"{source}: {rows} cannot be read", *shown]))
        self.problems = problems
