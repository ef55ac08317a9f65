"""HorizontalPodAutoscalers, driven by a metric that someone writes down: annotation `gangline.io/metric` on the
autoscaler.

The annotation is one number (for every metric) or `name=value,name=value` (by metric or resource name). Each metric
asks for `ceil(replicas × value ÷ target)`, the largest wins, within the limits; going down waits out the stabilisation
window (scale_decision.py). This controller reads and writes the target's scale."""

from __future__ import annotations

from dataclasses import dataclass, field

from gangline.api import names
from gangline.api.builtin import Untyped
from gangline.api.kinds import HPA, Kind, foreign
from gangline.api.meta import Raw
from gangline.cluster.world.conditions import merged
from gangline.cluster.world.discovery import discover
from gangline.cluster.world.workloads.scale_decision import ScaleHistory, decide, read_metric, window_of
from gangline.errors import NotFound
from gangline.runtime import Again, Context, Controller, Key, Watch, itself
from gangline.runtime.clock import timestamp

PERIOD = 15.0


# --- thinking ---------------------------------------------------------------------------------------------------------


# --- doing ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class HorizontalScaler:
    memory: dict[str, ScaleHistory] = field(default_factory=dict)
    kinds: dict[tuple[str, str], Kind[Untyped]] = field(default_factory=dict)

    async def reconcile(self, ctx: Context, key: Key) -> Again | None:
        hpa = ctx.read.get(HPA, key.name, key.namespace)
        if hpa is None or hpa.metadata.deleting:
            self.memory.pop(str(key), None)
            return None
        target = hpa.spec["scaleTargetRef"]
        kind = await self._kind(ctx, str(target.get("apiVersion")), str(target["kind"]))
        scale = await _scale(ctx, kind, str(target["name"]), key.namespace)
        if kind is None or scale is None:
            await _write_status(
                ctx,
                hpa,
                [("AbleToScale", "False", "FailedGetScale", f"no {target['kind']} {target['name']} with a scale")],
                {},
            )
            return Again(PERIOD)
        current = int((scale.get("spec") or {}).get("replicas") or 0)
        wanted, conditions = self._wanted(hpa, key, current, ctx.clock.now())
        moved: Raw = {}
        if wanted != current:
            await ctx.client.patch(
                kind, str(target["name"]), key.namespace, {"spec": {"replicas": wanted}}, subresource="scale"
            )
            ctx.events.tell(
                HPA,
                hpa,
                "SuccessfulRescale",
                f"New size: {wanted}; reason: metrics {hpa.annotations.get(names.METRIC)}",
            )
            moved = {"lastScaleTime": timestamp(ctx.clock.now())}
        has = int((scale.get("status") or {}).get("replicas") or 0)
        await _write_status(ctx, hpa, conditions, {"currentReplicas": has, "desiredReplicas": wanted} | moved)
        return Again(PERIOD)

    def _wanted(self, hpa: Untyped, key: Key, current: int, now: float) -> tuple[int, list[tuple[str, str, str, str]]]:
        able = ("AbleToScale", "True", "ReadyForNewScale", "recommended size matches current size")
        if current == 0:
            return 0, [
                able,
                ("ScalingActive", "False", "ScalingDisabled", "scaling is disabled since the replica count is zero"),
            ]
        decision = decide(hpa.spec, read_metric(hpa.annotations.get(names.METRIC, "")), current)
        if decision is None:
            least, most = int(hpa.spec.get("minReplicas") or 1), int(hpa.spec["maxReplicas"])
            return min(max(current, least), most), [
                able,
                (
                    "ScalingActive",
                    "False",
                    "FailedGetMetrics",
                    f"no metric has a value: write it into the annotation {names.METRIC}",
                ),
            ]
        steady = self.memory.setdefault(str(key), ScaleHistory()).steady(decision.replicas, now, window_of(hpa.spec))
        wanted = decision.replicas if decision.replicas >= current else min(steady, current)
        limited = (
            ("ScalingLimited", "True", decision.reason, "the desired count is limited by the allowed range")
            if decision.reason
            else ("ScalingLimited", "False", "DesiredWithinRange", "the desired count is within the acceptable range")
        )
        return wanted, [
            able,
            ("ScalingActive", "True", "ValidMetricFound", "a replica count was calculated from the metrics"),
            limited,
        ]

    async def _kind(self, ctx: Context, version: str, kind: str) -> Kind[Untyped] | None:
        wanted = (version.rpartition("/")[0], kind)
        if wanted not in self.kinds:
            self.kinds = {
                (item.kind.group, item.kind.kind): foreign(item.kind.api_version, item.kind.kind, item.kind.plural)
                for item in await discover(ctx.client)
                if item.kind.namespaced
            }
        return self.kinds.get(wanted)


async def _scale(ctx: Context, kind: Kind[Untyped] | None, name: str, namespace: str) -> Raw | None:
    if kind is None:
        return None
    try:
        return await ctx.client.get_raw(kind, f"{name}/scale", namespace)
    except NotFound:
        return None


async def _write_status(ctx: Context, hpa: Untyped, conditions: list[tuple[str, str, str, str]], rest: Raw) -> None:
    before: Raw = hpa.status or {}
    wanted = rest | {
        "conditions": merged(before.get("conditions") or (), conditions, timestamp(ctx.clock.now())),
        "observedGeneration": hpa.metadata.generation,
    }
    if wanted != {name: before.get(name) for name in wanted}:
        await ctx.client.patch(HPA, hpa.name, hpa.namespace, {"status": wanted}, subresource="status")


def autoscalers() -> Controller:
    return Controller(
        "hpa",
        HorizontalScaler().reconcile,
        watches=(
            Watch(
                HPA,
                itself,
                when=lambda before, after: (
                    before is None
                    or after is None
                    or before.spec != after.spec
                    or before.annotations.get(names.METRIC) != after.annotations.get(names.METRIC)
                ),
            ),
        ),
        workers=2,
    )
