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


class Terminal:
    def __init__(self, story: Story, kubeconfig: Path) -> None:
        self.story, self.kubeconfig = story, kubeconfig

    async def type(self, *words: str, **environment: str) -> Typed:
        """What a command prints, and how it ends."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "from gangline.cli import main; main()",
            *words,
            env=os.environ | {"KUBECONFIG": str(self.kubeconfig)} | environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        return Typed(process.returncode or 0, out.decode(), err.decode())


@asynccontextmanager
async def terminal(folder: Path, nodes: str = "") -> AsyncIterator[Terminal]:
    """A platform with the nodes that `gangline up` has, and somebody in front of it."""
    async with told(nodes=nodes) as story:
        assert isinstance(story.platform, Platform)
        url = await story.platform.listen("127.0.0.1", 0)
        yield Terminal(story, write_kubeconfig(story.platform, url, folder / "kubeconfig"))
