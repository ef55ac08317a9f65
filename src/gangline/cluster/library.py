"""`Cluster`: a Kubernetes cluster in this process, for tests and tools of others. README.md shows how it is used.

The API server listens on a free port with TLS and RBAC; any Kubernetes client reaches it by its kubeconfig. With the
simulated world there are nodes whose pods run, a scheduler, and the controllers of kube-controller-manager; without it
there is the API server alone. Asynchronous code enters the cluster (`async with`), synchronous code starts and stops it
in a thread. The product is not here: local.py adds it.
"""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from gangline.client import Client, User
from gangline.cluster.administrator import ADMIN
from gangline.cluster.loop_thread import LoopThread
from gangline.cluster.running_cluster import RunningCluster, chosen_world, open_cluster
from gangline.cluster.server.server import ServerSettings
from gangline.cluster.world.settings import WorldSettings
from gangline.errors import ConfigError

Answer = TypeVar("Answer")


class Cluster:
    """One cluster; it can be started again after it was stopped.

    `folder`: where objects are kept; None: in memory, gone when the cluster stops.
    `nodes`: a nodes file for the simulated world (world/nodes/nodes.py shows the format); None: 4 nodes of 8 GPUs.
    `world`: False: the API server alone, no nodes and no controllers; or the world's settings, instead of `nodes`.
    `server`: settings of the API server, beyond the folder.
    """

    def __init__(
        self,
        *,
        folder: Path | str | None = None,
        nodes: Path | str | None = None,
        world: bool | WorldSettings = True,
        server: ServerSettings | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self._server = replace(server or ServerSettings(), folder=None if folder is None else Path(folder))
        self._world = chosen_world(nodes, world)
        self._address = host, port
        self._running: RunningCluster | None = None
        self._thread: LoopThread | None = None

    @property
    def url(self) -> str:
        return self._now().url

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig: a file that is there while the cluster runs."""
        return self._now().kubeconfig

    def client(self, user: User = ADMIN) -> Client:
        """gangline's own client, in process. Await what it gives inside `async with`, or hand that to `run`."""
        return self._now().host.client(user)

    def start(self) -> Cluster:
        """Start in a thread, for synchronous code; returns when the cluster is ready."""
        self._must_rest()
        thread = LoopThread("gangline-cluster")
        try:
            thread.run(self.__aenter__())
        except BaseException:
            thread.stop()
            raise
        self._thread = thread
        return self

    def stop(self) -> None:
        """Stop what `start` started; nothing happens if that is stopped already."""
        thread, self._thread = self._thread, None
        if thread is not None:
            try:
                thread.run(self.__aexit__())
            finally:
                thread.stop()

    def run(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Do this on the loop of a cluster that `start` started, and wait for it."""
        if self._thread is None:
            work.close()
            raise ConfigError("the cluster runs in no thread: call start() first, or await inside `async with`")
        return self._thread.run(work)

    def __enter__(self) -> Cluster:
        return self.start()

    def __exit__(self, *why: object) -> None:
        self.stop()

    async def __aenter__(self) -> Cluster:
        self._must_rest()
        self._running = await open_cluster(self._server, self._world, *self._address)
        return self

    async def __aexit__(self, *why: object) -> None:
        running, self._running = self._now(), None
        await running.close()

    def _now(self) -> RunningCluster:
        if self._running is None:
            raise ConfigError("the cluster does not run: enter it with `with` or `async with`, or call start()")
        return self._running

    def _must_rest(self) -> None:
        if self._running is not None:
            raise ConfigError("the cluster runs already")
