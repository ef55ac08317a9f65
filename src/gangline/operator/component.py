"""The operator as a component: its controllers, built from settings."""

from __future__ import annotations

from gangline.operator import podclique, podcliquescalinggroup, podcliqueset, podgang, topologybinding
from gangline.operator.look import Operator
from gangline.rules.sets import OperatorSettings
from gangline.runtime import Component


def component(settings: OperatorSettings) -> Component:
    op = Operator(settings)
    return Component("operator", (
        podcliqueset.controller(op), podclique.controller(op), podcliquescalinggroup.controller(op), podgang.controller(op),
        topologybinding.controller(op)))
