"""The examples as a user meets them: each is listed, played by some test, and part of the package."""

from __future__ import annotations

import tomllib
from pathlib import Path

from gangline.api.kinds import EVENT
from journeys.story import Story

REPOSITORY = Path(__file__).parents[2]
EXAMPLES = REPOSITORY / "examples"
RUN_BY = {
    "01-gang": "journeys/test_skeleton.py", "02-default-scheduler": "journeys/test_skeleton.py", "03-job": "journeys/test_skeleton.py",
    "04-waiting": "journeys/test_skeleton.py", "05-queues": "journeys/test_skeleton.py", "06-company": "journeys/test_examples.py",
    "07-disaggregated": "journeys/test_disaggregated.py",
    "custom-backend": "backends/test_custom.py", "nodes.yaml": "world/test_nodes.py",
}


def test_every_example_is_listed_and_run_by_a_test_that_names_it() -> None:
    there = sorted(each.name for each in EXAMPLES.iterdir() if each.name != "README.md")
    listed = (EXAMPLES / "README.md").read_text()
    assert there == sorted(RUN_BY) and all(f"| {name} |" in listed for name in there)
    silent = [name for name, test in RUN_BY.items() if name not in (REPOSITORY / "tests" / test).read_text()]
    assert not silent


def test_the_package_carries_the_examples_where_the_demo_looks_for_them() -> None:
    told = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    assert told["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"] == {"examples": "gangline/examples"}


async def evicted(story: Story, action: str) -> set[str]:
    """The gangs that an action took places from."""
    events = [each for each in (await story.client.list(EVENT, "default")).items if each.reason == "Evict"]
    return {each.involved_object["name"].removeprefix("pg-")[:-37] for each in events if each.annotations["evictor-action-type"] == action}


async def running(story: Story, name: str) -> int:
    return sum(pod.status.phase == "Running" and pod.name.startswith(f"{name}-") for pod in await story.pods())


async def test_in_a_queue_tree_a_lender_takes_its_share_back_and_then_what_matters_more_goes_first(story: Story) -> None:
    await story.nodes(4, gpus=8)
    await story.apply("examples/06-company/queues.yaml")
    await story.apply("examples/06-company/load.yaml")

    async def full() -> bool:
        return [await running(story, name) for name in ("sweep", "embed", "notebook")] == [6, 4, 2]

    await story.until(full, "the whole load running")
    await story.apply("examples/06-company/claim.yaml")

    async def reclaimed() -> bool:
        return await running(story, "serve") == 4 and len(await evicted(story, "reclaim")) == 2

    await story.until(reclaimed, "serving having its share back")
    assert all(name.startswith("sweep-") for name in await evicted(story, "reclaim"))
    await story.apply("examples/06-company/urgent.yaml")

    async def preempted() -> bool:
        return await running(story, "urgent") == 2 and len(await evicted(story, "preempt")) == 1

    await story.until(preempted, "the urgent gang running")
    assert all(name.startswith("serve-") for name in await evicted(story, "preempt"))
    assert [await running(story, name) for name in ("sweep", "embed", "notebook", "serve")] == [2, 4, 2, 2]
