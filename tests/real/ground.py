"""Ground for the proof of one backend: a real control plane with a third-party scheduler on it, and what a proof does
there.

The plane and the scheduler run once for all proofs of a backend; each proof brings its own operator, admission and
simulated nodes and is swept away afterwards."""

from __future__ import annotations

import asyncio
import atexit
import base64
import os
import socket
import subprocess
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from gangline.api import names
from gangline.api.kinds import NAMESPACE, NODE, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, SECRET, TOPOLOGY_BINDING, Kind
from gangline.api.meta import Condition, Raw, condition
from gangline.components.options import ComponentOptions
from gangline.local import Team
from gangline.runtime import SystemClock
from journeys.story import Story
from operator_world import clique, pod_clique_set
from real.broom import GO, Broom
from real.leash import leashed
from real.plane import assets, free_port
from real.platform import Home, RealPlatform
from real.schedulers.scheduler import Program, Scheduler

COMPONENTS = ("operator", "admission", "kubelet")
LIVES_ON = {"nodes", "leases.coordination.k8s.io", "events", "csinodes.storage.k8s.io", *GO}
"""What is of the cluster and not of a set."""
RESTLESS = 30.0
"""Seconds after which it is no use to wait for rest: some schedulers try a gang without room again every second, and
say so each time."""
SET = "llm"
RACK = "example.com/rack"
SIZE: Raw = {"requests": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}


class Ground(Home):
    """A plane with one more scheduler on it."""

    _stands: Ground | None = None

    def __init__(self, scheduler: Scheduler) -> None:
        super().__init__(scheduler.release)
        self.scheduler = scheduler
        self._ports = {program.name: free_port() for program in scheduler.programs}
        self._programs: dict[str, subprocess.Popen[bytes]] = {}
        self.ended: list[str] = []
        """Which programs have ended by themselves, and their last words."""

    @classmethod
    async def of(cls, scheduler: Scheduler) -> Ground:
        """The ground of a scheduler; that of another is given up first."""
        if cls._stands is not None and cls._stands.scheduler is not scheduler:
            cls._stands.end()
            cls._stands = None
        if cls._stands is None:
            made = cls(scheduler)
            await made._start()
            cls._stands = made
        return cls._stands

    async def _start(self) -> None:
        await self.plane.start_server()
        team = Team(self.connect, ComponentOptions(), SystemClock())
        for name in self.scheduler.namespaces:
            await team.admin.create(NAMESPACE, {"metadata": {"name": name}})
        for kind, obj in self.scheduler.installs(next(iter(self._ports.values()), 0)):
            await team.admin.create(kind, obj)
        await team.install()
        self.plane.start_rest()
        await self._populated(team.admin)
        for program in self.scheduler.programs:
            self._launch(program)
        await self._mounted(team)
        await self._furnished(team)
        await self.broom.learn(team.admin)
        await team.admin.close()

    async def _mounted(self, team: Team) -> None:
        """Shows a program the Secret that it has filled itself, as a kubelet does."""
        if self.scheduler.mounts is None:
            return
        namespace, name = self.scheduler.mounts
        shown = Path(self._folder.name) / "certs"
        shown.mkdir(exist_ok=True)

        async def filled() -> bool:
            data = (await team.admin.get(SECRET, name, namespace)).data or {}
            for key, value in data.items():
                (shown / key).write_bytes(value if isinstance(value, bytes) else base64.b64decode(value))
            return "tls.crt" in data

        async def answers() -> bool:
            with socket.socket() as caller:
                return caller.connect_ex(("127.0.0.1", next(iter(self._ports.values())))) == 0

        await Story(team).until(filled, f"Secret {name}, which {self.scheduler.backend} fills")
        await Story(team).until(answers, f"webhooks of {self.scheduler.backend}")

    async def _furnished(self, team: Team) -> None:
        """Until the scheduler has made what it makes at its start."""
        for kind, name, status in self.scheduler.makes:

            async def there(kind: Kind[Any] = kind, name: str = name, status: Raw = status) -> bool:
                made = [item for item in (await team.admin.list(kind)).items if item.name == name]
                return any(status.items() <= (item.status or {}).items() for item in made)

            await Story(team).until(there, f"{kind.kind} {name}, which {self.scheduler.backend} makes")

    def _launch(self, program: Program) -> None:
        config = Path(self._folder.name) / f"{program.name}.yaml"
        fill = {
            "kubeconfig": str(self.plane.kubeconfig),
            "config": str(config),
            "folder": self._folder.name,
            "port": str(self._ports[program.name]),
        }
        config.write_text(filled(self.scheduler.config(), fill))
        told = {key: filled(value, fill) for key, value in program.environment.items()}
        with (self.log_file(program.name)).open("ab") as log:
            self._programs[program.name] = subprocess.Popen(
                leashed([str(assets() / program.name), *(filled(argument, fill) for argument in program.arguments)]),
                env=os.environ | told,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._folder.name,
            )
        atexit.register(self._programs[program.name].kill)

    async def keep_alive(self) -> None:
        """Starts again what has ended, as a cluster would, and keeps its last words."""
        while True:
            await asyncio.sleep(1)
            for program in self.scheduler.programs:
                code = self._programs[program.name].poll()
                if code is not None:
                    said = "\n".join(last_words(self.log_file(program.name).read_text(errors="replace")))
                    self.ended.append(f"{program.name} ended with {code}:\n{said}")
                    self._launch(program)

    def log_file(self, program: str) -> Path:
        return Path(self._folder.name) / f"{program}.log"

    def picture(self) -> str:
        """What its programs said last, and why one was started again."""
        said = {name: self.log_file(name).read_text(errors="replace").splitlines()[-5:] for name in self._programs}
        return "\n".join([*self.ended, *(f"{name}: {line}" for name, last in said.items() for line in last)])

    def end(self) -> None:
        for process in self._programs.values():
            process.kill()
            process.wait()
            atexit.unregister(process.kill)
        self.plane.end()
        self._folder.cleanup()


def last_words(log: str, most: int = 40) -> list[str]:
    """Why a Go program ended: from where it panicked or gave up, else its last lines."""
    lines = log.splitlines()
    causes = [
        index
        for index, line in enumerate(lines)
        if line.startswith(("panic:", "fatal error:", "F1", "F0", '"command failed"'))
    ]
    return lines[causes[-1] :][:most] if causes else lines[-5:]


def filled(text: str, words: Mapping[str, str]) -> str:
    """A text with words in place of their names in braces."""
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", word)
    return text


class Proof(Story):
    """One gang of two groups on a ground: prefill wants 3 pods and needs 2, decode wants 4 and needs 3; a pod takes one
    GPU."""

    ALL: Mapping[str, int] = {"prefill": 3, "decode": 4}
    LEAST: Mapping[str, int] = {"prefill": 2, "decode": 3}

    def __init__(self, ground: Ground, platform: RealPlatform) -> None:
        super().__init__(platform)
        self.ground = ground
        self._before = Broom()

    async def room(self, pods: int, rack: str = "") -> None:
        """Nodes that hold so many pods of the gang."""
        labels = {RACK: rack} if rack else {}
        await self.nodes(1, gpus=pods // 2, labels=labels)
        await self.nodes(1, gpus=pods - pods // 2, labels=labels)
        for kind, obj in self.ground.scheduler.quota(pods):
            await self.client.create(kind, obj)
        await self.until(self._nodes_ready, "nodes that take pods")
        await self._before.learn(self.client)

    async def _nodes_ready(self) -> bool:
        return not any(node.spec.taints for node in (await self.client.list(NODE)).items)

    async def begin(self) -> None:
        """The set, for the backend of this ground."""
        await self._create(self.ALL)

    async def begin_in_one_rack(self, sizes: Mapping[str, int]) -> None:
        """The set with so many pods of each group, all of which must be in one rack."""
        levels = [{"domain": "rack", "key": RACK}]
        await self.client.create(TOPOLOGY_BINDING, {"metadata": {"name": "racks"}, "spec": {"levels": levels}})
        await self._create(sizes, topologyConstraint={"topologyName": "racks", "pack": {"required": "rack"}})

    async def _create(self, sizes: Mapping[str, int], **template: Any) -> None:
        scheduler = self.ground.scheduler
        cliques = [clique(name, wanted, self.LEAST[name], scheduler="") for name, wanted in sizes.items()]
        for item in cliques:
            item["spec"]["podSpec"]["containers"][0]["resources"] = SIZE
        await self.client.create(
            POD_CLIQUE_SET,
            pod_clique_set(
                SET,
                *cliques,
                labels=dict(scheduler.labels),
                annotations={names.SCHEDULER_BACKEND: scheduler.backend},
                **template,
            ),
        )

    async def racks(self) -> set[str]:
        """The racks that running pods are in."""
        labels = {node.name: node.labels for node in (await self.client.list(NODE)).items}
        return {labels[pod.spec.node_name][RACK] for pod in await self.pods(SET, "Running")}

    async def leave(self) -> None:
        await self.client.delete(POD_CLIQUE_SET, SET, "default")

    async def start_again(self) -> None:
        """The gang is ended as a whole, as one that was below its minimum for too long."""
        for name in self.ALL:
            await self.client.delete(POD_CLIQUE, f"{SET}-0-{name}", "default")

    async def close(self, node: int, *, closed: bool = True) -> None:
        """No new pod goes to a node of the room; or again it may."""
        await self.client.patch(NODE, f"node-{node}", "", {"spec": {"unschedulable": closed}})

    async def placed(self) -> Mapping[str, int]:
        """How many pods of each group run."""
        return Counter(pod.labels[names.POD_CLIQUE].rpartition("-")[2] for pod in await self.pods(SET, "Running"))

    async def comes_to(self, wanted: Mapping[str, int]) -> None:
        """Until exactly so many pods of each group run and nothing moves any more, or who never rests has tried for a
        while."""

        async def so_many() -> bool:
            return await self.placed() == wanted

        await self.until(so_many, f"running pods: {dict(wanted)}")
        with suppress(TimeoutError):
            await self.platform.settles(RESTLESS)
        await self.until(so_many, f"still running: {dict(wanted)}")

    async def told(self, type: str, part: str) -> Condition:
        """The gang's condition, once its message has such a part."""
        heard: list[Condition] = []

        async def says() -> bool:
            gangs = (await self.client.list(POD_GANG, "default")).items
            heard[:] = [
                found
                for gang in gangs
                if (found := condition(gang.status.conditions, type)) is not None and part in found.message
            ]
            return bool(heard)

        await self.until(says, f"{type} of the gang to say {part!r}")
        return heard[0]

    async def left(self) -> list[str]:
        """What there is now beyond what was there before the set, of every kind."""
        return [":".join(kept) for kept in await self._before.left(self.client) if kept.resource not in LIVES_ON]

    async def picture(self) -> str:
        gangs = [
            f"  {item.name} {found.type}={found.status} {found.reason}: {found.message}"
            for item in (await self.client.list(POD_GANG, "default")).items
            for found in item.status.conditions
        ]
        said = [
            f"  {pod.name} {found.reason}: {found.message}"
            for pod in await self.pods()
            for found in pod.status.conditions
            if found.status != "True"
        ]
        return "\n".join([await super().picture(), *gangs, *said, self.ground.picture()])


@asynccontextmanager
async def proof(scheduler: Scheduler) -> AsyncIterator[Proof]:
    """A proof on the ground of a scheduler."""
    ground = await Ground.of(scheduler)
    platform = RealPlatform(ground, COMPONENTS)
    watch = asyncio.create_task(ground.keep_alive())
    ground.ended.clear()
    try:
        await platform.start()
        yield Proof(ground, platform)
    finally:
        watch.cancel()
        await platform.stop()
        for words in ground.ended:
            warnings.warn(words, stacklevel=1)
