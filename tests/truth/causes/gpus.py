"""GPUs: parts, memory, kinds, claims. Data only."""

from __future__ import annotations

from gangline.api import names
from truth.causes.common import ONE
from truth.objects import job
from truth.player import TruthCase, flat

GPUS = [
    TruthCase(
        "a MIG profile that no node offers",
        "job/x",
        ("nvidia.com/mig-1g.5gb",),
        flat(job("x", asks={"nvidia.com/mig-1g.5gb": 1})),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a MIG profile that is used up",
        "job/x",
        ("nvidia.com/mig-1g.5gb", "0 of 2"),
        flat(job("x", asks={"nvidia.com/mig-1g.5gb": 1})),
        ({"name": "n", "mig": {"1g.5gb": 2}, "labels": {"node-role.kubernetes.io/mig-enabled": "true"}},),
        flat(job("old", asks={"nvidia.com/mig-1g.5gb": 2})),
        runs=1,
    ),
    TruthCase(
        "nine halves on four GPUs",
        "job/x",
        ("0.5 of a GPU", "8 of 9 pods"),
        flat(job("x", 9, pod_notes={names.GPU_FRACTION: "0.5"})),
        ({"name": "n", "gpus": 4},),
        runs=9,
    ),
    TruthCase(
        "more memory of one GPU than it has",
        "job/x",
        ("100000 MiB", "40900 MiB"),
        flat(job("x", pod_notes={names.GPU_MEMORY: "100000"})),
        ({"name": "n", "gpus": 2, "gpuMemory": "40Gi"},),
        runs=1,
    ),
    TruthCase(
        "GPU memory on nodes that do not say how much they have",
        "job/x",
        ("nvidia.com/gpu.memory",),
        flat(job("x", pod_notes={names.GPU_MEMORY: "1000"})),
        ONE,
        node_patches={"n": {"metadata": {"labels": {"nvidia.com/gpu.memory": None}}}},
        runs=1,
    ),
    TruthCase(
        "a part of several devices",
        "job/x",
        ("0.5 of a GPU on each of 3 devices", "2 GPUs"),
        flat(job("x", pod_notes={names.GPU_FRACTION: "0.5", names.GPU_FRACTION_DEVICES: "3"})),
        ({"name": "n", "gpus": 2},),
        runs=1,
    ),
    TruthCase(
        "a GPU memory request on full devices",
        "job/x",
        ("30000 MiB of a GPU",),
        flat(job("x", pod_notes={names.GPU_MEMORY: "30000"})),
        ({"name": "n", "gpus": 1, "gpuMemory": "40Gi"},),
        flat(job("old", pod_notes={names.GPU_MEMORY: "20000"})),
        runs=1,
    ),
]
