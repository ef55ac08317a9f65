"""Lines of parents, by name: whether one comes back to where it began.

Asked of the sub-groups of a PodGroup by admission, and of queues by `gangline doctor`. Pure."""

from __future__ import annotations

from collections.abc import Mapping


def is_below_itself(name: str, parents: Mapping[str, str | None]) -> bool:
    """Whether the line of parents leads back to `name`. A parent that is not there ends the line."""
    above = parents.get(name)
    for _ in parents:
        if above is None or above == name:
            break
        above = parents.get(above)
    return above == name
