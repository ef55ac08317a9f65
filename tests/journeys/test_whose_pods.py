"""Whose pods the scheduler half takes: those of its scheduler names, and those that name a queue where somebody says
so."""

from __future__ import annotations

from typing import Any

from gangline.admission.scheduling.settings import AdmissionSettings
from gangline.api.kinds import NAMESPACE, POD, POD_GROUP
from gangline.api.meta import Raw
from journeys.sets import Sets
from journeys.story import Story, told

LABEL = "gangline.io/schedule-queued-pods"


def queued(namespace: str, annotations: dict[str, str] | None = None, **spec: Any) -> Raw:
    return {
        "metadata": {
            "name": "p",
            "namespace": namespace,
            "labels": {"kai.scheduler/queue": "default-queue"},
            "annotations": annotations or {},
        },
        "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
    }


async def test_pods_of_grove_scheduler_are_grouped_scheduled_and_counted(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.pod("p", gpus=1, schedulerName="grove-scheduler")
    await story.runs("p")
    (group,) = (await story.client.list(POD_GROUP, "default")).items
    await story.until(lambda: _counted(story, group.name), "what the pod holds in the group's status")


async def _counted(story: Story, name: str) -> bool:
    return bool((await story.client.get(POD_GROUP, name, "default")).status.resources_status.allocated)


async def test_a_set_may_name_grove_scheduler(sets: Sets) -> None:
    await sets.story.nodes(1, gpus=4)
    await sets.story.apply("""
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: w, labels: {kai.scheduler/queue: default-queue}}
spec:
  replicas: 1
  template:
    cliques:
    - name: c
      spec:
        roleName: c
        replicas: 2
        podSpec:
          schedulerName: grove-scheduler
          containers: [{name: main, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]
""")
    await sets.story.until(lambda: _all_run(sets.story, 2), "both pods")


async def _all_run(story: Story, count: int) -> bool:
    pods = (await story.client.list(POD, "default")).items
    return [(pod.spec.scheduler_name, pod.status.phase) for pod in pods] == [("grove-scheduler", "Running")] * count


async def test_in_a_namespace_that_says_so_a_pod_with_a_queue_is_completed_as_ours(story: Story) -> None:
    for name, labels in (("chosen", {LABEL: "true"}), ("other", {})):
        await story.client.create(NAMESPACE, {"metadata": {"name": name, "labels": labels}})
        await story.client.create(POD, queued(name, {"gpu-fraction": "0.5"}))
    found, left = [await story.client.get(POD, "p", name) for name in ("chosen", "other")]
    assert (found.spec.scheduler_name, left.spec.scheduler_name) == ("kai-scheduler", "default-scheduler")
    assert ["runai/shared-gpu-configmap" in item.annotations for item in (found, left)] == [True, False]


async def test_by_a_setting_pods_with_a_queue_are_ours_everywhere() -> None:
    async with told(admission=AdmissionSettings(schedule_queued_pods=True)) as story:
        await story.nodes(1, gpus=1)
        await story.client.create(POD, queued("default"))
        await story.runs("p")
        assert (await story.get_pod("p")).spec.scheduler_name == "kai-scheduler"
