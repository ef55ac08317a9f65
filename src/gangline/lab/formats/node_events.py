"""Nodes that come and go during a simulation: `time,node,event,gpus`, where the event is `lost` or `added`."""

from __future__ import annotations

from dataclasses import replace

from gangline.lab.fleet import LARGE
from gangline.lab.formats.rows import RowError, TraceRow, TraceText, read_rows
from gangline.lab.jobs import NodeChange


def read(text: TraceText) -> list[NodeChange]:
    return read_rows(text, ("time", "node", "event"), _change)


def _change(row: TraceRow) -> NodeChange:
    name, event = row.text("node"), row.text("event")
    if not name:
        raise RowError("node is missing")
    if event not in ("lost", "added"):
        raise RowError(f"event is {event!r}, which must be lost or added")
    machine = replace(LARGE, name=name, gpus=row.whole("gpus", 8)) if event == "added" else None
    return NodeChange(row.moment("time"), name, machine)
