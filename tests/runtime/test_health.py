"""A component's HTTP server: alive, ready, metrics, pages."""

from __future__ import annotations

from pathlib import Path

import aiohttp
from prometheus_client import CollectorRegistry, Gauge

import gangline
from gangline.rules.values.hosts import split_address
from gangline.runtime.health import Endpoint, HttpPage


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
    makers = [path.relative_to(source).as_posix() for path in source.rglob("*.py") if "AppRunner(" in path.read_text()]
    assert makers == ["runtime/health.py"]
