"""`gangline up --without`: the platform's settings with components left out, so that other programs take their place.

Pure: up.py reads the names from the command line and starts what is left."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from difflib import get_close_matches

from gangline.components import COMPONENTS
from gangline.errors import BadInput
from gangline.local import PlatformSettings

LEAVABLE = tuple(name for name in COMPONENTS if name != "resource-reservation")
"""What `gangline up --without` may leave out: every component that runs on one machine, the hooks of admission, and
the installer's part in it, a scheduler for each shard."""


def without(settings: PlatformSettings, absent: Collection[str]) -> PlatformSettings:
    """The platform with components left out, so that other programs take their place. Without a scheduler of our own
    nobody makes one for each shard either."""
    unknown = sorted(set(absent) - set(LEAVABLE))
    if unknown:
        raise BadInput(f"{_no_components(unknown)}; there are: {', '.join(LEAVABLE)}")
    return replace(
        settings,
        components=tuple(name for name in settings.components if name not in absent),
        shards=settings.shards and not {"scheduler", "installer"} & set(absent),
        admission=settings.admission and "admission" not in absent,
    )


def _no_components(unknown: list[str]) -> str:
    near = [meant[0] for item in unknown if (meant := get_close_matches(item, LEAVABLE, 1))]
    hint = f" (did you mean {' and '.join(near)}?)" if near else ""
    return f"no component is called {' or '.join(repr(item) for item in unknown)}{hint}"
