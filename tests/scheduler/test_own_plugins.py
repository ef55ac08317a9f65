"""A plugin of another package: found by its entry point, configured by name, asked like the built-in ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint
from inspect import isfunction
from typing import Any

import pytest

from gangline import extend
from gangline.binder import plugins as binder_plugins
from gangline.binder.plugins import build
from gangline.binder.plugins.plugin import BinderPlugin as BinderBase
from gangline.binder.settings import BinderPluginSetting as BinderPlugin
from gangline.binder.settings import BinderSettings
from gangline.errors import ConfigError, Refusal
from gangline.scheduler import plugins
from gangline.scheduler.combine import overriding
from gangline.scheduler.hooks import Hooks
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.refusals import GangRefusals
from gangline.scheduler.session import Session
from gangline.scheduler.settings import DEFAULT_PLUGINS, PluginSetting, SchedulerSettings
from gangline.scheduler.victims.accumulate import Scenario
from scheduler.scene import Scene


class Shy:
    """Keeps everybody away from one node. Written without `Plugin` above it, as older packages are."""

    name = "shy"

    def __init__(self, session: Any, arguments: Mapping[str, str]) -> None:
        self._node = arguments["node"]

    def predicate(self, task: TaskInfo, node: NodeInfo) -> Refusal | None:
        return Refusal(self.name, "nobody goes there") if node.name == self._node else None


class Strict(Plugin):
    """Refuses at the hooks that its argument names, everything or only what concerns one gang."""

    name = "strict"

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._refuses = arguments["refuses"].split()
        self._only = arguments.get("only", "")

    def _concerns(self, hook: str, gang: GangInfo | None) -> bool:
        return hook in self._refuses and (not self._only or (gang is not None and gang.name == self._only))

    def _refusal(self, hook: str, gang: GangInfo | None = None) -> Refusal | None:
        return Refusal(self.name, f"{hook} says no") if self._concerns(hook, gang) else None

    def _gang_refusal(self, hook: str, gang: GangInfo) -> GangRefusals | None:
        return (
            GangRefusals("Policy", (f"{hook} says no to {gang.name}",), self.name)
            if self._concerns(hook, gang)
            else None
        )

    def over_capacity(self, gang: GangInfo, tasks: Sequence[TaskInfo]) -> GangRefusals | None:
        return self._gang_refusal("over_capacity", gang)

    def firm_over_quota(self, gang: GangInfo, tasks: Sequence[TaskInfo]) -> GangRefusals | None:
        return self._gang_refusal("firm_over_quota", gang)

    def task_over_capacity(self, task: TaskInfo, gang: GangInfo, node: NodeInfo) -> Refusal | None:
        return self._refusal("task_over_capacity", gang)

    def before_task(self, task: TaskInfo, gang: GangInfo) -> Refusal | None:
        return self._refusal("before_task")

    def predicate(self, task: TaskInfo, node: NodeInfo) -> Refusal | None:
        return self._refusal("predicate", task.gang)

    def never(self, task: TaskInfo, node: NodeInfo) -> bool:
        return "never" in self._refuses

    def before_bind(self, task: TaskInfo, node: NodeInfo) -> Refusal | None:
        return self._refusal("before_bind") if task.name.endswith("-1") else None

    def victim_invariant(self, task: TaskInfo, gang: GangInfo) -> Refusal | None:
        return (
            Refusal(self.name, "victim_invariant says no", resolvable=False)
            if self._concerns("victim_invariant", gang)
            else None
        )

    def can_reclaim(self, gang: GangInfo) -> Refusal | None:
        return self._refusal("can_reclaim")

    def reclaim_queue(self, preemptor: GangInfo, victim: str) -> bool:
        return "reclaim_queue" not in self._refuses

    def reclaim_victim(self, preemptor: GangInfo, victim: GangInfo) -> bool:
        return "reclaim_victim" not in self._refuses

    def preempt_victim(self, preemptor: GangInfo, victim: GangInfo) -> bool:
        return "preempt_victim" not in self._refuses

    def reclaim_scenario(self, scenario: Scenario) -> bool:
        return "reclaim_scenario" not in self._refuses

    def preempt_scenario(self, scenario: Scenario) -> bool:
        return "preempt_scenario" not in self._refuses

    def reclaim_most(self, preemptor: GangInfo, largest: Mapping[str, float]) -> float:
        return 0.0 if "reclaim_most" in self._refuses else math.inf


class Fond(Plugin):
    """Likes one node, and says so in no other way than by `node_score`."""

    name = "fond"

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._node = arguments["node"]

    def node_score(self, task: TaskInfo, node: NodeInfo) -> float:
        return 1e6 if node.name == self._node else 0.0


class Silent(Plugin):
    """Has nothing to say."""

    name = "silent"


def odd(session: Session, arguments: Mapping[str, str]) -> object:
    return object()


class Stamp(BinderBase):
    name = "stamp"
    priority = 10


class Loose(BinderBase):
    """Does not say when it is its turn."""

    name = "loose"


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    here = __name__
    found = {
        "gangline.plugins": [
            EntryPoint(name, f"{here}:{brought}", "gangline.plugins")
            for name, brought in (
                ("shy", "Shy"),
                ("strict", "Strict"),
                ("fond", "Fond"),
                ("silent", "Silent"),
                ("odd", "odd"),
            )
        ],
        "gangline.binder_plugins": [
            EntryPoint(name, f"{here}:{brought}", "gangline.binder_plugins")
            for name, brought in (("stamp", "Stamp"), ("loose", "Loose"))
        ],
    }
    monkeypatch.setattr(extend, "entry_points", lambda group: found.get(group, []))
    kept = (plugins._brought, binder_plugins._known)
    for table in kept:
        table.cache_clear()
    yield
    for table in kept:
        table.cache_clear()


@pytest.mark.usefixtures("packages")
def test_a_scheduler_plugin_of_another_package_is_asked_like_the_others() -> None:
    scene = Scene().nodes(2).queue("a", quota=8)
    scene.with_settings(plugins=(*DEFAULT_PLUGINS, PluginSetting("shy", {"node": "n0"})))
    assert scene.gang("a/one", 1).decide().bound == {"one-0": "n1"}


def with_strict(scene: Scene, *hooks: str) -> Scene:
    return scene.with_settings(plugins=(*DEFAULT_PLUGINS, PluginSetting("strict", {"refuses": " ".join(hooks)})))


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    "hook",
    ["over_capacity", "firm_over_quota", "task_over_capacity", "before_task", "predicate", "never", "before_bind"],
)
def test_one_veto_of_another_packages_plugin_keeps_a_whole_gang_from_its_place(hook: str) -> None:
    scene = Scene().nodes(2).queue("a", quota=8).gang("a/gang", 4)
    assert len(with_strict(scene).decide().bound) == 4
    after = with_strict(scene, hook).decide()
    assert not after.bound
    assert hook == "never" or f"{hook} says no" in after.why("gang")


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    "hook", ["over_capacity", "firm_over_quota", "task_over_capacity", "before_task", "predicate", "before_bind"]
)
def test_such_a_veto_is_explained(hook: str) -> None:
    scene = with_strict(Scene().nodes(2).queue("a", quota=8).gang("a/gang", 4), hook)
    assert f"{hook} says no" in scene.explain("gang").headline


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    "hook",
    [
        "over_capacity",
        "firm_over_quota",
        "task_over_capacity",
        "predicate",
        "victim_invariant",
        "preempt_victim",
        "preempt_scenario",
    ],
)
def test_one_veto_keeps_a_gang_from_preempting(hook: str) -> None:
    scene = Scene().nodes(1).queue("a", quota=8).gang("a/old", 8, on="n0").gang("a/new", 4, priority=75)
    assert with_strict(scene).decide().evicted
    assert not with_strict(scene, hook).decide().decisions.commits


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    "hook",
    [
        "over_capacity",
        "firm_over_quota",
        "victim_invariant",
        "can_reclaim",
        "reclaim_queue",
        "reclaim_victim",
        "reclaim_scenario",
        "reclaim_most",
    ],
)
def test_one_veto_keeps_a_gang_from_reclaiming(hook: str) -> None:
    scene = Scene().nodes(1).queue("a", quota=4).queue("b", quota=4)
    for number in range(8):
        scene.gang(f"b/old{number}", 1, on="n0")
    scene.gang("a/new", 4)
    assert with_strict(scene).decide().evicted
    assert not with_strict(scene, hook).decide().decisions.commits


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    "hook", ["over_capacity", "firm_over_quota", "task_over_capacity", "predicate", "victim_invariant"]
)
def test_a_veto_of_one_gang_keeps_no_other_like_it_from_making_room(hook: str) -> None:
    preempting = Scene().nodes(1).queue("a", quota=8).gang("a/old", 8, on="n0")
    consolidating = (
        Scene().nodes(2).queue("a", quota=16).gang("a/one", 1, gpus=4, on="n0").gang("a/two", 1, gpus=4, on="n1")
    )
    for scene, size, gpus in ((preempting, 8, 1), (consolidating, 1, 8)):
        for name in ("first", "second"):
            scene.gang(f"a/{name}", size, gpus=gpus, priority=75)
        after = scene.with_settings(
            plugins=(*DEFAULT_PLUGINS, PluginSetting("strict", {"refuses": hook, "only": "first"}))
        ).decide()
        assert after.evicted and {task.rpartition("-")[0] for task in after.waiting} >= {"second"}
        assert "first" not in {task.rpartition("-")[0] for task in after.waiting}


@pytest.mark.usefixtures("packages")
def test_a_score_that_is_given_node_by_node_only_counts_too() -> None:
    scene = Scene().nodes(3).queue("a", quota=8).gang("a/one", 1)
    scene.with_settings(plugins=(*DEFAULT_PLUGINS, PluginSetting("fond", {"node": "n2"})))
    assert scene.decide().bound == {"one-0": "n2"}


@pytest.mark.usefixtures("packages")
def test_what_is_no_plugin_is_refused_by_name() -> None:
    scene = Scene().nodes(1).queue("a").with_settings(plugins=(PluginSetting("odd"),)).gang("a/one", 1)
    with pytest.raises(ConfigError, match="plugins: 'odd' makes a object, which is no "):
        scene.decide()


def test_a_plugin_that_overrides_nothing_is_never_asked() -> None:
    session = Session(Scene().nodes(1).queue("a").cluster(), SchedulerSettings(plugins=()), 0.0, extra=[Silent])
    hooks, silent = session.hooks, session.hooks.plugins[0]
    assert not hooks.generators and not hooks.beyond_shape and not hooks.somebody_reclaims
    strict = Strict(session, {"refuses": ""})
    assert overriding(Plugin.predicate, [silent, strict], lambda plugin: plugin.predicate) == [strict.predicate]


def test_every_hook_of_a_plugin_is_in_the_table() -> None:
    asked_elsewhere = {"scenario_generator", "scores"}
    hooks = {name for name, value in vars(Plugin).items() if isfunction(value) and not name.startswith("_")}
    assert hooks - asked_elsewhere <= set(dir(Hooks(())))


@pytest.mark.usefixtures("packages")
def test_a_binder_plugin_of_another_package_takes_its_place_by_priority() -> None:
    assert [item.name for item in build(BinderSettings())][-1] == "stamp"
    first = build(BinderSettings(plugins={"stamp": BinderPlugin(priority=9999)}))
    assert first[0].name == "stamp"


@pytest.mark.usefixtures("packages")
def test_a_binder_plugin_without_a_priority_is_left_out_and_the_others_work(caplog: pytest.LogCaptureFixture) -> None:
    assert "loose" not in [item.name for item in build(BinderSettings())]
    assert f"loose of gangline.binder_plugins is left out: Loose of {__name__} does not say priority" in caplog.text


def test_without_such_a_package_the_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="there is no plugin 'shy'"):
        Scene().nodes(1).queue("a").with_settings(plugins=(PluginSetting("shy"),)).gang("a/one", 1).decide()


@pytest.mark.parametrize("name", sorted(plugins.BUILT_IN))
def test_every_line_of_the_table_names_a_plugin(name: str) -> None:
    assert callable(plugins.plugin_class(name))
