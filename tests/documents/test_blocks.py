"""What a page tells people to type does what it says: every command that can run is run, in the order of the page,
against a platform of the page's own. The others are listed with the reason (`typed.py`)."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from documents.pages import REPOSITORY, CodeBlock, name
from documents.scenes import SCENES, PageScene
from documents.typed import NOT_RUN, TypedCommand, commands, lines_typed, with_commands
from gangline.cli import group
from gangline.local import Platform, write_kubeconfig
from journeys import kubectl
from journeys.story import Story, told

PROGRAMS = ("gangline", "kubectl")
SWEPT_POD, SWEPT_AT = "sweep-0-worker-sfbmj", "2026-11-18T00:06:23.9Z"
"""What docs/guide/history.md shows of a run: a pod that was evicted, and when."""


def run_here(page: Path) -> list[TypedCommand]:
    return [command for command in commands(page) if not command.why_not_run()]


def pages_that_run() -> list[Path]:
    return [page for page in with_commands() if run_here(page)]


def everything() -> list[TypedCommand]:
    return [command for page in with_commands() for command in commands(page)]


async def typed_gangline(line: str) -> tuple[int, str]:
    """How the command line ends in this process, and what it prints; what comes after a pipe is not of ours."""
    typed, _, file = line.partition(" | ")[0].partition(" > ")
    done = await asyncio.to_thread(CliRunner().invoke, group, shlex.split(typed)[1:], prog_name="gangline")
    if file:
        await asyncio.to_thread(Path(file).write_text, done.stdout)
    return done.exit_code, f"{done.output}{done.exception or ''}"


async def typed_kubectl(line: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_shell(
        line, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    printed, _ = await process.communicate()
    return process.returncode or 0, printed.decode()


async def of_this_run(line: str) -> str:
    """A pod's random name and a time become those of this run."""
    if SWEPT_POD not in line and SWEPT_AT not in line:
        return line
    _, printed = await typed_gangline("gangline history sweep-0 -o json")
    (life,) = json.loads(printed)
    evicted = next(event for event in life["events"] if event["what"] == "evicted")
    at = evicted["time"].replace("Z", ".999999Z")
    return line.replace(SWEPT_POD, evicted["pods"][0]).replace(SWEPT_AT, at)


@asynccontextmanager
async def played(scene: PageScene, folder: Path) -> AsyncIterator[Story]:
    """A platform as `gangline up` starts it in this folder, with what the page takes for granted."""
    home = folder / ".gangline"
    async with told(nodes=scene.nodes, recording=str(home / "recording")) as story:
        assert isinstance(story.platform, Platform)
        write_kubeconfig(story.platform, await story.platform.listen(), home / "kubeconfig")
        for objects in (scene.objects, scene.later):
            for obj in objects:
                await story.apply(obj)
            await story.settles()
        yield story


async def recorded(story: Story) -> None:
    """The scheduler goes: it writes down what it recorded before it stops."""
    managers = story.platform.managers
    for manager in [item for item in managers if item.component.name == "scheduler"]:
        managers.remove(manager)
        await manager.stop()


def seated(folder: Path, scene: PageScene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell in a folder of its own that looks like the repository."""
    for shared in ("examples", "charts"):
        (folder / shared).symlink_to(REPOSITORY / shared)
    (folder / "bin").mkdir()
    if program := kubectl.find():
        (folder / "bin" / "kubectl").symlink_to(program)
    for file, text in scene.files.items():
        (folder / file).write_text(text)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("GANGLINE_HOME", ".gangline")
    monkeypatch.setenv("KUBECONFIG", str(folder / ".gangline" / "kubeconfig"))


@pytest.mark.parametrize("page", pages_that_run(), ids=name)
@pytest.mark.timeout(300)
async def test_what_a_page_tells_to_type_ends_well(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = run_here(page)
    if kubectl.find() is None and any(command.program == "kubectl" for command in lines):
        pytest.skip(kubectl.MISSING)
    scene = SCENES.get(name(page), PageScene())
    seated(tmp_path, scene, monkeypatch)
    async with played(scene, tmp_path) as story:
        for command in lines:
            if command.reads_recording:
                await recorded(story)
            typed = typed_kubectl if command.program == "kubectl" else typed_gangline
            code, printed = await typed(await of_this_run(command.text))
            assert code == 0, f"{command.page}: $ {command.text} ended with {code}:\n{printed}"
            await story.settles()


def test_a_command_of_another_program_is_listed_with_the_reason_that_it_is_not_run() -> None:
    strange = [command for command in everything() if command.program not in PROGRAMS and not command.why_not_run()]
    assert strange == []


def test_what_is_listed_as_not_run_is_still_there() -> None:
    everywhere = everything()
    listed = [pattern for patterns in NOT_RUN.values() for pattern in patterns]
    gone = [pattern for pattern in listed if not any(command.is_like(pattern) for command in everywhere)]
    gone += [page for page in SCENES if page not in map(name, pages_that_run())]
    assert gone == []


def test_most_commands_are_run() -> None:
    assert sum(len(run_here(page)) for page in with_commands()) >= 60


def test_what_follows_a_prompt_is_typed_and_the_rest_is_output() -> None:
    shown = CodeBlock(REPOSITORY, "", "$ gangline tree llm   # states\nllm\n$ kubectl get pods \\\n  -A\n")
    assert lines_typed(shown) == ["gangline tree llm", "kubectl get pods    -A"]
    assert lines_typed(CodeBlock(REPOSITORY, "sh", "make up  # here\n\nhelm test x\n")) == ["make up", "helm test x"]
