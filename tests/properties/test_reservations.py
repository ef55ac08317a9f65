"""Whatever the cluster: whoever starts before a reserved gang leaves room for it at the reserved moment."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as some

from gangline.rules.requests import GpuRequest
from gangline.scheduler.cycle import decide
from gangline.scheduler.decisions import Decisions, StartReservation
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.status import Status
from gangline.scheduler.records import GangRecord, NodeRecord, QueueRecord, Record, Share, TaskRecord, plain_gang
from gangline.scheduler.settings import PluginSetting, SchedulerSettings, native_settings
from properties.examples import examples

NOW = 1_000_000.0
FREE = Share(-1, -1, 1)
NODES, GPUS = 4, 4

Jobs = list[tuple[int, int, int]]
JOBS = some.lists(some.tuples(some.integers(1, 4), some.integers(1, 4), some.integers(1, 50)), min_size=1, max_size=14)
"""Pods, GPUs of each, and minutes."""


def native(margin: str = "1") -> SchedulerSettings:
    plugins = tuple(
        PluginSetting(plugin.name, {"margin": margin}) if plugin.name == "reservations" else plugin
        for plugin in native_settings().plugins
    )
    return SchedulerSettings(actions=("allocate",), plugins=plugins, skips_alike=True)


def records(held: Jobs, waiting: Jobs) -> list[Record]:
    found: list[Record] = [
        NodeRecord(f"n{place}", {"cpu": 1e6, "memory": 1e12, "pods": 110, "gpu": GPUS}) for place in range(NODES)
    ]
    found.append(QueueRecord("a", cpu=FREE, memory=FREE, gpu=FREE))
    for place, (_, gpus, minutes) in enumerate(held[:NODES]):
        found.append(GangRecord(f"old-{place}", "a", created=0, last_start=NOW, expected_runtime=60.0 * minutes))
        found.append(
            TaskRecord(
                f"old-{place}-0",
                f"old-{place}",
                status=Status.RUNNING,
                node=f"n{place}",
                gpu=GpuRequest("Regular", gpus, 1),
            )
        )
    for place, (pods, gpus, minutes) in enumerate(waiting):
        name = f"new-{place:02}"
        found.append(GangRecord(name, "a", created=1 + place, tree=plain_gang(pods), expected_runtime=60.0 * minutes))
        found += [TaskRecord(f"{name}-{number}", name, gpu=GpuRequest("Regular", gpus, 1)) for number in range(pods)]
    return found


def ends(decisions: Decisions, held: Jobs, waiting: Jobs) -> dict[str, list[tuple[float, int]]]:
    """By node: until when how many GPUs are held, with what was decided."""
    found: dict[str, list[tuple[float, int]]] = {f"n{place}": [] for place in range(NODES)}
    for place, (_, gpus, minutes) in enumerate(held[:NODES]):
        found[f"n{place}"].append((NOW + 60.0 * minutes, gpus))
    for bind in decisions.binds:
        _, gpus, minutes = waiting[int(bind.task.split("-")[1])]
        found[bind.node].append((NOW + 60.0 * minutes, gpus))
    return found


@settings(max_examples=examples(200), deadline=None)
@given(JOBS, JOBS)
def test_reserved_gpus_are_free_at_the_reserved_moment(held: Jobs, waiting: Jobs) -> None:
    decisions = decide(ClusterModel.build(records(held, waiting)), native(), NOW)
    busy = ends(decisions, held, waiting)
    for reservation in decisions.reservations:
        earlier = [other for other in decisions.reservations if other.start <= reservation.start]
        for node, gpus in reservation.nodes:
            kept = sum(
                amount
                for other in earlier
                for name, amount in other.nodes
                if name == node and _lasts(other, reservation, waiting)
            )
            free = GPUS - sum(amount for end, amount in busy[node] if end > reservation.start)
            assert gpus <= kept <= free


def _lasts(other: StartReservation, reservation: StartReservation, waiting: Jobs) -> bool:
    """Whether the other gang still holds its GPUs when this one starts."""
    if other is reservation:
        return True
    return other.start + 60.0 * waiting[int(other.gang.split("-")[1])][2] > reservation.start


@settings(max_examples=examples(100), deadline=None)
@given(JOBS, JOBS)
def test_trying_only_the_first_of_alike_gangs_changes_no_decision_without_reservations(
    held: Jobs, waiting: Jobs
) -> None:
    plugins = tuple(plugin for plugin in native_settings().plugins if plugin.name != "reservations")
    each, first = (
        decide(
            ClusterModel.build(records(held, waiting)),
            SchedulerSettings(actions=("allocate",), plugins=plugins, skips_alike=alike),
            NOW,
        )
        for alike in (False, True)
    )
    assert each.commits == first.commits and [refuse.gang for refuse in each.refusals] == [
        refuse.gang for refuse in first.refusals
    ]
