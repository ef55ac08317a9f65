"""The past: what was seen is remembered in a bounded number of points, what was recorded is read, and both are told."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from dashboard.seen import MADE, Given, event, eviction, gang, group, job, look, node, owned_by, pod, queue
from gangline.api import names
from gangline.dashboard.look import ClusterView
from gangline.dashboard.model import MissingPage, Page
from gangline.dashboard.page_data import PageSource
from gangline.dashboard.pages import KnownPast, page, times_page
from gangline.dashboard.past.charts import clock, ticks
from gangline.dashboard.past.data import GangMoment, KeptPast, PastWait, RecordedPast, TimelinePage, TimePage, UsePoint
from gangline.dashboard.past.kept_file import read_kept, write_kept
from gangline.dashboard.past.memory import MOST, RANGES, PastMemory, SampleRing
from gangline.dashboard.past.times import waits_by_size
from gangline.dashboard.views import document
from gangline.rules.values.times import seconds

BEGAN = seconds("2026-01-01T01:00:00Z") or 0.0


def at(offset: float, *objects: Given) -> ClusterView:
    """A look so many seconds after the first."""
    view = look(*objects)
    return msgspec.structs.replace(view, source=PageSource(server="here", now=BEGAN + offset, heard=BEGAN + offset))


WAITS = (node("n"), queue("q", quota=4), group("g"), pod("g-0", "g", 8))
RUNS = (node("n"), queue("q", quota=4), group("g"), pod("g-0", "g", 8, on="n"))


def remembered(*views: ClusterView) -> TimePage:
    memory = PastMemory()
    for view in views:
        memory.observe(view)
    return times_page(views[-1], KnownPast(memory), {})


def test_use_and_waiting_gpus_are_told_by_queue_beside_its_quota() -> None:
    shown = remembered(at(0, *WAITS), at(15, *WAITS), at(30, *RUNS))
    assert [(point.capacity, point.used, point.waiting) for point in shown.points] == [
        (8.0, {}, {"q": 8.0}),
        (8.0, {"q": 8.0}, {}),
    ]
    assert [(line.name, line.quota, line.used) for line in shown.queues] == [("q", 4.0, (0.0, 8.0))]


def test_a_gang_that_started_is_told_with_its_wait_by_size() -> None:
    shown = remembered(at(0, *WAITS), at(15, *RUNS))
    assert [(line.size, line.gangs, line.longest) for line in shown.waits] == [("2 to 8 GPUs", 1, 135.0)]


def test_a_gang_that_ran_at_the_first_look_counts_only_if_it_says_when_it_started() -> None:
    stamped = group("g")
    stamped[1]["metadata"]["annotations"] = {names.LAST_START: "2026-01-01T00:59:00Z"}
    assert remembered(at(0, *RUNS)).waits == ()
    shown = remembered(at(0, node("n"), stamped, pod("g-0", "g", 8, on="n")))
    assert [line.median for line in shown.waits] == [60.0]


def test_a_gang_that_came_and_started_between_two_looks_counts() -> None:
    late = group("g")
    late[1]["metadata"]["creationTimestamp"] = "2026-01-01T01:00:20Z"
    shown = remembered(at(0, node("n")), at(15, node("n")), at(30, node("n"), late, pod("g-0", "g", 8, on="n")))
    assert [(line.gangs, line.longest) for line in shown.waits] == [(1, 10.0)]


def test_a_gang_of_a_set_says_by_its_condition_when_it_started() -> None:
    kind, obj = gang("s-0", {"w": 1})
    obj["status"]["conditions"] = [
        {"type": "Scheduled", "status": "True", "reason": "x", "lastTransitionTime": "2026-01-01T00:58:30Z"}
    ]
    shown = remembered(at(0, node("n"), (kind, obj), pod("s-0-w", "", 8, on="n", gang="s-0", clique="w")))
    assert [line.median for line in shown.waits] == [30.0]


def test_an_eviction_is_told_once_with_its_reason() -> None:
    lost = (*WAITS, group("other"), eviction("g", "preempt", "other"))
    shown = remembered(at(0, *lost), at(15, *lost))
    assert [row.by for row in shown.evictions.rows] == ["preempted by work/other, which has a higher priority"]


def test_gangs_that_failed_ended_or_were_deleted_are_told_with_their_reason() -> None:
    begun = group("g", owner=owned_by("Job", "train"))
    failed = (node("n"), begun, job("train", "Failed", "BackoffLimitExceeded", "too many tries"))
    shown = remembered(
        at(0, node("n"), begun, job("train"), pod("a", "g", 8, on="n"), group("h"), pod("b", "h", 1)), at(15, *failed)
    )
    assert {(row.title, row.state, row.reason) for row in shown.endings.rows} == {
        ("train", "failed", "BackoffLimitExceeded: too many tries"),
        ("h", "deleted", ""),
    }


def test_a_gang_that_came_and_ended_between_two_looks_is_told_one_that_had_ended_before_the_first_is_not() -> None:
    def short(name: str, made: str) -> Given:
        kind, given = group(name, owner=owned_by("Job", name))
        given["metadata"]["creationTimestamp"] = made
        return kind, given

    old = short("old", MADE), pod("old-a", "old", 4, on="n", phase="Succeeded"), job("old", "Complete")
    new = (
        short("new", "2026-01-01T01:00:05Z"),
        pod("new-a", "new", 2, on="n", phase="Succeeded"),
        job("new", "Complete"),
    )
    shown = remembered(at(0, node("n"), *old), at(15, node("n"), *old, *new), at(30, node("n"), *old, *new))
    assert [(row.title, row.state, row.gpus) for row in shown.endings.rows] == [("new", "ended", 2.0)]


def test_a_gang_that_was_deleted_keeps_the_name_of_its_workload_and_its_queue() -> None:
    before = (node("n"), group("pg-1", 1, "search", owner=owned_by("Job", "train")), job("train"), pod("a", "pg-1", 8))
    shown = remembered(at(0, *before), at(15, node("n")))
    assert [(row.title, row.queue, row.gpus) for row in shown.endings.rows] == [("train", "search", 8.0)]
    assert 'href="/gang/work/train/timeline"' in document(shown)


def gone(namespaces: frozenset[str] | None = None) -> Page:
    memory = PastMemory()
    for view in (at(0, *RUNS), at(15, node("n"))):
        memory.observe(view)
    path = ["gang", "work", "g", "timeline"]
    return page(at(15, node("n")), path, {}, KnownPast(memory, namespaces=namespaces))


def test_the_timeline_of_a_gang_that_is_gone_tells_what_was_seen_of_it() -> None:
    shown = gone()
    assert isinstance(shown, TimelinePage) and [moment.what for moment in shown.moments] == ["deleted"]
    text = document(shown)
    assert "It is no longer there." in text and "This is what the dashboard saw of it." in text
    assert 'href="/gang/work/g"' not in text


def test_who_may_not_see_its_namespace_is_told_nothing_of_a_gang_that_is_gone() -> None:
    assert isinstance(gone(frozenset({"other"})), MissingPage)


@pytest.mark.parametrize(
    ("span", "texts"),
    [
        (3600.0, ["10:30", "10:45", "11:00", "11:15"]),
        (86400.0, ["12:00", "16:00", "20:00", "00:00", "04:00", "08:00"]),
        (604800.0, ["Nov 12", "Nov 13", "Nov 14", "Nov 15", "Nov 16", "Nov 17", "Nov 18"]),
    ],
)
def test_times_below_a_chart_are_round(span: float, texts: list[str]) -> None:
    end = 1795000800.0  # 2026-11-18T11:20:00Z
    assert [clock(moment, span) for moment in ticks(end - span, end)] == texts


def test_a_ring_keeps_no_more_points_than_its_time_has() -> None:
    ring = SampleRing(100.0, 10.0)
    for second in range(1000):
        ring.add(UsePoint(start=second, end=second + 1, capacity=8.0, used={"q": float(second % 10)}))
    assert len(ring.all()) == 11 and {point.used["q"] for point in ring.points} == {4.5}


def test_memory_is_bounded_whatever_happens() -> None:
    memory = PastMemory()
    for number in range(3):
        gangs = [group(f"g-{number}-{place}") for place in range(MOST)]
        pods = [pod(f"p-{number}-{place}", f"g-{number}-{place}") for place in range(MOST)]
        memory.observe(at(number * 15.0, *gangs, *pods))
    assert len(memory.endings) == MOST


@pytest.mark.parametrize("name", [*RANGES, "", "<b>"])
def test_every_range_has_an_address(name: str) -> None:
    shown = times_page(at(0, *WAITS), KnownPast(PastMemory()), {"range": name})
    assert shown.range == (name if name in RANGES else "1h") and "Nothing was seen yet" in document(shown)


def test_waits_are_summed_up_by_size() -> None:
    waits = [PastWait(at=0, gpus=gpus, seconds=wait) for gpus, wait in ((0.5, 1), (1, 3), (64, 10), (65, 20))]
    assert [(line.size, line.gangs, line.median) for line in waits_by_size(waits)] == [
        ("up to 1 GPU", 2, 3),
        ("9 to 64 GPUs", 1, 10),
        ("more than 64 GPUs", 1, 20),
    ]


def timeline_of(view: ClusterView, *told: GangMoment) -> TimelinePage:
    shown = page(view, ["gang", "work", "g", "timeline"], {}, KnownPast(PastMemory(), told))
    assert isinstance(shown, TimelinePage)
    return shown


def test_a_timeline_goes_from_created_to_evicted_by_what_objects_say() -> None:
    shown = timeline_of(look(*WAITS, group("other"), eviction("g", "preempt", "other", "2026-01-01T00:59:00Z")))
    assert [moment.what for moment in shown.moments] == ["created", "evicted", "Evict"] and not shown.recorded


def test_what_happened_in_one_second_is_told_in_the_order_in_which_it_must_have_happened() -> None:
    kind, placed = group("g")
    placed["metadata"]["annotations"][names.LAST_START] = MADE
    shown = timeline_of(look(*RUNS[:2], (kind, placed), RUNS[3], event("g-0", "made by its owner")))
    assert len({moment.at for moment in shown.moments}) == 1
    assert [moment.what for moment in shown.moments] == ["created", "Told", "placed"]


def test_a_recorded_story_is_told_instead() -> None:
    shown = timeline_of(look(*WAITS), GangMoment(at=1.0, what="refused", text="8 GPUs short"))
    assert [moment.text for moment in shown.moments] == ["8 GPUs short"]
    assert "Read from the recording of the scheduler." in document(shown)


def test_after_a_restart_the_page_remembers_what_it_saw_and_tells_nothing_twice(tmp_path: Path) -> None:
    lost = (*RUNS, group("other"), pod("other-0", "other", 1), eviction("other", "preempt", "g"))
    before = PastMemory()
    for view in (at(0, *WAITS), at(15, *RUNS), at(30, *lost)):
        before.observe(view)
    write_kept(tmp_path, before.kept())
    kept = read_kept(tmp_path)
    assert kept is not None and (tmp_path / "past.json").stat().st_mode & 0o077 == 0
    after = PastMemory()
    after.restore(kept)
    for view in (at(90, *lost), at(105, *WAITS[:2], *lost[4:])):
        after.observe(view)
    told = times_page(at(105, *lost), KnownPast(after), {})
    assert [(point.start - BEGAN, point.end - BEGAN) for point in told.points] == [(0, 15), (15, 30), (90, 105)]
    assert [line.gangs for line in told.waits] == [1]
    assert told.evictions.total == 1
    assert [(row.title, row.state) for row in told.endings.rows] == [("g", "deleted")]


@pytest.mark.parametrize("content", [b"", b"{", b'{"last": "yesterday"}', b"\xff\xfe"])
def test_a_damaged_memory_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    assert read_kept(tmp_path) is None
    (tmp_path / "past.json").write_bytes(content)
    assert read_kept(tmp_path) is None


def test_what_was_recorded_fills_only_the_time_that_is_not_remembered() -> None:
    memory = PastMemory()
    memory.restore(KeptPast(last=BEGAN, waits=[PastWait(at=BEGAN - 5, gpus=1.0, seconds=1.0)]))
    memory.recall(
        RecordedPast(
            points=[UsePoint(start=BEGAN - 15, end=BEGAN), UsePoint(start=BEGAN, end=BEGAN + 15)],
            waits=[PastWait(at=BEGAN - 5, gpus=1.0, seconds=1.0), PastWait(at=BEGAN + 5, gpus=1.0, seconds=2.0)],
        )
    )
    assert [wait.seconds for wait in memory.waits] == [1.0, 2.0]
    assert [point.start for point in memory.rings["1h"].all()] == [BEGAN]
