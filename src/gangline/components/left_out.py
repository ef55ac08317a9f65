"""Components that one machine may do without, so that other programs take their place (`gangline up --without`).

Pure: cli/up.py reads the names from the command line and starts what is left."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from gangline.components import COMPONENTS
from gangline.errors import BadInput

LEAVABLE = tuple(name for name in COMPONENTS if name != "resource-reservation")
"""Every component that runs on one machine, the hooks of admission, and the installer's part in it: a scheduler for
each shard."""


def check_leavable(absent: Collection[str]) -> None:
    """Refuses what is no component, with the name that was meant."""
    unknown = sorted(set(absent) - set(LEAVABLE))
    if unknown:
        near = [names[0] for item in unknown if (names := get_close_matches(item, LEAVABLE, 1))]
        hint = f" (did you mean {' and '.join(near)}?)" if near else ""
        listed = " or ".join(repr(item) for item in unknown)
        raise BadInput(f"no component is called {listed}{hint}; there are: {', '.join(LEAVABLE)}")
