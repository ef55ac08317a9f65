"""The operator as a component: its controllers, built from settings; and one backend as a component of its own."""

from __future__ import annotations

from gangline.operator import podclique, podcliquescalinggroup, podcliqueset, podgang, topologybinding
from gangline.operator.backends import Registry
from gangline.operator.look import Operator
from gangline.rules.sets import OperatorSettings
from gangline.runtime import Component


def component(settings: OperatorSettings) -> Component:
    op = Operator(settings)
    return Component("operator", (
        podcliqueset.controller(op), podclique.controller(op), podcliquescalinggroup.controller(op), podgang.controller(op),
        topologybinding.controller(op)))


def backend_component(settings: OperatorSettings, name: str) -> Component:
    """One backend alone: translates the gangs that are its own and tells how they fare. The operator must leave it outside."""
    real = Registry(settings).by_name(name).name
    return Component(f"backend-{real}", (podgang.controller(Operator(settings, alone=real)),))
