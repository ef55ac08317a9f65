"""Where learned runtimes are kept: a ConfigMap of the scheduler's namespace, one per node pool.

loop/time/runtimes.py writes it and reads it at the start; whoever asks the core beside the running scheduler (explain,
whatif) reads it too, so that both expect the same. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.time.learned import LearnedRuntimes
from gangline.scheduler.time.learning import learns

NAME, KEY = "gangline-runtimes", "runtimes.json"


def kept_name(pool: str) -> str:
    """The name of a node pool's ConfigMap."""
    return f"{NAME}-{pool}" if pool else NAME


def restored(memory: LearnedRuntimes, text: str) -> None:
    """Raises ValueError where the text is no JSON."""
    saved = json.loads(text)
    if isinstance(saved, dict):
        memory.restore(saved)


def kept_runtimes(objects: Iterable[Raw], pool: str, settings: SchedulerSettings) -> LearnedRuntimes | None:
    """What the scheduler of a pool has written down; None: it learns nothing, or has written nothing that can be
    read."""
    if not learns(settings):
        return None
    for obj in objects:
        if obj.get("kind") == kinds.CONFIG_MAP.kind and obj["metadata"].get("name") == kept_name(pool):
            memory = LearnedRuntimes()
            try:
                restored(memory, str((obj.get("data") or {}).get(KEY, "{}")))
            except ValueError:
                return None
            return memory
    return None
