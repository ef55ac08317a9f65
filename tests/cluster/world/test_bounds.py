"""However much one object asks for, the world does a bounded piece of it at a time, and never lists what is not
there."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cluster.world.making import START, job, pod, ready_status, replicated, when
from cluster.world.simulated_world import pod_spec, world
from gangline.api.core import Pod
from gangline.api.kinds import DAEMON_SET, DEPLOYMENT, EVENT, JOB, NODE, POD, REPLICA_SET, STATEFUL_SET, Kind
from gangline.api.meta import Raw
from gangline.cluster.world.nodes.nodes import NodePool
from gangline.cluster.world.pods import budgets
from gangline.cluster.world.pods.pod_gc import surplus
from gangline.cluster.world.scheduling.scheduling_state import SchedulingState
from gangline.cluster.world.workloads import deployment_plan, replicasets, scale_decision, statefulset_plan
from gangline.cluster.world.workloads.jobs import job_plan
from gangline.cluster.world.workloads.jobs.job_tally import INDEX
from gangline.cluster.world.workloads.replicas import BURST, FEW_WAITING, MOST_WAITING, WAITING_IN_ALL, share
from gangline.components.admission_hooks import EmptyReader

MOST = 2**31 - 1
MEGABYTES = 2**20


@contextmanager
def little_memory(megabytes: int = 40) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < megabytes * MEGABYTES
    finally:
        tracemalloc.stop()


PLANS: dict[str, Callable[[list[Pod]], tuple[Raw, ...]]] = {
    "ReplicaSet": lambda pods: replicasets.plan(replicated(replicas=MOST), pods, START).create,
    "StatefulSet": lambda pods: (
        statefulset_plan.plan(replicated(replicas=MOST, podManagementPolicy="Parallel"), pods, START).create
    ),
    "StatefulSet from far up": lambda pods: (
        statefulset_plan.plan(
            replicated(replicas=MOST, podManagementPolicy="Parallel", ordinals={"start": MOST}), pods, START
        ).create
    ),
    "Job": lambda pods: job_plan.plan(job(parallelism=MOST, completions=MOST), pods, START).create,
    "Job without completions": lambda pods: job_plan.plan(job(parallelism=MOST), pods, START).create,
    "Indexed Job": lambda pods: (
        job_plan.plan(job(parallelism=100_000, completions=MOST, completionMode="Indexed"), pods, START).create
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_controller_makes_no_more_than_a_burst_at_a_time(name: str) -> None:
    with little_memory():
        made = PLANS[name]([])
    assert len(made) == BURST and len({item["metadata"]["name"] for item in made}) == BURST


@pytest.mark.parametrize("name", PLANS)
def test_an_owner_with_very_many_pods_that_wait_makes_no_more_until_some_have_begun(name: str) -> None:
    waiting = [pod(f"w-{number}") for number in range(MOST_WAITING)]
    assert PLANS[name](waiting) == ()
    begun = [pod(f"p-{number}", spec={"nodeName": "n"}, status={"startTime": when(0)}) for number in range(3)]
    assert len(PLANS[name](waiting[3:] + begun)) == 3


def test_an_owner_is_held_back_only_when_it_may_make_no_pod_at_all() -> None:
    """Of pods that were made a moment ago only some may be seen: a number that is told then would be wrong at once."""

    def held_back(waiting: int, crowd: int) -> str:
        pods = [pod(f"w-{number}") for number in range(waiting)]
        return replicasets.plan(replicated(replicas=MOST), pods, START, crowd).held_back

    assert held_back(MOST_WAITING - 9, MOST_WAITING - 9) == held_back(FEW_WAITING - 1, WAITING_IN_ALL) == ""
    assert held_back(MOST_WAITING, MOST_WAITING) == f"{MOST_WAITING} of its pods"
    assert held_back(FEW_WAITING, WAITING_IN_ALL + 3) == f"{WAITING_IN_ALL + 3} pods of this cluster"


def test_an_ordered_set_of_any_size_makes_one_pod_at_a_time() -> None:
    with little_memory():
        first = statefulset_plan.plan(replicated(replicas=MOST), [], START).create
        ready = [pod("r-0", status=ready_status(), labels={"controller-revision-hash": "old"})]
        second = statefulset_plan.plan(replicated(replicas=MOST), ready, START).create
    assert [item["metadata"]["name"] for item in (*first, *second)] == ["r-0", "r-1"]


def test_an_indexed_job_of_any_size_with_one_pod_at_a_time_costs_nothing() -> None:
    with little_memory():
        todo = job_plan.plan(
            job(
                parallelism=1,
                completions=MOST,
                completionMode="Indexed",
                status={"completedIndexes": "0-1999999999", "succeeded": 2_000_000_000},
            ),
            [],
            START,
        )
    assert [item["metadata"]["annotations"][INDEX] for item in todo.create] == ["2000000000"]


def test_what_a_status_says_about_indexes_is_never_spelled_out() -> None:
    with little_memory():
        done = job(parallelism=1, completions=MOST, completionMode="Indexed", status={"completedIndexes": f"0-{MOST}"})
        todo = job_plan.plan(done, [], START)
    assert todo.status is not None and todo.status["conditions"][-1]["type"] == "Complete"


def test_a_rollout_with_a_surge_of_any_size_only_counts() -> None:
    huge = replicated(replicas=MOST, strategy={"rollingUpdate": {"maxSurge": "100000%", "maxUnavailable": "100%"}})
    assert deployment_plan.limits(huge, MOST) == (MOST, MOST)
    assert (
        share("9" * 5000 + "%", 10, up=True) <= MOST
        and share("25%", 10, up=True) == 3
        and share("25%", 10, up=False) == 2
    )
    made = deployment_plan.plan(huge, [], "2026-01-01T00:00:00Z").create
    assert made is not None and made["spec"]["replicas"] == MOST


def test_a_metric_of_any_size_asks_for_no_more_than_the_limit() -> None:
    spec = {
        "maxReplicas": MOST,
        "metrics": [{"type": "External", "external": {"metric": {"name": "q"}, "target": {"averageValue": "1m"}}}],
    }
    for text in ("1e60", "9" * 4000, "9" * 5000, "nonsense", "1e999999"):
        decision = scale_decision.decide(spec, scale_decision.read_metric(f"q={text}"), 1)
        assert decision is None or decision.replicas <= MOST
    memory = scale_decision.ScaleHistory()
    for number in range(10_000):
        memory.steady(number % 7, START, 3600)
    assert len(memory.wishes) <= 7 and memory.steady(1, START, 3600) == 6


def test_of_very_many_ended_pods_the_oldest_go() -> None:
    ended = [pod(f"e-{number}", status={"phase": "Succeeded"}, creation_timestamp=when(-number)) for number in range(5)]
    assert [item.name for item in surplus([pod("running"), *ended], 3)] == ["e-4", "e-3"]


def template(**more: Any) -> Raw:
    return {"metadata": {"labels": {"app": "x"}}, "spec": {**pod_spec()["spec"], **more}}


FLOODS: list[tuple[Kind[Any], Raw]] = [
    (DEPLOYMENT, {"replicas": MOST, "selector": {"matchLabels": {"app": "x"}}, "template": template()}),
    (REPLICA_SET, {"replicas": MOST, "selector": {"matchLabels": {"app": "x"}}, "template": template()}),
    (
        STATEFUL_SET,
        {
            "replicas": MOST,
            "selector": {"matchLabels": {"app": "x"}},
            "template": template(),
            "podManagementPolicy": "Parallel",
        },
    ),
    (JOB, {"parallelism": MOST, "completions": MOST, "template": {"spec": template(restartPolicy="Never")["spec"]}}),
]


@pytest.mark.parametrize(("kind", "spec"), FLOODS, ids=[kind.kind for kind, _ in FLOODS])
async def test_a_flood_stops_by_itself_and_says_why(
    kind: Kind[Any], spec: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gangline.cluster.world.workloads.replicas.MOST_WAITING", 40)
    async with world(off=("scheduler",)) as lived:
        await lived.make(kind, "x", {"spec": spec})
        await lived.rests()
        assert len(await lived.pods()) == 40
        told = {
            event.message
            for event in (await lived.client.list(EVENT, "default")).items
            if event.reason == "PodsHeldBack"
        }
        assert told == {"40 of its pods have not begun yet; more are made when these have"}
        await lived.client.delete(kind, "x", "default", propagation="Background")
        await lived.rests()
        assert await lived.pods() == []


async def test_a_node_without_a_kubelet_that_claims_room_for_two_billion_pods_lets_no_flood_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gangline.cluster.world.workloads.replicas.MOST_WAITING", 40)
    async with world() as lived:
        room = {"pods": str(2**31), "cpu": "1M", "memory": "1Pi"}
        await lived.make(NODE, "huge", {"status": {"capacity": room, "allocatable": room}})
        for kind, spec in FLOODS:
            await lived.make(kind, "x", {"spec": spec})
        await lived.rests()
        bound = [found for found in await lived.pods() if found.spec.node_name == "huge"]
        assert bound and len(await lived.pods()) <= 40 * len(FLOODS)
        for kind, _ in FLOODS:
            await lived.client.delete(kind, "x", "default", propagation="Background")


async def test_owners_that_flood_together_stop_together_and_a_small_one_still_gets_its_pods(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replicas = "gangline.cluster.world.workloads.replicas"
    for name, value in (("WAITING_IN_ALL", 60), ("FEW_WAITING", 10), ("BURST", 5)):
        monkeypatch.setattr(f"{replicas}.{name}", value)
    async with world(off=("scheduler",)) as lived:
        for kind, spec in FLOODS:
            await lived.make(kind, "flood", {"spec": spec})
        await lived.rests()
        flooded = len(await lived.pods())
        assert 60 <= flooded <= 60 + len(FLOODS) * 10
        await lived.make(JOB, "small", {"spec": {**FLOODS[-1][1], "parallelism": 3, "completions": 3}})
        await lived.rests()
        small = [found for found in await lived.pods() if found.labels.get("job-name") == "small"]
        assert len(small) == 3
        told = {
            event.message
            for event in (await lived.client.list(EVENT, "default")).items
            if event.reason == "PodsHeldBack"
        }
        assert f"{flooded} pods of this cluster have not begun yet; more are made when these have" in told


JOB_OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "controller": True}


def test_a_budget_of_very_many_pods_counts_each_once() -> None:
    class Counted(list[Pod]):
        walks = 0

        def __iter__(self) -> Iterator[Pod]:
            self.walks += 1
            return super().__iter__()

    owned = [pod(f"p-{number}", owner_references=[{**JOB_OWNER, "uid": f"j-{number}"}]) for number in range(300)]
    pods = Counted([*owned, pod("alone")])
    assert budgets.expected(pods, EmptyReader()) == 301
    assert pods.walks < 5


async def test_a_pod_with_a_grace_period_beyond_any_calendar_can_be_deleted() -> None:
    async with world(NodePool(name="n", count=1)) as lived:
        await lived.make(POD, "p", pod_spec(terminationGracePeriodSeconds=9 * 10**18))
        await lived.rests()
        await lived.client.delete(POD, "p", "default")
        await lived.rests()
        assert await lived.pods() == []


async def test_a_daemon_set_has_no_more_pods_than_nodes() -> None:
    async with world(NodePool(name="n", count=3)) as lived:
        await lived.make(
            DAEMON_SET,
            "x",
            {
                "spec": {
                    "selector": {"matchLabels": {"app": "x"}},
                    "template": template(),
                    "updateStrategy": {"rollingUpdate": {"maxUnavailable": "100%"}},
                }
            },
        )
        await lived.rests()
        assert len(await lived.pods()) == 3


def test_what_a_waiting_pod_was_told_makes_nobody_look_at_all_of_them_again() -> None:
    work, told = SchedulingState(), {"conditions": [{"type": "PodScheduled", "status": "False"}]}

    def looks_again(before: Pod | None, after: Pod) -> bool:
        work.dirty.clear()
        work.pod_moved(before, after)
        return work.dirty.is_set()

    first, refused = pod("p"), pod("p", status=told)
    assert looks_again(None, first)
    assert not looks_again(first, refused)
    assert looks_again(refused, pod("p", status=told, labels={"a": "b"}))


async def test_more_pods_than_are_placed_at_once_are_all_placed_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangline.cluster.world.scheduling.scheduling_state.UNITS_AT_ONCE", 7)
    async with world(NodePool(name="n", count=1, pods=20)) as lived:
        for number in range(30):
            await lived.make(POD, f"p-{number}", pod_spec())
        await lived.rests()
        placed = [found for found in await lived.pods() if found.spec.node_name]
        waiting = [found for found in await lived.pods() if not found.spec.node_name]
        assert len(placed) == 20 and len(waiting) == 10
        assert {found.status.conditions[0].message for found in waiting} == {
            "0/1 nodes are available: 1 Too many pods."
        }
