"""Past usage: windows, decay, our own store, Prometheus' queries, and that a queue which used much gets less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gangline.errors import ConfigError
from gangline.rules.values.times import seconds
from gangline.scheduler.usage import prometheus as usage_prometheus
from gangline.scheduler.usage.store import UsageStore
from gangline.scheduler.usage.windows import (
    CRON,
    SLIDING,
    STORE,
    TUMBLING,
    UsageSettings,
    decay,
    parts,
    read_usage,
    window_start,
)

HOUR = 3600.0


def at(text: str) -> float:
    found = seconds(text)
    assert found is not None
    return found


def test_windows_slide_tumble_or_follow_a_calendar() -> None:
    now = at("2026-03-04T10:30:00Z")
    assert window_start(UsageSettings(window=HOUR), now) == now - HOUR
    tumbling = UsageSettings(kind=TUMBLING, window=24 * HOUR, start=at("2026-03-01T06:00:00Z"))
    assert window_start(tumbling, now) == at("2026-03-04T06:00:00Z")
    assert window_start(UsageSettings(kind=CRON, cron="0 0 * * 1"), now) == at("2026-03-02T00:00:00Z")
    assert window_start(UsageSettings(kind=CRON, cron="*/15 8-17 * * *"), now) == now


def calendar(text: str) -> UsageSettings:
    return read_usage({"clientType": STORE, "usageParams": {"windowType": CRON, "cronString": text}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty spec string"),
        ("0 0 * *", "expected exactly 5 fields, found 4"),
        ("x 0 * * *", "failed to parse int from x"),
        ("0 25 * * *", "above maximum"),
        ("0-99999999999 0 * * *", "above maximum"),
        ("*/0 0 * * *", "should be a positive number"),
        ("0 0 30 2 *", "no such day exists"),
    ],
)
def test_a_calendar_that_makes_no_sense_is_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        calendar(text)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("0 0 15 * 1", "2026-03-02T00:00:00Z"),
        ("0 0 29 2 *", "2024-02-29T00:00:00Z"),
        ("@weekly", "2026-03-01T00:00:00Z"),
        ("@every 1h", "2026-03-04T10:00:00Z"),
    ],
)
def test_a_calendar_is_read_as_that_of_a_cron_job(text: str, start: str) -> None:
    assert window_start(calendar(text), at("2026-03-04T10:30:00Z")) == at(start)


def test_old_use_counts_half_after_each_half_life() -> None:
    settings = UsageSettings(half_life=HOUR)
    assert [decay(settings, age) for age in (0, HOUR, 2 * HOUR)] == [1.0, 0.5, 0.25]
    assert decay(UsageSettings(), 10**9) == 1.0


def test_usage_is_a_part_of_what_the_cluster_could_have_given() -> None:
    assert parts({"a": {"gpu": 5.0}}, {"gpu": 20.0, "cpu": 0.0}) == {"a": {"gpu": 0.25, "cpu": 0.0, "memory": 0.0}}


def test_the_store_sums_up_a_window_and_forgets_what_is_older() -> None:
    store = UsageStore(UsageSettings(source=STORE, kind=SLIDING, window=HOUR, fetch=60))
    for minute in range(121):
        used = 8.0 if minute <= 60 else 0.0
        store.sample(minute * 60.0, {"a": {"gpu": used}, "b": {"gpu": 2.0}}, {"gpu": 8.0})
        if minute == 60:
            assert store.usage(minute * 60.0)["a"]["gpu"] == 1.0
        if minute == 90:
            assert store.usage(minute * 60.0)["a"]["gpu"] == pytest.approx(0.5)
    assert store.usage(7200.0) == {
        "a": {"gpu": 0.0, "cpu": 0.0, "memory": 0.0},
        "b": {"gpu": 0.25, "cpu": 0.0, "memory": 0.0},
    }


def test_the_store_remembers_over_a_restart_and_does_not_invent_what_happened_meanwhile(tmp_path: Path) -> None:
    settings = UsageSettings(source=STORE, address=str(tmp_path / "usage.db"), window=HOUR, fetch=60)
    store = UsageStore(settings)
    for minute in range(10):
        store.sample(minute * 60.0, {"a": {"gpu": 4.0}}, {"gpu": 8.0})
    store.close()
    again = UsageStore(settings)
    again.sample(1800.0, {"a": {"gpu": 8.0}}, {"gpu": 8.0})
    assert again.usage(1800.0)["a"]["gpu"] == 0.5
    again.close()


def test_a_store_that_cannot_be_opened_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="name another file or remove it"):
        UsageStore(UsageSettings(source=STORE, address=str(tmp_path / "no" / "folder")))


def test_prometheus_is_asked_upstreams_questions() -> None:
    settings = UsageSettings(source="prometheus", window=7 * 24 * HOUR)
    asked = usage_prometheus.queries(settings, 10**9)
    assert asked["used", "gpu"] == "sum_over_time((kai_queue_allocated_gpus)[604800s:60s])"
    assert asked["capacity", "cpu"] == 'sum_over_time((sum(kube_node_status_capacity{resource="cpu"}))[604800s:60s])'
    faded = usage_prometheus.queries(replace(settings, half_life=HOUR, extra={"gpuAllocationMetric": "mine"}), 10**9)
    assert faded["used", "gpu"] == "sum_over_time(((mine) * (0.5 ^ ((1000000000 - time()) / 3600)))[604800s:60s])"


async def test_answers_of_prometheus_become_parts_of_the_cluster() -> None:
    async def ask(address: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        assert address == "http://prometheus:9090/api/v1/query"
        value = "100" if "capacity" in parameters["query"] else "25"
        lines = [{"metric": {} if "capacity" in parameters["query"] else {"queue_name": "a"}, "value": [0, value]}]
        return {"status": "success", "data": {"resultType": "vector", "result": lines}}

    settings = UsageSettings(source="prometheus", address="http://prometheus:9090/")
    assert await usage_prometheus.usage(settings, 10**9, ask) == {"a": {"gpu": 0.25, "cpu": 0.25, "memory": 0.25}}
    with pytest.raises(usage_prometheus.PrometheusError, match="Prometheus answered: bad query"):
        usage_prometheus.read_vector({"status": "error", "error": "bad query"})


def test_upstreams_configuration_is_read_unchanged() -> None:
    found = read_usage(
        {
            "clientType": "prometheus",
            "connectionString": "http://p",
            "usageParams": {
                "windowSize": "2w",
                "halfLifePeriod": "1d",
                "fetchInterval": "10m",
                "windowType": "cron",
                "cronString": "0 0 * * *",
            },
        }
    )
    assert (found.window, found.half_life, found.fetch, found.stale, found.kind) == (
        14 * 24 * HOUR,
        24 * HOUR,
        600,
        600,
        CRON,
    )
    with pytest.raises(ConfigError, match="there is no 'influx'; known are prometheus and store"):
        read_usage({"clientType": "influx"})
    with pytest.raises(ConfigError, match="windowType: there is no 'hopping'"):
        read_usage({"clientType": "store", "usageParams": {"windowType": "hopping"}})
