"""The embedded server with its administrator and its listener: what the library and `gangline up` both start.

Opens and closes; knows nothing of nodes, controllers or the product. The library (library.py) puts the simulated world
beside it, local.py the components.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gangline.client import Client, User
from gangline.cluster.administrator import ADMIN, admin_token, write_admin_kubeconfig
from gangline.cluster.server.server import Server, ServerSettings
from gangline.cluster.server.wire.http import ListenerSettings, ServerListener, serve


class ServerHost:
    """One server. `open`, then `listen` as often as wanted, then `close`."""

    def __init__(self, settings: ServerSettings, listening: ListenerSettings | None = None) -> None:
        self.token = admin_token(settings.folder)
        self.server = Server(replace(settings, tokens={**(settings.tokens or {}), self.token: ADMIN.name}))
        self._listening = listening
        self._listeners: list[ServerListener] = []

    def client(self, user: User = ADMIN, manager: str = "gangline") -> Client:
        """A client in this process: no socket, no TLS, the same rules."""
        return Client(self.server.transport(user), manager=manager)

    def authority(self) -> bytes:
        """The certificate that clients trust, as PEM."""
        return self.server.secrets.authority.pair.certificate

    def write_kubeconfig(self, url: str, path: Path) -> Path:
        return write_admin_kubeconfig(path, url, self.authority(), self.token)

    async def open(self) -> None:
        await self.server.open()

    async def listen(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Serve over TLS; gives the address."""
        listener = await serve(self.server, host, port, settings=self._listening)
        self._listeners.append(listener)
        return listener.url

    async def hang_up(self) -> None:
        """Whoever asks from outside must not keep others from stopping."""
        for listener in self._listeners:
            await listener.close()
        self._listeners.clear()

    async def close(self) -> None:
        await self.hang_up()
        await self.server.close()
