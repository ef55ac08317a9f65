"""How fast the dashboard makes its overview: objects → page as data → HTML, as one JSON line.

    python bench/dashboard.py [--pods N] [--nodes N] [--rounds N] [--profile]

Without a cluster: objects are made here, in gangs of 8 one-GPU pods, three of four running, every waiting one with a
verdict. `facts_ms` is what reading every pod and node once costs (the service does it as they change); `model_ms` and
`html_ms` are paid by every request."""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import time
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from gangline.api import names
from gangline.api.kinds import NODE, POD, POD_GROUP, QUEUE, Kind
from gangline.dashboard.look import ClusterView, node_fact, pod_fact
from gangline.dashboard.page_data import PageSource
from gangline.dashboard.pages import overview
from gangline.dashboard.views import document

GANG = 8
WHEN = "2026-01-01T00:00:00Z"
T = TypeVar("T")


def look(pods: int, nodes: int) -> tuple[ClusterView, float]:
    """A full cluster, and what the facts of its pods and nodes cost in seconds."""
    made = [read(POD, pod(number, pods, nodes)) for number in range(pods)]
    machines = [read(NODE, node(number)) for number in range(nodes)]
    groups = [read(POD_GROUP, group(number, running=number * GANG < pods * 3 // 4)) for number in range(pods // GANG)]
    queues = [read(QUEUE, queue(number)) for number in range(40)]
    started = time.perf_counter()
    facts, rooms = [pod_fact(item) for item in made], [node_fact(machine) for machine in machines]
    spent = time.perf_counter() - started
    return ClusterView(
        source=PageSource(server="bench", now=1.8e9, heard=1.8e9), pods=facts, nodes=rooms, groups=groups, queues=queues
    ), spent


def read(kind: Kind[Any], obj: dict[str, Any]) -> Any:
    return msgspec.convert(obj, kind.type)


def pod(number: int, pods: int, nodes: int) -> dict[str, Any]:
    running = number < pods * 3 // 4
    asked = {"cpu": "4", "memory": "16Gi", names.NVIDIA_GPU: "1"}
    return {
        "metadata": {
            "name": f"pod-{number}",
            "namespace": "work",
            "uid": f"p{number}",
            "creationTimestamp": WHEN,
            "annotations": {names.POD_GROUP_NAME: f"gang-{number // GANG}"},
        },
        "spec": {
            "containers": [{"name": "main", "resources": {"requests": asked}}],
            "schedulerName": names.KAI_SCHEDULER,
            "nodeName": f"node-{number % nodes}" if running else "",
        },
        "status": {"phase": "Running" if running else "Pending"},
    }


def node(number: int) -> dict[str, Any]:
    has = {"cpu": "128", "memory": "1Ti", "pods": "110", names.NVIDIA_GPU: "8"}
    return {
        "metadata": {"name": f"node-{number}"},
        "status": {"allocatable": has, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def group(number: int, running: bool) -> dict[str, Any]:
    why = {
        "headline": f"gang-{number} waits: 8 GPUs short",
        "text": f"gang-{number} waits: 8 GPUs short\n  needs     8 GPUs for 8 pods",
        "remedies": [{"kind": "nodes", "text": "there was 1 more node with 8 free GPUs"}],
        "position": 1,
        "waiting": 1,
    }
    return {
        "metadata": {
            "name": f"gang-{number}",
            "namespace": "work",
            "uid": f"g{number}",
            "creationTimestamp": WHEN,
            "annotations": {} if running else {names.VERDICT: json.dumps(why)},
        },
        "spec": {"minMember": GANG, "queue": f"queue-{number % 40}"},
    }


def queue(number: int) -> dict[str, Any]:
    return {
        "metadata": {"name": f"queue-{number}"},
        "spec": {
            "parentQueue": f"queue-{number // 4}" if number >= 4 else "",
            "resources": {"gpu": {"quota": 100, "limit": -1, "overQuotaWeight": 1}},
        },
        "status": {"allocated": {names.NVIDIA_GPU: "120"}, "requested": {names.NVIDIA_GPU: "200"}},
    }


def timed(work: Callable[[], T], rounds: int) -> tuple[T, float]:
    """The answer, and the median time in milliseconds."""
    times, answer = [], work()
    for _ in range(rounds):
        started = time.perf_counter()
        answer = work()
        times.append(time.perf_counter() - started)
    return answer, sorted(times)[len(times) // 2] * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    seen, facts = look(given.pods, given.nodes)
    if given.profile:
        with cProfile.Profile() as profile:
            document(overview(seen, {}))
        pstats.Stats(profile).sort_stats("cumulative").print_stats(30)
    page, model = timed(lambda: overview(seen, {}), given.rounds)
    text, html = timed(lambda: document(page), given.rounds)
    print(
        json.dumps(
            {
                "bench": "dashboard",
                "scenario": "overview",
                "pods": given.pods,
                "nodes": given.nodes,
                "gangs": len(seen.groups),
                "facts_ms": round(facts * 1000, 1),
                "model_ms": round(model, 1),
                "html_ms": round(html, 1),
                "bytes": len(text),
            }
        )
    )


if __name__ == "__main__":
    main()
