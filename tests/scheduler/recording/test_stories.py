"""What is told of a gang, a pod and the GPUs is what happened to them."""

from __future__ import annotations

from dataclasses import replace

from gangline.scheduler.model.status import Status
from gangline.scheduler.recording.evicted import past_of
from gangline.scheduler.recording.following import shown
from gangline.scheduler.recording.segments import RecordedCycle, cycles_of
from gangline.scheduler.recording.stories import GangStory, stories
from gangline.scheduler.recording.usage import past_use
from scheduler.recording.scene import NOW, RecordedScene


def story_of(scene: RecordedScene, name: str) -> GangStory:
    return next(iter(stories(cycles_of(scene.lines), lambda title, record: title == name)))


def whats(scene: RecordedScene, name: str) -> list[str]:
    return [event.what for event in story_of(scene, name).events]


def texts(scene: RecordedScene, name: str, what: str) -> list[str]:
    return [event.text for event in story_of(scene, name).events if event.what == what]


def test_a_gang_is_queued_placed_runs_and_ends() -> None:
    scene = RecordedScene()
    scene.gang("train", 2)
    scene.runs()
    scene.passes(598)
    scene.ends("train")
    assert whats(scene, "train") == ["queued", "placed", "running", "ended"]
    assert texts(scene, "train", "queued") == ["2 pods, 2 GPUs, queue a, priority 50"]
    assert texts(scene, "train", "placed") == ["2 pods on n1, after 0 s"]
    assert texts(scene, "train", "ended") == ["after 10 min"]


def test_a_gang_that_fails_or_is_deleted_is_told_so() -> None:
    scene = RecordedScene()
    scene.gang("train", 2)
    scene.runs()
    scene.ends("train", Status.FAILED)
    scene.deletes("train")
    assert whats(scene, "train")[-2:] == ["failed", "deleted"]


def test_a_gang_of_the_same_name_has_a_story_of_its_own() -> None:
    scene = RecordedScene()
    scene.gang("train", 1)
    scene.deletes("train")
    scene.gang("train", 1)
    assert len(stories(cycles_of(scene.lines), lambda title, record: title == "train")) == 2


def test_a_gang_that_waits_is_told_why_once_and_who_overtook_it() -> None:
    scene = RecordedScene()
    scene.gang("first", 3)
    scene.gang("large", 4)
    for name in ("small-1", "small-2"):
        scene.gang(name, 1)
    assert whats(scene, "large") == ["queued", "refused", "overtaken"]
    assert texts(scene, "large", "overtaken") == ["by small-1 (1 GPU): came later, were placed first"]
    assert texts(scene, "large", "refused")[0].endswith(" GPUs.")


def test_an_eviction_names_who_took_the_place_and_by_which_rule() -> None:
    scene = RecordedScene()
    scene.gang("sweep", 4)
    scene.runs()
    scene.passes(3600)
    scene.gang("urgent", 4, priority=75)
    scene.runs()
    assert whats(scene, "sweep") == ["queued", "placed", "running", "evicted", "refused"]
    assert texts(scene, "sweep", "evicted") == [
        "4 pods by preempt for urgent: higher priority in the same queue; 4.0 GPU-hours of work were lost"
    ]
    assert whats(scene, "urgent") == ["queued", "nominated", "placed"]
    (eviction,) = past_of("sweep-2", cycles_of(scene.lines)).evictions
    assert (eviction.action, eviction.node, eviction.with_it) == ("preempt", "n1", 4)
    assert eviction.by is not None
    assert (eviction.by.name, eviction.by.priority) == ("urgent", 75)
    assert eviction.again is None


def test_pods_that_go_in_the_cycle_that_evicts_them_are_told_once_as_evicted() -> None:
    scene = RecordedScene()
    scene.gang("sweep", 1, 4)
    scene.runs()
    scene.gang("urgent", 4, priority=75)
    scene.runs()
    *before, evicts, goes = cycles_of(scene.lines)
    assert isinstance(evicts, RecordedCycle) and isinstance(goes, RecordedCycle)
    together = replace(evicts, changes=evicts.changes + goes.changes)
    (told,) = stories([*before, together], lambda title, record: title == "sweep")
    assert [event.what for event in told.events][:4] == ["queued", "placed", "running", "evicted"]
    assert told.events[2].text == "1 pod runs on n1"


def test_a_pod_that_nobody_evicted_is_known_all_the_same() -> None:
    scene = RecordedScene()
    scene.gang("train", 1)
    past = past_of("train-0", cycles_of(scene.lines))
    assert past.seen
    assert not past.evictions
    assert not past_of("other-0", cycles_of(scene.lines)).seen


def test_a_restart_of_the_scheduler_changes_no_story() -> None:
    scene = RecordedScene()
    scene.gang("train", 2)
    scene.runs()
    scene.restart()
    scene.ends("train")
    assert whats(scene, "train") == ["queued", "placed", "running", "ended"]
    (first, second) = past_use(cycles_of(scene.lines)).spans()
    assert first.end == second.end is not None


def test_spans_say_who_held_which_gpus_and_how_it_ended() -> None:
    scene = RecordedScene()
    scene.gang("train", 2)
    scene.runs()
    scene.passes(100)
    scene.gang("other", 1, gpus=2, queue="b")
    scene.ends("train")
    spans = past_use(cycles_of(scene.lines)).spans()
    assert [(span.pod, span.lane, span.gpus, span.ended) for span in spans] == [
        ("train-0", 0, 1, "ended"),
        ("train-1", 1, 1, "ended"),
        ("other-0", 2, 2, ""),
    ]
    assert [span.gang for span in past_use(cycles_of(scene.lines)).spans(since=scene.now)] == ["other"]


def test_samples_say_what_each_queue_used_and_waited_for() -> None:
    scene = RecordedScene()
    scene.gang("train", 4)
    scene.gang("later", 2, queue="b", priority=30)
    scene.now = NOW + 100
    scene.cycle()
    first, last = past_use(cycles_of(scene.lines)).samples(NOW + 3, NOW + 100, 2)
    assert first.capacity == 4
    assert sum(last.used.values()) == 4
    assert sum(last.waiting.values()) == 2


def test_people_read_the_names_of_gangs_and_not_of_their_pod_groups() -> None:
    assert shown("pg-llm-0-0a1b2c3d-0000-1111-2222-333344445555 waits") == "llm-0 waits"
    assert shown("pg-mine waits") == "pg-mine waits"
