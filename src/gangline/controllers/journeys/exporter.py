"""Sends journeys to an OpenTelemetry collector, where one is named and `gangline[otel]` is installed.

The variables are OpenTelemetry's own (OTEL_EXPORTER_OTLP_ENDPOINT and the like). Spans leave by a thread of the
library, in batches; a collector that does not answer costs spans, never a reconcile."""

from __future__ import annotations

import logging
import os
import uuid
from typing import TYPE_CHECKING, Protocol

from gangline.controllers.journeys.spans import GangJourney, JourneySpan

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.trace import Span

log = logging.getLogger(__name__)
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
MISSING = "%s is set, but OpenTelemetry is not installed: pip install 'gangline[otel]'; no traces are sent"
NANOSECONDS = 10**9


class JourneyExporter(Protocol):
    def send(self, journey: GangJourney) -> None: ...


def configured_exporter() -> JourneyExporter | None:
    """None where no collector is named."""
    name = next((name for name in ENDPOINTS if os.environ.get(name)), "")
    if not name:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        log.warning(MISSING, name)
        return None
    return SpanExporter(BatchSpanProcessor(OTLPSpanExporter()))


class SpanExporter:
    """The id of a trace is the uid of its PodGroup, so a gang's trace can be found by its object."""

    def __init__(self, processor: SpanProcessor) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider

        from gangline.controllers.journeys.trace_ids import GangTraceIds

        self._ids = GangTraceIds()
        provider = TracerProvider(
            resource=Resource.create({"service.name": "gangline"}), id_generator=self._ids, shutdown_on_exit=True
        )
        provider.add_span_processor(processor)
        self._tracer = provider.get_tracer("gangline")

    def send(self, journey: GangJourney) -> None:
        self._ids.gang = uuid.UUID(journey.uid)
        whole = self._begun(journey.whole)
        for part in journey.parts:
            self._begun(part, whole).end(_nanoseconds(part.end))
        whole.end(_nanoseconds(journey.whole.end))

    def _begun(self, span: JourneySpan, parent: Span | None = None) -> Span:
        from opentelemetry.trace import set_span_in_context

        context = set_span_in_context(parent) if parent is not None else None
        start = _nanoseconds(span.start)
        return self._tracer.start_span(span.name, context, attributes=dict(span.attributes), start_time=start)


def _nanoseconds(moment: float) -> int:
    return int(moment * NANOSECONDS)
