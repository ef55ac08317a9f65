"""A plugin of another package: found by its entry point, configured by name, asked like the built-in ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from gangline import extend
from gangline.binder.plugins import build
from gangline.binder.plugins.plugin import Plugin
from gangline.binder.settings import PluginSetting as BinderPlugin
from gangline.binder.settings import Settings as BinderSettings
from gangline.errors import ConfigError, Refusal
from gangline.scheduler import plugins
from gangline.scheduler.model.node import Node
from gangline.scheduler.model.task import Task
from gangline.scheduler.settings import DEFAULT_PLUGINS, PluginSetting
from scheduler.scene import Scene


class Shy:
    """Keeps everybody away from one node."""

    name = "shy"

    def __init__(self, session: Any, arguments: Mapping[str, str]) -> None:
        self._node = arguments["node"]

    def predicate(self, task: Task, node: Node) -> Refusal | None:
        return Refusal(self.name, "nobody goes there") if node.name == self._node else None


class Stamp(Plugin):
    name = "stamp"
    priority = 10


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    here = __name__
    found = {"gangline.plugins": [EntryPoint("shy", f"{here}:Shy", "gangline.plugins")],
             "gangline.binder_plugins": [EntryPoint("stamp", f"{here}:Stamp", "gangline.binder_plugins")]}
    monkeypatch.setattr(extend, "entry_points", lambda group: found.get(group, []))
    plugins._brought.cache_clear()
    yield
    plugins._brought.cache_clear()


@pytest.mark.usefixtures("packages")
def test_a_scheduler_plugin_of_another_package_is_asked_like_the_others() -> None:
    scene = Scene().nodes(2).queue("a", quota=8)
    scene.with_settings(plugins=(*DEFAULT_PLUGINS, PluginSetting("shy", {"node": "n0"})))
    assert scene.gang("a/one", 1).decide().bound == {"one-0": "n1"}


@pytest.mark.usefixtures("packages")
def test_a_binder_plugin_of_another_package_takes_its_place_by_priority() -> None:
    assert [each.name for each in build(BinderSettings())][-1] == "stamp"
    first = build(BinderSettings(plugins={"stamp": BinderPlugin(priority=9999)}))
    assert first[0].name == "stamp"


def test_without_such_a_package_the_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="there is no plugin 'shy'"):
        Scene().nodes(1).queue("a").with_settings(plugins=(PluginSetting("shy"),)).gang("a/one", 1).decide()
