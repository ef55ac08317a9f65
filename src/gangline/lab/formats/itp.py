"""Microsoft's ITP trace, as later papers converted it: `job_id,submission_time,duration,num_gpu`."""

from __future__ import annotations

from gangline.lab.formats.rows import TraceRow, TraceText, read_rows
from gangline.lab.formats.sizes import in_pods
from gangline.lab.jobs import TraceJob


def read(text: TraceText) -> list[TraceJob]:
    def job(row: TraceRow) -> TraceJob:
        pods, gpus = in_pods(row.whole("num_gpu"), text.node_gpus)
        return TraceJob(
            f"job-{row.text('job_id', str(row.line))}-{row.line}",
            row.moment("submission_time"),
            row.number("duration"),
            pods,
            gpus,
            queue=row.text("cluster", "all"),
        )

    return read_rows(text, ("job_id", "submission_time", "duration", "num_gpu"), job)
