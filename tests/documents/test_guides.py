"""The guides are true: their objects are accepted as they stand, their commands exist with the options that are named,
and what they say starts really starts."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest

from documents.pages import REPOSITORY, blocks, name, pages
from gangline.cli import COMMANDS, group
from gangline.cli.objects.apply import apply_one, kind_of
from journeys.story import Story, told
from yaml_loading import load_all_yaml

WRITTEN = [page for page in pages() if page.is_relative_to(REPOSITORY / "docs") or page.parent == REPOSITORY]
RUNNING = {"gpu-sharing.md": 2, "workloads.md": 4, "topology.md": 4}
"""How many pods run once the objects of a guide were applied."""
FRAGMENTS = ("custom-backend.md", "install.md", "real-cluster.md", "jobs.md", "start-times.md", "why.md")
"""Guides whose blocks have a test of their own, or are parts of objects."""


def guides() -> list[Path]:
    docs = REPOSITORY / "docs"
    found = [page for page in (*docs.glob("guide/*.md"), *docs.glob("from/*.md")) if blocks(page, "yaml")]
    return sorted(page for page in found if page.name not in FRAGMENTS)


def typed() -> list[tuple[str, str]]:
    return [(name(page), line) for page in WRITTEN for block in blocks(page) for line in block.lines("gangline")]


@pytest.mark.parametrize(("page", "line"), typed(), ids=lambda text: text[:60])
def test_a_command_that_a_page_shows_exists_with_its_options(page: str, line: str) -> None:
    words = shlex.split(
        line.partition("|")[0].partition(" > ")[0].partition("   #")[0].replace("[", "").replace("]", ""), comments=True
    )
    words = words[1:]
    assert words[0] in COMMANDS or words[0].startswith("-"), f"{page}: {line}"
    command: click.Command | None = (
        group if words[0].startswith("-") else group.get_command(click.Context(group), words[0])
    )
    if isinstance(command, click.Group) and len(words) > 1 and words[1] in command.commands:
        command = command.commands[words[1]]
    assert command is not None
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    named = {word.partition("=")[0] for word in words if word.startswith("-") and word != "-"}
    unknown = named - known - {"--help", "-h", "--version"}
    assert not unknown or words[0] == "run", f"{page}: {line}: {unknown}"


def test_there_are_commands_in_the_pages() -> None:
    assert len(typed()) > 60


@pytest.mark.parametrize("guide", guides(), ids=name)
@pytest.mark.timeout(300)
async def test_the_objects_of_a_guide_are_accepted_and_start(guide: Path) -> None:
    async with told(nodes="") as story:
        for block in blocks(guide, "yaml"):
            for obj in load_all_yaml(block.text):
                said = await apply_one(story._connection, await kind_of(story._connection, obj), obj)
                assert said in ("created", "configured", "unchanged")
        if guide.name in RUNNING:
            await story.until(lambda: _has_started(story, RUNNING[guide.name]), "pods that run, or have run")


async def _has_started(story: Story, count: int) -> bool:
    """So many pods run; those of a Job may be done before the last one starts."""
    return len([pod for pod in await story.pods() if pod.status.phase in ("Running", "Succeeded")]) == count
