"""The phase and conditions of a PodGroup: what they say, that upstream's field keeps them, and how few writes that
takes."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from gangline.api import names
from gangline.api.kai import PodGroupSpec
from gangline.api.kinds import POD, POD_GROUP
from gangline.api.meta import Raw
from gangline.config import KAI, manner
from gangline.controllers.component import pod_group_controller
from gangline.controllers.phases import PodStanding, PodStandings, conditions, met, minimum, phase
from scheduler_world import SPACE, SchedulerWorld, scheduler_world

TREE = {
    "subGroups": [
        {"name": "leader", "minMember": 1},
        {"name": "workers", "minSubGroup": 1},
        {"name": "a", "parent": "workers", "minMember": 2},
        {"name": "b", "parent": "workers", "minMember": 2},
    ]
}


def spec(**said: Any) -> PodGroupSpec:
    return msgspec.convert(said, PodGroupSpec)


def pods(*states: str, part: str = "") -> PodStandings:
    found = PodStandings()
    for number, state in enumerate(states):
        found.put((part, number), PodStanding(part, state))
    return found


@pytest.mark.parametrize(
    ("states", "found"),
    [
        ([], "Pending"),
        (["Pending", "Pending"], "Pending"),
        (["Running", "Pending"], "Pending"),
        (["Running", "Running"], "Running"),
        (["Running", "Running", "Pending"], "Running"),
        (["Running", "Succeeded"], "Running"),
        (["Succeeded", "Succeeded"], "Succeeded"),
        (["Succeeded", "Succeeded", "Failed"], "Succeeded"),
        (["Succeeded", "Failed"], "Failed"),
        (["Failed", "Running", "Running"], "Running"),
        (["Failed", "Running"], "Pending"),
    ],
)
def test_the_phase_says_how_far_the_minimum_has_come(states: list[str], found: str) -> None:
    assert phase(spec(minMember=2), pods(*states)) == found


def test_a_minimum_of_none_still_needs_a_pod_to_run() -> None:
    assert phase(spec(minMember=0), pods("Pending")) == "Pending"
    assert phase(spec(minMember=0), pods("Running", "Pending")) == "Running"


@pytest.mark.parametrize(
    ("counts", "enough"),
    [
        ({"leader": 1, "a": 2}, True),
        ({"leader": 1, "b": 3}, True),
        ({"leader": 1, "a": 1, "b": 1}, False),
        ({"a": 2, "b": 2}, False),
    ],
)
def test_sub_groups_have_minima_of_their_own(counts: dict[str, int], enough: bool) -> None:
    assert met(spec(**TREE), counts) is enough


def test_of_several_sub_groups_some_may_be_enough() -> None:
    either = spec(minSubGroup=1, subGroups=[{"name": "a", "minMember": 1}, {"name": "b", "minMember": 1}])
    assert met(either, {"b": 1}) and not met(either, {})
    assert minimum(either) == "minimum: 1 of a 1, b 1"
    assert minimum(spec(**TREE)) == "minimum: leader 1, workers (1 sub-groups)"


def test_a_pod_that_changes_its_sub_group_is_counted_once() -> None:
    found = pods("Running")
    found.put(("", 0), PodStanding("a", "Running"))
    assert found.by_part(("Running",)) == {"": 0, "a": 1}
    found.put(("", 0), None)
    assert not any(found.counts.values()) and not found.pods


def test_what_others_said_stays_and_times_move_with_the_state_only() -> None:
    theirs = {"type": "Theirs", "status": "True"}
    first = conditions([theirs], spec(minMember=1), pods("Pending"), "t1")
    assert first[0] == theirs and [item["type"] for item in first[1:]] == ["Phase", "Scheduled"]
    changed = conditions(first, spec(minMember=1), pods("Running"), "t2")
    assert [(item["reason"], item["lastTransitionTime"]) for item in changed[1:]] == [
        ("Running", "t2"),
        ("MinimumScheduled", "t2"),
    ]
    ended = conditions(changed, spec(minMember=1), pods("Succeeded"), "t3")
    assert [(item["reason"], item["lastTransitionTime"]) for item in ended[1:]] == [
        ("Succeeded", "t3"),
        ("MinimumScheduled", "t2"),
    ]
    assert conditions([], spec(minMember=1), pods("Running"), "t4", changed) == changed[1:]


async def said(here: SchedulerWorld, name: str = "g") -> list[tuple[str, str, str]]:
    found = (await here.get_group(name)).status.conditions
    return [(item["type"], item["status"], item["reason"]) for item in found]


async def test_a_gang_goes_through_its_phases() -> None:
    async with scheduler_world(pod_group_controller()) as here:
        await here.gang("g", 2, gpus=1)
        await here.settles()
        assert await said(here) == [("Phase", "True", "Pending"), ("Scheduled", "False", "MinimumNotScheduled")]
        for name in ("g-0", "g-1"):
            await here.run(name)
        await here.settles()
        assert await said(here) == [("Phase", "True", "Running"), ("Scheduled", "True", "MinimumScheduled")]
        (first, *_) = (await here.get_group("g")).status.conditions
        assert first["message"] == "its minimum has nodes; minimum: 2 pods" and first["lastTransitionTime"]
        for name in ("g-0", "g-1"):
            await here.run(name, "Succeeded")
        await here.settles()
        assert (await said(here))[0] == ("Phase", "True", "Succeeded")


async def test_a_state_that_stays_is_not_written_again() -> None:
    async with scheduler_world(pod_group_controller()) as here:
        await here.gang("g", 2, gpus=1)
        await here.run("g-0")
        await here.run("g-1")
        await here.settles()
        await here.client.patch(POD, "g-0", SPACE, {"metadata": {"annotations": {"a": "b"}}})
        before = here.server.revision
        await asyncio.sleep(0)
        await here.settles()
        assert here.server.revision == before


async def test_a_group_without_pods_is_not_spoken_of() -> None:
    async with scheduler_world(pod_group_controller()) as here:
        await here.client.create(
            POD_GROUP, {"metadata": {"name": "empty", "namespace": SPACE}, "spec": {"minMember": 1}}
        )
        await here.settles()
        assert await said(here, "empty") == []


async def test_upstream_is_imitated_without_conditions() -> None:
    async with scheduler_world(pod_group_controller(manner=manner([KAI]))) as here:
        await here.gang("g", 1, gpus=1)
        await here.run("g-0")
        await here.settles()
        group: Raw = await here.client.get_raw(POD_GROUP, "g", SPACE)
        assert (
            "conditions" not in group["status"]
            and group["status"]["resourcesStatus"]["allocated"][names.NVIDIA_GPU] == "1"
        )
