"""Alibaba's openb trace: a list of pods (`name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,…`) and one of nodes
(`sn,cpu_milli,memory_mib,gpu,model`).

`gpu_milli` below 1000 with one GPU is a share of it; `gpu_spec` (`A|B`) are the models that will do. With its own times
a pod comes at `creation_time` and goes at `deletion_time`; `arrivals.py` plays the published experiment instead, in
which pods only come."""

from __future__ import annotations

import math

from gangline.lab.formats.rows import RowError, TraceRow, TraceText, read_rows
from gangline.lab.jobs import Machine, TraceJob

MIB = 1024 * 1024


def read(text: TraceText) -> list[TraceJob]:
    return read_rows(text, ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"), _pod)


def _pod(row: TraceRow) -> TraceJob:
    count, milli = row.whole("num_gpu"), row.number("gpu_milli")
    if count == 1 and milli > 1000:
        raise RowError(f"gpu_milli is {row.text('gpu_milli')}, which must be at most 1000")
    gpus = milli / 1000 if count == 1 and milli else float(count)
    created = row.number("creation_time", 0)
    gone = row.number("deletion_time", math.inf) if row.text("deletion_time") else math.inf
    models = tuple(model for model in row.text("gpu_spec").split("|") if model)
    return TraceJob(
        f"{row.text('name', 'pod')}-{row.line}",
        created,
        max(gone - created, 0),
        1,
        gpus,
        row.number("cpu_milli"),
        row.number("memory_mib") * MIB,
        models=models,
    )


def read_nodes(text: TraceText) -> list[Machine]:
    return read_rows(text, ("sn", "cpu_milli", "memory_mib", "gpu"), _node)


def _node(row: TraceRow) -> Machine:
    return Machine(
        row.text("sn", f"node-{row.line}"),
        row.whole("gpu"),
        row.number("cpu_milli"),
        row.number("memory_mib") * MIB,
        row.text("model"),
    )
