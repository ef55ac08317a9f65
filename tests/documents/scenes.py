"""What a page takes for granted before its first command: nodes, objects, files. Plain data.

A page that is not named here needs nothing but the platform as `gangline up` starts it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import yaml

from documents.pages import REPOSITORY, blocks
from gangline.api import names
from gangline.api.meta import Raw
from truth.objects import clique, group, job, pod, pod_clique_set, queue
from yaml_loading import load_all_yaml


@dataclass(frozen=True, slots=True)
class PageScene:
    objects: tuple[Raw, ...] = ()
    later: tuple[Raw, ...] = ()
    """Objects that come once the first ones have found their places."""
    files: Mapping[str, str] = field(default_factory=dict)
    nodes: str = ""
    """A nodes file; empty: the nodes that `gangline up` has by itself."""


def namespace(name: str) -> Raw:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def inside(namespace: str, obj: Raw) -> Raw:
    return {**obj, "metadata": {**obj["metadata"], "namespace": namespace}}


def in_queue(queue: str, obj: Raw) -> Raw:
    return {**obj, "metadata": {**obj["metadata"], "labels": {names.QUEUE: queue}}}


def shown(page: str, *names: str) -> dict[str, str]:
    """The blocks of YAML of a page, in its order, as the files that it tells to write them into."""
    return dict(zip(names, (block.text for block in blocks(REPOSITORY / page, "yaml")), strict=False))


def written(page: str) -> tuple[Raw, ...]:
    """The objects that a page shows."""
    return tuple(obj for block in blocks(REPOSITORY / page, "yaml") for obj in load_all_yaml(block.text))


JOBS = "arrival,duration,gpus,queue\n0,600,8,team-a\n60,600,4,team-b\n120,60,1,team-a\n"
GPU_QUOTA = {"quota": 8, "limit": -1, "overQuotaWeight": 1}
INSTALLED = {"apiVersion": "kai.scheduler/v1", "kind": "Config", "metadata": {"name": "kai-config"}, "spec": {}}
DEFAULT_SHARD = {"apiVersion": "kai.scheduler/v1", "kind": "SchedulingShard", "metadata": {"name": "default"}}
"""What `gangline install` leaves behind, as far as the pages name it."""


def reclaimed(borrower: str, lender: str, files: Mapping[str, str]) -> PageScene:
    """Gang sweep-0 borrows a whole node; serve-0 of the queue that lent it takes it back."""
    queues = (queue(borrower, gpu=GPU_QUOTA | {"quota": 0}), queue(lender, gpu=GPU_QUOTA))
    sweep = in_queue(borrower, pod_clique_set("sweep", clique("worker", 2, gpus=4)))
    serve = in_queue(lender, pod_clique_set("serve", clique("worker", 2, gpus=4)))
    return PageScene((*queues, sweep), (serve,), files, nodes="nodes: [{name: node, gpus: 8}]")


SCENES = {
    "README.md": PageScene(files={"jobs.csv": JOBS}),
    "docs/backends.md": PageScene(objects=(namespace("gangline-system"),)),
    "docs/how-it-decides.md": PageScene(objects=(pod_clique_set("large", clique("worker", 5, gpus=8)),)),
    "docs/guide/autoscaling.md": PageScene(
        objects=(INSTALLED,), nodes=(REPOSITORY / "examples" / "nodes.yaml").read_text()
    ),
    "docs/guide/disruption.md": PageScene(
        objects=(group("pg-train-9"), pod_clique_set("llm", clique("worker", 1, gpus=1)))
    ),
    "docs/guide/backup.md": PageScene(
        objects=(queue("team", gpu=GPU_QUOTA), in_queue("team", pod_clique_set("llm", clique("worker", 2, gpus=1))))
    ),
    "docs/guide/configure.md": PageScene(
        objects=(INSTALLED, DEFAULT_SHARD), files=shown("docs/guide/configure.md", "my-config.yaml")
    ),
    "docs/guide/high-availability.md": PageScene(objects=(INSTALLED,)),
    "docs/guide/sizing.md": PageScene(objects=(INSTALLED,)),
    "docs/guide/gpu-sharing.md": PageScene(
        objects=(INSTALLED,), files=shown("docs/guide/gpu-sharing.md", "notebooks.yaml")
    ),
    "docs/guide/time-based-fair-share.md": PageScene(
        objects=(DEFAULT_SHARD,), files=shown("docs/guide/time-based-fair-share.md", "usage.yaml")
    ),
    "docs/guide/history.md": reclaimed("research", "serving", {}),
    "docs/guide/install.md": PageScene(objects=(INSTALLED, namespace("team-a"))),
    "docs/guide/monitoring.md": PageScene(objects=(namespace("monitoring"),)),
    "docs/guide/queues.md": PageScene(objects=written("docs/guide/queues.md")),
    "docs/guide/shards.md": PageScene(files=shown("docs/guide/shards.md", "research.yaml", "probe.yaml")),
    "docs/guide/simulate.md": reclaimed(
        "team-a",
        "team-b",
        {
            "jobs.csv": JOBS,
            "philly.csv": "timestamp,duration,num_gpus\n2017-10-09 07:01:55,600,8\n2017-10-09 07:02:55,600,4\n",
            "pods.csv": "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1000,1024,1,1000\nb,1000,1024,1,500\n",
            "nodes.csv": "sn,cpu_milli,memory_mib,gpu,model\nn-0,64000,262144,2,V100M16\n",
            "queues.yaml": yaml.safe_dump_all([queue("team-a", gpu=GPU_QUOTA), queue("team-b", gpu=GPU_QUOTA)]),
        },
    ),
    "docs/guide/start-times.md": PageScene(
        objects=(job("train-9", 4, gpus=8),), later=(job("big", 1, gpus=8), pod("small-0", gpus=1))
    ),
    "docs/guide/whatif.md": PageScene(
        objects=(
            namespace("team-b"),
            queue("team-a"),
            *(inside("team-b", job(f"sweep-{number}", gpus=8)) for number in range(4)),
        ),
        files={"job.yaml": yaml.safe_dump(job("train", gpus=8, queue="team-a"))},
        nodes="nodes: [{name: h100, count: 4, gpus: 8}]",
    ),
    "docs/guide/why.md": PageScene(objects=(job("train", gpus=16),)),
}
