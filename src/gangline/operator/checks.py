"""What admission asks the operator: whether a set's backend can express it, and which schedulers there are.

Handed to `admission` by the composition root, so that neither imports the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import Kind
from gangline.errors import Problem
from gangline.operator.backends import NoBackend, Registry
from gangline.operator.backends.contract import Facts
from gangline.operator.look import served
from gangline.rules.sets import OperatorSettings
from gangline.runtime import Cache, Reader


def backend_check(settings: OperatorSettings) -> Callable[[PodCliqueSet, Reader | None], Iterable[Problem]]:
    """The problems that a set's backend sees in it."""
    registry = Registry(settings)
    asked = kinds(settings)

    def check(pcs: PodCliqueSet, read: Reader | None) -> Iterable[Problem]:
        try:
            selection = registry.for_set(pcs)
        except NoBackend as error:
            return [Problem("spec", str(error))]
        found = frozenset(kind for kind in asked if read is not None and served(read, kind))
        return list(selection.backend.check(pcs, registry.facts(Facts(found, read=read, known=isinstance(read, Cache)), selection)))

    return check


def kinds(settings: OperatorSettings) -> tuple[Kind[Any], ...]:
    """What checks look at: the kinds of every backend's scheduler."""
    return tuple(dict.fromkeys(kind for backend in Registry(settings) for kind in (*backend.reads, *backend.writes)))


def schedulers(settings: OperatorSettings) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which schedulers are enabled, and which of them know topology."""
    registry = Registry(settings)
    every = tuple(profile.name for profile in settings.profiles)
    return every, tuple(name for name in every if registry.for_scheduler(name).backend.capabilities.topology)
