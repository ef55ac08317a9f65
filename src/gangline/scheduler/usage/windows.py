"""How much of the cluster each queue used in the past: windows, decay, and what sources are asked. Pure.

Time-based fair share gives a queue that used little more, and one that used much less. A source (store.py keeps
its own figures, prometheus.py asks Prometheus) gives sums over a window; here is what a window is and how figures
become parts of the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from gangline.errors import ConfigError
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
        Cron.parse(str(params.get("cronString") or ""))
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
        return Cron.parse(settings.cron).before(now)
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


@dataclass(frozen=True, slots=True)
class Cron:
    """A time of the form minute, hour, day, month, weekday, each `*`, `*/n`, `a`, `a-b` or a list of these. UTC."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool

    @classmethod
    def parse(cls, text: str) -> Cron:
        fields = text.split()
        if len(fields) != 5:
            raise ConfigError(
                f'cronString {text!r}: five fields are needed (minute hour day month weekday), as in "0 0 * * 1"'
            )
        ranges = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
        sets = [_cron_field(part, low, high, text) for part, (low, high) in zip(fields, ranges, strict=True)]
        weekdays = frozenset(day % 7 for day in sets[4])
        return cls(sets[0], sets[1], sets[2], sets[3], weekdays, fields[2] != "*" and fields[4] != "*")

    def before(self, now: float) -> float:
        """The last moment not after now that fits; at most five years back."""
        moment = datetime.fromtimestamp(now, UTC).replace(second=0, microsecond=0)
        for back in range(5 * 366):
            day = (moment - timedelta(days=back)).date()
            if not self._fits_day(day.day, day.month, (day.weekday() + 1) % 7):
                continue
            times = [
                datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)
                for hour in sorted(self.hours, reverse=True)
                for minute in sorted(self.minutes, reverse=True)
            ]
            last = next((time for time in times if time <= moment), None)
            if last is not None:
                return last.timestamp()
        raise ConfigError("cronString names a day that does not come")

    def _fits_day(self, day: int, month: int, weekday: int) -> bool:
        if month not in self.months:
            return False
        by_day, by_weekday = day in self.days, weekday in self.weekdays
        return by_day or by_weekday if self.either_day else by_day and by_weekday


def _cron_field(text: str, low: int, high: int, whole: str) -> frozenset[int]:
    values: set[int] = set()
    for part in text.split(","):
        body, _, step = part.partition("/")
        first, _, last = body.partition("-")
        try:
            start = low if body == "*" else int(first)
            end = high if body == "*" or (step and not last) else int(last or first)
            values |= set(range(start, end + 1, int(step or 1)))
        except ValueError:
            raise ConfigError(f"cronString {whole!r}: {part!r} is not a number, a range or a step") from None
    if not values or min(values) < low or max(values) > high:
        raise ConfigError(f"cronString {whole!r}: {text!r} must be between {low} and {high}")
    return frozenset(values)
