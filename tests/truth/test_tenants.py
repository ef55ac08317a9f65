"""What `gangline explain` says to who may read only a part: what may not be read is never taken for absent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gangline.api.kinds import CLUSTER_ROLE, NAMESPACE, ROLE_BINDING
from gangline.api.meta import Raw
from gangline.cli.explain import explain
from gangline.client import Client, User
from gangline.errors import BadInput
from gangline.explaining.explain import explain_name
from gangline.local import Platform
from journeys.story import Story, told
from truth.objects import clique, job, pod_clique_set

GROUP = "rbac.authorization.k8s.io"
PODS = {"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["get", "list"]}
JOBS = {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get", "list"]}
GROUPS = {"apiGroups": ["scheduling.run.ai"], "resources": ["podgroups"], "verbs": ["get", "list"]}


@asynccontextmanager
async def waiting(*rules: Raw, role: str = "few", without: tuple[str, ...] = ()) -> AsyncIterator[tuple[Story, Client]]:
    """A set `mine` and a Job `train` that wait in namespace team, and somebody with a role there."""
    async with told(without=without) as story:
        await story.nodes(1)
        await story.client.create(NAMESPACE, {"metadata": {"name": "team"}})
        for obj in (pod_clique_set("mine", clique("worker", 2, gpus=16)), job("train", gpus=16)):
            obj["metadata"]["namespace"] = "team"
            await story.apply(obj)
        if rules:
            await story.client.create(CLUSTER_ROLE, {"metadata": {"name": role}, "rules": list(rules)})
        subject = {"kind": "User", "name": "dev", "apiGroup": GROUP}
        ref = {"apiGroup": GROUP, "kind": "ClusterRole", "name": role}
        await story.client.create(
            ROLE_BINDING, {"metadata": {"name": "dev", "namespace": "team"}, "roleRef": ref, "subjects": [subject]}
        )
        await story.settles()
        assert isinstance(story.platform, Platform)
        yield story, Client(story.platform.server.transport(User("dev", ("system:authenticated",))), manager="dev")


async def test_what_is_written_on_pods_is_told_where_only_pods_may_be_read() -> None:
    async with waiting(PODS, JOBS) as (_, dev):
        texts = {name: (await explain(dev, name, "team"))[0].text for name in ("mine", "set/mine", "gang/mine-0")}
        everywhere = [answer.text for answer, _ in await explain_name(dev, "", "team", everywhere=True)]
        assert len(set(texts.values())) == 1 and texts["mine"] in everywhere and len(everywhere) == 2
        first, note = texts["mine"].splitlines()
        assert first.startswith("mine-0 waits: ") and "Max GPU resources available in a single node" in first
        assert note.strip().startswith(
            "you may not read podgangs.scheduler.grove.io, podgroups.scheduling.run.ai in namespace team: this is what "
            "one of its pods says; ask an administrator for the right to get, list and watch them there"
        )
        assert not any("nobody else made a PodGroup" in text for text in everywhere)


async def test_it_is_an_error_where_nothing_can_be_told_and_else_what_is_written_on_pods_is() -> None:
    async with waiting(PODS, JOBS, without=("scheduler",)) as (_, dev):
        for name in ("train", "job/train"):
            with pytest.raises(BadInput) as refused:
                await explain(dev, name, "team")
            assert str(refused.value).startswith(
                "train waits: you may not read podgroups.scheduling.run.ai in namespace team, so why cannot be told; "
                "ask an administrator"
            )
        mine, train = [answer.text.splitlines()[0] for answer in await explain(dev, "", "team")]
        assert mine == "mine-0 waits: Scheduling is blocked due to non-empty scheduling gates"
        assert train == str(refused.value)


async def test_the_verdict_on_a_pod_group_is_told_where_its_pod_gang_may_not_be_read() -> None:
    async with waiting(PODS, GROUPS) as (_, dev):
        for name in ("mine", "set/mine", "gang/mine-0"):
            (answer,) = await explain(dev, name, "team")
            assert answer.text.startswith("mine-0 waits: no node has 16 GPUs; the largest has 8 GPUs"), name


async def test_a_name_that_may_be_there_is_not_said_to_be_absent() -> None:
    async with waiting(PODS) as (_, dev):
        with pytest.raises(BadInput) as refused:
            await explain(dev, "set/other", "team")
        assert str(refused.value) == (
            "you may not read podcliquesets.grove.io in namespace team, so whether there is a set 'other' cannot be "
            "told; ask an administrator for the right to get, list and watch them there: the ClusterRole view has it "
            "once `gangline rights tenant` is applied"
        )
        with pytest.raises(BadInput, match=r"you may not read podgroups.* whether there is a pytorchjob 'x'"):
            await explain(dev, "pytorchjob/x", "team")
        with pytest.raises(BadInput, match="there is no pod 'x' in namespace team"):
            await explain(dev, "pod/x", "team")


async def test_who_has_the_role_view_hears_the_verdict_and_what_namespace_was_looked_at() -> None:
    async with waiting(role="view") as (_, dev):
        heard: list[str] = []
        answers = await explain_name(dev, "", "team", everywhere=True, tell=heard.append)
        assert [answer.text.splitlines()[0] for answer, _ in answers] == [
            "mine-0 waits: no node has 16 GPUs; the largest has 8 GPUs",
            "train waits: no node has 16 GPUs; the largest has 8 GPUs",
        ]
        assert heard == ["only namespace team was looked at: you may not list pods of others"]
