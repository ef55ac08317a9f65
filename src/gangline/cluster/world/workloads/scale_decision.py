"""How many replicas a HorizontalPodAutoscaler asks for, from its metrics and from what it asked for before. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from gangline.api import resources
from gangline.api.meta import Raw
from gangline.cluster.world.workloads.replicas import MOST_REPLICAS

TOLERANCE = 0.1
DOWN_WINDOW = 300.0


@dataclass(frozen=True, slots=True)
class ScaleDecision:
    replicas: int
    reason: str = ""
    """Which limit held it back: TooManyReplicas, TooFewReplicas, or none."""


def read_metric(text: str) -> dict[str, float]:
    """The annotation's values by name; a bare number stands under the empty name."""
    values: dict[str, float] = {}
    for part in text.split(",") if text else ():
        name, _, value = part.rpartition("=")
        try:
            values[name.strip()] = resources.number(value.strip())
        except (ValueError, OverflowError):
            continue
    return values


def metric_name(metric: Raw) -> str:
    body: Raw = metric.get(_field(metric)) or {}
    return str(body.get("name") or (body.get("metric") or {}).get("name") or "")


def _field(metric: Raw) -> str:
    kind = str(metric.get("type") or "")
    return kind[:1].lower() + kind[1:]


def asked(metric: Raw, values: Mapping[str, float], current: int) -> int | None:
    """How many replicas one metric asks for; None when nobody wrote down its value."""
    value = values.get(metric_name(metric), values.get(""))
    target: Raw = (metric.get(_field(metric)) or {}).get("target") or {}
    if value is None or not target:
        return None
    if target.get("averageUtilization"):
        ratio = value / float(target["averageUtilization"])
    elif target.get("averageValue"):
        return _count(value / (resources.number(target["averageValue"]) or 1.0))
    else:
        ratio = value / (resources.number(target.get("value", 1)) or 1.0)
    return current if abs(ratio - 1) <= TOLERANCE else _count(current * ratio)


def _count(replicas: float) -> int:
    return math.ceil(min(replicas, MOST_REPLICAS))


def decide(spec: Raw, values: Mapping[str, float], current: int) -> ScaleDecision | None:
    """The number of replicas the metrics ask for, within the limits; None when no metric has a value."""
    wishes = [wish for metric in spec.get("metrics") or () if (wish := asked(metric, values, current)) is not None]
    if not wishes:
        return None
    least, most = int(spec.get("minReplicas") or 1), int(spec["maxReplicas"])
    wish = max(wishes)
    if wish > most:
        return ScaleDecision(most, "TooManyReplicas")
    return ScaleDecision(least, "TooFewReplicas") if wish < least else ScaleDecision(wish)


@dataclass(slots=True)
class ScaleHistory:
    """What was asked for lately: going down takes the largest of it."""

    wishes: list[tuple[float, int]] = field(default_factory=list)
    """Each smaller than the one before it: what a later and larger one hides is not kept."""

    def steady(self, wish: int, now: float, window: float) -> int:
        self.wishes = [(when, item) for when, item in self.wishes if now - when < window and item > wish] + [
            (now, wish)
        ]
        return self.wishes[0][1]


def window_of(spec: Raw) -> float:
    down = (spec.get("behavior") or {}).get("scaleDown") or {}
    return float(down.get("stabilizationWindowSeconds", DOWN_WINDOW))
