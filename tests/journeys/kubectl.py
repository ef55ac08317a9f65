"""A real kubectl, where there is one: `GANGLINE_KUBECTL`, one in `KUBEBUILDER_ASSETS`, the one that `make kubectl`
built, or the one on PATH."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from journeys.story import REPOSITORY

MISSING = "no kubectl: run `make kubectl` (needs Go), or put one on PATH"


def find() -> str | None:
    folders = [Path(given)] if (given := os.environ.get("KUBEBUILDER_ASSETS")) else []
    built = [
        folder / "kubectl" for folder in (*folders, REPOSITORY / ".cache" / "bin") if (folder / "kubectl").exists()
    ]
    return os.environ.get("GANGLINE_KUBECTL") or (str(built[0]) if built else shutil.which("kubectl"))


@dataclass(frozen=True, slots=True)
class Kubectl:
    program: str
    kubeconfig: Path
    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def watching(self, *arguments: str) -> AsyncIterator[AsyncIterator[str]]:
        """Lines as they come from one that goes on until it is no longer needed."""
        process = await asyncio.create_subprocess_exec(
            self.program,
            *arguments,
            cwd=REPOSITORY,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=self._env(),
        )
        try:
            yield _lines(process)
        finally:
            process.kill()
            await process.communicate()

    def _env(self) -> dict[str, str]:
        return {
            "KUBECONFIG": str(self.kubeconfig),
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            **self.environment,
        }

    async def __call__(self, *arguments: str, stdin: str = "", code: int = 0) -> str:
        """What it printed (both streams); the exit code must be as expected."""
        process = await asyncio.create_subprocess_exec(
            self.program,
            *arguments,
            cwd=REPOSITORY,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=self._env(),
        )
        out, _ = await process.communicate(stdin.encode())
        shown = out.decode()
        assert process.returncode == code, f"kubectl {' '.join(arguments)} ended with {process.returncode}:\n{shown}"
        return shown


async def _lines(process: asyncio.subprocess.Process) -> AsyncIterator[str]:
    assert process.stdout is not None
    while line := await process.stdout.readline():
        yield line.decode()
