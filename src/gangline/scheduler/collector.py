"""Keep Python's collector of reference cycles away while many objects are made that stay.

To fill a model or to decide makes hundreds of thousands of small objects, and hardly any garbage that only the
collector could free. Yet the collector would walk the whole model again and again. The little garbage there is, it
frees afterwards. Changes no decision."""

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
