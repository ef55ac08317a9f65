"""How much of the cluster each queue used in the past: windows, decay, and what sources are asked. Pure.

Time-based fair share gives a queue that used little more, and one that used much less. A source (store.py keeps
its own figures, prometheus.py asks Prometheus) gives sums over a window; here is what a window is and how figures
become parts of the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gangline.errors import ConfigError
from gangline.rules.values import cron
from gangline.rules.values.times import duration, seconds

RESOURCES = ("gpu", "cpu", "memory")
SLIDING, TUMBLING, CRON = "sliding", "tumbling", "cron"
STORE, PROMETHEUS, NONE = "store", "prometheus", ""

Figures = Mapping[str, Mapping[str, float]]
"""Queue → resource → amount × seconds."""


@dataclass(frozen=True, slots=True)
class UsageSettings:
    source: str = NONE
    """prometheus, store (our own, kept in a file), or empty: no history."""
    address: str = ""
    """Of Prometheus, or the store's file; a store without a file forgets at the end."""
    window: float = 7 * 86400.0
    kind: str = SLIDING
    start: float = 0.0
    """When the first tumbling window began."""
    cron: str = ""
    half_life: float | None = None
    fetch: float = 60.0
    stale: float = 300.0
    timeout: float = 10.0
    resolution: float = 60.0
    extra: Mapping[str, str] = field(default_factory=dict)


def read_usage(config: Mapping[str, Any]) -> UsageSettings:
    """`usageDBConfig` of config.yaml, as upstream writes it; clientType `store` is ours."""
    if not config:
        return UsageSettings()
    kind = str(config.get("clientType") or "")
    if kind not in (PROMETHEUS, STORE):
        raise ConfigError(f"usageDBConfig.clientType: there is no {kind!r}; known are {PROMETHEUS} and {STORE}")
    params = config.get("usageParams") or {}
    window = str(params.get("windowType") or SLIDING)
    if window not in (SLIDING, TUMBLING, CRON):
        raise ConfigError(
            f"usageDBConfig.usageParams.windowType: there is no {window!r}; known are {SLIDING}, {TUMBLING} and {CRON}"
        )
    if window == CRON:
        _calendar(str(params.get("cronString") or ""))
    extra = {str(key): str(value) for key, value in (params.get("extraParams") or {}).items()}
    fetch = _time(params, "fetchInterval", 60.0)
    return UsageSettings(
        kind,
        str(config.get("connectionString") or ""),
        _time(params, "windowSize", 7 * 86400.0),
        window,
        seconds(params.get("tumblingWindowStartTime")) or 0.0,
        str(params.get("cronString") or ""),
        _time(params, "halfLifePeriod", 0.0) or None,
        fetch,
        max(_time(params, "stalenessPeriod", 300.0), fetch),
        duration(extra.get("usageQueryTimeout", "10s")),
        duration(extra.get("queryResolution", "1m")),
        extra,
    )


def _time(params: Mapping[str, Any], name: str, otherwise: float) -> float:
    value = params.get(name)
    if value in (None, ""):
        return otherwise
    try:
        return duration(str(value))
    except ValueError as error:
        raise ConfigError(f"usageDBConfig.usageParams.{name}: {error}") from error


def window_start(settings: UsageSettings, now: float) -> float:
    """Since when usage counts."""
    if settings.kind == TUMBLING:
        passed = (now - settings.start) // settings.window if now >= settings.start else 0
        return settings.start + passed * settings.window
    if settings.kind == CRON:
        return cron.due(_calendar(settings.cron), 0.0, now)[0] or 0.0
    return now - settings.window


def decay(settings: UsageSettings, age: float) -> float:
    """What usage of so long ago still counts."""
    return 1.0 if settings.half_life is None else 0.5 ** (max(age, 0.0) / settings.half_life)


def parts(used: Figures, capacity: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Each queue's part of what the cluster could have given; a resource without capacity counts nothing."""
    return {
        queue: {name: (amounts.get(name, 0.0) / capacity[name] if capacity.get(name) else 0.0) for name in RESOURCES}
        for queue, amounts in used.items()
    }


def _calendar(text: str) -> cron.Schedule:
    try:
        schedule = cron.parse(text)
    except cron.CronError as error:
        raise ConfigError(f"usageDBConfig.usageParams.cronString {text!r}: {error}") from None
    if cron.next_after(schedule, 0.0) is None:
        raise ConfigError(f"usageDBConfig.usageParams.cronString {text!r}: no such day exists")
    return schedule
