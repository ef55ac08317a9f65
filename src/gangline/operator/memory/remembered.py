"""What follows from a set's spec alone, worked out once per generation.

A generation of a stored set never changes, so hashes and places that every look at one of its children asks for are
kept. A set that is not stored (no uid, no generation) is never remembered. Nothing may be kept here that depends on
labels, status or other objects.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar, cast

from gangline.api.grove import PodCliqueSet

T = TypeVar("T")
MOST = 4096
_known: OrderedDict[tuple[str, str], tuple[int, Any]] = OrderedDict()


def remembered(pcs: PodCliqueSet, what: str, compute: Callable[[], T]) -> T:
    """The answer for this generation of the set; those of older generations, and the oldest of all, are forgotten."""
    key, generation = (pcs.uid, what), pcs.metadata.generation
    if not pcs.uid or not generation:
        return compute()
    known = _known.get(key)
    if known is None or known[0] != generation:
        known = _known[key] = (generation, compute())
        if len(_known) > MOST:
            _known.popitem(last=False)
    return cast("T", known[1])
