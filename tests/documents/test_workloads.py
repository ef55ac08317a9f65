"""The examples of docs/guide/workloads.md are grouped as the page says, by the pod grouper itself."""

from __future__ import annotations

from typing import Any

import pytest

from documents.pages import REPOSITORY, blocks
from gangline.api.meta import Raw
from grouper.surroundings import grouped, pod
from yaml_loading import load_yaml

PAGE = REPOSITORY / "docs" / "guide" / "workloads.md"
LABELS = {
    "RayCluster": {"ray.io/group": "gpu"},
    "JobSet": {"jobset.sigs.k8s.io/replicatedjob-name": "workers", "jobset.sigs.k8s.io/job-index": "0"},
    "LeaderWorkerSet": {
        "leaderworkerset.sigs.k8s.io/worker-index": "1",
        "leaderworkerset.sigs.k8s.io/group-index": "0",
    },
}
"""What the controller of a kind puts on its pods."""
MINIMA = {"PyTorchJob": 4, "RayCluster": 3, "LeaderWorkerSet": 4}


def shown() -> dict[str, Raw]:
    found: list[Any] = [load_yaml(block.text) for block in blocks(PAGE, "text")]
    meta = {"namespace": "work", "uid": "its-uid"}
    return {obj["kind"]: {**obj, "metadata": {**obj["metadata"], **meta}} for obj in found}


@pytest.mark.parametrize(("kind", "minimum"), MINIMA.items())
def test_a_workload_starts_with_as_many_pods_as_the_page_says(kind: str, minimum: int) -> None:
    owner = shown()[kind]
    found = grouped(pod(owner=owner, labels=LABELS.get(kind)), owner)
    assert (found.minimum, found.queue) == (minimum, "default-queue")


def test_a_job_set_needs_all_nine_pods() -> None:
    owner = shown()["JobSet"]
    found = grouped(pod(owner=owner, labels=LABELS["JobSet"]), owner)
    assert sum(part.minimum for part in found.parts if part.children is None) == 9


def test_the_driver_of_a_spark_application_starts_alone() -> None:
    driver = shown()["SparkApplication"]["spec"]["driver"]
    labels = {"spark-app-name": "report", "spark-app-selector": "spark-1", **driver["labels"]}
    found = grouped(pod("driver", labels=labels))
    assert (found.minimum, found.queue) == (1, "default-queue")


def test_every_example_names_the_scheduler() -> None:
    for obj in shown().values():
        assert "kai-scheduler" in str(obj["spec"]), obj["kind"]
