"""What the scheduler recorded tells a gang's whole life, and decides the same again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from gangline.cli import group
from journeys.story import told
from journeys.test_reclaim import two_queues


def asked(place: Path, *words: str) -> Any:
    answer = CliRunner().invoke(group, [*words, "--recording", str(place), "-o", "json"])
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.output)


async def test_a_gang_waits_is_placed_is_evicted_and_history_tells_it_all(tmp_path: Path) -> None:
    async with told(recording=str(tmp_path)) as story:
        await two_queues(story, 4, 4)
        await story.gang("sweep", 8, queue="theirs")
        await story.settles()
        await story.nodes(1, gpus=8)
        await story.shares(sweep=8)
        await story.gang("serve", 4, queue="mine")
        await story.settles()
        assert len(await story.running_of("serve")) == 4
    (life,) = asked(tmp_path, "history", "sweep")
    whats = list(dict.fromkeys(event["what"] for event in life["events"]))
    assert whats[:4] == ["queued", "refused", "placed", "running"]
    (eviction,) = [event for event in life["events"] if event["what"] == "evicted"]
    assert (eviction["action"], eviction["by"]) == ("reclaim", "serve")
    for pod in eviction["pods"]:
        (why,) = asked(tmp_path, "why-evicted", pod)
        assert why["by"]["queue"] == "mine"
    (other,) = asked(tmp_path, "history", "serve")
    assert [event["what"] for event in other["events"]][-2:] == ["placed", "running"]
    again = asked(tmp_path, "replay", "--all")
    assert again["same"] == again["cycles"] > 5
