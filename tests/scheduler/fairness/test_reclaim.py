"""When a queue may take from another."""

from __future__ import annotations

from gangline.scheduler.fairness import QueueAccount, reclaim
from gangline.scheduler.fairness.reclaim import ReclaimChunk
from scheduler.fairness.books import books, queue, taker, taking

Books = dict[str, QueueAccount]


def test_a_queue_may_reclaim_up_to_its_fair_share() -> None:
    tree = books(queue("mine", fair=4, holds=2))
    for account in tree.values():
        account.set_fair_share((10, 10, 4))
    assert reclaim.can_reclaim(tree, taker("mine", 2)) and not reclaim.can_reclaim(tree, taker("mine", 3))


def test_work_that_cannot_be_preempted_may_reclaim_only_up_to_quota() -> None:
    mine = queue("mine", quota=1, holds=1, firm=1)
    mine.set_fair_share((10, 10, 4))
    assert not reclaim.can_reclaim(books(mine), taker("mine", 1, preemptible=False))
    assert reclaim.can_reclaim(books(mine), taker("mine", 1))


def two(mine_quota: float, theirs_quota: float, theirs_holds: float, theirs_fair: float, mine_fair: float = 4) -> Books:
    return books(
        queue("mine", quota=mine_quota, fair=mine_fair),
        queue("theirs", quota=theirs_quota, holds=theirs_holds, fair=theirs_fair),
    )


def test_over_quota_nobody_is_a_victim_who_is_within_his_share() -> None:
    assert not reclaim.filter_victim(two(1, 2, 3, 4), taker("mine", 2), "theirs")
    assert reclaim.filter_victim(two(1, 2, 5, 4), taker("mine", 2), "theirs")


def test_within_quota_a_queue_over_its_own_is_a_victim_and_one_under_it_is_not() -> None:
    assert reclaim.filter_victim(two(4, 2, 3, 4), taker("mine", 2), "theirs")
    assert not reclaim.filter_victim(two(4, 4, 3, 4), taker("mine", 2), "theirs")
    assert reclaim.filter_victim(two(4, 3, 3, 4), taker("mine", 2), "theirs"), "exactly at quota: it may be moved"


def test_the_two_sides_are_judged_where_their_lines_part() -> None:
    tree = books(
        queue("root"),
        queue("a", parent="root"),
        queue("a1", parent="a"),
        queue("b", parent="root"),
        queue("b1", parent="b"),
    )
    mine, theirs = reclaim.where_they_part(tree, "a1", "b1")
    assert (mine.uid, theirs.uid) == ("a", "b")
    mine, theirs = reclaim.where_they_part(tree, "a", "a1")
    assert (mine.uid, theirs.uid) == ("a", "a"), "one line inside the other: the last of the shorter"


def legal(tree: Books, asks: float, *takes: float, preemptible: bool = True, multiplier: float = 1) -> bool:
    plan = {"theirs": [taking(take) for take in takes]}
    return reclaim.reclaimable(tree, taker("mine", asks, preemptible), plan, multiplier)


def test_borrowed_resources_can_be_taken_back_step_by_step_until_the_share() -> None:
    assert legal(two(0, 0, 6, 4, mine_fair=4), 2, 1, 1)
    assert not legal(two(0, 0, 6, 4, mine_fair=4), 3, 1, 1, 1)


def test_a_large_step_may_go_below_the_share_it_began_above() -> None:
    assert legal(two(0, 0, 5, 4, mine_fair=4), 4, 4)


def test_quota_may_be_taken_from_a_queue_over_its_own_even_within_its_share() -> None:
    assert legal(two(2, 2, 4, 4), 2, 1, 1)
    assert not legal(two(1, 2, 4, 4), 2, 1, 1)


def test_the_taker_must_not_end_up_fuller_than_the_one_it_took_from() -> None:
    tree = two(0, 0, 8, 4, mine_fair=2)
    assert legal(tree, 2, 2)
    assert not legal(two(0, 0, 8, 4, mine_fair=2), 4, 4)


def test_the_multiplier_makes_the_taker_stop_earlier() -> None:
    tree = books(queue("mine", fair=2, holds=1), queue("theirs", fair=4, holds=10))
    assert reclaim.reclaimable(tree, taker("mine", 2), {"theirs": [taking(2)]}, 1)
    assert not reclaim.reclaimable(tree, taker("mine", 2), {"theirs": [taking(2)]}, 2)


def test_firm_work_must_fit_in_the_quota_of_every_ancestor() -> None:
    tree = books(
        queue("top", quota=1, fair=8), queue("mine", parent="top", quota=8, fair=8), queue("theirs", holds=8, fair=4)
    )
    assert not reclaim.reclaimable(tree, taker("mine", 2, preemptible=False), {"theirs": [taking(2)]})
    assert reclaim.reclaimable(tree, taker("mine", 2), {"theirs": [taking(2)]})


def test_mig_slices_alone_do_not_bring_gpus_into_the_comparison() -> None:
    tree = books(queue("mine", fair=1, holds=1), queue("theirs", fair=4, holds=6))
    mig = ReclaimChunk(0, 0, 2, 0)
    assert reclaim.reclaimable(tree, reclaim.ReclaimingGang("mine", mig, True), {"theirs": [mig]})
    assert not reclaim.reclaimable(tree, taker("mine", 2), {"theirs": [taking(2)]})


def test_a_plan_without_victims_is_legal() -> None:
    assert reclaim.reclaimable(two(0, 0, 6, 4), taker("mine", 9), {})
