"""Too large for any node, or used up. Data only."""

from __future__ import annotations

from truth.causes.common import HOST, ONE, TWO
from truth.objects import job
from truth.player import TruthCase, flat

SIZES = [
    TruthCase(
        "more CPU than any node has",
        "job/x",
        ("64 cores", "100 cores", "CPU"),
        flat(job("x", asks={"cpu": 100})),
        ONE,
        runs=1,
    ),
    TruthCase(
        "more memory than any node has",
        "job/x",
        ("512 GiB", "600 GiB", "memory"),
        flat(job("x", asks={"memory": "600Gi"})),
        ONE,
        runs=1,
    ),
    TruthCase("more GPUs than any node has", "job/x", ("16 GPUs", "8 GPUs"), flat(job("x", gpus=16)), ONE, runs=1),
    TruthCase(
        "an extended resource that no node has",
        "job/x",
        ("1 rdma/hca", "no rdma/hca"),
        flat(job("x", asks={"rdma/hca": 1})),
        ONE,
        runs=1,
    ),
    TruthCase(
        "an extended resource that is used up",
        "job/x",
        ("2 rdma/hca", "0 of 4"),
        flat(job("x", asks={"rdma/hca": 2})),
        ({"name": "n", "resources": {"rdma/hca": 4}},),
        flat(job("old", asks={"rdma/hca": 4})),
        runs=1,
    ),
    TruthCase(
        "CPU that is used up",
        "job/x",
        ("16 cores", "4 of 64 cores of CPU free"),
        flat(job("x", asks={"cpu": 16})),
        ONE,
        flat(job("old", asks={"cpu": 60})),
        runs=1,
    ),
    TruthCase(
        "memory that is used up",
        "job/x",
        ("64 GiB", "12 GiB of 512 GiB"),
        flat(job("x", asks={"memory": "64Gi"})),
        ONE,
        flat(job("old", asks={"memory": "500Gi"})),
        runs=1,
    ),
    TruthCase(
        "GPUs that are used up",
        "job/x",
        ("4 GPUs short", "old"),
        flat(job("x", 4, gpus=1)),
        ONE,
        flat(job("old", gpus=8)),
        runs=4,
    ),
    TruthCase(
        "GPUs that lie scattered",
        "job/x",
        ("4 of 8 GPUs free", "8 GPUs"),
        flat(job("x", gpus=8)),
        TWO,
        flat(job("a", gpus=4, nodeSelector={HOST: "n-0"}), job("b", gpus=4, nodeSelector={HOST: "n-1"})),
        runs=1,
    ),
    TruthCase(
        "every pod slot of the nodes is taken",
        "job/x",
        ("pod slot", "2 of 2 pods"),
        flat(job("x", 1, asks={"cpu": 1})),
        ({"name": "n", "pods": 2},),
        flat(job("old", 2, asks={"cpu": 1})),
        runs=1,
    ),
    TruthCase(
        "local storage that no node has",
        "job/x",
        ("2048 GiB", "ephemeral-storage"),
        flat(job("x", asks={"ephemeral-storage": "2Ti"})),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a gang of which only a part fits",
        "job/x",
        ("2 of 3 pods find a node", "x-"),
        flat(job("x", 3, asks={"cpu": 30})),
        ONE,
        runs=3,
    ),
    TruthCase("no node at all", "job/x", ("there is no node",), flat(job("x", gpus=1)), (), runs=1),
]
