"""Our own form of trace (docs/guide/simulate.md):
`arrival,duration,pods,gpus,cpu,memory,queue,priority,topology,preemptible,checkpoint`.

Only `arrival`, `duration` and `gpus` must be there. `gpus`, `cpu` (cores) and `memory` (GiB) are per pod.
"""

from __future__ import annotations

from dataclasses import replace

from gangline.lab.formats.rows import RowError, TraceRow, TraceText, read_rows
from gangline.lab.formats.sizes import checked_pods
from gangline.lab.jobs import TraceJob

GIB = 1024**3
TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read(text: TraceText) -> list[TraceJob]:
    jobs = read_rows(text, ("arrival", "duration", "gpus"), _job)
    names: set[str] = set()
    return [_named_apart(job, names) for job in jobs]


def _named_apart(job: TraceJob, names: set[str]) -> TraceJob:
    """Jobs of one name are jobs of one kind: each is played, and those after the first have their line in the name."""
    while job.name in names:
        job = replace(job, name=f"{job.name}-{job.line}")
    names.add(job.name)
    return job


def _job(row: TraceRow) -> TraceJob:
    gpus, pods = row.number("gpus"), row.whole("pods", 1)
    if gpus > 1 and gpus != int(gpus):
        raise RowError(f"gpus is {row.text('gpus')}, which must be a whole number or a share below 1")
    checked_pods(pods)
    preemptible = row.text("preemptible", "true").lower()
    if preemptible not in TRUTH:
        raise RowError(f"preemptible is {preemptible!r}, which must be true or false")
    return TraceJob(
        row.text("name", f"job-{row.line}"),
        row.moment("arrival"),
        row.number("duration"),
        pods,
        gpus,
        row.number("cpu", 0) * 1000,
        row.number("memory", 0) * GIB,
        row.text("queue", "all"),
        row.whole("priority", 50),
        row.text("topology"),
        TRUTH[preemptible],
        row.number("checkpoint", 0),
        line=row.line,
    )
