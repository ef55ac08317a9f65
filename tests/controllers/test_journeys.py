"""Traces of gangs: one per gang, once it is ready, with how long it waited and how long it took to start."""

from __future__ import annotations

import time
import uuid

import msgspec
import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.kinds import POD, POD_GROUP
from gangline.controllers.journeys.controller import controller
from gangline.controllers.journeys.exporter import SpanExporter, configured_exporter
from gangline.controllers.journeys.spans import MOST_PODS, GangJourney, gang_journey
from gangline.runtime import Component
from gangline.runtime.clock import timestamp
from scheduler_world import SPACE, scheduler_world

UID = "0f7ad0a4-6a0c-4f0e-9d1a-0a4b6f1f2c3d"


def group(minimum: int = 2) -> PodGroup:
    about = {"name": "g", "namespace": "work", "uid": UID, "creationTimestamp": "2026-01-01T00:00:00Z"}
    return msgspec.convert({"metadata": about, "spec": {"queue": "team", "minMember": minimum}}, PodGroup)


def pod(name: str, placed: str = "", ready: str = "") -> Pod:
    times = {"PodScheduled": placed, "Ready": ready}
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": f"2026-01-01T00:{minute}Z"}
        for kind, minute in times.items()
        if minute
    ]
    about = {"name": name, "namespace": "work", "creationTimestamp": "2026-01-01T00:00:01Z"}
    return msgspec.convert(
        {"metadata": about, "spec": {"nodeName": "n"}, "status": {"conditions": conditions}}, Pod, strict=False
    )


def spans(journey: GangJourney) -> list[tuple[str, float]]:
    return [(span.name, span.end - span.start) for span in (journey.whole, *journey.parts)]


def test_a_gang_waits_for_its_last_place_and_starts_until_its_last_pod_is_ready() -> None:
    journey = gang_journey(group(), [pod("a", "01:00", "01:10"), pod("b", "02:00", "02:30")])
    assert journey is not None
    assert spans(journey) == [
        ("gang work/g", 150.0),
        ("wait for a place", 120.0),
        ("start", 30.0),
        ("pod a", 69.0),
        ("pod b", 149.0),
    ]
    assert journey.whole.attributes == {"gang": "work/g", "queue": "team", "pods": 2}


def test_a_gang_below_its_minimum_has_no_journey_yet() -> None:
    assert gang_journey(group(), [pod("a", "01:00", "01:10"), pod("b", "01:00")]) is None
    assert gang_journey(group(0), []) is None


def test_a_large_gang_has_spans_for_some_of_its_pods_only() -> None:
    journey = gang_journey(group(), [pod(f"p{number}", "01:00", "01:10") for number in range(500)])
    assert journey is not None
    assert len(journey.parts) == 2 + MOST_PODS
    assert journey.whole.attributes["pods"] == 500


def test_the_id_of_a_trace_is_the_uid_of_the_group() -> None:
    memory = InMemorySpanExporter()
    journey = gang_journey(group(1), [pod("a", "01:00", "01:10")])
    assert journey is not None
    SpanExporter(SimpleSpanProcessor(memory)).send(journey)
    finished = memory.get_finished_spans()
    assert {span.context.trace_id for span in finished if span.context} == {uuid.UUID(UID).int}
    whole = next(span for span in finished if span.name == "gang work/g")
    assert whole.context is not None
    assert [span.parent and span.parent.span_id for span in finished if span is not whole] == [
        whole.context.span_id
    ] * 3


class Told:
    def __init__(self) -> None:
        self.journeys: list[GangJourney] = []

    def send(self, journey: GangJourney) -> None:
        self.journeys.append(journey)


async def test_a_gang_is_told_of_once_and_again_when_it_is_made_again() -> None:
    told = Told()
    async with scheduler_world(Component("traces", (controller(told),))) as here:
        ready = [{"type": "Ready", "status": "True", "lastTransitionTime": timestamp(time.time() + 1)}]
        for count in (1, 2):
            await here.gang("g", 2)
            await here.run("g-0", conditions=ready)
            await here.settles()
            assert len(told.journeys) == count - 1
            for _ in range(2):
                await here.run("g-1", conditions=ready, message="again")
                await here.settles()
            assert len(told.journeys) == count
            for name in ("g-0", "g-1"):
                await here.client.delete(POD, name, SPACE, grace=0)
            await here.client.delete(POD_GROUP, "g", SPACE)
            await here.settles()
    assert [journey.whole.attributes["gang"] for journey in told.journeys] == [f"{SPACE}/g"] * 2


async def test_a_gang_that_was_ready_before_is_not_told_of() -> None:
    told = Told()
    async with scheduler_world() as here:
        await here.gang("g", 1)
        await here.run(
            "g-0", conditions=[{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
        )
        await here.start(Component("traces", (controller(told),)))
        await here.settles()
    assert told.journeys == []


def test_without_a_collector_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", raising=False)
    assert configured_exporter() is None


def test_a_collector_is_named_by_open_telemetrys_own_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    assert isinstance(configured_exporter(), SpanExporter)
