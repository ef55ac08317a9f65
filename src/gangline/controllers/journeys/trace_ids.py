"""Ids of traces that are the uids of PodGroups. Imported only where OpenTelemetry is installed."""

from __future__ import annotations

import uuid

from opentelemetry.sdk.trace.id_generator import RandomIdGenerator


class GangTraceIds(RandomIdGenerator):
    def __init__(self) -> None:
        self.gang: uuid.UUID | None = None

    def generate_trace_id(self) -> int:
        return self.gang.int if self.gang is not None else super().generate_trace_id()
