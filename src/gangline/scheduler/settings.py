"""Every setting of the decision core, typed, and how KAI's scheduler config.yaml is read unchanged.

`SchedulerSettings` is an input of `decide`, like the cluster and the time. An unknown action is refused with its name.
What a plugin does with its arguments is the plugin's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gangline.errors import ConfigError
from gangline.rules.values.times import duration

DEFAULT_ACTIONS = ("allocate", "consolidation", "reclaim", "preempt", "stalegangeviction")


@dataclass(frozen=True, slots=True)
class PluginSetting:
    name: str
    arguments: Mapping[str, str] = field(default_factory=dict)


DEFAULT_PLUGINS: tuple[PluginSetting, ...] = tuple(
    PluginSetting(name, {"cpu": "binpack", "gpu": "binpack"} if name == "nodeplacement" else {})
    for name in (
        "predicates",
        "proportion",
        "priority",
        "elastic",
        "kubeflow",
        "ray",
        "nodeavailability",
        "gpusharingorder",
        "gpupack",
        "resourcetype",
        "subgrouporder",
        "taskorder",
        "nominatednode",
        "dynamicresources",
        "nodeplacement",
        "minruntime",
        "topology",
        "snapshot",
        "sg-nodelocalgreedy",
        "sg-multinodegang",
    )
)


SHARD_PLUGINS: tuple[PluginSetting, ...] = tuple(
    PluginSetting(name, {"cpu": "binpack", "gpu": "binpack"} if name == "nodeplacement" else {})
    for name in (
        "predicates",
        "proportion",
        "priority",
        "nodeavailability",
        "resourcetype",
        "podaffinity",
        "elastic",
        "kubeflow",
        "ray",
        "subgrouporder",
        "taskorder",
        "nominatednode",
        "dynamicresources",
        "minruntime",
        "topology",
        "snapshot",
        "sg-nodelocalgreedy",
        "sg-multinodegang",
        "gpupack",
        "nodeplacement",
        "gpusharingorder",
    )
)
"""What a scheduler runs with unless its configuration says otherwise: the list that KAI's operator writes for a plain
shard. The shorter one above is what the bare decision core starts from."""


NATIVE_PLUGINS: tuple[PluginSetting, ...] = tuple(
    PluginSetting(setting.name, {"cpu": "binpack", "gpu": "fewest-fragments"})
    if setting.name == "nodeplacement"
    else setting
    for setting in (
        *SHARD_PLUGINS,
        PluginSetting("topologyspread"),
        PluginSetting("volumerestrictions"),
        PluginSetting("reservations"),
        PluginSetting("disruption"),
    )
    if setting.name not in ("gpupack", "gpusharingorder")
)
"""The same with our own placement, which also says which device is shared, with pods spread over domains as they
ask, with claims that serve one pod only, with reservations, and with a price for every eviction."""


STEPS_PER_SECOND = 200
"""A search budget given as a duration is so many what-if simulations per second: the same everywhere, whatever the
machine."""


@dataclass(frozen=True, slots=True)
class Budgets:
    """How many simulations a search may try; 0: no limit. `least_per_gang` is granted even when the action has less
    left.

    By default what upstream allows: 5 minutes per action, 4 per gang, 2 per generator and 30 seconds for the node-local
    one."""

    action: Mapping[str, int] = field(default_factory=lambda: {"default": steps(300)})
    gang: int = 240 * STEPS_PER_SECOND
    least_per_gang: int = 0
    generator: Mapping[str, int] = field(
        default_factory=lambda: {"default": steps(120), "NodeLocalGreedy": steps(30), "MultiNodeGang": steps(120)}
    )

    def for_action(self, name: str) -> int:
        return self.action.get(name, self.action.get("default", 0))

    def for_generator(self, name: str) -> int:
        return self.generator.get(name, self.generator.get("default", 0))


def steps(seconds: float) -> int:
    return round(seconds * STEPS_PER_SECOND)


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """What the decision core is told, beside the cluster and the time."""

    actions: tuple[str, ...] = DEFAULT_ACTIONS
    plugins: tuple[PluginSetting, ...] = DEFAULT_PLUGINS
    staleness_grace: float = 60
    """Seconds for which a gang may run below its minimum before it is evicted."""
    max_consolidation_victims: int = 16
    """-1: no limit."""
    signatures: bool = True
    """The evicting actions skip gangs that can do no better than one that failed (placing/easier.py)."""
    full_hierarchy: bool = True
    """False: the queue tree is read flat (hierarchy.py)."""
    consolidating_reclaim: bool = True
    """A victim of reclaim that finds another node was not taken from its queue."""
    detailed_refusals: bool = False
    """Refusals of pods go node by node."""
    csi_storage: bool = False
    """Shown on the pages and in dumps; volumes are looked at in any case."""
    restrict_nodes: bool = False
    """Pods with GPUs go only to nodes labelled as GPU workers, others only to nodes labelled as CPU workers."""
    dynamic_resources: bool = True
    """Pods get the devices that their resource claims ask for."""
    node_pool: str = ""
    queue_label: str = "kai.scheduler/queue"
    queue_depth: Mapping[str, int] = field(default_factory=dict)
    """How many gangs per leaf queue an action looks at; absent: all."""
    usage_k: float | None = None
    """How much past use counts against a queue; None: what the plugin `proportion` is told."""
    budgets: Budgets = field(default_factory=Budgets)
    default_gpu_memory: int | None = None
    """MiB of a GPU where no node says it."""
    leaves_unsolved: bool = False
    """Upstream's manner. A search that finds room for its tasks but not for the whole gang leaves its virtual evictions
    standing until the cycle ends."""
    joins_steps: bool = False
    """Upstream's manner. Pods of a gang that were tried as victims one by one on a node stay together in the next try:
    a pod that turned out not to be needed may be evicted all the same."""
    fewest_moves: bool = True
    """Consolidation first tries the victims whose moving costs least, and then searches as upstream does."""
    skips_alike: bool = False
    """Allocate tries gangs that ask for the same in the same queue only until the first of them fails. The others get
    the refusal of the first."""
    whole_domains: bool = False
    """A required domain may be used even if it holds all nodes of the domain above it, as a rack of one node does."""
    counts_succeeded: bool = False
    """Succeeded pods of a gang count for its minimum. So the last pods of a Job do not wait for those that are done."""
    strict_turns: bool = False
    """A queue that has a better gang at its head moves up among all others; upstream compares it only with the first.
    Reclaim takes no gang whose turn comes before that of the gang which needs the room: it would get its place back."""
    explains: bool = True
    """Gangs that are not placed get an explanation. The lab needs none and saves the time."""

    @property
    def plugins_key(self) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
        """The plugins and their arguments as something to compare and to look up by."""
        return tuple((plugin.name, tuple(sorted(plugin.arguments.items()))) for plugin in self.plugins)

    @property
    def spreads(self) -> bool:
        """Whether topologySpreadConstraints are honoured."""
        return any(plugin.name == "topologyspread" for plugin in self.plugins)

    def arguments(self, plugin: str) -> Mapping[str, str]:
        for setting in self.plugins:
            if setting.name == plugin:
                return setting.arguments
        return {}


def shard_settings() -> SchedulerSettings:
    return SchedulerSettings(plugins=SHARD_PLUGINS)


def native_settings() -> SchedulerSettings:
    """What a scheduler does by default, unless `compat: kai` asks for upstream's manner."""
    return replace(
        shard_settings(),
        plugins=NATIVE_PLUGINS,
        skips_alike=True,
        whole_domains=True,
        counts_succeeded=True,
        strict_turns=True,
    )


def read_config(config: Mapping[str, Any], base: SchedulerSettings | None = None) -> SchedulerSettings:
    """Settings from the parsed scheduler config.yaml of KAI: `actions` text, `tiers[].plugins[]`,
    `queueDepthPerAction`."""
    settings = base or SchedulerSettings()
    changes: dict[str, Any] = {}
    if config.get("actions"):
        changes["actions"] = _actions(str(config["actions"]))
    if config.get("tiers") is not None:
        changes["plugins"] = _plugins(config["tiers"])
    if config.get("queueDepthPerAction"):
        depths = _mapping(config["queueDepthPerAction"], "queueDepthPerAction")
        changes["queue_depth"] = {str(name): _depth(name, depth) for name, depth in depths.items()}
    if config.get("scenarioSearchBudgets"):
        changes["budgets"] = _budgets(_mapping(config["scenarioSearchBudgets"], "scenarioSearchBudgets"))
    return replace(settings, **changes)


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where}: a mapping is needed, not {value!r}")
    return value


def _list(value: Any, where: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise ConfigError(f"{where}: a list is needed, not {value!r}")
    return value


def _depth(action: str, depth: Any) -> int:
    try:
        return int(depth)
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(f"queueDepthPerAction.{action}: a whole number is needed, not {depth!r}") from None


GENERATORS = ("NodeLocalGreedy", "MultiNodeGang")


def _budgets(config: Mapping[str, Any]) -> Budgets:
    """Durations as in upstream's configuration, per action and per generator by name or `default`."""
    usual = Budgets()
    generators = _durations(config, "maxGeneratorSearchDuration")
    for name in generators:
        if name not in (*GENERATORS, "default"):
            raise ConfigError(
                f"scenarioSearchBudgets.maxGeneratorSearchDuration: there is no generator {name!r}; "
                f"known are {', '.join(GENERATORS)}"
            )
    gang = {
        key: steps(seconds(str(config[key])))
        for key in ("maxJobSearchDuration", "minJobSearchDuration")
        if key in config
    }
    budgets = Budgets(
        {**usual.action, **_durations(config, "maxActionSearchDuration")},
        gang.get("maxJobSearchDuration", usual.gang),
        gang.get("minJobSearchDuration", usual.least_per_gang),
        {**usual.generator, **generators},
    )
    if budgets.gang and budgets.least_per_gang >= budgets.gang:
        raise ConfigError("scenarioSearchBudgets: minJobSearchDuration must be smaller than maxJobSearchDuration")
    return budgets


def _durations(config: Mapping[str, Any], key: str) -> dict[str, int]:
    """Durations by name, as steps."""
    given = _mapping(config.get(key) or {}, f"scenarioSearchBudgets.{key}")
    return {str(name): steps(seconds(str(text))) for name, text in given.items()}


def _actions(text: str) -> tuple[str, ...]:
    from gangline.scheduler.actions import ACTIONS  # actions know these settings

    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in ACTIONS:
            raise ConfigError(f"actions: there is no action {name!r}; known are {', '.join(ACTIONS)}")
    return names


def _plugins(tiers: Any) -> tuple[PluginSetting, ...]:
    return tuple(
        _plugin(_mapping(plugin, "tiers.plugins"))
        for tier in _list(tiers, "tiers")
        for plugin in _list(_mapping(tier, "tiers").get("plugins") or [], "tiers.plugins")
    )


def _plugin(plugin: Mapping[str, Any]) -> PluginSetting:
    if not plugin.get("name"):
        raise ConfigError(f"tiers.plugins: a plugin needs a name, and {dict(plugin)!r} has none")
    arguments = _mapping(plugin.get("arguments") or {}, f"tiers.plugins: arguments of {plugin['name']}")
    return PluginSetting(str(plugin["name"]), {str(key): str(value) for key, value in arguments.items()})


def seconds(text: str) -> float:
    """A duration such as "90s", "1h30m", "2d" or "-1s" in seconds."""
    try:
        return duration(text)
    except ValueError:
        raise ConfigError(
            f"{text!r} is not a duration; write a number with a unit (ms, s, m, h, d, w), for example 90s or 1h30m"
        ) from None
