"""The grouper at work on an embedded server: what it writes, what it leaves to others, and what it says when it
cannot."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from embedded import ADMIN, until, world
from gangline.api import names
from gangline.api.kai import PodGroup
from gangline.api.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CRD,
    EVENT,
    JOB,
    NAMESPACE,
    POD,
    POD_GANG,
    POD_GROUP,
    foreign,
    reference,
)
from gangline.api.meta import Raw
from gangline.client import Client, User
from gangline.client.lanes import AT_ONCE
from gangline.config import KAI, manner
from gangline.grouper.component import component
from gangline.grouper.settings import GrouperSettings
from gangline.runtime import ManualClock
from scheduler_world import SPACE, SchedulerWorld


class GrouperWorld(SchedulerWorld):
    async def job(self, name: str, **meta: Any) -> Raw:
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "img"}]}}
        made = await self.client.create(
            JOB,
            {
                "metadata": {"name": name, "namespace": SPACE, "labels": {"a": "b"}, **meta},
                "spec": {"parallelism": 4, "template": template},
            },
        )
        return reference(JOB, made)

    def advance(self, seconds: float) -> None:
        assert isinstance(self.clock, ManualClock)
        self.clock.advance(seconds)

    def crowd(self) -> None:
        """So many urgent writes are under way that reports have to wait."""
        for _ in range(AT_ONCE):
            self.managers["grouper"].context.writer.lanes.begin()

    async def touch(self, name: str, value: str) -> None:
        await self.client.patch(POD, name, SPACE, {"metadata": {"annotations": {"example.com/touch": value}}})
        await self.settles()

    async def groups(self) -> list[PodGroup]:
        return (await self.client.list(POD_GROUP, SPACE)).items

    async def mark(self, name: str) -> tuple[str | None, str | None]:
        pod = await self.client.get(POD, name, SPACE)
        return pod.annotations.get(names.POD_GROUP_NAME), pod.labels.get(names.SUB_GROUP)

    async def warnings(self) -> list[str]:
        return [event.message for event in (await self.client.list(EVENT, SPACE)).items if event.type == "Warning"]


@asynccontextmanager
async def grouping(settings: GrouperSettings | None = None, user: User = ADMIN) -> AsyncIterator[GrouperWorld]:
    async with world(GrouperWorld, clock=ManualClock()) as scene:
        await scene.client.create(NAMESPACE, {"metadata": {"name": SPACE}})
        await _allow(scene.client, user)
        await scene.start(component(settings or GrouperSettings()), scene.server.transport(user))
        yield scene


async def _allow(client: Client, user: User) -> None:
    if user is ADMIN:
        return
    rules = [
        {"apiGroups": ["", "scheduling.run.ai"], "resources": ["pods", "events", "podgroups"], "verbs": ["*"]},
        {"apiGroups": ["scheduling.k8s.io"], "resources": ["priorityclasses"], "verbs": ["list", "watch"]},
    ]
    await client.create(CLUSTER_ROLE, {"metadata": {"name": "little"}, "rules": rules})
    await client.create(
        CLUSTER_ROLE_BINDING,
        {
            "metadata": {"name": "little"},
            "subjects": [{"kind": "User", "name": user.name}],
            "roleRef": {"apiGroup": CLUSTER_ROLE.group, "kind": "ClusterRole", "name": "little"},
        },
    )


async def test_the_pods_of_a_job_share_one_group_which_says_so_and_carry_its_name_when_they_wait() -> None:
    async with grouping() as scene:
        job = await scene.job("train", annotations={names.BATCH_MIN_MEMBER: "4"}, labels={names.QUEUE: "team-a"})
        for number in range(4):
            await scene.pod(f"train-{number}", owner=job)
        await scene.settles()
        (group,) = await scene.groups()
        assert (group.spec.min_member, group.spec.queue, group.spec.priority_class_name) == (4, "team-a", "train")
        assert group.annotations[names.MEMBERS] == "owned"
        assert {await scene.mark(f"train-{number}") for number in range(4)} == {(None, None)}
        scene.advance(30.1)
        await scene.settles()
        assert {await scene.mark(f"train-{number}") for number in range(4)} == {(group.name, None)}
        assert await scene.warnings() == []


async def test_a_pod_of_a_gang_is_marked_with_its_sub_group() -> None:
    async with grouping() as scene:
        made = await scene.client.create(foreign("grove.io/v1alpha1", "PodCliqueSet", "podcliquesets"), _clique_set())
        owner = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "inf", "uid": made.uid}
        await scene.client.create(
            POD_GANG,
            {
                "metadata": {"name": "inf-0", "namespace": SPACE},
                "spec": {
                    "podgroups": [
                        {"name": "a", "minReplicas": 1, "podReferences": [{"namespace": SPACE, "name": "a-0"}]}
                    ]
                },
            },
        )
        await scene.pod("a-0", owner=owner, labels={names.POD_GANG: "inf-0"})
        await scene.settles()
        (group,) = await scene.groups()
        assert [(sub_group.name, sub_group.min_member) for sub_group in group.spec.sub_groups] == [("a", 1)]
        assert await scene.mark("a-0") == (group.name, "a")


def _clique_set() -> Raw:
    clique = {
        "name": "a",
        "spec": {"roleName": "a", "replicas": 1, "podSpec": {"containers": [{"name": "c", "image": "i"}]}},
    }
    return {"metadata": {"name": "inf", "namespace": SPACE}, "spec": {"replicas": 1, "template": {"cliques": [clique]}}}


async def test_a_group_follows_its_workload_but_leaves_the_queue_to_whoever_changed_it() -> None:
    async with grouping() as scene:
        job = await scene.job("j", labels={names.QUEUE: "team-a"})
        await scene.pod("j-0", owner=job)
        await scene.settles()
        (group,) = await scene.groups()
        change = {
            "spec": {"queue": "team-b", "markUnschedulable": False, "minMember": 9},
            "metadata": {"labels": {"mine": "yes"}},
        }
        await scene.client.patch(POD_GROUP, group.name, SPACE, change)
        await scene.client.patch(JOB, "j", SPACE, {"metadata": {"annotations": {names.BATCH_MIN_MEMBER: "3"}}})
        await scene.touch("j-0", "1")
        (group,) = await scene.groups()
        assert (group.spec.queue, group.spec.mark_unschedulable, group.spec.min_member) == ("team-b", False, 3)
        assert group.labels["mine"] == "yes"


async def test_a_topology_that_somebody_assigned_stays_until_the_workload_names_one() -> None:
    async with grouping() as scene:
        job = await scene.job("j")
        await scene.pod("j-0", owner=job)
        await scene.settles()
        (group,) = await scene.groups()
        levels = {"topology": "dc", "requiredTopologyLevel": "rack", "preferredTopologyLevel": "host"}
        await scene.client.patch(POD_GROUP, group.name, SPACE, {"spec": {"topologyConstraint": levels}})
        await scene.touch("j-0", "1")
        assert (await scene.groups())[0].spec.topology_constraint.required_topology_level == "rack"
        said = {names.TOPOLOGY: "own", names.TOPOLOGY_PREFERRED: "zone"}
        await scene.client.patch(JOB, "j", SPACE, {"metadata": {"annotations": said}})
        await scene.touch("j-0", "2")
        now = (await scene.groups())[0].spec.topology_constraint
        assert (now.topology, now.required_topology_level, now.preferred_topology_level) == ("own", "", "zone")


async def test_a_group_that_is_deleted_is_made_anew_at_once() -> None:
    async with grouping() as scene:
        await scene.pod("solo")
        await scene.settles()
        (group,) = await scene.groups()
        await scene.client.delete(POD_GROUP, group.name, SPACE)
        await scene.settles()
        assert [item.name for item in await scene.groups()] == [group.name]


async def test_a_group_that_is_deleted_waits_for_an_event_of_a_pod_where_upstream_is_imitated() -> None:
    async with grouping(GrouperSettings(manner=manner([KAI]))) as scene:
        job = await scene.job("j")
        await scene.pod("j-0", owner=job)
        await scene.settles()
        (group,) = await scene.groups()
        await scene.client.delete(POD_GROUP, group.name, SPACE)
        await scene.settles()
        assert await scene.groups() == []
        await scene.touch("j-0", "1")
        assert [item.name for item in await scene.groups()] == [group.name]


async def test_a_mark_that_somebody_removed_is_set_again() -> None:
    async with grouping() as scene:
        job = await scene.job("j")
        await scene.pod("j-0", owner=job)
        await scene.settles()
        marked = await scene.mark("j-0")
        await scene.client.patch(POD, "j-0", SPACE, {"metadata": {"annotations": {names.POD_GROUP_NAME: None}}})
        await scene.settles()
        assert await scene.mark("j-0") == marked


async def test_a_pod_that_cannot_be_grouped_says_why_in_an_event() -> None:
    async with grouping() as scene:
        job = await scene.job("j", annotations={names.BATCH_MIN_MEMBER: "four"})
        await scene.pod("j-0", owner=job)
        await scene.settles()
        assert await scene.groups() == []
        assert await scene.warnings() == [
            "annotation kai.scheduler/batch-min-member of Job work/j must be a whole number, not 'four'"
        ]


async def test_an_owner_of_a_kind_that_is_not_installed_is_named() -> None:
    async with grouping() as scene:
        await scene.pod("p", owner={"apiVersion": "no.such/v1", "kind": "Thing", "name": "t", "uid": "1"})
        await scene.settles()
        (warning,) = await scene.warnings()
        assert "no matches for kind 'Thing' in version 'no.such/v1': is its definition installed?" in warning


async def test_owners_that_the_grouper_may_not_read_are_left_out() -> None:
    async with grouping(user=User("little", ("system:authenticated",))) as scene:
        job = await scene.job("j")
        await scene.pod("j-0", owner=job)
        await scene.settles()
        (group,) = await scene.groups()
        assert group.metadata.owner_references[0].kind == "Pod"


async def test_a_kind_that_is_installed_later_is_found() -> None:
    async with grouping() as scene:
        await scene.pod("p", owner={"apiVersion": "example.com/v1", "kind": "Thing", "name": "t", "uid": "unknown"})
        await scene.settles()
        assert await scene.groups() == []
        anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        await scene.client.create(
            CRD,
            {
                "metadata": {"name": "things.example.com"},
                "spec": {
                    "group": "example.com",
                    "scope": "Namespaced",
                    "names": {"kind": "Thing", "plural": "things"},
                    "versions": [
                        {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}
                    ],
                },
            },
        )
        thing = foreign("example.com/v1", "Thing", "things")
        made = await scene.client.create(thing, {"metadata": {"name": "t", "namespace": SPACE}})
        await scene.pod("q", owner=reference(thing, made))
        await scene.settles()
        assert await scene.groups() == []
        assert isinstance(scene.clock, ManualClock)
        scene.clock.advance(61)
        await scene.touch("q", "1")
        assert [group.name for group in await scene.groups()] == [f"pg-t-{made.uid}"]


async def test_in_a_crowd_the_group_of_a_gang_is_made_first_and_that_of_a_single_when_it_is_refused_a_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with grouping() as scene:
        scene.crowd()
        monkeypatch.setattr("gangline.client.lanes.TICK", 3600.0)
        alone = await scene.pod("alone")
        await scene.pod("train-0", owner=await scene.job("train"))
        await until(lambda: _grouped(scene))
        scene.advance(30.1)
        (group,) = await scene.groups()
        assert group.name.startswith("pg-train-")
        refused = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        await scene.client.patch(POD, "alone", SPACE, {"status": {"conditions": [refused]}}, subresource="status")
        own = names.kai_pod_group("alone", alone.uid)
        await until(lambda: _is_there(scene, own))


async def test_a_group_that_is_written_after_the_bind_says_nothing_of_the_place_and_is_not_written_again() -> None:
    async with grouping() as scene:
        made = await scene.pod("alone", annotations={"example.com/a": "b"})
        await scene.kill("grouper")
        for group in await scene.groups():
            await scene.client.delete(POD_GROUP, group.name, SPACE)
        own = names.kai_pod_group("alone", made.uid)
        notes = {names.POD_GROUP_NAME: own, names.PLACED: "by allocate"}
        await scene.client.bind("alone", SPACE, "n0", annotations=notes)
        await scene.start(component(GrouperSettings()))
        await scene.settles()
        (group,) = await scene.groups()
        assert group.annotations["example.com/a"] == "b" and not group.annotations.keys() & notes.keys()
        await scene.touch("alone", "c")
        assert (await scene.groups())[0].metadata.resource_version == group.metadata.resource_version


async def test_in_a_crowd_without_end_the_group_of_a_single_is_made_in_turn() -> None:
    async with grouping() as scene:
        scene.crowd()
        for name in ("one", "two", "three"):
            await scene.pod(name)
        await until(lambda: _grouped(scene, 3))
        assert not scene.managers["grouper"].writer.lanes.calm


async def test_a_pod_that_is_refused_a_node_is_marked() -> None:
    async with grouping() as scene:
        await scene.pod("alone")
        await scene.settles()
        (group,) = await scene.groups()
        assert await scene.mark("alone") == (None, None)
        refused = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        await scene.client.patch(POD, "alone", SPACE, {"status": {"conditions": [refused]}}, subresource="status")
        await scene.settles()
        assert await scene.mark("alone") == (group.name, None)


async def test_a_pod_that_is_neither_placed_nor_refused_is_marked_after_a_while_in_turn() -> None:
    async with grouping() as scene:
        scene.crowd()
        await scene.pod("alone")
        await scene.settles()
        (group,) = await scene.groups()
        assert await scene.mark("alone") == (None, None)
        scene.advance(30.1)
        await scene.settles()
        assert await scene.mark("alone") == (group.name, None)


async def test_in_upstreams_manner_every_pod_is_marked_at_once_and_no_group_says_whose_it_is() -> None:
    async with grouping(GrouperSettings(manner=manner([KAI]))) as scene:
        await scene.pod("alone")
        await scene.pod("train-0", owner=await scene.job("train"))
        await scene.settles()
        marks = {(await scene.mark(name))[0] for name in ("alone", "train-0")}
        groups = await scene.groups()
        assert marks == {group.name for group in groups}
        assert not any(names.MEMBERS in group.annotations for group in groups)


async def _grouped(scene: GrouperWorld, groups: int = 1) -> bool:
    return len(await scene.groups()) >= groups


async def _is_there(scene: GrouperWorld, group: str) -> bool:
    return group in {item.name for item in await scene.groups()}


# --- owners that go, and owners that are mended -----------------------------------------------------------------------


@pytest.mark.parametrize(("compat", "told"), [((), 0), ((KAI,), 1)])
async def test_a_grouped_pod_that_outlives_its_owner_is_no_warning(compat: tuple[str, ...], told: int) -> None:
    async with grouping(GrouperSettings(manner=manner(compat))) as scene:
        await scene.pod("train-0", owner=await scene.job("train"))
        await scene.settles()
        await scene.client.delete(JOB, "train", SPACE, propagation="Background")
        await scene.touch("train-0", "again")
        assert len(await scene.warnings()) == told


@pytest.mark.parametrize(("compat", "told"), [((), 0), ((KAI,), 1)])
async def test_a_pod_that_came_after_its_owner_went_is_a_warning_only_if_it_stays(
    compat: tuple[str, ...], told: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with grouping(GrouperSettings(manner=manner(compat))) as scene:
        job = await scene.job("train")
        await scene.client.delete(JOB, "train", SPACE, propagation="Background")
        await scene.pod("train-0", owner=job)
        await scene.settles()
        assert len(await scene.warnings()) == told and ("failed to find" in caplog.text) == bool(told)
        scene.advance(11)
        await scene.settles()
        [warning] = await scene.warnings()
        assert "failed to find Job work/train" in warning


async def test_a_mistake_is_one_line_of_the_log_and_its_correction_counts_within_ten_seconds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with grouping() as scene:
        await scene.pod("train-0", owner=await scene.job("train", annotations={names.BATCH_MIN_MEMBER: "four"}))
        for _ in range(20):
            await scene.settles()
            scene.advance(10.0)
        lines = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
        assert [line.partition(":")[0] for line in lines] == [f"grouper {SPACE}/train-0"]
        right = {"metadata": {"annotations": {names.BATCH_MIN_MEMBER: "1"}}}
        await scene.client.patch(JOB, "train", SPACE, right)
        await scene.settles()
        scene.advance(10.0)
        await scene.settles()
        assert [group.spec.min_member for group in await scene.groups()] == [1]
