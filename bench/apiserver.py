"""Numbers of the embedded API server, one JSON line per scenario.

    python bench/apiserver.py [--pods N] [--objects N] [--only TEXT] [--real]

In process: the server and its caller share one loop. Over HTTP: the server is a process of its own, TLS and token as kubectl would use it.
With --real the rows over HTTP are measured a second time against kube-apiserver and etcd (`make real` builds them), by the same client.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import ssl
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import aiohttp

from gangline.apiserver.http import serve
from gangline.apiserver.identity import administrator
from gangline.apiserver.server import Server, ServerSettings
from gangline.client.wire import Request, Response

PODS = "/api/v1/namespaces/default/pods"
TOKEN = "bench"
IN_FLIGHT = 32
Send = Callable[[Request], Awaitable[Response]]


def pod(name: str) -> bytes:
    """A pod that is about 4 kB once it is stored."""
    env = [{"name": f"VARIABLE_{number}", "value": "some value that is not too short"} for number in range(10)]
    asks = {"cpu": "4", "memory": "32Gi", "nvidia.com/gpu": "1"}
    container = {"name": "main", "image": "registry.example/train:1.0", "command": ["python", "train.py"], "env": env,
                 "resources": {"requests": asks, "limits": asks}, "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": name, "labels": {"app": "bench", "gang": "g1", "role": "worker"}, "annotations": {"example.com/note": "x" * 100}},
        "spec": {"schedulerName": "kai-scheduler", "containers": [container], "volumes": [{"name": "data", "emptyDir": {}}]}}).encode()


def say(scenario: str, where: str, **figures: Any) -> None:
    print(json.dumps({"bench": "apiserver", "scenario": scenario, "where": where} | {
        key: round(value, 3) if isinstance(value, float) else value for key, value in figures.items()}), flush=True)


async def many(count: int, work: Callable[[int], Awaitable[None]], in_flight: int) -> float:
    """Do something so many times; the seconds it took."""
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            await work(number)

    started = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(in_flight)))
    return time.perf_counter() - started


async def writes(send: Send, where: str, count: int, in_flight: int) -> None:
    async def create(number: int) -> None:
        answer = await send(Request("POST", PODS, body=pod(f"pod-{number}")))
        assert answer.status == 201, answer.body

    async def bind(number: int) -> None:
        body = b'{"metadata":{"name":"pod-%d"},"target":{"kind":"Node","name":"node-1"}}' % number
        answer = await send(Request("POST", f"{PODS}/pod-{number}/binding", body=body))
        assert answer.status == 201, answer.body

    async def report(number: int) -> None:
        status = b'{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
        answer = await send(Request("PATCH", f"{PODS}/pod-{number}/status", body=status, content_type="application/merge-patch+json"))
        assert answer.status == 200, answer.body

    for name, work in (("create pods", create), ("bind pods", bind), ("patch pod status", report)):
        seconds = await many(count, work, in_flight)
        say(name, where, count=count, per_second=count / seconds)


async def listing(send: Send, where: str, count: int) -> None:
    best, size = 1e9, 0
    for _ in range(3):
        started = time.perf_counter()
        answer = await send(Request("GET", "/api/v1/pods"))
        best, size = min(best, time.perf_counter() - started), len(answer.body)
    say("list pods", where, count=count, milliseconds=best * 1000, megabytes=size / 1e6)


async def fan_out(send: Send, where: str, watchers: int, events: int) -> None:
    """So many watchers each see every event."""
    streams = [await send(Request("GET", "/api/v1/configmaps", (("watch", "true"), ("allowWatchBookmarks", "false"))))
               for _ in range(watchers)]
    map_path = "/api/v1/namespaces/default/configmaps"
    await send(Request("POST", map_path, body=b'{"metadata":{"name":"news"},"data":{"n":"x"}}'))

    async def read(answer: Response) -> None:
        assert answer.stream is not None
        seen = 0
        async with aclosing(cast(AsyncGenerator[bytes, None], answer.stream)) as stream:
            async for chunk in stream:
                seen += chunk.count(b"\n")
                if seen > events:
                    break

    readers = [asyncio.create_task(read(stream)) for stream in streams]
    started = time.perf_counter()
    for number in range(events):
        body = b'{"data":{"n":"%d"}}' % number
        await send(Request("PATCH", f"{map_path}/news", body=body, content_type="application/merge-patch+json"))
    await asyncio.gather(*readers)
    seconds = time.perf_counter() - started
    say("watch fan-out", where, watchers=watchers, events=events, deliveries_per_second=watchers * events / seconds)


@asynccontextmanager
async def opened(folder: Path | None) -> AsyncIterator[Server]:
    server = Server(ServerSettings(folder=folder, tokens={TOKEN: "bench"}))
    await server.open()
    yield server
    await server.close()


async def in_process(count: int, folder: Path | None, where: str) -> None:
    async with opened(folder) as server:
        send = server.transport(administrator()).send
        before = _memory()
        await writes(send, where, count, IN_FLIGHT)
        say("memory of pods", where, count=count, kilobytes_per_pod=(_memory() - before) / count / 1024,
            stored_bytes_per_pod=_stored(server) // count)
        await listing(send, where, count)
        await fan_out(send, where, 50, 500)


def _stored(server: Server) -> int:
    return sum(len(record.body) for record in server.store.shelf(("", "pods")).records.values())


def _memory(process: int | str = "self") -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _serve_elsewhere(pipe: Connection, folder: str | None) -> None:
    async def main() -> None:
        async with opened(Path(folder) if folder else None) as server:
            listener = await serve(server)
            pipe.send(listener.url)
            await asyncio.to_thread(pipe.recv)
            await listener.close()

    asyncio.run(main())


async def over_http(count: int, folder: Path | None) -> None:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve_elsewhere, args=(theirs, str(folder) if folder else None))
    process.start()
    url = await asyncio.to_thread(ours.recv)
    assert process.pid is not None
    await rows(url, TOKEN, "http", count, {"embedded server": process.pid})
    ours.send("stop")
    await asyncio.to_thread(process.join)


async def rows(url: str, token: str, where: str, count: int, processes: dict[str, int]) -> None:
    """What is measured of any server over HTTP."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trusting, limit=0)) as session:
        send = _sender(session, url, token)
        before = {name: _memory(pid) for name, pid in processes.items()}
        await writes(send, where, count, IN_FLIGHT)
        for name, pid in processes.items():
            say("memory of pods", f"{where}, {name}", count=count, megabytes_per_1000_pods=(_memory(pid) - before[name]) / count / 1000)
        await listing(send, where, count)
        await fan_out(send, where, 50, 200)


async def on_real(count: int) -> None:
    """The same rows, asked of kube-apiserver and etcd."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from real import plane

    if plane.missing():
        sys.exit(plane.missing())
    with tempfile.TemporaryDirectory() as name:
        real = plane.Plane(Path(name), controllers="", scheduler=False)
        try:
            await real.start()
            await rows(real.url, plane.TOKEN, "http, real", count, real.processes())
        finally:
            await real.stop()


def _sender(session: aiohttp.ClientSession, url: str, token: str) -> Send:
    async def send(request: Request) -> Response:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": request.content_type}
        answer = await session.request(request.method, url + request.path, params=list(request.query), data=request.body, headers=headers)
        if request.argument("watch"):
            return Response(answer.status, stream=_chunks(answer))
        return Response(answer.status, await answer.read())

    return send


async def _chunks(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    async with answer:
        async for chunk in answer.content.iter_any():
            yield chunk


async def start_up(count: int) -> None:
    """From nothing to ready, and from a folder with many objects to ready."""
    with tempfile.TemporaryDirectory() as name:
        started = time.perf_counter()
        async with opened(Path(name)):
            say("start on an empty folder", "in process", seconds=time.perf_counter() - started)
        async with opened(Path(name)) as server:
            resource_of = server.catalogue.find("", "v1", "configmaps")
            assert resource_of is not None
            for number in range(count):
                about = {"name": f"m{number}", "namespace": "default", "uid": server.core.new_uid(),
                         "creationTimestamp": server.core.now(), "labels": {"app": "bench"}}
                server.core.write(resource_of, ("default", f"m{number}"), {"metadata": about, "data": {"text": "x" * 1500}})
            await server.store.settled(server.revision)
        started = time.perf_counter()
        async with opened(Path(name)):
            say("start with stored objects", "in process", count=count, seconds=time.perf_counter() - started)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--objects", type=int, default=100_000)
    parser.add_argument("--only", default="", help="memory, journal, http or start")
    parser.add_argument("--real", action="store_true", help="beside it, a real kube-apiserver with etcd")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if options.only in ("", "memory"):
            await in_process(options.pods, None, "in process, memory")
        if options.only in ("", "journal"):
            await in_process(options.pods, Path(name) / "a", "in process, journal")
        if options.only in ("", "http"):
            await over_http(options.pods, Path(name) / "b")
    if options.real:
        await on_real(options.pods)
    if options.only in ("", "start"):
        await start_up(options.objects)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
