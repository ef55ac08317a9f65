"""A component's HTTP server: alive, ready, metrics, pages."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry, Gauge

import gangline
from gangline.rules.values.hosts import split_address
from gangline.runtime.health import Endpoint, HttpPage, runner
from gangline.runtime.listening.idle_connections import IdleConnections, ListenerBounds


async def test_alive_ready_metrics_and_own_pages_are_served() -> None:
    registry, ready = CollectorRegistry(), [False]
    Gauge("gangline_answer", "", registry=registry).set(42)

    async def page() -> HttpPage:
        return HttpPage(b"{}", headers={"Content-Disposition": "attachment"})

    endpoint = Endpoint(lambda: ready[0], {"/page": page}, (registry,))
    port = await endpoint.open()
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
        async with session.get("/healthz") as answer:
            assert answer.status == 200
        async with session.get("/readyz") as answer:
            assert (answer.status, await answer.text()) == (503, "not ready yet")
        ready[0] = True
        async with session.get("/readyz") as answer:
            assert answer.status == 200
        async with session.get("/metrics") as answer:
            assert "gangline_answer 42.0" in await answer.text()
        async with session.get("/page") as answer:
            assert answer.headers["Content-Disposition"] == "attachment"
    await endpoint.close()


def test_a_connection_is_closed_that_asks_nothing_for_too_long_and_one_that_asks_is_not() -> None:
    idle = IdleConnections[str](ListenerBounds(idle=60, connections=3))
    assert idle.late(["silent", "asks"], 0) == []
    idle.asks("asks")
    assert idle.late(["silent", "asks", "new"], 59) == []
    assert idle.late(["silent", "asks", "new"], 60) == ["silent"]
    idle.answered("asks")
    assert idle.late(["asks", "new"], 118) == []
    assert idle.late(["asks", "new"], 119) == ["new"]
    assert idle.late(["asks"], 178) == ["asks"]


def test_of_too_many_connections_those_go_that_were_idle_the_longest() -> None:
    idle = IdleConnections[int](ListenerBounds(idle=60, connections=3))
    assert idle.late([1, 2, 3], 0) == []
    idle.asks(1)
    assert idle.late([1, 2, 3, 4, 5], 1) == [2, 3]


@asynccontextmanager
async def served(bounds: ListenerBounds) -> AsyncIterator[int]:
    async def read(request: web.Request) -> web.Response:
        return web.Response(body=await request.read())

    app = web.Application()
    app.router.add_post("/", read)
    serving = runner(app, "127.0.0.1", bounds)
    await serving.setup()
    await web.TCPSite(serving, "127.0.0.1", 0).start()
    yield serving.addresses[0][1]
    await serving.cleanup()


async def said(port: int, words: bytes) -> bytes:
    """All that is answered until the connection ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(words)
    answer = await reader.read()
    writer.close()
    return answer


async def test_who_asks_nothing_is_hung_up_on() -> None:
    async with served(ListenerBounds(idle=0.01, look=0.01)) as port:
        assert await said(port, b"") == await said(port, b"POST / HT") == b""


async def test_who_never_ends_asking_is_told() -> None:
    async with served(ListenerBounds(body=0.01)) as port:
        answer = await said(port, b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab")
        assert answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n")


UNREADABLE = {
    "no method": b"NO SUCH THING\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nab",
    "two framings": b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nab",
    "a chunk of minus six": b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n-6\r\nab\r\n",
    "a long header": b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: " + b"*/*," * 9000 + b"\r\n\r\n",
    "no gzip": b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nab",
}


@pytest.mark.parametrize("words", UNREADABLE.values(), ids=UNREADABLE)
async def test_what_cannot_be_read_is_answered_400_and_nothing_of_it_is_logged(
    words: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(ListenerBounds()) as port:
        answer = await said(port, words)
        assert answer.split(b" ", 2)[1] == b"400" and caplog.text == ""


async def test_what_a_page_fails_at_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def fails() -> HttpPage:
        raise RuntimeError("a fault of ours")

    endpoint = Endpoint(pages={"/page": fails})
    port = await endpoint.open()
    answer = await said(port, b"GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await endpoint.close()
    assert answer.split(b" ", 2)[1] == b"500" and "a fault of ours" in caplog.text


def test_addresses_are_written_as_upstream_does() -> None:
    assert split_address(":8080", 1) == ("0.0.0.0", 8080)
    assert split_address("127.0.0.1:9", 1) == ("127.0.0.1", 9)


async def test_upstreams_metrics_may_have_another_name_in_front() -> None:
    registry = CollectorRegistry()
    Gauge("kai_cycle", "Time of a cycle", registry=registry).set(3)
    Gauge("gangline_kai_other", "Not upstream's", registry=registry).set(4)
    endpoint = Endpoint(registries=(registry,), namespace="mine")
    port = await endpoint.open()
    try:
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/metrics") as answer:
            shown = await answer.text()
    finally:
        await endpoint.close()
    assert (
        "# TYPE mine_cycle gauge\nmine_cycle 3.0\n" in shown
        and "gangline_kai_other 4.0" in shown
        and "\nkai_" not in shown
    )


def test_every_listener_of_pages_is_made_where_the_host_is_checked() -> None:
    source = Path(gangline.__file__).parent
    texts = {path.relative_to(source).as_posix(): path.read_text() for path in source.rglob("*.py")}
    makers = [path for path, text in texts.items() if re.search(r"(App|Bounded)Runner\(", text)]
    assert makers == ["runtime/health.py"]
