"""Every backend on the real scheduler that it is for: one gang of two groups with minima of their own, on simulated
nodes.

`make test-real` shows the scheduler of Kubernetes itself; `make test-real SCHEDULERS=volcano,kueue` builds and shows
others, `make test-real RELEASES=1.37` that of another release."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping

import pytest

from gangline.api.kinds import POD
from gangline.operator.backends import Registry
from gangline.rules.sets import OperatorSettings
from real.ground import Proof, proof
from real.schedulers.table import SCHEDULERS

pytestmark = pytest.mark.skipif(os.environ.get("GANGLINE_SERVER") != "real", reason="`make test-real` runs it")
RELEASES = [name for name in os.environ.get("GANGLINE_RELEASES", "").split(",") if name]
OTHERS = [name for name in os.environ.get("GANGLINE_SCHEDULERS", "").split(",") if name]
ASKED = [*(f"default-{name}" for name in RELEASES), *OTHERS] or ["default"]
MINIMUM = sum(Proof.LEAST.values())
WHOLE = sum(Proof.ALL.values())


@pytest.fixture(params=SCHEDULERS, scope="module")
def backend(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if name not in ASKED:
        kind, _, release = name.partition("-")
        pytest.skip(
            f"built and run on demand: make test-real {f'RELEASES={release}' if release else f'SCHEDULERS={kind}'}"
        )
    if why := SCHEDULERS[name].missing():
        pytest.skip(why)
    return name


@pytest.fixture
async def gang(backend: str) -> AsyncIterator[Proof]:
    async with proof(SCHEDULERS[backend]) as made:
        yield made


async def test_with_room_for_all_every_pod_runs(gang: Proof) -> None:
    await gang.room(WHOLE)
    await gang.begin()
    await gang.comes_to(Proof.ALL)
    assert (await gang.told("Scheduled", "every group has its minimum")).status == "True"


async def test_with_one_place_less_than_the_minima_nothing_runs_and_the_gang_says_why(gang: Proof) -> None:
    await gang.room(MINIMUM - 1)
    await gang.begin()
    found = await gang.told("Scheduled", gang.ground.scheduler.why)
    assert found.status == "False"
    await gang.comes_to({})


async def test_with_room_for_the_minima_only_each_group_runs_at_its_own_minimum(gang: Proof) -> None:
    await gang.room(MINIMUM)
    await gang.begin()
    await gang.comes_to(Proof.LEAST)
    assert (await gang.told("Scheduled", "every group has its minimum")).status == "True"


async def test_a_gang_that_starts_again_is_a_gang_again(gang: Proof) -> None:
    if not Registry(OperatorSettings()).by_name(gang.ground.scheduler.backend).capabilities.places:
        pytest.skip("it places nothing: the second life has the quota of the first")
    await gang.room(MINIMUM)
    await gang.begin()
    await gang.comes_to(Proof.LEAST)
    await gang.close(0)
    await gang.start_again()
    await gang.comes_to({})
    found = await gang.told("Scheduled", gang.ground.scheduler.why)
    assert found.status == "False"
    await gang.close(0, closed=False)
    await gang.comes_to(Proof.LEAST)


@pytest.mark.parametrize("sizes", [Proof.LEAST, Proof.ALL], ids=["minima", "surplus"])
async def test_a_gang_that_requires_a_rack_is_in_one(gang: Proof, sizes: Mapping[str, int]) -> None:
    if not gang.ground.scheduler.domains:
        pytest.skip("it needs more than labels of nodes for that, or cannot")
    await gang.room(MINIMUM - 1, "a")
    await gang.room(sum(sizes.values()), "b")
    await gang.begin_in_one_rack(sizes)
    await gang.comes_to(sizes)
    assert await gang.racks() == {"b"}


async def test_a_gang_that_requires_a_rack_waits_where_none_is_large_enough(gang: Proof) -> None:
    if not gang.ground.scheduler.domains:
        pytest.skip("it needs more than labels of nodes for that, or cannot")
    await gang.room(MINIMUM - 1, "a")
    await gang.room(MINIMUM - 1, "b")
    await gang.begin_in_one_rack(Proof.LEAST)
    assert (await gang.told("Scheduled", gang.ground.scheduler.why)).status == "False"
    await gang.comes_to({})


@pytest.mark.parametrize("room", [WHOLE, MINIMUM - 1], ids=["running", "waiting"])
async def test_a_deleted_set_leaves_nothing(gang: Proof, room: int) -> None:
    await gang.room(room)
    await gang.begin()
    if room == WHOLE:
        await gang.comes_to(Proof.ALL)
    else:
        await gang.told("Scheduled", gang.ground.scheduler.why)
    await gang.leave()

    async def nothing() -> bool:
        return not await gang.left()

    await gang.until(nothing, "nothing left of the set")
    assert await gang.all(POD) == []
