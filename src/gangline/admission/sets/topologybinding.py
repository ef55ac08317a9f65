"""ClusterTopologyBindings on their way in: levels and backends are each named once, and a backend must know
topology."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gangline.api.meta import Raw
from gangline.errors import Problem
from gangline.rules.hooks import Denied, Hook, HookReview, denied

BINDINGS = "spec.schedulerTopologyReferences"
"""The name upstream's answers use for schedulerTopologyBindings."""


@dataclass(frozen=True, slots=True)
class Schedulers:
    """Which schedulers are enabled, and which of them know topology."""

    enabled: tuple[str, ...]
    topology_aware: tuple[str, ...]


def hooks(schedulers: Schedulers) -> list[Hook]:
    return [
        Hook(
            "clustertopology.validating.webhooks.grove.io",
            "grove.io",
            "clustertopologybindings",
            validate=lambda review: validated(review, schedulers),
        )
    ]


def validated(review: HookReview, schedulers: Schedulers) -> Denied | None:
    if review.same_spec:
        return None
    return denied(list(problems_of(review.obj, schedulers)), 403, "Forbidden")


def problems_of(obj: Raw, schedulers: Schedulers) -> Iterator[Problem]:
    spec = obj.get("spec") or {}
    levels = spec.get("levels") or []
    yield from _twice("spec.levels", "domain", levels)
    yield from _twice("spec.levels", "key", levels)
    bindings = spec.get("schedulerTopologyBindings") or []
    for index, binding in enumerate(bindings):
        path, name = f"{BINDINGS}[{index}].schedulerName", binding.get("schedulerName") or ""
        if name not in schedulers.enabled:
            yield Problem(
                path, f"scheduler {name!r} is not enabled", value=name, hint=f"enabled: {', '.join(schedulers.enabled)}"
            )
        elif name not in schedulers.topology_aware:
            yield Problem(
                path,
                f"the backend of {name} does not know topology",
                value=name,
                hint=f"these do: {', '.join(schedulers.topology_aware)}",
            )
    yield from _twice(BINDINGS, "schedulerName", bindings)


def _twice(path: str, key: str, entries: Iterable[Raw]) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        value = entry.get(key) or ""
        if value in seen:
            yield Problem(f"{path}[{index}].{key}", f"{value!r} is given twice", "FieldValueDuplicate", value)
        seen.add(value)
