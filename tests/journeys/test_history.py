"""What the scheduler recorded tells a gang's whole life, and decides the same again."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from gangline.api import names
from gangline.api.kinds import NODE_RESOURCE_TOPOLOGY, POD
from gangline.api.meta import Raw
from gangline.cli import group
from gangline.scheduler.loop.component import component as scheduler_component
from gangline.scheduler.settings import PluginSetting, native_settings
from gangline.scheduler.thought.options import SchedulerOptions
from journeys.story import told
from journeys.test_reclaim import two_queues
from truth.objects import claim_template, uses_claim


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


async def test_cycles_with_device_claims_parts_of_gpus_and_numa_zones_decide_the_same_again(tmp_path: Path) -> None:
    natively = native_settings()
    settings = replace(natively, plugins=(*natively.plugins, PluginSetting("numa", {})))
    recorded = SchedulerOptions(settings=settings, period=0.0, recording_folder=str(tmp_path))
    async with told(without=("scheduler",)) as story:
        await story.kind(
            NODE_RESOURCE_TOPOLOGY.group, NODE_RESOURCE_TOPOLOGY.version, NODE_RESOURCE_TOPOLOGY.kind, namespaced=False
        )
        await story.platform.hire(scheduler_component(options=recorded))
        await story.nodes(1, gpus=2, name="dra", dra=True)
        (zoned,) = await story.nodes(1, gpus=8, cpu=16, name="zoned", numa=2)
        policy = [{"name": "topologyManagerPolicy", "value": "single-numa-node"}]
        await story.client.patch(NODE_RESOURCE_TOPOLOGY, zoned, "", {"attributes": policy})
        await story.apply(claim_template("two", count=2))
        claims = uses_claim(resourceClaimTemplateName="two")
        for name in ("first", "second"):
            await story.pod(name, **claims)
            await story.settles()
        await story.runs("first")
        await story.waits("second")
        for number in range(3):
            await story.pod(f"part-{number}", annotations={names.GPU_FRACTION: "0.6"})
        await story.pod("guaranteed", containers=whole(4))
        await story.pod("too-wide", containers=whole(5))
        await story.settles()
        await story.runs("guaranteed")
        await story.waits("too-wide")
        await story.client.delete(POD, "first", "default", grace=0)
        await story.runs("second")
        await story.settles()
    again = asked(tmp_path, "replay", "--all")
    assert again["same"] == again["cycles"] > 5


async def test_a_recording_of_hours_over_a_restart_decides_the_same_again_with_names_and_without(
    tmp_path: Path,
) -> None:
    """In virtual time: device claims, parts of GPUs, gangs that are evicted, and a scheduler that was started anew."""
    place = tmp_path / "recording"
    async with told(moved=True, recording=str(place)) as story:
        await two_queues(story, 4, 4)
        await story.nodes(1, gpus=8)
        await story.nodes(1, gpus=2, name="dra", dra=True)
        await story.apply(claim_template("one"))
        for hour in range(8):
            await story.gang(f"sweep-{hour}", 8, queue="theirs")
            await story.settles()
            story.advance(600.0)
            await story.gang(f"urgent-{hour}", 4, queue="mine")
            await story.pod(f"device-{hour}", **uses_claim(resourceClaimTemplateName="one"))
            await story.pod(f"part-{hour}", annotations={names.GPU_FRACTION: "0.5"})
            await story.settles()
            for pod in await story.pods():
                await story.client.delete(POD, pod.name, "default", grace=0)
            story.advance(3600.0)
            await story.settles()
            if hour == 4:
                running = next(item for item in story.platform.managers if item.component.name == "scheduler")
                await story.platform.dismiss(running)
                await story.platform.start_component("scheduler")
    again = asked(place, "replay", "--all")
    assert again["same"] == again["cycles"] > 30
    assert again["last"] - again["first"] > 7 * 3600
    assert any(event["what"] == "evicted" for event in asked(place, "history", "sweep-6")[0]["events"])
    copy = tmp_path / "copy.jsonl.gz"
    done = CliRunner().invoke(group, ["recording", "redact", str(place), str(copy)])
    assert done.exit_code == 0, done.output
    text = gzip.decompress(copy.read_bytes())
    assert not [
        name for name in (b"sweep", b"urgent", b"device-", b"part-", b"mine", b"theirs", b"dra-") if name in text
    ]
    bare = asked(copy, "replay", "--all")
    assert (bare["cycles"], bare["same"]) == (again["cycles"], again["cycles"])


def whole(gpus: int) -> list[Raw]:
    """A container for whose amounts a kubelet looks for one zone."""
    asks = {"cpu": "1", "memory": "1Gi", names.NVIDIA_GPU: str(gpus)}
    return [{"name": "main", "image": "app", "resources": {"requests": asks, "limits": asks}}]
