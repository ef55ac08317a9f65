"""The operator as a component: its controllers, built from settings; and one backend as a component of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gangline.api.grove import PodCliqueSet
from gangline.errors import Problem
from gangline.operator import farewell, podclique, podcliquescalinggroup, podcliqueset, podgang, reread, topologybinding
from gangline.operator.backends import Registry
from gangline.operator.look import Operator
from gangline.rules.sets import OperatorSettings
from gangline.runtime import BackgroundService, Component

Faults = Callable[[PodCliqueSet], Sequence[Problem]]


def component(
    settings: OperatorSettings, source: reread.Source | None = None, faults: Faults = lambda pcs: ()
) -> Component:
    """`source` gives the settings that hold now, where they may change; `faults` what admission would refuse of a set
    that is stored."""
    op = Operator(settings, faults=faults)
    return Component(
        "operator",
        (
            podcliqueset.controller(op),
            podclique.controller(op),
            podcliquescalinggroup.controller(op),
            podgang.controller(op),
            farewell.controller(op),
            topologybinding.controller(op),
        ),
        _services(op, source),
    )


def _services(op: Operator, source: reread.Source | None) -> tuple[BackgroundService, ...]:
    return (reread.service(op, source),) if source is not None else ()


def backend_component(settings: OperatorSettings, name: str, source: reread.Source | None = None) -> Component:
    """One backend alone: translates the gangs that are its own and tells how they fare. The operator must leave it
    outside."""
    real = Registry(settings).by_name(name).name
    op = Operator(settings, alone=real)
    return Component(f"backend-{real}", (podgang.controller(op),), _services(op, source))
