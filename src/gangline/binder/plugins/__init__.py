"""What is done before a pod is bound: one file per plugin, one line in the table.

Order is by priority, highest first; `--plugins` may switch one off, reorder it or give it arguments, as upstream's flag
does. Plugins of other packages are found by the entry point group `gangline.binder_plugins`.
"""

from __future__ import annotations

from gangline import extend
from gangline.binder.plugins.claims import Claims
from gangline.binder.plugins.gpu_sharing import GpuSharing
from gangline.binder.plugins.hami import Hami
from gangline.binder.plugins.plugin import Plugin
from gangline.binder.plugins.reservation import Reservation
from gangline.binder.plugins.volumes import Volumes
from gangline.binder.settings import PluginSetting, Settings
from gangline.errors import ConfigError

TABLE: dict[str, type[Plugin]] = {
    "reservation": Reservation,
    "volumebinding": Volumes,
    "dynamicresources": Claims,
    "gpusharing": GpuSharing,
    "hamicore": Hami,
}
OFF = PluginSetting(enabled=False)
DEFAULTS: dict[str, PluginSetting] = {"hamicore": OFF}


def build(settings: Settings) -> list[Plugin]:
    """The plugins that are switched on, in the order in which they prepare."""
    known = extend.table("gangline.binder_plugins", TABLE)
    unknown = sorted(set(settings.plugins) - set(known))
    if unknown:
        raise ConfigError(f"binder plugins: there is no {', '.join(unknown)}; known are {', '.join(known)}")
    built: list[Plugin] = []
    for name, make in known.items():
        setting = settings.plugins.get(name) or DEFAULTS.get(name) or PluginSetting()
        if setting.enabled:
            plugin = make(settings, setting.arguments)
            plugin.priority = make.priority if setting.priority is None else setting.priority
            built.append(plugin)
    built.sort(key=lambda plugin: (-plugin.priority, plugin.name))
    _check(built)
    return built


def _check(built: list[Plugin]) -> None:
    order = [plugin.name for plugin in built]
    if "hamicore" in order and "gpusharing" not in order[:order.index("hamicore")]:
        raise ConfigError("binder plugins: hamicore needs gpusharing, switched on and with a higher priority")
