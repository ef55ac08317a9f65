"""The binder as `gangline run binder` starts it: one controller that binds, one that keeps GPU reservations in
order."""

from __future__ import annotations

from gangline.binder import controller, reservations
from gangline.binder.settings import DEFAULTS, BinderSettings
from gangline.runtime import Component


def component(settings: BinderSettings = DEFAULTS) -> Component:
    return Component("binder", (controller.controller(settings), reservations.clean_up(settings)))
