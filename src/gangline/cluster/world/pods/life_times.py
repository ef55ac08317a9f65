"""How long the parts of a simulated pod take: read from its annotations, or the pace of the world. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from gangline.api import names
from gangline.api.core import Pod
from gangline.cluster.world.settings import NodePace


@dataclass(frozen=True, slots=True)
class PodTimes:
    start: float
    init: float
    ready: float
    stop: float
    run: float | None
    exits: tuple[int, ...]

    def exit(self, restarts: int) -> int:
        return self.exits[min(restarts, len(self.exits) - 1)]


def times_of(pod: Pod, pace: NodePace) -> PodTimes:
    """How long this pod's stages take: its annotations, else the pace of the world."""
    notes = pod.annotations
    of_job = any(owner.kind == "Job" and owner.group == "batch" for owner in pod.metadata.owner_references)
    ends = of_job or names.EXIT_CODE in notes
    run = _seconds(notes, names.RUN_SECONDS, pace.job if ends else None)
    exits = tuple(
        int(item) for item in notes.get(names.EXIT_CODE, "0").replace(" ", "").split(",") if is_number(item, 3)
    )
    return PodTimes(
        start=_seconds(notes, names.START_SECONDS, pace.start) or 0.0,
        init=_seconds(notes, names.INIT_SECONDS, pace.init) or 0.0,
        ready=_seconds(notes, names.READY_SECONDS, pace.ready) or 0.0,
        stop=_seconds(notes, names.STOP_SECONDS, pace.stop) or 0.0,
        run=run,
        exits=exits or (0,),
    )


def _seconds(notes: Mapping[str, str], name: str, default: float | None) -> float | None:
    try:
        seconds = float(notes[name])
    except (KeyError, ValueError):
        return default
    return default if math.isnan(seconds) else max(seconds, 0.0)


def is_number(text: str, digits: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= digits
