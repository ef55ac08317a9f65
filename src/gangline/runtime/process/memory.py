"""How a long-lived process keeps its memory: what it starts with stays, and cycles of garbage are looked for seldom.

Called once at the start of a process (`gangline up`, `gangline run`, benchmarks), never by a component. Nearly
everything is freed when its last reference goes; the collector of cycles would walk tens of thousands of cached objects
again and again to find a handful."""

from __future__ import annotations

import gc

YOUNG, MIDDLE, OLD = 50_000, 20, 20
"""New containers before a look at them, looks before one at the middle-aged, and those before one at everything."""


def settle() -> None:
    """Everything loaded so far is taken to last."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
