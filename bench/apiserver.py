"""Numbers of the embedded API server, one JSON line per scenario.

    python bench/apiserver.py [--pods N] [--many N] [--objects N] [--only TEXT] [--no-real]

In process: the server and its caller share one loop. Over HTTP: the server is a process of its own, TLS and token as
kubectl would use it. Where there is a kube-apiserver with etcd (`make real` builds them) it stands beside it and is
asked by the same client, turn by turn, so that whatever else the machine does weighs on both; `ratio` says how many
times better the embedded one did. CPU figures are microseconds per request (per delivery for watches)."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import multiprocessing
import os
import resource
import ssl
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

from gangline.client.http import Http
from gangline.client.wire import MERGE_PATCH, Request, Response
from gangline.cluster.server.access.identity import administrator
from gangline.cluster.server.server import Server, ServerSettings
from gangline.cluster.server.wire.http import serve

PODS = "/api/v1/namespaces/default/pods"
MAPS = "/api/v1/namespaces/default/configmaps"
TOKEN = "bench"
TESTS = Path(__file__).parents[1] / "tests"
IN_FLIGHT = 32
ROUNDS = 10
WATCHERS, EVENTS = 50, 1000
Send = Callable[[Request], Awaitable[Response]]
Work = Callable[[int], Awaitable[None]]


def pod(name: str, note: int = 100) -> bytes:
    """A pod that is about 4 kB once it is stored, bound and reported on."""
    env = [{"name": f"VARIABLE_{number}", "value": "some value that is not too short"} for number in range(10)]
    asks = {"cpu": "4", "memory": "32Gi", "nvidia.com/gpu": "1"}
    container = {
        "name": "main",
        "image": "registry.example/train:1.0",
        "command": ["python", "train.py"],
        "env": env,
        "resources": {"requests": asks, "limits": asks},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "labels": {"app": "bench", "gang": "g1", "role": "worker"},
                "annotations": {"example.com/note": "x" * note},
            },
            "spec": {
                "schedulerName": "kai-scheduler",
                "containers": [container],
                "volumes": [{"name": "data", "emptyDir": {}}],
            },
        }
    ).encode()


def say(scenario: str, where: str, **figures: Any) -> None:
    print(
        json.dumps(
            {"bench": "apiserver", "scenario": scenario, "where": where}
            | {key: round(value, 3) if isinstance(value, float) else value for key, value in figures.items()}
            | {"load": round(os.getloadavg()[0], 1)}
        ),
        flush=True,
    )


# --- one server, whichever it is --------------------------------------------------------------------------------------


@dataclass
class Spent:
    """What a piece of work took: seconds by the clock, and of the processors, here and in the server."""

    seconds: float = 0.0
    here: float = 0.0
    there: float = 0.0


@dataclass
class Side:
    """A server under measurement."""

    name: str
    send: Send
    processes: dict[str, int] = field(default_factory=dict)
    """Of the server; empty when it is this one."""

    async def spend(self, work: Awaitable[None], spent: Spent) -> None:
        here, there, started = time.process_time(), self.cpu(), time.perf_counter()
        await work
        spent.seconds += time.perf_counter() - started
        spent.here += time.process_time() - here
        spent.there += self.cpu() - there

    def cpu(self) -> float:
        ticks = 0
        for pid in self.processes.values():
            parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(parts[11]) + int(parts[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def memory(self) -> int:
        return sum(_memory(pid) for pid in self.processes.values()) if self.processes else _memory("self")


def _memory(process: int | str) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def many(numbers: range, work: Work, in_flight: int = IN_FLIGHT) -> None:
    left = iter(numbers)

    async def worker() -> None:
        for number in left:
            await work(number)

    await asyncio.gather(*(worker() for _ in range(in_flight)))


# --- the rows ---------------------------------------------------------------------------------------------------------


def writes(send: Send, bodies: list[bytes]) -> dict[str, Work]:
    """The three writes of a pod's life, by what they are called."""

    async def create(number: int) -> None:
        answer = await send(Request("POST", PODS, body=bodies[number]))
        assert answer.status == 201, answer.body

    async def bind(number: int) -> None:
        body = b'{"metadata":{"name":"pod-%d"},"target":{"kind":"Node","name":"node-1"}}' % number
        answer = await send(Request("POST", f"{PODS}/pod-{number}/binding", body=body))
        assert answer.status == 201, answer.body

    async def report(number: int) -> None:
        status = b'{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
        answer = await send(Request("PATCH", f"{PODS}/pod-{number}/status", body=status, content_type=MERGE_PATCH))
        assert answer.status == 200, answer.body

    return {"create pods": create, "bind pods": bind, "patch pod status": report}


async def measure_writes(sides: list[Side], where: str, count: int) -> None:
    bodies = [pod(f"pod-{number}") for number in range(count)]
    works = [writes(side.send, bodies) for side in sides]
    for scenario in works[0]:
        spent = [Spent() for _ in sides]
        for start in range(0, count, max(count // ROUNDS, 1)):
            numbers = range(start, min(start + max(count // ROUNDS, 1), count))
            for side, work, so_far in zip(sides, works, spent, strict=True):
                await side.spend(many(numbers, work[scenario]), so_far)
        compare(
            scenario, where, "per_second", [count / item.seconds for item in spent], spent, count, more={"count": count}
        )


async def measure_memory(sides: list[Side], where: str, before: list[int], count: int) -> None:
    used = [(side.memory() - was) / count / 1000 for side, was in zip(sides, before, strict=True)]
    compare("memory of pods", where, "megabytes_per_1000_pods", used, [], 1, less_is_better=True, more={"count": count})


async def measure_list(sides: list[Side], where: str, count: int) -> None:
    best, spent, size = [1e9 for _ in sides], [Spent() for _ in sides], 0

    async def get(side: Side) -> None:
        nonlocal size
        size = len((await side.send(Request("GET", "/api/v1/pods"))).body)

    for _ in range(5):
        for index, side in enumerate(sides):
            before = spent[index].seconds
            await side.spend(get(side), spent[index])
            best[index] = min(best[index], (spent[index].seconds - before) * 1000)
            gc.collect()
    compare(
        "list pods",
        where,
        "milliseconds",
        best,
        spent,
        5,
        less_is_better=True,
        more={"count": count, "megabytes": size / 1e6},
    )


async def measure_fan_out(sides: list[Side], where: str, events: int) -> None:
    """So many watchers each see every event."""
    async with AsyncExitStack() as stack:
        crowds = [await stack.enter_async_context(crowd(side)) for side in sides]
        spent = [Spent() for _ in sides]
        for _ in range(ROUNDS):
            for side, meet, so_far in zip(sides, crowds, spent, strict=True):
                await side.spend(meet(events // ROUNDS), so_far)
    told = WATCHERS * (events // ROUNDS) * ROUNDS
    compare(
        "watch fan-out",
        where,
        "deliveries_per_second",
        [told / item.seconds for item in spent],
        spent,
        told,
        more={"watchers": WATCHERS, "events": events},
    )


@asynccontextmanager
async def crowd(side: Side) -> AsyncIterator[Callable[[int], Awaitable[None]]]:
    """Watchers of one kind; what is yielded makes so many events and waits until everybody has seen them."""
    await side.send(Request("POST", MAPS, body=b'{"metadata":{"name":"news"},"data":{"n":"x"}}'))
    known = json.loads((await side.send(Request("GET", MAPS))).body)["metadata"]["resourceVersion"]
    query = (("watch", "true"), ("resourceVersion", known))
    counts = [0] * WATCHERS
    wanted, all_seen = 0, asyncio.Event()

    async def read(number: int, answer: Response) -> None:
        assert answer.stream is not None
        async with aclosing(cast(AsyncGenerator[bytes, None], answer.stream)) as stream:
            async for chunk in stream:
                counts[number] += chunk.count(b"\n")
                if counts[number] >= wanted and min(counts) >= wanted:
                    all_seen.set()

    async def meet(events: int) -> None:
        nonlocal wanted
        wanted += events
        all_seen.clear()
        for number in range(events):
            body = b'{"data":{"n":"%d"}}' % (wanted + number)
            await side.send(Request("PATCH", f"{MAPS}/news", body=body, content_type=MERGE_PATCH))
        await all_seen.wait()

    readers = [
        asyncio.create_task(read(number, await side.send(Request("GET", MAPS, query)))) for number in range(WATCHERS)
    ]
    yield meet
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)


def compare(
    scenario: str,
    where: str,
    what: str,
    figures: list[float],
    spent: list[Spent],
    count: int,
    *,
    less_is_better: bool = False,
    more: dict[str, Any] | None = None,
) -> None:
    """One line: the first side's figure, and the second's beside it if there is one."""
    line: dict[str, Any] = dict(more or {}) | {what: figures[0]}
    if spent and not where.startswith("http"):
        line["cpu_us"] = round(spent[0].here / count * 1e6)
    elif spent:
        line |= {
            "client_cpu_us": round(spent[0].here / count * 1e6),
            "server_cpu_us": round(spent[0].there / count * 1e6),
        }
    if len(figures) > 1:
        line[f"real_{what}"] = figures[1]
        if spent:
            line |= {
                "real_client_cpu_us": round(spent[1].here / count * 1e6),
                "real_server_cpu_us": round(spent[1].there / count * 1e6),
            }
        line["ratio"] = figures[1] / figures[0] if less_is_better else figures[0] / figures[1]
    say(scenario, where, **line)


async def rows(sides: list[Side], where: str, count: int) -> None:
    """Everything that is measured of a server, however it is asked."""
    before = [side.memory() for side in sides]
    await measure_writes(sides, where, count)
    await measure_memory(sides, where, before, count)
    await measure_list(sides, where, count)
    await measure_fan_out(sides, where, EVENTS)


# --- the embedded server ----------------------------------------------------------------------------------------------


@asynccontextmanager
async def opened(folder: Path | None) -> AsyncIterator[Server]:
    server = Server(ServerSettings(folder=folder, tokens={TOKEN: "bench"}))
    await server.open()
    yield server
    await server.close()


async def in_process(count: int, folder: Path | None, where: str) -> None:
    async with opened(folder) as server:
        await rows([Side("embedded", server.transport(administrator()).send)], where, count)


async def many_pods(count: int) -> None:
    """What a server with very many pods weighs, measured."""
    async with opened(None) as server:
        work = writes(server.transport(administrator()).send, [])
        started = time.perf_counter()
        send = server.transport(administrator()).send
        for number in range(count):
            answer = await send(Request("POST", PODS, body=pod(f"pod-{number}", note=700)))
            assert answer.status == 201, answer.body
        seconds = time.perf_counter() - started
        await many(range(0, count, 10), work["bind pods"])
        stored = sum(len(record.body) for record in server.store.shelf(("", "pods")).records.values())
        say(
            "memory of many pods",
            "in process, memory",
            count=count,
            stored_bytes_per_pod=stored // count,
            gibibytes=_memory("self") / 2**30,
            seconds=seconds,
        )


def _serve_elsewhere(pipe: Connection, folder: str | None) -> None:
    async def main() -> None:
        async with opened(Path(folder) if folder else None) as server:
            listener = await serve(server)
            pipe.send(listener.url)
            await asyncio.to_thread(pipe.recv)
            await listener.close()

    asyncio.run(main())


@asynccontextmanager
async def embedded(folder: Path) -> AsyncIterator[Side]:
    """The embedded server as a process of its own."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve_elsewhere, args=(theirs, str(folder)))
    process.start()
    url = await asyncio.to_thread(ours.recv)
    assert process.pid is not None
    async with asked(url, TOKEN) as send:
        yield Side("embedded", send, {"embedded": process.pid})
    ours.send("stop")
    await asyncio.to_thread(process.join)


@asynccontextmanager
async def asked(url: str, token: str) -> AsyncIterator[Send]:
    """Our own client, whichever server answers."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE

    async def known() -> str:
        return token

    transport = Http(url, trusting, known, "bench")
    yield transport.send
    await transport.close()


# --- the real one -----------------------------------------------------------------------------------------------------


def _missing() -> str:
    """Why there is no real server here; empty if there is one."""
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    from real import plane

    return plane.missing()


def _plane(folder: Path) -> Any:
    if _missing():
        sys.exit(_missing())
    from real import plane

    folder.mkdir(parents=True, exist_ok=True)
    return plane.Plane(folder, controllers="", scheduler=False)


@asynccontextmanager
async def real(folder: Path) -> AsyncIterator[Side]:
    """kube-apiserver with etcd."""
    found = _plane(folder)
    try:
        await found.start()
        async with asked(found.url, "real-admin") as send:
            yield Side("real", send, found.processes())
    finally:
        await found.stop()


async def over_http(count: int, folder: Path, with_real: bool) -> None:
    async with AsyncExitStack() as stack:
        sides = [await stack.enter_async_context(embedded(folder / "embedded"))]
        if with_real:
            sides.append(await stack.enter_async_context(real(folder / "real")))
        await rows(sides, "http", count)


# --- start-up ---------------------------------------------------------------------------------------------------------


async def start_up(count: int, with_real: bool) -> None:
    """From a process that begins to one that is ready: on an empty folder, and on one with many objects."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds = [(embedded, folder / "embedded")] + ([(real, folder / "real")] if with_real else [])
        for scenario, objects in (("start on an empty folder", 0), ("start with stored objects", count)):
            if objects:
                await _fill(folder / "embedded", objects)
                if with_real:
                    await _fill_etcd(folder / "real", objects)
            compare(
                scenario,
                "process",
                "seconds",
                [await _ready(make, home) for make, home in kinds],
                [],
                1,
                less_is_better=True,
                more={"count": objects},
            )


async def _ready(make: Callable[[Path], Any], folder: Path) -> float:
    started = time.perf_counter()
    async with make(folder) as side:
        assert (await side.send(Request("GET", "/readyz"))).status == 200
        return time.perf_counter() - started


def _map(number: int, uid: str, now: str) -> dict[str, Any]:
    about = {
        "name": f"m{number}",
        "namespace": "default",
        "uid": uid,
        "creationTimestamp": now,
        "labels": {"app": "bench"},
    }
    return {"metadata": about, "data": {"text": "x" * 1500}}


async def _fill(folder: Path, count: int) -> None:
    async with opened(folder) as server:
        kind = server.catalogue.find("", "v1", "configmaps")
        assert kind is not None
        for number in range(count):
            server.core.write(kind, ("default", f"m{number}"), _map(number, server.core.new_uid(), server.core.now()))
        unsettled = server.store.unsettled(server.revision)
        if unsettled is not None:
            await unsettled


def _argument(process: int, name: str) -> str:
    """What a running program was told."""
    given = Path(f"/proc/{process}/cmdline").read_text().split("\0")
    return next(text.partition("=")[2] for text in given if text.startswith(name))


async def _fill_etcd(folder: Path, count: int) -> None:
    """The same objects, put below a kube-apiserver into its etcd; it reads JSON as well as what it writes itself."""
    import base64
    import uuid

    import aiohttp

    def put(number: int) -> dict[str, Any]:
        body = {"kind": "ConfigMap", "apiVersion": "v1", **_map(number, str(uuid.uuid4()), "2026-01-01T00:00:00Z")}
        key = f"/registry/configmaps/default/m{number}".encode()
        return {
            "requestPut": {
                "key": base64.b64encode(key).decode(),
                "value": base64.b64encode(json.dumps(body).encode()).decode(),
            }
        }

    async with real(folder) as side, aiohttp.ClientSession() as session:
        url = _argument(side.processes["etcd"], "--listen-client-urls")
        for start in range(0, count, 100):
            batch = {"success": [put(number) for number in range(start, min(start + 100, count))]}
            async with session.post(f"{url}/v3/kv/txn", json=batch) as answer:
                assert answer.status == 200, await answer.text()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--many", type=int, default=100_000, help="pods whose memory is measured")
    parser.add_argument("--objects", type=int, default=100_000, help="stored objects to start with")
    parser.add_argument("--only", default="", help="memory, journal, http, start or many")
    parser.add_argument(
        "--real", action=argparse.BooleanOptionalAction, help="beside it, a kube-apiserver with etcd (if there is one)"
    )
    options = parser.parse_args()
    if options.real is None:
        options.real = not _missing()
        if not options.real:
            print(f"the embedded server alone: {_missing()}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as name:
        if options.only in ("", "memory"):
            await in_process(options.pods, None, "in process, memory")
        if options.only in ("", "journal"):
            await in_process(options.pods, Path(name) / "journal", "in process, journal")
        if options.only in ("", "http"):
            await over_http(options.pods, Path(name), options.real)
    if options.only in ("", "start"):
        await start_up(options.objects, options.real)
    if options.only in ("", "many"):
        child = await asyncio.create_subprocess_exec(
            sys.executable, __file__, "--only", "many-here", "--many", str(options.many), "--no-real"
        )
        assert await child.wait() == 0
    if options.only == "many-here":
        await many_pods(options.many)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
