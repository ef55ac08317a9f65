"""Which schedulerNames the scheduler half serves: THE list, which grouper, scheduler, binder, controllers and admission
share.

Each of them gets the flag `--scheduler-name`, upstream's, which takes several names here. Whoever asks whether a
pod is ours asks with this list. The operator's backend `kai` serves the same names. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from gangline.api import names
from gangline.config import Manner

SERVED = (names.KAI_SCHEDULER, names.GROVE_SCHEDULER)
"""The first one also names the scheduler's lease, and is given to pods that name none."""


def served(manner: Manner) -> tuple[str, ...]:
    """The names that hold unless a flag gives others."""
    return SERVED[:1] if manner.one_scheduler_name else SERVED


def read_names(text: str) -> tuple[str, ...]:
    """`kai-scheduler,grove-scheduler` → each once, in order."""
    given = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if not all(given):
        raise ValueError("names no scheduler: write one name, or several with commas between them")
    return given


def pod_fields(schedulers: Sequence[str]) -> str:
    """The field selector of a watch that sees all pods of these schedulers: it can name one of them, or leave one other
    out."""
    if len(schedulers) == 1:
        return f"spec.schedulerName={schedulers[0]}"
    return "" if names.DEFAULT_SCHEDULER in schedulers else f"spec.schedulerName!={names.DEFAULT_SCHEDULER}"
