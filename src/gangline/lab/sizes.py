"""Jobs of a trace of which a pod is larger than any node there ever is: they never start, whatever the settings.

Asked once before a trace is played, so that `gangline simulate` can say it. Decides nothing and plays nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gangline.lab.jobs import Machine, TraceJob

GIB = 1024**3


def too_large(jobs: Iterable[TraceJob], machines: Sequence[Machine]) -> Iterator[str]:
    """One sentence for each job that no node can hold a pod of."""
    known: dict[tuple[object, ...], str] = {}
    for job in jobs:
        like = (job.gpus, job.cpu, job.memory, job.models)
        why = known.get(like)
        if why is None:
            why = known[like] = _why(job, machines)
        if why:
            yield f"{f'line {job.line} ({job.name})' if job.line else job.name}: {why}"


def _why(job: TraceJob, machines: Sequence[Machine]) -> str:
    """What stands against it on every node; "" where one can hold it."""
    able = [machine for machine in machines if not job.models or machine.model in job.models]
    if any(job.gpus <= machine.gpus and job.cpu <= machine.cpu and job.memory <= machine.memory for machine in able):
        return ""
    if not able:
        return f"no node has GPUs of model {' or '.join(job.models)}"
    asks = (
        (job.gpus, max(machine.gpus for machine in able), 1, "GPUs"),
        (job.cpu, max(machine.cpu for machine in able), 1000, "cores"),
        (job.memory, max(machine.memory for machine in able), GIB, "GiB of memory"),
    )
    for asked, most, unit, word in asks:
        if asked > most:
            return f"a pod asks for {asked / unit:g} {word}, and the largest node has {most / unit:g}"
    return "no node has the GPUs, CPU and memory of a pod together"
