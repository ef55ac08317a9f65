"""Real kubectl against the embedded platform: what a user types on the first day."""

from __future__ import annotations

from pathlib import Path

import pytest

from embedded import PATIENCE
from gangline.api.kinds import POD, POD_CLIQUE, POD_GANG, POD_GROUP
from gangline.local import Platform, write_kubeconfig
from journeys import kubectl
from journeys.kubectl import Kubectl
from journeys.story import Story

pytestmark = pytest.mark.skipif(kubectl.find() is None, reason=kubectl.MISSING)


@pytest.fixture
async def run(story: Story, tmp_path: Path) -> Kubectl:
    if not isinstance(story.platform, Platform):
        return Kubectl(kubectl.find() or "", story.platform.home.plane.kubeconfig, tmp_path)  # type: ignore[attr-defined]
    url = await story.platform.listen()
    return Kubectl(kubectl.find() or "", write_kubeconfig(story.platform, url, tmp_path / "kubeconfig"), tmp_path)


async def test_apply_get_describe_wait_and_delete_work_on_a_set(story: Story, run: Kubectl) -> None:
    await story.nodes(2, gpus=8)
    assert "podcliqueset.grove.io/llm created" in await run("apply", "-f", "examples/01-gang/llm.yaml")
    await run("wait", "--for=jsonpath={.status.availableReplicas}=1", "pcs/llm", f"--timeout={PATIENCE:.0f}s")
    await run("wait", "--for=condition=Ready", "pods", "--all", f"--timeout={PATIENCE:.0f}s")
    shown = await run("get", "podgangs")
    assert [line.split()[:3] for line in shown.splitlines()] == [
        ["NAME", "PHASE", "BACKEND"],
        ["llm-0", "Running", "kai"],
    ]
    pods = (await run("get", "pods", "--no-headers")).splitlines()
    assert len(pods) == 5 and all("Running" in line for line in pods)
    heading, group = (line.split() for line in (await run("get", "podgroups.scheduling.run.ai")).splitlines())
    assert heading[:6] == ["NAME", "QUEUE", "PHASE", "MIN", "ASKED", "GPUS"] and group[0].startswith("pg-llm-0-")
    assert group[1:4] == ["default-queue", "Running", "4"]
    described = await run("describe", "podgang", "llm-0")
    assert "Kind:         PodGang" in described and "llm-0-decode" in described
    assert "node-" in await run("describe", "pod", pods[0].split()[0])

    deleted = await run("delete", "-f", "examples/01-gang/llm.yaml", "--wait=true", f"--timeout={PATIENCE:.0f}s")
    assert 'podcliqueset.grove.io "llm" deleted' in deleted
    await story.gone(POD, POD_GANG, POD_GROUP, POD_CLIQUE)
    assert "No resources found" in await run("get", "pods,podgangs,podgroups.scheduling.run.ai,pclq")


async def test_a_wrong_manifest_is_refused_with_the_field(run: Kubectl) -> None:
    text = """
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: bad}
spec:
  replicas: 1
  template:
    cliques:
    - name: worker
      spec: {roleName: worker, replicas: 1, minAvailable: 2, podSpec: {containers: [{name: c, image: i}]}}
"""
    shown = await run("apply", "-f", "-", stdin=text, code=1)
    assert "spec.template.cliques[0].spec.minAvailable" in shown


async def test_nodes_queues_and_unknown_kinds_answer_as_on_a_cluster(story: Story, run: Kubectl) -> None:
    await story.nodes(2, gpus=8)
    nodes = await run("get", "nodes")
    assert nodes.count(" Ready ") == 2
    assert "default-queue" in await run("get", "queues.scheduling.run.ai")
    assert "batch created" in await run("apply", "-f", "examples/05-queues/queues.yaml")
    assert "batch unchanged" in await run("apply", "-f", "examples/05-queues/queues.yaml")
    assert "the server doesn't have a resource type" in await run("get", "unicorns", code=1)
    assert 'pods "nobody" not found' in await run("get", "pod", "nobody", code=1)
