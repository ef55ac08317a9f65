"""When a queue is full, and how it says so."""

from __future__ import annotations

from gangline.scheduler.fairness import capacity
from gangline.scheduler.fairness.capacity import decimals, shortest
from scheduler.fairness.books import books, gpus, queue


def test_a_limit_stops_everyone_and_names_limit_use_and_request() -> None:
    tree = books(queue("team", limit=4, holds=3))
    full = capacity.over_capacity(tree, "team", gpus(2), preemptible=True)
    assert full is not None and (full.reason, full.queue, full.resource) == ("OverLimit", "team", "gpu")
    assert full.message == (
        "team quota has reached the allowable limit of GPUs. Limit is 4 GPUs, currently 3 GPUs allocated "
        "and workload requested 2 GPUs"
    )
    assert capacity.over_capacity(tree, "team", gpus(1), preemptible=True) is None


def test_a_limit_anywhere_above_stops_too() -> None:
    tree = books(queue("dept", limit=4, holds=4), queue("team", parent="dept", holds=1))
    full = capacity.over_limit(tree, "team", gpus(1))
    assert full is not None and full.queue == "dept"


def test_what_is_not_asked_for_is_not_checked() -> None:
    assert capacity.over_limit(books(queue("team", limit=1, holds=5)), "team", gpus(0)) is None


def test_quota_binds_only_what_cannot_be_preempted() -> None:
    tree = books(queue("team", quota=2, firm=1.5, holds=1.5))
    assert capacity.over_quota(tree, "team", gpus(1), preemptible=True) is None
    full = capacity.over_quota(tree, "team", gpus(1), preemptible=False)
    assert full is not None and full.message == (
        "Non-preemptible workload is over quota. Workload requested 1 GPUs, but team quota is 2 GPUs, while 1.5 GPUs "
        "are already "
        "allocated for non-preemptible pods. Use a preemptible workload to go over quota."
    )


def test_an_unlimited_quota_or_limit_stops_nobody() -> None:
    assert capacity.over_capacity(books(queue("team", quota=-1)), "team", gpus(1e6), preemptible=False) is None


def test_cpu_is_shown_in_cores_and_memory_in_gigabytes() -> None:
    team = queue("team")
    team.limit = (1500, 2e9, -1)
    cpu = capacity.over_limit(books(team), "team", (2000, 0, 0))
    memory = capacity.over_limit(books(team), "team", (0, 3e9, 0))
    assert cpu is not None and cpu.message.endswith(
        "Limit is 1.5 cores, currently 0 cores allocated and workload requested 2 cores"
    )
    assert memory is not None and memory.message.endswith(
        "Limit is 2 GB, currently 0 GB allocated and workload requested 3 GB"
    )


def test_numbers_are_cut_to_three_decimals_and_have_no_trailing_zeros() -> None:
    assert [decimals(value) for value in (2.0, 0.59, 1.23456, 1.9999, 100)] == ["2", "0.59", "1.234", "1.999", "100"]
    assert [shortest(value) for value in (1.0, 1.2, 0.1 + 0.2)] == ["1", "1.2", "0.30000000000000004"]
