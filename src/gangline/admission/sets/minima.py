"""Minima of 0: where they are safe.

A clique that may be scaled to nothing (a hibernating worker behind a front that stays) asks for no pod in its gang.
That is fine as long as something else in the same gang asks for one: a gang without any minimum would be no gang. A
scaling group with a minimum of 0 has no replica in the base gang; each replica it has is a gang of its own, and must
have a minimum of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gangline.api.meta import Raw
from gangline.errors import Problem

Minima = Mapping[str | None, int | None]
"""Clique → its minAvailable; None where it does not say it."""


def size(path: str, value: int, zero: bool) -> Iterator[Problem]:
    if value < 0 or (value == 0 and not zero):
        yield Problem(path, "must not be less than 0" if zero else "must be greater than 0", value=value)


def problems(template: Raw) -> Iterator[Problem]:
    """Gangs that would have no minimum at all."""
    minimum_of = {
        clique.get("name"): (clique.get("spec") or {}).get("minAvailable") for clique in template.get("cliques") or ()
    }
    groups = template.get("podCliqueScalingGroups") or ()
    for index, group in enumerate(groups):
        if _nothing(minimum_of, _members(group)):
            yield Problem(
                f"spec.template.podCliqueScalingGroups[{index}].cliqueNames",
                f"every clique of {group.get('name')} has minAvailable 0, so its gangs would have no minimum",
                value=0,
                hint="give one of them a minAvailable of 1 or more",
            )
    if _empty_base_gang(minimum_of, groups):
        yield Problem(
            "spec.template.cliques",
            "nothing in the set has a minAvailable above 0, so its gang would have no minimum",
            value=0,
            hint="give one clique a minAvailable of 1 or more; to stop the whole set, set spec.replicas to 0",
        )


def _empty_base_gang(minimum_of: Minima, groups: Sequence[Raw]) -> bool:
    """Whether no clique of the base gang has a minimum; where all are grouped, their groups tell it already."""
    grouped = {name for group in groups for name in _members(group)}
    apart = {name for group in groups if group.get("minAvailable", 1) == 0 for name in _members(group)}
    base = [name for name in minimum_of if name not in apart]
    return _nothing(minimum_of, base) and (not base or any(name not in grouped for name in base))


def _members(group: Raw) -> Sequence[str]:
    return group.get("cliqueNames") or ()


def _nothing(minimum_of: Minima, cliques: Iterable[str | None]) -> bool:
    return all(minimum_of.get(name, 1) == 0 for name in cliques)
