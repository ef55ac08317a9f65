"""The installer as something `gangline run` can start."""

from __future__ import annotations

from gangline.installer.contract import ComponentParts
from gangline.installer.controller import controllers
from gangline.installer.look import Installer
from gangline.installer.settings import InstallerSettings
from gangline.runtime import Component


def component(parts: ComponentParts, settings: InstallerSettings | None = None) -> Component:
    return Component("installer", controllers=controllers(Installer(settings or InstallerSettings(), parts)))
