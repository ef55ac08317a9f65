"""What is done before a pod is bound: one file per plugin, one line in the table.

Order is by priority, highest first; `--plugins` may switch one off, reorder it or give it arguments, as upstream's flag
does. Plugins of other packages are found by the entry point group `gangline.binder_plugins`.
"""

from __future__ import annotations

from functools import cache

from gangline import extend
from gangline.binder.plugins.claims import ClaimsPlugin
from gangline.binder.plugins.gpu_sharing import GpuSharingPlugin
from gangline.binder.plugins.hami import HamiPlugin
from gangline.binder.plugins.plugin import BinderPlugin
from gangline.binder.plugins.reservation import ReservationPlugin
from gangline.binder.plugins.volumes import VolumesPlugin
from gangline.binder.settings import BinderPluginSetting, BinderSettings
from gangline.errors import ConfigError

TABLE: dict[str, type[BinderPlugin]] = {
    "reservation": ReservationPlugin,
    "volumebinding": VolumesPlugin,
    "dynamicresources": ClaimsPlugin,
    "gpusharing": GpuSharingPlugin,
    "hamicore": HamiPlugin,
}
OFF = BinderPluginSetting(enabled=False)
DEFAULTS: dict[str, BinderPluginSetting] = {"hamicore": OFF}


def build(settings: BinderSettings) -> list[BinderPlugin]:
    """The plugins that are switched on, in the order in which they prepare."""
    known = _known()
    unknown = sorted(set(settings.plugins) - set(known))
    if unknown:
        raise ConfigError(f"binder plugins: there is no {', '.join(unknown)}; known are {', '.join(known)}")
    built: list[BinderPlugin] = []
    for name, make in known.items():
        setting = settings.plugins.get(name) or DEFAULTS.get(name) or BinderPluginSetting()
        if setting.enabled:
            plugin = make(settings, setting.arguments)
            plugin.priority = make.priority if setting.priority is None else setting.priority
            built.append(plugin)
    built.sort(key=lambda plugin: (-plugin.priority, plugin.name))
    _check(built)
    return built


@cache
def _known() -> dict[str, type[BinderPlugin]]:
    return extend.table("gangline.binder_plugins", TABLE, BinderPlugin)


def _check(built: list[BinderPlugin]) -> None:
    order = [plugin.name for plugin in built]
    if "hamicore" in order and "gpusharing" not in order[: order.index("hamicore")]:
        raise ConfigError("binder plugins: hamicore needs gpusharing, switched on and with a higher priority")
