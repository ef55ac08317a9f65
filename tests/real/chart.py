"""A real helm with one release of our chart, and the containers of that release.

helm is `GANGLINE_HELM`, the one that `make helm` built, or the one on PATH. There are no images here: `Containers`
plays the programs that the chart starts, each under the account of its pod, for as long as its pod runs."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import POD
from gangline.api.meta import Raw
from gangline.cli.care.checks import examine
from gangline.cli.care.facts import gather_facts
from gangline.cli.care.findings import FAIL
from gangline.cli.connection import ClusterConnection
from gangline.cli.deploy import uninstall
from gangline.client import Client, Request, Response, Transport
from gangline.components import build
from gangline.components.options import ComponentOptions
from gangline.errors import GanglineError, NotFound
from gangline.local import Team
from gangline.rules.flags import parse
from gangline.runtime import Manager
from real.leash import leashed
from real.plane import REPOSITORY, assets

CHART = REPOSITORY / "charts" / "gangline"
MISSING = "no helm: run `make helm` (needs Go), or put one on PATH"
RELEASE, NAMESPACE = "gangline", "scheduling"
"""The namespace is not the one that `gangline install` uses."""


def find() -> str | None:
    built = assets() / "helm"
    return os.environ.get("GANGLINE_HELM") or (str(built) if built.exists() else shutil.which("helm"))


@dataclass(frozen=True, slots=True)
class Helm:
    home: Path
    kubeconfig: Path | None = None

    async def __call__(self, *arguments: str, code: int = 0) -> str:
        """What it printed (both streams); the exit code must be as expected."""
        where = {"KUBECONFIG": str(self.kubeconfig)} if self.kubeconfig else {}
        process = await asyncio.create_subprocess_exec(
            *leashed([find() or "helm", *arguments]),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={"HOME": str(self.home), "PATH": os.environ["PATH"], **where},
        )
        shown = (await process.communicate())[0].decode()
        assert process.returncode == code, f"helm {' '.join(arguments)} ended with {process.returncode}:\n{shown}"
        return shown


class Impersonated:
    """A transport under another account, with the rights of that account."""

    def __init__(self, carrier: Transport, account: str) -> None:
        self._carrier, self._account = carrier, account

    async def send(self, request: Request) -> Response:
        headers = {**request.headers, "impersonate-user": self._account}
        return await self._carrier.send(msgspec.structs.replace(request, headers=headers))

    async def close(self) -> None:
        await self._carrier.close()


@dataclass(slots=True)
class Containers:
    """`gangline run installer`, `uninstall` and `doctor`, wherever a pod of the release's namespace runs them."""

    team: Team
    carrier: Callable[[], Transport]
    namespace: str = NAMESPACE
    said: list[str] = field(default_factory=list)
    """What `gangline uninstall` ended with, each time; empty: well."""
    problems: list[list[str]] = field(default_factory=list)
    """What `gangline doctor` found wrong, each time."""
    _running: dict[str, Manager | None] = field(default_factory=dict)

    async def play(self) -> None:
        while True:
            pods = {item.uid: item for item in (await self.team.admin.list(POD, self.namespace)).items if _lives(item)}
            for uid in [uid for uid in self._running if uid not in pods]:
                await self._end(uid)
            for uid, pod in pods.items():
                if uid not in self._running:
                    await self._start(uid, pod)
            await asyncio.sleep(0.05)

    async def end(self) -> None:
        for uid in list(self._running):
            await self._end(uid)

    async def _end(self, uid: str) -> None:
        manager = self._running.pop(uid)
        if manager is not None and manager in self.team.managers:
            await self.team.dismiss(manager)

    async def _start(self, uid: str, pod: Pod) -> None:
        spec: Raw = (await self.team.admin.get_raw(POD, pod.name, self.namespace))["spec"]
        words = spec["containers"][0]["command"]
        client = Client(
            Impersonated(self.carrier(), f"system:serviceaccount:{self.namespace}:{spec['serviceAccountName']}"),
            manager="gangline-installer",
        )
        self._running[uid] = None
        if words[:3] == ["gangline", "run", "installer"]:
            flags = parse(word for word in words[3:] if not word.startswith("--log"))
            self._running[uid] = await self.team.hire(build("installer", ComponentOptions(flags=flags)), client)
        elif words[:2] == ["gangline", "uninstall"]:
            await self._uninstall(pod, words[2:], client)
        elif words == ["gangline", "doctor"]:
            await self._examine(pod, client)

    async def _examine(self, pod: Pod, client: Client) -> None:
        findings = examine(await gather_facts(ClusterConnection(client, self.namespace, "the cluster")))
        self.problems.append([finding.text for finding in findings if finding.level == FAIL])
        await self._exit(pod, 1 if self.problems[-1] else 0)

    async def _uninstall(self, pod: Pod, words: list[str], client: Client) -> None:
        params: dict[str, Any] = uninstall.command.make_context("uninstall", words).params
        assert params["keep_installer"]
        try:
            await uninstall.take_components(
                ClusterConnection(client, self.namespace, "the cluster"), params["everything"], params["timeout"]
            )
            self.said.append("")
        except GanglineError as error:
            self.said.append(str(error))
        await self._exit(pod, 1 if self.said[-1] else 0)

    async def _exit(self, pod: Pod, code: int) -> None:
        notes = {names.RUN_SECONDS: "0", names.EXIT_CODE: str(code)}
        with suppress(NotFound):
            await self.team.admin.patch(POD, pod.name, self.namespace, {"metadata": {"annotations": notes}})


def _lives(pod: Pod) -> bool:
    return pod.status.phase == "Running" and not pod.metadata.deleting


@asynccontextmanager
async def containers(team: Team, carrier: Callable[[], Transport]) -> AsyncIterator[Containers]:
    playing = Containers(team, carrier)
    task = asyncio.create_task(playing.play())
    try:
        yield playing
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await playing.end()


if __name__ == "__main__":
    print("" if find() else MISSING, end="")
