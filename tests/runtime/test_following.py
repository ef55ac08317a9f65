"""Whatever a server sends, or never sends, an informer goes on, and says what it waits for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest
from prometheus_client import REGISTRY

from embedded import admin, embedded, until
from gangline.api.core import ConfigMap
from gangline.api.kinds import CONFIG_MAP, QUEUE
from gangline.api.meta import Raw
from gangline.client import Client, Request, Response, Transport
from gangline.client.wire import JSON
from gangline.runtime import Cache, ManualClock

Fault = Callable[[Request], Awaitable[Response]]


class Faulty:
    """A line on which a fault comes between, for as long as one is set."""

    def __init__(self, inner: Transport, fault: Fault | None = None) -> None:
        self._inner, self.fault = inner, fault
        self.asked: list[str] = []

    async def send(self, request: Request) -> Response:
        self.asked.append("watch" if request.argument("watch") else "list")
        return await (self.fault or self._inner.send)(request)

    async def close(self) -> None:
        return None


def says(status: int, body: bytes) -> Fault:
    async def fault(request: Request) -> Response:
        return Response(status, body, JSON)

    return fault


async def raises(request: Request) -> Response:
    raise RuntimeError("nobody expected this")


async def gives_up(request: Request) -> Response:
    raise asyncio.CancelledError


async def hangs(request: Request) -> Response:
    await asyncio.get_running_loop().create_future()
    raise AssertionError("unreachable")


def forbidden(verb: str = "list") -> bytes:
    text = f'configmaps is forbidden: User \\"x\\" cannot {verb} resource \\"configmaps\\"'
    return f'{{"kind":"Status","code":403,"reason":"Forbidden","message":"{text}"}}'.encode()


def restarts(why: str) -> float:
    return REGISTRY.get_sample_value("gangline_watch_restarts_total", {"resource": "configmaps", "why": why}) or 0.0


def config_map(name: str) -> Raw:
    return {"metadata": {"name": name, "namespace": "default"}}


async def turns(count: int = 60) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("fault", "why", "said"),
    [
        (raises, "unexpected", "watching configmaps: RuntimeError: nobody expected this; again in"),
        (says(200, b"<html>"), "unreadable", "is none of a Kubernetes API server: JSON is malformed"),
        (
            says(200, b'{"items":[],"metadata":7}'),
            "unreadable",
            "watching configmaps: the answer to GET /api/v1/configmaps is none of a Kubernetes API server: Expected",
        ),
        (
            says(200, b'{"items":[],"metadata":{"resourceVersion":"x"}}'),
            "unexpected",
            "watching configmaps: ValueError",
        ),
        (
            says(403, forbidden()),
            "refused",
            'cannot list resource "configmaps"); the account needs the verbs list and watch; again in',
        ),
        (says(500, b"oh no"), "unavailable", "watching configmaps: oh no; again in"),
        (
            says(404, b"404 page not found"),
            "not-served",
            "watching configmaps: the server does not know this kind (404 page not found); is its "
            "CustomResourceDefinition installed?; again in",
        ),
    ],
)
async def test_a_list_that_fails_is_told_counted_and_tried_again(
    fault: Fault, why: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with embedded() as server:
        await admin(server).create(CONFIG_MAP, config_map("a"))
        line, clock, before = Faulty(admin(server).transport, fault), ManualClock(), restarts(why)
        cache = Cache(Client(line, retries=0), clock)
        cache.informer(CONFIG_MAP)
        starting = asyncio.create_task(cache.start())
        await until(lambda: restarts(why) > before, "the fault to be counted")
        assert said in caplog.text
        line.fault = None

        def seen() -> bool:
            clock.advance(1)
            return cache.get(CONFIG_MAP, "a", "default") is not None

        await until(seen, "the list after the fault")
        await starting
        await cache.stop()


async def test_an_informer_whose_request_was_given_up_by_somebody_is_started_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with embedded() as server:
        line, clock = Faulty(admin(server).transport, gives_up), ManualClock()
        cache = Cache(Client(line, retries=0), clock)
        cache.informer(CONFIG_MAP)
        starting = asyncio.create_task(cache.start())
        await until(lambda: "informer configmaps failed; it starts again in" in caplog.text, "the failure to be told")
        line.fault = None

        def started() -> bool:
            clock.advance(1)
            return starting.done()

        await until(started, "the cache to be complete")
        await cache.stop()


async def test_failures_in_a_row_are_waited_out_longer_and_longer() -> None:
    async with embedded() as server:
        line, clock = (
            Faulty(admin(server).transport, says(410, b'{"kind":"Status","code":410,"message":"too old"}')),
            ManualClock(),
        )
        cache = Cache(Client(line, retries=0), clock)
        cache.informer(CONFIG_MAP)
        starting = asyncio.create_task(cache.start())
        for _ in range(120):
            clock.advance(0.5)
            await turns(20)
        assert 5 < len(line.asked) < 20
        starting.cancel()
        await cache.stop()


async def test_a_watch_on_a_silent_connection_is_given_up_half_a_minute_after_it_should_have_ended(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with embedded() as server:
        line, clock, before = Faulty(admin(server).transport), ManualClock(), restarts("silent")
        cache = Cache(Client(line, retries=0), clock)
        cache.informer(CONFIG_MAP)
        line.fault = _silent_watches(admin(server).transport)
        await cache.start()
        await until(lambda: line.asked == ["list", "watch"], "the watch")
        await admin(server).create(CONFIG_MAP, config_map("a"))
        clock.advance(329)
        await turns()
        assert line.asked == ["list", "watch"]
        line.fault = None
        clock.advance(1)
        await until(lambda: cache.get(CONFIG_MAP, "a", "default") is not None, "what was missed")
        assert line.asked == ["list", "watch", "watch"] and restarts("silent") == before + 1
        assert (
            "watching configmaps: the server did not end a watch of 300 s; its connection is taken to be dead, and "
            "another goes on "
            "from revision"
        ) in caplog.text
        await cache.stop()


def _silent_watches(inner: Transport) -> Fault:
    async def silence() -> AsyncGenerator[bytes, None]:
        await asyncio.get_running_loop().create_future()
        yield b""

    async def fault(request: Request) -> Response:
        return Response(200, stream=silence()) if request.argument("watch") else await inner.send(request)

    return fault


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (hangs, "not started yet: 10 s without a first list of configmaps (no answer yet)"),
        (
            says(403, forbidden()),
            'not started yet: 10 s without a first list of configmaps (configmaps is forbidden: User "x" cannot list',
        ),
    ],
)
async def test_a_cache_that_is_not_complete_says_what_it_waits_for(
    fault: Fault, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with embedded() as server:
        clock = ManualClock()
        cache = Cache(Client(Faulty(admin(server).transport, fault), retries=0), clock)
        cache.informer(CONFIG_MAP)
        starting = asyncio.create_task(cache.start())
        await turns()
        clock.advance(10)
        await until(lambda: said in caplog.text, "to be told")
        starting.cancel()
        await cache.stop()


async def test_whoever_waits_for_a_kind_that_is_dropped_need_not() -> None:
    async with embedded() as server:
        cache = Cache(Client(Faulty(admin(server).transport, hangs), retries=0), ManualClock())
        cache.informer(QUEUE)
        starting = asyncio.create_task(cache.start())
        await turns()
        cache.drop(QUEUE)
        await until(starting.done, "the cache")
        await cache.stop()


async def test_an_object_without_readable_metadata_is_passed_over_and_said(caplog: pytest.LogCaptureFixture) -> None:
    good = b'{"metadata":{"name":"good","namespace":"default","resourceVersion":"1"}}'
    later = good.replace(b"good", b"later").replace(b'"1"', b'"9"')
    events = (
        b'{"type":"ADDED","object":7}\n{"type":"MODIFIED","object":{"metadata":[]}}\n{"type":"ADDED","object":'
        + later
        + b"}\n"
    )

    async def stream() -> AsyncGenerator[bytes, None]:
        yield events
        await asyncio.get_running_loop().create_future()

    async def fault(request: Request) -> Response:
        if request.argument("watch"):
            return Response(200, stream=stream())
        return Response(
            200, b'{"metadata":{"resourceVersion":"5"},"items":["odd",{"metadata":{"name":["x"]}},' + good + b"]}"
        )

    async with embedded() as server:
        cache = Cache(Client(Faulty(admin(server).transport, fault), retries=0), ManualClock())
        cache.informer(CONFIG_MAP)
        await cache.start()
        await until(
            lambda: cache.get(CONFIG_MAP, "later", "default") is not None, "the object behind those that cannot be read"
        )
        assert [item.name for item in cache.list(CONFIG_MAP)] == ["good", "later"]
        assert caplog.text.count("ConfigMap without a readable name cannot be read and is left as it was") == 4
        await cache.stop()


async def test_an_object_that_an_index_or_a_trim_chokes_on_keeps_no_other_from_being_seen(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def index(obj: ConfigMap) -> list[str]:
        return [{"a": "found"}[obj.name]]

    def trim(obj: ConfigMap) -> ConfigMap:
        if obj.name == "c":
            raise ValueError("too odd")
        return obj

    async with embedded() as server:
        for name in "cba":
            await admin(server).create(CONFIG_MAP, config_map(name))
        cache = Cache(admin(server), ManualClock())
        cache.informer(CONFIG_MAP, trim=trim).add_index("first", index)
        await cache.start()
        assert [item.name for item in cache.list(CONFIG_MAP, "default") if item.name in ("a", "b", "c")] == ["a", "b"]
        assert [item.name for item in cache.by(CONFIG_MAP, "first", "found")] == ["a"]
        assert "ConfigMap default/c cannot be read and is left as it was: ValueError: too odd" in caplog.text
        assert "ConfigMap default/b cannot be found by an index" in caplog.text
        await cache.stop()
