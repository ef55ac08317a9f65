"""Lines of parents, by name: which of them come back to where they began.

Asked of the sub-groups of a PodGroup by admission and the scheduler, and of queues by `gangline doctor`. Pure."""

from __future__ import annotations

from collections.abc import Mapping


def below_themselves(parents: Mapping[str, str | None]) -> set[str]:
    """The names whose line of parents leads back to them. A parent that is not there ends a line. Each name is walked
    once, however long the lines are."""
    circular: set[str] = set()
    seen: set[str] = set()
    for name in parents:
        line: list[str] = []
        above: str | None = name
        while above is not None and above in parents and above not in seen:
            seen.add(above)
            line.append(above)
            above = parents[above]
        if above in line:
            circular |= set(line[line.index(above) :])
    return circular
