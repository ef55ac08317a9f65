"""What admission asks the operator: whether a set's backend can express it, and which schedulers there are.

Handed to `admission` by the composition root, so that neither imports the other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import POD_CLIQUE, Kind
from gangline.errors import Problem
from gangline.operator.backends import NoBackend, Registry
from gangline.operator.backends.contract import Facts
from gangline.operator.watches import served
from gangline.rules.sets import OperatorSettings
from gangline.runtime import Cache, Reader

log = logging.getLogger(__name__)
Check = Callable[[PodCliqueSet, Reader | None], Iterable[Problem]]
Dropped = frozenset[tuple[Kind[Any], str]]
Settings = OperatorSettings | Callable[[], OperatorSettings]
"""Settings, or what gives those that hold now."""


@runtime_checkable
class ServingReader(Reader, Protocol):
    """A reader that also knows which kinds are served."""

    def serves(self, kind: Kind[Any]) -> bool: ...


def _registry(settings: Settings) -> Callable[[], Registry]:
    """The registry of the settings that hold now; a new one only when they are new."""
    known: list[Registry] = []

    def current() -> Registry:
        wanted = settings() if callable(settings) else settings
        if not known or known[0].settings is not wanted:
            known[:] = [Registry(wanted)]
        return known[0]

    return current


def backend_check(settings: Settings, dropped: Callable[[], Dropped] = frozenset) -> Check:
    """The problems that a set's backend sees in it; `dropped` gives what the server is known to drop of schedulers'
    objects."""
    current = _registry(settings)

    def check(pcs: PodCliqueSet, read: Reader | None) -> Iterable[Problem]:
        registry = current()
        try:
            selection = registry.for_set(pcs)
        except NoBackend as error:
            return [Problem("spec", str(error))]
        facts = replace(_facts(read, (*selection.backend.reads, *selection.backend.writes)), dropped=dropped())
        try:
            return list(selection.backend.check(pcs, registry.facts(facts, selection)))
        except Exception as error:
            log.exception("backend %s cannot judge set %s/%s", selection.backend.name, pcs.namespace, pcs.name)
            return [
                Problem(
                    "spec",
                    f"backend {selection.backend.name} failed while it judged the set: {type(error).__name__}: {error}",
                    hint="the log of the operator and of its webhook has the traceback; another backend may be chosen",
                )
            ]

    return check


def _facts(read: Reader | None, asked: tuple[Kind[Any], ...]) -> Facts:
    """What a check may know: a reader that says which kinds are served, a cache that follows them all, or only what can
    be read."""
    if isinstance(read, ServingReader):
        return Facts(frozenset(kind for kind in asked if read.serves(kind)), read=read, known=True)
    if isinstance(read, Cache):
        follows = all(read.follows(kind) for kind in asked)
        return Facts(
            frozenset(kind for kind in asked if served(read, kind)), read=read if follows else None, known=follows
        )
    return Facts(read=read)


def backend_move(settings: Settings) -> Callable[[PodCliqueSet, PodCliqueSet, Reader | None], Iterable[Problem]]:
    """Why a set may not change its backend now."""
    current = _registry(settings)
    path = f"metadata.annotations[{names.SCHEDULER_BACKEND}]"

    def check(new: PodCliqueSet, old: PodCliqueSet, read: Reader | None) -> Iterable[Problem]:
        registry = current()
        try:
            wanted, was = registry.for_set(new).backend.name, registry.for_set(old).backend.name
        except NoBackend:
            return
        if wanted == was:
            return
        if registry.settings.manner.backend_stays:
            yield Problem(
                path,
                f"the backend cannot be changed from {was} to {wanted}",
                "FieldValueForbidden",
                wanted,
                hint="make a new set for the other scheduler",
            )
            return
        busy = _with_bound_pods(new, read)
        if busy:
            yield Problem(
                path,
                f"the backend cannot be changed from {was} to {wanted} while pods are bound: {', '.join(busy)}",
                "FieldValueForbidden",
                wanted,
                hint="make a new set for the other scheduler, or change it while no pod is bound",
            )

    return check


def _with_bound_pods(pcs: PodCliqueSet, read: Reader | None) -> list[str]:
    """Cliques of a set that have bound pods, and how many."""
    pod_cliques = read.list(POD_CLIQUE, pcs.namespace, {names.PART_OF: pcs.name}) if read is not None else []
    return sorted(
        f"{clique.name} has {clique.status.scheduled_replicas}"
        for clique in pod_cliques
        if clique.status.scheduled_replicas > 0
    )


def kinds(settings: OperatorSettings) -> tuple[Kind[Any], ...]:
    """What checks look at: the kinds of every backend's scheduler, and cliques."""
    return tuple(
        dict.fromkeys(
            (POD_CLIQUE, *(kind for backend in Registry(settings) for kind in (*backend.reads, *backend.writes)))
        )
    )


def schedulers(settings: OperatorSettings) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which schedulers are enabled, and which of them know topology."""
    registry = Registry(settings)
    profiles = tuple(profile.name for profile in settings.profiles)
    return profiles, tuple(name for name in profiles if registry.for_scheduler(name).backend.capabilities.topology)
