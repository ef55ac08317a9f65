"""Events live an hour after they were last written, whatever they say about themselves, and also across a restart."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embedded import admin
from gangline.api.kinds import EVENT
from gangline.client import Client
from gangline.cluster.server.server import Server, ServerSettings

START = 1_800_000_000.0


@dataclass
class Time:
    now: float = START

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def served(time: Time, folder: Path | None = None) -> AsyncIterator[Client]:
    server = Server(ServerSettings(clock=time, folder=folder))
    await server.open()
    try:
        yield admin(server)
    finally:
        await server.close()


async def tell(client: Client, name: str, **more: Any) -> None:
    await client.create(
        EVENT,
        {
            "metadata": {"name": name, "namespace": "default"},
            "reason": "Because",
            "type": "Normal",
            "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
            **more,
        },
    )


async def there(client: Client) -> list[str]:
    return [event.name for event in (await client.list(EVENT)).items]


async def test_an_event_goes_an_hour_after_it_was_last_written() -> None:
    time = Time()
    async with served(time) as client:
        await tell(client, "early")
        await tell(client, "again")
        time.now += 1800
        await client.patch(EVENT, "again", "default", {"count": 2})
        time.now += 1799
        assert await there(client) == ["again", "early"]
        time.now += 1
        assert await there(client) == ["again"]
        time.now += 1800
        assert await there(client) == []


async def test_an_event_that_says_it_is_from_the_future_goes_too() -> None:
    time = Time()
    async with served(time) as client:
        await tell(client, "liar", lastTimestamp="2999-01-01T00:00:00Z", firstTimestamp="2999-01-01T00:00:00Z")
        time.now += 3600
        assert await there(client) == []


async def test_whoever_watches_is_told_that_an_event_is_over() -> None:
    time = Time()
    async with served(time) as client:
        revision = (await client.list(EVENT)).revision
        await tell(client, "short")
        time.now += 3600
        assert await there(client) == []
        seen = []
        async for event in client.watch(EVENT, revision):
            seen.append((event.type, event.object.name))
            if len(seen) == 2:
                break
        assert seen == [("ADDED", "short"), ("DELETED", "short")]


async def test_events_of_a_data_folder_go_when_their_hour_is_over(tmp_path: Path) -> None:
    time = Time()
    async with served(time, tmp_path) as client:
        await tell(client, "old", lastTimestamp="2999-01-01T00:00:00Z")
        time.now += 3000
        await tell(client, "young")
    time.now += 600
    async with served(time, tmp_path) as client:
        assert await there(client) == ["young"]
        time.now += 3000
        assert await there(client) == []
    async with served(time, tmp_path) as client:
        assert await there(client) == []
