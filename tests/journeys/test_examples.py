"""The examples as a user meets them: each is listed, played by some test, and part of the package."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from gangline.api import names
from gangline.api.kinds import EVENT, JOB, POD, POD_CLIQUE_SET, POD_GANG, POD_GROUP
from gangline.cli import manifests
from journeys.story import Story, told
from yaml_loading import load_yaml

REPOSITORY = Path(__file__).parents[2]
EXAMPLES = REPOSITORY / "examples"
RUN_BY = {
    "01-gang": "journeys/test_skeleton.py",
    "02-default-scheduler": "journeys/test_skeleton.py",
    "03-job": "journeys/test_skeleton.py",
    "04-waiting": "journeys/test_skeleton.py",
    "05-queues": "journeys/test_skeleton.py",
    "06-company": "journeys/test_examples.py",
    "07-disaggregated": "journeys/test_disaggregated.py",
    "custom-backend": "backends/test_custom.py",
    "jobs.csv": "lab/test_simulate.py",
    "nodes.yaml": "cluster/world/test_nodes.py",
}


def test_every_example_is_listed_and_run_by_a_test_that_names_it() -> None:
    there = sorted(item.name for item in EXAMPLES.iterdir() if item.name != "README.md")
    listed = (EXAMPLES / "README.md").read_text()
    assert there == sorted(RUN_BY) and all(f"| {name} |" in listed for name in there)
    silent = [name for name, test in RUN_BY.items() if name not in (REPOSITORY / "tests" / test).read_text()]
    assert not silent


def test_the_package_carries_the_examples_where_the_demo_looks_for_them() -> None:
    told = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    assert told["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"] == {"examples": "gangline/examples"}


# --- every example on every nodes file --------------------------------------------------------------------------------


FIRST = ("queues.yaml", "load.yaml", "borrow.yaml")
"""What the other files of an example need, or act on."""
OWN_BACKEND = ("custom-backend",)
"""Examples that bring a program of their own: their test starts it."""
MAY_WAIT, NONE_MAY_START = ("04-waiting", "05-queues", "06-company"), ("04-waiting",)
"""Examples that show gangs which wait where there is not enough room for all of them; and the one with a single
gang."""
REFUSALS = ("OutOf", "UnexpectedAdmissionError", "NodeAffinity")


def nodes_files() -> dict[str, str]:
    """The text of every nodes file that is shipped, and of the nodes that there are without one."""
    there = {
        path.name: path.read_text()
        for path in EXAMPLES.glob("*.yaml")
        if "nodes" in (load_yaml(path.read_text()) or {})
    }
    return {"no file": "", **there}


def examples() -> dict[str, list[dict[str, Any]]]:
    """The objects of every example, in the order in which a reader applies its files."""
    folders = sorted(item for item in EXAMPLES.iterdir() if item.is_dir() and item.name not in OWN_BACKEND)
    paths = {
        folder.name: sorted(folder.glob("*.yaml"), key=lambda path: (path.name not in FIRST, path.name))
        for folder in folders
    }
    return {name: [obj for path in found for obj in manifests.read([str(path)])] for name, found in paths.items()}


def test_no_two_examples_share_a_name_so_that_all_can_be_applied_side_by_side() -> None:
    owners: dict[tuple[str, str], set[str]] = {}
    for example, objects in examples().items():
        for obj in objects:
            owners.setdefault((obj["kind"], obj["metadata"]["name"]), set()).add(example)
    assert {named: sorted(which) for named, which in owners.items() if len(which) > 1} == {}


def test_the_nodes_files_are_found() -> None:
    assert set(nodes_files()) == {"no file", "nodes.yaml"} and len(examples()) == 7


async def whole(story: Story) -> tuple[list[str], list[str]]:
    """Gangs that stand, and what is wrong with the others: each has its minimum on nodes, or none of its pods."""
    stand: list[str] = []
    wrong: list[str] = []
    pods = await story.pods()
    for group in await story.all(POD_GROUP):
        mine = [pod for pod in pods if pod.annotations.get(names.POD_GROUP_NAME) == group.name]
        placed = [pod for pod in mine if pod.status.phase in ("Running", "Succeeded")]
        least = group.spec.min_member or sum(sub_group.min_member or 0 for sub_group in group.spec.sub_groups) or 1
        (stand if len(placed) >= least else wrong if placed or not mine else []).append(
            f"{group.name}: {len(placed)} of {least}"
        )
    return stand, wrong


@pytest.mark.parametrize("name", nodes_files())
async def test_every_example_runs_on_every_nodes_file(name: str) -> None:
    async with told(nodes=nodes_files()[name]) as story:
        for example, objects in examples().items():
            for obj in objects:
                await story.apply(obj)

            async def runs(example: str = example) -> bool:
                pods = await story.pods()
                stand, wrong = await whole(story)
                there = [pod for pod in pods if pod.status.phase in ("Running", "Succeeded")]
                return (
                    bool(pods)
                    and not wrong
                    and (example in MAY_WAIT or len(there) == len(pods))
                    and (bool(stand) or example in NONE_MAY_START or not await story.all(POD_GROUP))
                )

            await story.at_rest(runs, f"{example} running on {name}")
            refused = [
                f"{event.involved_object.get('name')}: {event.message}"
                for event in await story.all(EVENT)
                if event.reason.startswith(REFUSALS)
            ]
            assert refused == [], f"{example} on {name}"
            for obj in reversed(objects):
                await story.remove(obj)
            await story.gone(POD_CLIQUE_SET, POD_GANG, JOB, POD)


async def evicted(story: Story, action: str) -> set[str]:
    """The gangs that an action took places from."""
    events = [item for item in (await story.client.list(EVENT, "default")).items if item.reason == "Evict"]
    return {
        event.involved_object["name"].removeprefix("pg-")[:-37]
        for event in events
        if event.annotations["evictor-action-type"] == action
    }


async def running(story: Story, name: str) -> int:
    return sum(pod.status.phase == "Running" and pod.name.startswith(f"{name}-") for pod in await story.pods())


async def test_in_a_queue_tree_a_lender_takes_its_share_back_and_then_what_matters_more_goes_first(
    story: Story,
) -> None:
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
