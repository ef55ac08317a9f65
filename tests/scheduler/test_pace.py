"""How soon one cycle follows another."""

from __future__ import annotations

import pytest

from gangline.components import build
from gangline.components.options import ComponentOptions
from gangline.scheduler.thought.options import AT_ONCE, LONGEST_BREATH, SOONEST, SchedulerOptions


@pytest.mark.parametrize(("busy", "pause"), [(0.0, SOONEST), (0.002, SOONEST), (0.05, 0.15), (0.2, 0.6), (5.0, 1.0)])
def test_an_eager_scheduler_follows_a_cheap_cycle_sooner_and_a_dear_one_after_its_period(
    busy: float, pause: float
) -> None:
    assert SchedulerOptions(eager=True).pause(busy) == pytest.approx(pause)


@pytest.mark.parametrize(("busy", "pause"), [(0.0, AT_ONCE), (0.02, 0.06), (5.0, 1.0)])
def test_after_a_cycle_that_decided_nothing_it_waits_for_nobody(busy: float, pause: float) -> None:
    assert SchedulerOptions(eager=True).pause(busy, decided=False) == pytest.approx(pause)
    assert SchedulerOptions().pause(busy, decided=False) == 1.0


@pytest.mark.parametrize("busy", [0.0, 0.03])
def test_as_upstream_has_it_the_period_always_holds(busy: float) -> None:
    assert SchedulerOptions().pause(busy) == 1.0


def test_who_asks_for_slower_cycles_gets_them() -> None:
    assert SchedulerOptions(eager=True, period=5.0).pause(0.0) == 5.0


def test_who_asks_for_faster_cycles_gets_them_with_a_breath_after_dear_ones() -> None:
    fast = SchedulerOptions(eager=True, period=0.05)
    assert fast.pause(0.0) == 0.05
    assert fast.pause(10.0) == LONGEST_BREATH


@pytest.mark.parametrize(("compat", "eager"), [((), True), (("kai",), False)])
def test_natively_the_scheduler_is_eager(compat: tuple[str, ...], eager: bool) -> None:
    [service] = build("scheduler", ComponentOptions(compat=compat)).services
    assert service.prepare.__self__.options.eager is eager  # type: ignore[attr-defined]
