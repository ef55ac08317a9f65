"""The forms of `gangline explain`: what a name may be, what is said of names nobody has, what is printed, what is
tried."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click import Command
from click.testing import CliRunner, Result

from gangline.api.kinds import NAMESPACE, QUEUE
from gangline.api.meta import Raw
from gangline.cli.explain import _since, command, explain, headline
from gangline.cli.objects.apply import command as apply
from gangline.client import Client, User
from gangline.errors import BadInput
from gangline.local import Platform, write_kubeconfig
from journeys.story import Story, told
from truth.objects import clique, job, pod_clique_set, queue
from truth.player import asked
from yaml_loading import load_yaml


async def run(story: Story, folder: Path, *arguments: str, command: Command = command) -> Result:
    """The command as a person calls it, against the story's server."""
    assert isinstance(story.platform, Platform)
    file = folder / "kubeconfig"
    if not file.exists():
        write_kubeconfig(story.platform, await story.platform.listen(), file)
    return await asyncio.to_thread(CliRunner().invoke, command, [*arguments, "--kubeconfig", str(file)])


async def test_every_form_of_a_name_leads_to_the_same_answer() -> None:
    async with told() as story:
        await story.nodes(1)
        await story.apply(job("train", gpus=16))
        await story.settles()
        (pod,) = await story.pods()
        texts = {
            (await asked(story, name))[0] for name in ("train", "job/train", "jobs/train", f"pod/{pod.name}", pod.name)
        }
        assert len(texts) == 1
        assert texts.pop().startswith("train waits: node node-0, the only one, has 8 GPUs; the pod asks for 16 GPUs\n")


async def test_a_set_is_told_gang_by_gang_and_gangs_that_are_alike_once() -> None:
    async with told() as story:
        await story.nodes(1)
        await story.apply(pod_clique_set("llm", clique("a", 1, gpus=16), replicas=2))
        await story.settles()
        text, _ = await asked(story, "set/llm")
        assert "llm-0 waits: " in text and text.endswith("and 1 more like it: llm-1")


async def test_a_name_that_means_several_things_lists_them() -> None:
    async with told() as story:
        await story.apply(job("x", gpus=1))
        await story.apply(pod_clique_set("x", clique("a", 1)))
        await story.settles()
        with pytest.raises(BadInput, match="'x' means several things: job/x, set/x; say which"):
            await explain(story.client, "x", "default")


async def test_a_name_nobody_has_gets_the_nearest_one_or_where_it_is() -> None:
    async with told() as story:
        await story.client.create(NAMESPACE, {"metadata": {"name": "team"}})
        await story.apply(job("train", gpus=1))
        await story.apply(job("elsewhere") | {"metadata": {"name": "elsewhere", "namespace": "team"}})
        await story.settles()
        with pytest.raises(BadInput, match=r"no gang.* 'trian' in namespace default; did you mean job/train\?"):
            await explain(story.client, "trian", "default")
        with pytest.raises(BadInput, match="there is job/elsewhere in namespace team"):
            await explain(story.client, "elsewhere", "default")
        with pytest.raises(BadInput, match="'tree' is no kind of workload"):
            await explain(story.client, "tree/train", "default")


async def test_without_a_name_everything_that_waits_is_told(tmp_path: Path) -> None:
    async with told() as story:
        await story.nodes(1)
        await story.client.create(NAMESPACE, {"metadata": {"name": "team"}})
        await story.apply(job("runs", gpus=1))
        await story.apply(job("waits", gpus=16))
        await story.apply(job("other", gpus=16) | {"metadata": {"name": "other", "namespace": "team"}})
        await story.settles()
        here, everywhere = await run(story, tmp_path), await run(story, tmp_path, "-A")
        assert "waits waits: " in here.output and "runs runs" not in here.output and "other" not in here.output
        assert "other waits: " in everywhere.output and "waits waits: " in everywhere.output


async def test_a_remedy_is_printed_as_objects_and_tried_on_a_copy(tmp_path: Path) -> None:
    async with told() as story:
        await story.nodes(1)
        await story.client.create(QUEUE, queue("a", "default-parent-queue", gpu={"limit": 2}))
        await story.apply(job("train", gpus=4, queue="a"))
        await story.settles()
        printed = await run(story, tmp_path, "job/train", "--fix", "1", "-o", "yaml")
        assert load_yaml(printed.output) == {
            "apiVersion": "scheduling.run.ai/v2",
            "kind": "Queue",
            "metadata": {"name": "a"},
            "spec": {"resources": {"gpu": {"limit": 4}}},
        }
        assert "# train would start if Queue/a had spec.resources.gpu.limit: 4 (now 2)" in printed.output
        tried = await run(story, tmp_path, "job/train", "--try")
        assert "→ train runs: 1 pod on node-0" in tried.output and "nothing in the cluster was changed" in tried.output
        assert (await story.client.get_raw(QUEUE, "a"))["spec"]["resources"]["gpu"]["limit"] == 2
        too_far = await run(story, tmp_path, "job/train", "--fix", "9")
        assert too_far.exit_code == 1


async def test_the_answer_as_data_holds_facts_and_changes(tmp_path: Path) -> None:
    async with told() as story:
        await story.nodes(1, unschedulable=True)
        await story.apply(job("train", gpus=4))
        await story.settles()
        (data,) = json.loads((await run(story, tmp_path, "train", "-o", "json")).output)
        assert (data["gang"], data["kind"], data["state"], data["cause"]) == ("train", "job", "waits", "nodes")
        assert (
            data["remedies"][0]["changes"][0]["spec"] == {"unschedulable": False}
            and data["remedies"][0]["tried"] == "cycle"
            and data["remedies"][0]["how"] == ["patch"]
        )
        assert load_yaml((await run(story, tmp_path, "train", "-o", "yaml")).output)[0]["headline"] == data["headline"]


async def test_an_answer_speaks_of_the_cluster_as_it_is_now() -> None:
    """Not of the moment at which the scheduler last wrote a verdict."""
    async with told() as story:
        (node,) = await story.nodes(1, unschedulable=True)
        await story.apply(job("train", gpus=4))
        await story.settles()
        assert (await headline(story.client, "train", "default") or "").endswith(
            "is cordoned (spec.unschedulable: true)"
        )
        await story.platform.dismiss(
            next(manager for manager in story.platform.managers if manager.component.name == "scheduler")
        )
        await story.apply(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": node},
                "spec": {"unschedulable": False, "taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]},
            }
        )
        text, _ = await asked(story, "train")
        assert "taint a=b:NoSchedule" in text and "cordoned" not in text


async def test_watching_says_it_anew_and_ends_when_it_runs(tmp_path: Path) -> None:
    async with told() as story:
        (node,) = await story.nodes(1, unschedulable=True)
        await story.apply(job("train", gpus=4))
        await story.settles()
        watching = asyncio.create_task(run(story, tmp_path, "job/train", "--watch"))
        await story.apply(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}, "spec": {"unschedulable": False}}
        )
        shown = await watching
        assert shown.exit_code == 0 and "train runs: 1 pod on node-0" in shown.output.splitlines()[-1]


async def test_who_may_read_one_namespace_only_hears_what_the_scheduler_wrote() -> None:
    async with told() as story:
        await story.nodes(1)
        await story.apply(job("train", gpus=16))
        rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}]
        await story.apply(
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "look"}, "rules": rules}
        )
        subject = {"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "look"}
        await story.apply(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "RoleBinding",
                "metadata": {"name": "look"},
                "subjects": [subject],
                "roleRef": role,
            }
        )
        await story.settles()
        assert isinstance(story.platform, Platform)
        ann = Client(story.platform.server.transport(User("ann", ("system:authenticated",))), manager="ann")
        (answer,) = await explain(ann, "train", "default")
        assert answer.text.startswith("train waits: no node has 16 GPUs; the largest has 8 GPUs")
        assert "you may not read pods, nodes, queues.scheduling.run.ai" in answer.text


GATE = {"name": "example.com/hold"}


@pytest.mark.parametrize(
    "waiting",
    [job("x", gpus=1, scheduler="kai"), job("x", gpus=1, schedulingGates=[GATE, {"name": "example.com/other"}])],
    ids=["made anew", "taken out of a list"],
)
@pytest.mark.parametrize("output", ["yaml", "json"])
async def test_a_printed_remedy_is_applied_as_it_is_meant(waiting: Raw, output: str, tmp_path: Path) -> None:
    async with told() as story:
        await story.nodes(1)
        await story.apply(waiting)
        await story.settles()
        printed = await run(story, tmp_path, "job/x", "--fix", "1", "-o", output)
        (tmp_path / "fix.yaml").write_text(printed.output)
        applied = await run(story, tmp_path, "-f", str(tmp_path / "fix.yaml"), command=apply)
        assert applied.exit_code == 0, applied.output
        await story.until(lambda: _all_placed(story), printed.output)


async def _all_placed(story: Story) -> bool:
    pods = await story.pods()
    return bool(pods) and all(pod.spec.node_name for pod in pods)


def test_between_two_answers_of_watch_stand_the_time_and_who_waits_no_more() -> None:
    blank, moment, gone = _since([("x-0", "waits"), ("y-0", "waits")], [("y-0", "waits")])
    assert (blank, gone) == ("", "x-0 waits no more")
    assert moment.endswith("Z")
