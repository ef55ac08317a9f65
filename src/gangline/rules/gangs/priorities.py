"""The priority of a PodGroup, and whether others may take its place.

Read by the scheduler and the PodGroup controller, which must agree. Pure; orders nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gangline.api.builtin import PriorityClass
from gangline.api.kai import PodGroup

DEFAULT_PRIORITY = 50
NON_PREEMPTIBLE = 100


@dataclass(frozen=True, slots=True)
class Priorities:
    """Priority classes by name, and what counts without one."""

    values: Mapping[str, int] = field(default_factory=dict)
    default: int = DEFAULT_PRIORITY

    def of(self, group: PodGroup) -> int:
        """Of its class, else of the cluster's default class, else 50."""
        return self.values.get(group.spec.priority_class_name, self.default)


NO_CLASSES = Priorities()


def priorities(classes: Iterable[PriorityClass]) -> Priorities:
    """Of several default classes the first by name counts."""
    ordered = sorted(classes, key=lambda class_: class_.name)
    default = next((class_.value for class_ in ordered if class_.global_default), DEFAULT_PRIORITY)
    return Priorities({class_.name: class_.value for class_ in ordered}, default)


def preemptible(group: PodGroup, known: Priorities) -> bool:
    """As the group says; where it says nothing, as its priority says."""
    if group.spec.preemptibility:
        return group.spec.preemptibility == "preemptible"
    return preemptible_by_priority(known.of(group))


def preemptible_by_priority(priority: int) -> bool:
    return priority < NON_PREEMPTIBLE
