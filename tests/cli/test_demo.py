"""`gangline demo` as a person sees it: every scene goes well, and the queue tree is drawn before and after each
eviction."""

from __future__ import annotations

import pytest
from msgspec import convert

from cli.test_commands import call
from gangline.api.kai import Queue
from gangline.cli.local.scenes import SCENES, adds_up, queue_lines


def test_every_scene_goes_well(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, "demo") == 0
    shown = capsys.readouterr().out
    assert f"all {len(SCENES)} scenes went well" in shown and all(title in shown for title, _ in SCENES)
    assert "applied as printed: there was 1 more node (Node/node-0-more-1)" in shown
    assert "2 gangs of sweep made room, whole, by reclaim" in shown and "for serve-" in shown
    assert "1 gang of serve made room, whole, by preempt" in shown and "for urgent-0" in shown
    assert (
        "│  └─ vision         24 of 8  ████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒" in shown
        and "└─ serving           16 of 16 ████████████████" in shown
    )


def queue(name: str, parent: str, quota: float, gpus: str) -> Queue:
    return convert(
        {
            "metadata": {"name": name},
            "spec": {"parentQueue": parent, "resources": {"gpu": {"quota": quota}}},
            "status": {"allocated": {"nvidia.com/gpu": gpus}},
        },
        Queue,
    )


def test_a_queue_tree_shows_what_is_used_borrowed_and_idle() -> None:
    lines = queue_lines(
        [queue("all", "", 4, "3500m"), queue("a", "all", 2, "3"), queue("b", "all", 2, "500m")], "all", indent=""
    )
    shown = [line.split("\x1b")[0].split() for line in lines]
    assert shown == [["all", "3.5", "of", "4"], ["├─", "a", "3", "of", "2"], ["└─", "b", "0.5", "of", "2"]]
    assert [line.count(mark) for line in lines for mark in "█▒"] == [4, 0, 2, 1, 0, 0]


def test_a_tree_of_queues_adds_up_when_every_status_is_written() -> None:
    def tree(language: int) -> list[Queue]:
        return [
            queue("company", "", 8, "29"),
            queue("serving", "company", 8, "16"),
            queue("research", "company", 8, "13"),
            queue("vision", "research", 8, "8"),
            queue("language", "research", 8, str(language)),
        ]

    assert adds_up(tree(5), "company")
    assert not adds_up(tree(8), "company")
