"""What connections to the embedded API server cost while nobody asks anything, one JSON line per kind of connection.

    python bench/connections.py [--connections N]

The server is a process of its own. So many connections are opened to it and kept: before the handshake, after it,
after a request, and watching. `kilobytes` is what the server's resident memory grew by, for each.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import multiprocessing
import os
import socket
import ssl
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from gangline.cluster.server.server import Server, ServerSettings
from gangline.cluster.server.wire.connection import ConnectionTimeouts
from gangline.cluster.server.wire.http import ListenerSettings, serve
from gangline.runtime.files import allow_many

TOKEN = "bench"
NEVER = 3600.0
ASK = "GET {} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + TOKEN + "\r\n\r\n"
WATCH = "/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=0"


def _serve(pipe: Connection) -> None:
    async def main() -> None:
        server = Server(ServerSettings(tokens={TOKEN: "bench"}))
        await server.open()
        settings = ListenerSettings(per_address=1_000_000, patience=ConnectionTimeouts(NEVER, NEVER))
        listener = await serve(server, settings=settings)
        pipe.send(listener.port)
        while await asyncio.to_thread(pipe.recv) != "stop":
            gc.collect()
            pipe.send(len(listener._callers))
        await listener.close()
        await server.close()

    allow_many()
    asyncio.run(main())


def _memory(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def plain(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port))


def secure(port: int) -> ssl.SSLSocket:
    return _TRUSTING.wrap_socket(plain(port))


def asked(port: int) -> ssl.SSLSocket:
    plug = secure(port)
    plug.sendall(ASK.format("/healthz").encode())
    assert plug.recv(4096).startswith(b"HTTP/1.1 200")
    return plug


def watching(port: int) -> ssl.SSLSocket:
    plug = secure(port)
    plug.sendall(ASK.format(WATCH).encode())
    assert plug.recv(4096).startswith(b"HTTP/1.1 200")
    return plug


_TRUSTING = ssl.create_default_context()
_TRUSTING.check_hostname, _TRUSTING.verify_mode = False, ssl.CERT_NONE
KINDS: dict[str, Callable[[int], socket.socket]] = {
    "before the handshake": plain,
    "idle after the handshake": secure,
    "idle after a request": asked,
    "watching": watching,
}


def measure(kind: str, count: int) -> None:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,))
    process.start()
    port = ours.recv()
    assert process.pid is not None
    KINDS[kind](port).close()
    ours.send("count")
    ours.recv()
    before = _memory(process.pid)
    plugs = [KINDS[kind](port) for _ in range(count)]
    held = 0
    while held < count:
        ours.send("count")
        held = ours.recv()
    kilobytes = round((_memory(process.pid) - before) / count, 1)
    print(
        json.dumps(
            {
                "bench": "connections",
                "scenario": kind,
                "connections": count,
                "held": held,
                "kilobytes": kilobytes,
                "load": round(os.getloadavg()[0], 1),
            }
        ),
        flush=True,
    )
    for plug in plugs:
        plug.close()
    ours.send("stop")
    process.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=1000)
    options = parser.parse_args()
    allow_many()
    for kind in KINDS:
        measure(kind, options.connections)


if __name__ == "__main__":
    main()
