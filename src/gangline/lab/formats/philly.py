"""Microsoft's Philly trace, as later papers converted it: `timestamp,duration,num_gpus,gpu_time,cluster`, rows in any
order.

A virtual cluster is a queue.
"""

from __future__ import annotations

from gangline.lab.formats.rows import TraceRow, TraceText, read_rows
from gangline.lab.formats.sizes import in_pods
from gangline.lab.jobs import TraceJob


def read(text: TraceText) -> list[TraceJob]:
    def job(row: TraceRow) -> TraceJob:
        pods, gpus = in_pods(row.whole("num_gpus"), text.node_gpus)
        return TraceJob(
            f"job-{row.line}",
            row.moment("timestamp"),
            row.number("duration"),
            pods,
            gpus,
            queue=row.text("cluster", "all"),
        )

    return read_rows(text, ("timestamp", "duration", "num_gpus"), job)
