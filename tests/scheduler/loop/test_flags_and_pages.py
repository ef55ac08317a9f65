"""Upstream's flags and config.yaml, node pools, and what the scheduler answers over HTTP."""

from __future__ import annotations

import json

import pytest
from prometheus_client import REGISTRY

from gangline.api import names
from gangline.api.kinds import BIND_REQUEST, NODE, POD, POD_GROUP, PRIORITY_CLASS, QUEUE
from gangline.binder.component import component as binder
from gangline.controllers.component import pod_group_controller, queue_controller
from gangline.errors import ConfigError
from gangline.runtime import BackgroundService, Component, ManualClock
from gangline.scheduler.loop.component import component
from gangline.scheduler.loop.flags import read_flags
from gangline.scheduler.loop.pages import pages
from gangline.scheduler.loop.service import SchedulerService
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.snapshots.whole import load, replay, unzipped
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.usage.windows import STORE, UsageSettings
from scheduler_world import SPACE, SchedulerWorld, scheduler_world


def test_upstreams_flags_are_read_unchanged() -> None:
    found = read_flags(
        {
            "scheduler-name": "s",
            "partition-label-value": "blue",
            "schedule-period": "500ms",
            "v": "4",
            "default-staleness-grace-period": "-1s",
            "leader-elect": "false",
            "full-hierarchy-fairness": "false",
        }
    )
    assert (found.options.scheduler_names, found.options.selector) == (("s",), "kai.scheduler/node-pool=blue")
    assert (found.options.period, found.options.settings.staleness_grace, found.leader_elect) == (0.5, -1.0, False)
    assert found.options.settings.full_hierarchy is False


def test_the_mounted_configuration_is_read_unchanged() -> None:
    found = read_flags(
        {},
        {
            "actions": "allocate, reclaim",
            "tiers": [{"plugins": [{"name": "predicates"}]}],
            "queueDepthPerAction": {"allocate": 7},
            "usageDBConfig": {"clientType": "store"},
            "scenarioSearchBudgets": {"maxActionSearchDuration": {"default": "10s"}},
        },
    )
    settings = found.options.settings
    assert (settings.actions, settings.queue_depth) == (("allocate", "reclaim"), {"allocate": 7})
    assert settings.budgets.for_action("reclaim") == 2000
    assert found.usage.source == STORE


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"nonsense": "1"}, "the scheduler has no flag --nonsense; it knows --allow-consolidating-reclaim"),
        ({"schedule-period": "soon"}, "--schedule-period=soon: 'soon' is not a duration"),
        ({"leader-elect": "perhaps"}, "--leader-elect=perhaps: 'perhaps' is neither true nor false"),
    ],
)
def test_a_flag_that_makes_no_sense_is_refused(flags: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_flags(flags)


def alone(scheduler: SchedulerService) -> Component:
    return Component(
        "scheduler",
        services=(BackgroundService("scheduler", scheduler.run, lambda: scheduler.idle, scheduler.prepare),),
    )


async def test_a_snapshot_is_upstreams_form_and_decides_the_same_when_replayed() -> None:
    scheduler = SchedulerService(SchedulerOptions(period=0.01))
    async with scheduler_world(alone(scheduler)) as here:
        await here.node("n0")
        await here.gang("g", 2, gpus=8)
        await here.settles()
        page = await pages(scheduler, here.client)["/get-snapshot"]()
        assert page.headers["Content-Disposition"] == "attachment; filename=snapshot.zip"
        document = unzipped(page.body)
        assert [pod_group["metadata"]["name"] for pod_group in document["rawObjects"]["podGroups"]] == ["g"]
        assert document["schedulerParams"]["schedulerName"] == "kai-scheduler"
        assert document["schedulerParams"]["schedulerNames"] == ["kai-scheduler", "grove-scheduler"]
        (refused,) = replay(load(page.body)).refusals
        assert refused.gang == f"{SPACE}/g"
        await scheduler.stop()


async def test_the_order_of_waiting_gangs_can_be_asked_for() -> None:
    scheduler = SchedulerService(SchedulerOptions(period=0.01))
    async with scheduler_world(alone(scheduler)) as here:
        await here.gang("low", 1, gpus=1, priorityClassName="train")
        await here.gang("high", 1, gpus=1, priorityClassName="inference")
        assert (await pages(scheduler, here.client)["/get-job-order"]()).status == 503 or scheduler.cycles
        await here.settles()
        order = json.loads((await pages(scheduler, here.client)["/get-job-order"]()).body)
        assert order["global_order"] == [{"id": "work/high", "priority": 125}, {"id": "work/low", "priority": 50}]
        assert order["queue_order"] == {names.DEFAULT_QUEUE: order["global_order"]}
        await scheduler.stop()


async def label(here: SchedulerWorld, kind: object, name: str, pool: str, namespace: str = "") -> None:
    await here.client.patch(kind, name, namespace, {"metadata": {"labels": {names.NODE_POOL: pool}}})  # type: ignore[arg-type]


async def test_two_shards_use_their_own_nodes_queues_and_groups_only() -> None:
    async with scheduler_world() as here:
        for pool in ("", "blue"):
            shard = component(options=SchedulerOptions(period=0.01, node_pool=pool))
            await here.start(Component(f"scheduler{pool}", services=shard.services))
        for name in ("n0", "n1"):
            await here.node(name)
        await label(here, NODE, "n1", "blue")
        await here.queue("blue-queue")
        await label(here, QUEUE, "blue-queue", "blue")
        await here.gang("g", 1, gpus=8)
        await here.group("h", 1, queue="blue-queue")
        await label(here, POD_GROUP, "h", "blue", SPACE)
        await here.pod("h-0", group="h", gpus=8)
        await here.settles()
        pools = {
            item.spec.pods[0].pod_name: item.labels.get(names.NODE_POOL)
            for item in (await here.client.list(BIND_REQUEST, SPACE)).items
        }
        assert pools == {"g-0": None, "h-0": "blue"}
        await here.start(binder())
        await here.settles()
        assert await here.placed() == {"g-0": "n0", "h-0": "n1"}
        assert (await here.get_pod("h-0")).labels[names.NODE_POOL] == "blue"


async def test_a_queue_that_used_much_yields_to_one_that_used_little() -> None:
    clock = ManualClock()
    usage = UsageSettings(source=STORE, window=3600, fetch=60)
    shard = component(SchedulerSettings(usage_k=1.0), period=0.0, usage=usage)
    async with scheduler_world(shard, binder(), pod_group_controller(), queue_controller(), clock=clock) as here:
        await here.node("n0")
        for queue in ("greedy", "modest"):
            await here.queue(queue)
        await here.gang("old", 1, gpus=8, queue="greedy")
        await here.settles()
        await here.run("old-0")
        for _ in range(30):
            await here.settles()
            clock.advance(60.01)
        await here.settles()
        for queue in ("greedy", "modest"):
            for number in range(4):
                await here.gang(f"{queue}-{number}", 1, gpus=2, queue=queue)
        await here.settles()
        await here.run("old-0", "Succeeded")
        await here.settles()
        clock.advance(60.01)
        await here.settles()
        placed = sorted(name.partition("-")[0] for name in await here.placed() if name != "old-0")
        assert placed.count("modest") > placed.count("greedy")


def test_a_scheduler_without_a_configuration_runs_what_kais_operator_writes_for_a_plain_shard() -> None:
    plugins = [plugin.name for plugin in read_flags({}).options.settings.plugins]
    assert plugins.index("podaffinity") == plugins.index("elastic") - 1 and plugins == [
        plugin.name for plugin in SchedulerOptions().settings.plugins
    ]


def sample(name: str, **labels: str) -> float:
    found = REGISTRY.get_sample_value(name, labels)
    assert found is not None, f"nobody told {name} {labels}"
    return found


async def test_a_search_for_victims_is_measured_under_upstreams_names() -> None:
    async with scheduler_world(component(period=0.01), binder()) as here:
        await here.node("n0", gpus=1)
        await here.client.create(PRIORITY_CLASS, {"metadata": {"name": "low"}, "value": 30})
        await here.gang("old", 1, gpus=1, priorityClassName="low")
        await here.settles()
        await here.run("old-0")
        await here.gang("new", 1, gpus=1)
        await here.settles()
        assert sample("kai_scenario_search_jobs_total", action="preempt", result="solved", reduced_budget="false") >= 1
        assert (
            sample(
                "kai_scenario_search_scenarios_total", action="preempt", generator="NodeLocalGreedy", state="simulated"
            )
            >= 1
        )
        assert (
            sample(
                "kai_scenario_search_scenarios_total", action="preempt", generator="NodeLocalGreedy", state="emitted"
            )
            >= 1
        )
        ran = {"action": "preempt", "generator": "NodeLocalGreedy", "result": "solved"}
        assert sample("kai_scenario_search_duration_seconds_count", **ran) >= 1
        assert sample("kai_scenario_search_duration_seconds_sum", **ran) > 0
        assert sample("kai_scenario_search_action_budget_configured_seconds", action="preempt") == 300
        assert sample("kai_scenario_search_job_budget_configured_seconds") == 240
        assert sample("kai_scenario_search_generator_budget_configured_seconds", generator="NodeLocalGreedy") == 30
        assert sample("kai_podgroups_acted_on_by_action_total", action="preempt") >= 1
        assert sample("kai_total_preemption_attempts_total") >= 1


async def test_metrics_have_upstreams_names() -> None:
    async with scheduler_world(component(period=0.01), binder()) as here:
        await here.node("n0")
        await here.gang("g", 2, gpus=4)
        await here.settles()
        queue = {
            "queue_name": names.DEFAULT_QUEUE,
            "queue_metadata_name": names.DEFAULT_QUEUE,
            "queue_display_name": "",
        }
        assert REGISTRY.get_sample_value("kai_queue_fair_share_gpu", queue) is not None
        assert (
            REGISTRY.get_sample_value("kai_action_scheduling_latency_milliseconds", {"action": "allocate"}) is not None
        )
        assert (REGISTRY.get_sample_value("kai_podgroups_scheduled_by_action_total", {"action": "allocate"}) or 0) >= 1
        assert (REGISTRY.get_sample_value("kai_e2e_scheduling_latency_milliseconds") or 0) > 0
        assert sample("kai_plugin_scheduling_latency_milliseconds", plugin="proportion", OnSession="OnSessionOpen") > 0
        assert (
            sample("kai_task_scheduling_latency_milliseconds_count") >= 2
            and sample("kai_task_bind_latency_milliseconds_count") >= 2
        )
        assert sample("gangline_scheduler_decisions_per_second") > 0


async def test_how_long_a_gang_waits_and_how_soon_it_is_told_why_is_measured() -> None:
    clock = ManualClock()
    async with scheduler_world(component(period=0.0), clock=clock) as here:
        before = REGISTRY.get_sample_value("gangline_scheduler_verdict_seconds_count") or 0
        await here.node("n0")
        await here.gang("g", 2, gpus=80)
        await here.settles()
        assert sample("gangline_scheduler_verdict_seconds_count") == before + 1
        clock.advance(30)
        await here.gang("later", 1, gpus=80)
        await here.settles()
        assert (
            sample("gangline_scheduler_waiting_gangs") == 2
            and sample("gangline_scheduler_oldest_waiting_seconds") >= 30
        )


async def test_gangs_that_wait_are_counted_by_queue_and_cause_and_grow_old_between_cycles() -> None:
    clock, large = ManualClock(), {"queue": "default-queue", "cause": "too-large"}

    def figures(name: str) -> dict[tuple[str, str], float]:
        families = [family for family in REGISTRY.collect() if family.name == name]
        return {(item.labels["queue"], item.labels["cause"]): item.value for item in families[0].samples}

    async with scheduler_world(component(period=0.0), clock=clock) as here:
        await here.node("n0")
        await here.gang("one", 2, gpus=80)
        await here.gang("two", 1, gpus=80)
        await here.gang("lost", 1, gpus=1, queue="whatever a user writes")
        await here.settles()
        assert figures("gangline_waiting_gangs") == {("default-queue", "too-large"): 2, ("", "no-queue"): 1}
        before = REGISTRY.get_sample_value("gangline_waiting_oldest_seconds", large) or 0.0
        clock.advance(30)
        assert REGISTRY.get_sample_value("gangline_waiting_oldest_seconds", large) == before + 30
        await here.client.delete(POD_GROUP, "lost", SPACE)
        await here.settles()
        assert set(figures("gangline_waiting_gangs")) == {("default-queue", "too-large")}


async def test_a_victim_is_marked_before_it_goes_where_that_is_asked_for() -> None:
    told = SchedulerOptions(period=0.01, tell_disruption=True)
    async with scheduler_world(component(options=told), binder()) as here:
        await here.node("n0", gpus=1)
        await here.client.create(PRIORITY_CLASS, {"metadata": {"name": "low"}, "value": 30})
        await here.gang("old", 1, gpus=1, priorityClassName="low")
        await here.settles()
        await here.run("old-0")
        await here.client.patch(POD, "old-0", SPACE, {"metadata": {"finalizers": ["example.com/held"]}})
        await here.gang("new", 1, gpus=1)
        await here.settles()
        victim = await here.get_pod("old-0")
        marked = next(condition for condition in victim.status.conditions if condition.type == "DisruptionTarget")
        assert victim.metadata.deleting and (marked.status, marked.reason) == ("True", "PreemptionByScheduler")


async def test_every_node_says_its_own_reason_where_that_is_asked_for() -> None:
    started = read_flags({"detailed-fit-errors": "true", "schedule-period": "10ms"})
    async with scheduler_world(component(options=started.options)) as here:
        for name in ("n0", "n1"):
            await here.node(name, gpus=2)
            await here.pod(f"on-{name}", gpus=1, schedulerName="other", nodeName=name)
        await here.gang("big", 1, gpus=2)
        await here.settles()
        said = next(
            condition.message
            for condition in (await here.get_pod("big-0")).status.conditions
            if condition.type == "PodScheduled"
        )
        assert said == (
            "\nno nodes with enough resources were found.\n<n0>: node(s) didn't have enough resources: GPUs."
            "\n<n1>: node(s) didn't have enough resources: GPUs."
        )
