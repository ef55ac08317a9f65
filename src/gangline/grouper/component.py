"""The pod grouper as something `gangline run` can start."""

from __future__ import annotations

from gangline.grouper.controller import controller
from gangline.grouper.settings import GrouperSettings
from gangline.runtime import Component


def component(settings: GrouperSettings | None = None) -> Component:
    return Component("grouper", controllers=[controller(settings or GrouperSettings())])
