"""After any history, the model that events built is the one a fresh start builds: nothing is lost, nothing is booked
twice."""

from __future__ import annotations

import random
from typing import Any

import pytest

from embedded import until
from gangline.api.kinds import POD
from gangline.binder.component import component as binder
from gangline.errors import NotFound
from gangline.runtime import BackgroundService, Cache, Component
from gangline.scheduler.decisions import Refuse
from gangline.scheduler.loop.lookup import ModelObjects
from gangline.scheduler.loop.service import SchedulerService
from gangline.scheduler.loop.teller import GangTeller
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.thought.standings import GangStanding
from gangline.scheduler.thought.told_gang import Members
from scheduler_world import SPACE, SchedulerWorld, scheduler_world


def shard(stamps: bool = True) -> tuple[SchedulerService, Component]:
    scheduler = SchedulerService(SchedulerOptions(period=0.001, stamp_every_start=stamps))
    return scheduler, Component(
        "scheduler",
        services=(BackgroundService("scheduler", scheduler.run, lambda: scheduler.idle, scheduler.prepare),),
    )


async def something_happens(here: SchedulerWorld, chance: random.Random, number: int) -> None:
    what = chance.randrange(8)
    if what <= 2:
        await here.gang(
            f"g{number}",
            chance.randrange(1, 5),
            gpus=chance.choice([1, 2, 4]),
            preemptibility=chance.choice(["preemptible", "non-preemptible"]),
            priorityClassName=chance.choice(["train", "build", "inference"]),
        )
    elif what == 3:
        await here.node(f"n{number}", gpus=chance.choice([4, 8]))
    else:
        pods = (await here.client.list(POD, SPACE)).items
        if pods:
            await to_pod(here, chance.choice(pods).name, what)


async def to_pod(here: SchedulerWorld, name: str, what: int) -> None:
    try:
        pod = await here.get_pod(name)
        if what == 4:
            await here.client.delete(POD, name, SPACE, grace=0)
        elif pod.spec.node_name:
            await here.run(name, {5: "Running", 6: "Succeeded", 7: "Failed"}[what])
    except NotFound:
        return


def plain(state: dict[str, Any]) -> dict[str, Any]:
    """Without what only says in which order things came."""
    return {key: value for key, value in state.items() if key in ("nodes", "queues", "gangs", "tasks")}


async def test_a_request_that_the_scheduler_wrote_is_no_news_to_it() -> None:
    scheduler, component = shard(stamps=False)
    async with scheduler_world() as here:
        await here.node("n0")
        await here.gang("g", 4, gpus=1)
        await here.start(component)
        await here.settles()
        assert len(await here.ordered()) == 4 and scheduler.cycles == 1


@pytest.mark.parametrize("seed", range(5))
async def test_the_model_equals_one_built_from_scratch(seed: int) -> None:
    chance = random.Random(seed)
    scheduler, component = shard()
    async with scheduler_world(component, binder()) as here:
        await here.node("n")
        for number in range(40):
            await something_happens(here, chance, number)
            if chance.random() < 0.3:
                await here.settles()
        await here.settles()
        lived = plain(scheduler.cluster.state())
        await here.kill("scheduler")
        await scheduler.stop()
        fresh, again = shard()
        await here.start(again)
        await here.settles()
        assert plain(fresh.cluster.state()) == lived
        assert lived["tasks"]
        await fresh.stop()


async def test_a_failed_cycle_is_survived_by_building_the_model_anew(caplog: pytest.LogCaptureFixture) -> None:
    scheduler, component = shard()
    async with scheduler_world(component, binder()) as here:
        await here.node("n")
        await here.gang("g", 2)
        await here.settles()
        scheduler.cluster.gangs = None  # type: ignore[assignment]
        await here.gang("h", 2)

        async def bound() -> bool:
            return len(await here.placed()) == 4

        await until(bound, "the second gang to be bound")
        assert "a cycle failed; the model is built anew" in caplog.text
        await scheduler.stop()


class Stumbling(GangTeller):
    """Finds no words for one gang."""

    def __init__(self) -> None:
        self._memories, self._options = {}, SchedulerOptions()
        self.heard: list[str] = []

    def tell(self, standing: GangStanding, refuse: Refuse | None, members: Members) -> None:
        if standing.gang == "ns/a":
            raise ValueError("no words")
        self.heard.append(standing.gang)


def test_a_gang_that_cannot_be_told_keeps_nobody_else_from_being_told(caplog: pytest.LogCaptureFixture) -> None:
    teller, cluster = Stumbling(), ClusterModel()
    standings = [GangStanding(gang, True, True, False, False) for gang in ("ns/a", "ns/b")]
    teller.tell_all(standings, [], ModelObjects(Cache({}), cluster))  # type: ignore[arg-type]
    assert teller.heard == ["ns/b"]
    assert "the state of gang ns/a cannot be reported" in caplog.text
