"""Commands as somebody types them: processes of their own, against a story that is served over HTTPS."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from gangline.local import Platform, write_kubeconfig
from journeys.story import Story, told


@dataclass(frozen=True, slots=True)
class Typed:
    code: int
    out: str
    err: str


Process = asyncio.subprocess.Process
COMMAND = "from gangline.cli import main; main()"


async def gangline(*words: str, home: Path | None = None, program: str = COMMAND, **environment: str) -> Process:
    """A command as a process of its own, at work in a home of its own; both of its outputs can be read."""
    there = {"GANGLINE_HOME": str(home)} if home else {}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-u",
        "-c",
        program,
        *words,
        cwd=home,
        env=os.environ | there | environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


class Terminal:
    def __init__(self, story: Story, kubeconfig: Path) -> None:
        self.story, self.kubeconfig = story, kubeconfig

    async def type(self, *words: str, **environment: str) -> Typed:
        """What a command prints, and how it ends."""
        process = await gangline(*words, home=None, **{"KUBECONFIG": str(self.kubeconfig)} | environment)
        out, err = await process.communicate()
        return Typed(process.returncode or 0, out.decode(), err.decode())


@asynccontextmanager
async def terminal(folder: Path, nodes: str = "") -> AsyncIterator[Terminal]:
    """A platform with the nodes that `gangline up` has, and somebody in front of it."""
    async with told(nodes=nodes) as story:
        assert isinstance(story.platform, Platform)
        url = await story.platform.listen("127.0.0.1", 0)
        yield Terminal(story, write_kubeconfig(story.platform, url, folder / "kubeconfig"))
