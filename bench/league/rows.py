"""The rows of the league: what is asked of every scheduler, as data. Pure.

A row is a cluster, what stands in it before the clock starts, and gangs that are created at once. `scaled` makes all of
them smaller together, so that a row keeps its shape on a small machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

GPUS = 8
"""Of a node."""
NODES = 500
RACK = 16
"""Nodes of a rack."""


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    title: str
    gangs: int
    size: int = 8
    gpus: int = 1
    """Of one pod."""
    nodes: int = NODES
    filler: int = 0
    """Whole-node pods that run before the clock starts."""
    rack: bool = False
    """Each gang must be in one rack."""
    reclaims: bool = False
    """The filler belongs to a queue that borrowed; the gangs to the one whose it is."""
    waits: bool = False
    """Nothing of it can run: the clock stops when every gang has been told why, and then a gang that fits is timed."""

    @property
    def fits(self) -> int:
        """How many of the gangs can run."""
        if self.waits:
            return 0
        free = (self.nodes - (0 if self.reclaims else self.filler)) * GPUS
        return min(self.gangs, free // (self.size * self.gpus))

    @property
    def pods(self) -> int:
        return self.gangs * self.size


ROWS: Mapping[str, Row] = {
    row.name: row
    for row in (
        Row("gangs-of-8", "500 gangs of 8", 500),
        Row("singles", "4,000 single pods", 4000, size=1),
        Row("gangs-of-32", "150 gangs of 32, of which 125 fit", 150, size=32),
        Row("whole-nodes", "64 gangs of 8 whole-node pods, of which 62 fit", 64, gpus=GPUS),
        Row("one-gang", "one gang of 512", 1, size=512, gpus=4),
        Row("racks", "40 gangs of 16 that need one rack each", 40, size=16, gpus=4, rack=True),
        Row("reclaim", "a gang of 250 whole-node pods takes back 2,000 GPUs", 1, 250, GPUS, filler=500, reclaims=True),
        Row("waiting", "a queue of 200 gangs that cannot run", 200, gpus=2, filler=499, waits=True),
    )
}


def scaled(row: Row, scale: float) -> Row:
    """A row with fewer gangs on fewer nodes; a row of one gang has a smaller gang."""
    if scale == 1:
        return row
    nodes = max(2 * RACK if row.rack else 2, round(row.nodes * scale))
    filler = nodes - (row.nodes - row.filler) if row.filler else 0
    if row.gangs == 1:
        return replace(row, nodes=nodes, filler=filler, size=max(1, round(row.size * scale)))
    return replace(row, nodes=nodes, filler=filler, gangs=max(1, round(row.gangs * scale)))
