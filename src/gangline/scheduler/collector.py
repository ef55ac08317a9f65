"""Keep Python's collector of reference cycles out of the way while many objects are made that stay.

Filling a model or deciding makes hundreds of thousands of small objects and next to no garbage that only the collector
could free; yet it would walk the whole model again and again. What little there is, it finds afterwards. Changes no
decision."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def undisturbed() -> Iterator[None]:
    """No collection while this is open, if there would be one otherwise."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
