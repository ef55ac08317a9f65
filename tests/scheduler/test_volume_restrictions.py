"""A claim of access mode ReadWriteOncePod serves one pod at a time."""

from __future__ import annotations

from gangline.scheduler.model.status import Status
from gangline.scheduler.records import VolumeClaimRecord
from gangline.scheduler.settings import native_settings, shard_settings
from scheduler.scene import Scene

DATA = {"volumes": ("data",)}


def scene(single: bool = True) -> Scene:
    made = Scene(settings=native_settings()).nodes(2).queue("a", quota=8)
    made.records.append(VolumeClaimRecord("data", "ns", bound=True, single=single))
    return made


def test_of_two_pods_that_name_the_claim_one_starts() -> None:
    assert len(scene().gang("a/one", 1, task=DATA).gang("a/two", 1, task=DATA).decide().bound) == 1
    assert len(scene(single=False).gang("a/one", 1, task=DATA).gang("a/two", 1, task=DATA).decide().bound) == 2


def test_a_gang_whose_pods_share_the_claim_starts_no_part_of_itself() -> None:
    assert not scene().gang("a/both", 2, task=DATA).decide().bound


def test_a_pod_waits_while_another_uses_the_claim_and_starts_when_that_one_has_ended() -> None:
    after = scene().gang("a/old", 1, on="n0", task=DATA).gang("a/new", 1, task=DATA).decide()
    assert not after.bound and "ReadWriteOncePod and used by pod ns/old-0" in after.why("new")
    ended = scene().gang("a/old", 1, on="n0", task=DATA, status=Status.SUCCEEDED).gang("a/new", 1, task=DATA)
    assert set(ended.decide().bound) == {"new-0"}


def test_a_pod_of_higher_priority_takes_the_place_of_the_one_that_uses_the_claim() -> None:
    after = scene().gang("a/old", 1, on="n0", task=DATA).gang("a/new", 1, task=DATA, priority=90).decide()
    assert set(after.evicted) == {"old-0"}


def test_upstreams_manner_does_not_look_at_it() -> None:
    here = scene().gang("a/one", 1, task=DATA).gang("a/two", 1, task=DATA)
    here.settings = shard_settings()
    assert len(here.decide().bound) == 2


def test_a_claim_that_nobody_names_any_more_is_forgotten() -> None:
    cluster = scene().gang("a/one", 1, task=DATA).cluster()
    assert list(cluster.claim_users) == [("ns", "data")]
    cluster._remove_task("one-0")
    assert not cluster.claim_users
