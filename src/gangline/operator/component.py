"""The operator as a component: its controllers, built from settings; and one backend as a component of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gangline.api.grove import PodCliqueSet
from gangline.errors import Problem
from gangline.operator import config_reload
from gangline.operator.backends import Registry
from gangline.operator.cliques import controller as cliques
from gangline.operator.cliques import finalizers
from gangline.operator.gangs import controller as gangs
from gangline.operator.groups import controller as groups
from gangline.operator.operator import Operator
from gangline.operator.sets import controller as sets
from gangline.operator.topologies import controller as topologies
from gangline.rules.sets import OperatorSettings
from gangline.runtime import BackgroundService, Component

Faults = Callable[[PodCliqueSet], Sequence[Problem]]


def component(
    settings: OperatorSettings, source: config_reload.Source | None = None, faults: Faults = lambda pcs: ()
) -> Component:
    """`source` gives the settings that hold now, where they may change; `faults` what admission would refuse of a set
    that is stored."""
    op = Operator(settings, faults=faults)
    return Component(
        "operator",
        (
            sets.controller(op),
            cliques.controller(op),
            groups.controller(op),
            gangs.controller(op),
            finalizers.controller(op),
            topologies.controller(op),
        ),
        _services(op, source),
    )


def _services(op: Operator, source: config_reload.Source | None) -> tuple[BackgroundService, ...]:
    return (config_reload.service(op, source),) if source is not None else ()


def backend_component(settings: OperatorSettings, name: str, source: config_reload.Source | None = None) -> Component:
    """One backend alone: translates the gangs that are its own and tells how they fare. The operator must leave it
    outside."""
    real = Registry(settings).by_name(name).name
    op = Operator(settings, alone=real)
    return Component(f"backend-{real}", (gangs.controller(op),), _services(op, source))
