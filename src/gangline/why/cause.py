"""What is known of a workload in one value: its state, one sentence, the facts behind it, and the changes that may
clear what is in the way."""

from __future__ import annotations

from dataclasses import dataclass, field

from gangline.api.meta import Raw
from gangline.why.changes import ObjectChange

WAITS = "waits"


@dataclass(frozen=True, slots=True)
class Cause:
    """`why` completes "NAME waits: …" (or runs, starts, finished, failed, is being deleted). `fixes`: each may clear
    it, the smallest first; none of them was tried yet. `pods_change`: clearing it makes new pods, so only the whole
    platform can try it."""

    code: str
    why: str
    facts: tuple[str, ...] = ()
    fixes: tuple[tuple[ObjectChange, ...], ...] = ()
    state: str = WAITS
    needs: str = ""
    pods_change: bool = False
    anew: tuple[tuple[ObjectChange, ...], ...] = ()
    """For when none of `fixes` helps: the workload made anew without what it asks for. The whole platform tries it."""
    proof: Raw = field(default_factory=dict)
    """The figures behind it."""
    outside: bool = False
    """Pods of kube-scheduler, judged as if they were ours (schedulers/as_ours.py)."""
    transient: bool = False
    """It passes by itself."""
