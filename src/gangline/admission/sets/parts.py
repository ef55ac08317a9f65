"""The parts of a PodCliqueSet that several checks look at, and the check for what is listed twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from gangline.api.meta import Raw
from gangline.errors import Problem

LONGEST = 45
ANY_ORDER, IN_ORDER, EXPLICIT = "CliqueStartupTypeAnyOrder", "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"


def template_of(obj: Raw) -> Raw:
    template: Raw = (obj.get("spec") or {}).get("template") or {}
    return template


def cliques_of(obj: Raw) -> list[Raw]:
    return template_of(obj).get("cliques") or []


def grouped_cliques(obj: Raw) -> list[str]:
    """The names of cliques in scaling groups, in order; one that is in two groups is listed twice."""
    groups = template_of(obj).get("podCliqueScalingGroups") or ()
    return [name for group in groups for name in group.get("cliqueNames") or ()]


def duplicates(path: str, values: Iterable[Any]) -> Iterator[Problem]:
    twice = [value for value, times in Counter(values).items() if times > 1]
    if twice:
        yield Problem(
            path, f"given more than once: {', '.join(repr(value) for value in twice)}", "FieldValueDuplicate", twice
        )
