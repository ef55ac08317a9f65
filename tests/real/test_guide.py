"""docs/guide/real-cluster.md, followed to the letter: its commands, in order, in one shell, on a real control plane."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
from pathlib import Path

import pytest

from journeys import kubectl
from real.leash import leashed
from real.plane import REPOSITORY, Plane, free_port, missing

PAGE = REPOSITORY / "docs" / "guide" / "real-cluster.md"
pytestmark = [
    pytest.mark.skipif(bool(missing() or kubectl.find() is None), reason=missing() or kubectl.MISSING),
    pytest.mark.timeout(400),
]


def commands() -> str:
    return "set -eu\n" + "".join(re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL))


async def follow(plane: Plane, folder: Path) -> tuple[int, str]:
    """Exit code and what was shown. The shell leads a process group of its own, which ends with it."""
    tools = [str(Path(sys.executable).parent), str(Path(kubectl.find() or "").parent), os.environ["PATH"]]
    known = {
        "PATH": os.pathsep.join(tools),
        "HOME": str(folder),
        "KUBECONFIG": str(plane.kubeconfig),
        "WEBHOOK": f"https://127.0.0.1:{free_port()}",
    }
    output = folder / "shown"
    with output.open("wb") as file:
        shell = await asyncio.create_subprocess_exec(
            *leashed(["bash", "-c", commands()], group=True), cwd=REPOSITORY, env=known, stdout=file, stderr=file
        )
        try:
            code = await asyncio.wait_for(shell.wait(), 300)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
    return code, output.read_text()


async def test_every_command_of_the_page_works(tmp_path: Path) -> None:
    plane = Plane(tmp_path)
    try:
        await plane.start()
        code, shown = await follow(plane, tmp_path)
        assert code == 0, shown
        assert "podcliqueset.grove.io/llm condition met" in shown
        assert re.search(r"podgang\.scheduler\.grove\.io/llm-0 .*Running", shown), shown
        assert 'podcliqueset.grove.io "llm" deleted' in shown
        assert 'mutatingwebhookconfiguration.admissionregistration.k8s.io "gangline-admission" deleted' in shown
    finally:
        await plane.stop()
