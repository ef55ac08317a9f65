"""The cache follows the server: lists, watches, lists again when it must, and tells what changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from prometheus_client import REGISTRY

from embedded import admin, embedded, until
from gangline.api.core import ConfigMap
from gangline.api.crds import crds
from gangline.api.kinds import CONFIG_MAP, CRD, POD, QUEUE
from gangline.client import Client
from gangline.client.wire import Request, Response
from gangline.cluster.server.server import ServerSettings
from gangline.runtime import Cache, ManualClock


def config_map(name: str, owner: str = "") -> dict[str, object]:
    meta: dict[str, object] = {"name": name, "namespace": "default", "labels": {"app": name[0]}}
    if owner:
        meta["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": owner}]
    return {"metadata": meta}


async def test_a_reader_sees_what_was_there_and_what_comes() -> None:
    async with embedded() as server:
        client = admin(server)
        await client.create(CONFIG_MAP, config_map("a1"))
        cache = Cache(client)
        cache.informer(CONFIG_MAP)
        await cache.start()
        assert cache.get(CONFIG_MAP, "a1", "default") is not None
        await client.create(CONFIG_MAP, config_map("a2", owner="u1"))
        await until(lambda: cache.get(CONFIG_MAP, "a2", "default") is not None)
        assert [item.name for item in cache.owned(CONFIG_MAP, "u1")] == ["a2"]
        assert [item.name for item in cache.list(CONFIG_MAP, labels={"app": "a"})] == ["a1", "a2"]
        await client.delete(CONFIG_MAP, "a2", "default")
        await until(lambda: cache.owned(CONFIG_MAP, "u1") == [])
        await cache.stop()


async def test_a_handler_is_told_before_and_after() -> None:
    async with embedded() as server:
        client = admin(server)
        await client.create(CONFIG_MAP, config_map("a"))
        cache = Cache(client)
        told: list[tuple[bool, bool]] = []

        def handler(before: ConfigMap | None, after: ConfigMap | None) -> None:
            told.append((before is not None, after is not None))

        cache.informer(CONFIG_MAP).on_change(handler)
        await cache.start()
        await client.patch(CONFIG_MAP, "a", "default", {"data": {"x": "1"}})
        await client.delete(CONFIG_MAP, "a", "default")
        await until(lambda: len(told) == 3)
        assert told == [(False, True), (True, True), (True, False)]
        await cache.stop()


class Cut:
    """A transport whose watches can be cut off."""

    def __init__(self, inner: Client) -> None:
        self.inner = inner.transport
        self.open = True
        self.watches = 0

    async def send(self, request: Request) -> Response:
        answer = await self.inner.send(request)
        if answer.stream is not None:
            self.watches += 1
            if not self.open:
                answer.stream = None
        return answer

    async def close(self) -> None:
        await self.inner.close()


async def test_what_was_deleted_while_the_watch_was_away_is_noticed() -> None:
    async with embedded(settings=ServerSettings(history=2)) as server:
        client = admin(server)
        for name in ("a", "b"):
            await client.create(CONFIG_MAP, config_map(name))
        cut = Cut(client)
        cut.open = False
        cache = Cache(Client(cut, retries=0))
        gone: list[str] = []
        cache.informer(CONFIG_MAP).on_change(
            lambda before, after: gone.append(before.name) if before and not after else None
        )
        await cache.start()
        await client.delete(CONFIG_MAP, "a", "default")
        for number in range(6):
            await client.create(CONFIG_MAP, config_map(f"c{number}"))
        cut.open = True
        await until(lambda: gone == ["a"])
        assert len(cache.list(CONFIG_MAP)) == 7
        await cache.stop()


async def test_a_copy_stays_in_step_with_who_writes_more_in_a_row_than_the_server_remembers() -> None:
    async with embedded(settings=ServerSettings(history=200)) as server:
        cache, restarts = Cache(admin(server)), {"resource": CONFIG_MAP.resource, "why": "gone"}
        cache.informer(CONFIG_MAP)
        await cache.start()
        before = REGISTRY.get_sample_value("gangline_watch_restarts_total", restarts)
        client = admin(server)
        for number in range(1000):
            await client.create(CONFIG_MAP, config_map(f"c{number}"))
        await until(lambda: len(cache.list(CONFIG_MAP)) == 1000)
        assert REGISTRY.get_sample_value("gangline_watch_restarts_total", restarts) == before
        await cache.stop()


async def test_selectors_keep_the_rest_out() -> None:
    async with embedded() as server:
        client = admin(server)
        for name, scheduler in (("p", "kai-scheduler"), ("q", "other")):
            await client.create(
                POD,
                {
                    "metadata": {"name": name, "namespace": "default"},
                    "spec": {"schedulerName": scheduler, "containers": [{"name": "c", "image": "i"}]},
                },
            )
        cache = Cache(client)
        cache.informer(POD, fields="spec.schedulerName=kai-scheduler")
        await cache.start()
        assert [pod.name for pod in cache.list(POD)] == ["p"]
        await cache.stop()


async def test_a_kind_that_is_not_served_yet_is_empty_and_followed_once_it_is() -> None:
    async with embedded() as server:
        client = admin(server)
        clock = ManualClock()
        cache = Cache(client, clock)
        cache.informer(QUEUE)
        await cache.start()
        assert cache.list(QUEUE) == [] and cache.revision(QUEUE) == 0
        for crd in crds():
            await client.create(CRD, crd)
        await client.create(QUEUE, {"metadata": {"name": "q"}, "spec": {}})

        def seen() -> bool:
            clock.advance(5)
            return cache.get(QUEUE, "q") is not None

        await until(seen)
        await cache.stop()


async def test_a_kind_that_is_taken_away_is_empty_and_followed_again_once_it_is_back() -> None:
    async with embedded(kinds=True) as server:
        client = admin(server)
        clock = ManualClock()
        cache = Cache(client, clock)
        cache.informer(QUEUE)
        await client.create(QUEUE, {"metadata": {"name": "q"}, "spec": {}})
        await cache.start()
        assert [queue.name for queue in cache.list(QUEUE)] == ["q"]
        await client.delete(CRD, QUEUE.resource)
        await until(lambda: cache.list(QUEUE) == [] and cache.revision(QUEUE) == 0)
        await client.create(CRD, next(crd for crd in crds() if crd["metadata"]["name"] == QUEUE.resource))
        await client.create(QUEUE, {"metadata": {"name": "r"}, "spec": {}})

        def seen() -> bool:
            clock.advance(5)
            return cache.get(QUEUE, "r") is not None

        await until(seen)
        await cache.stop()


def loose_queues() -> dict[str, Any]:
    """Queues as a server holds them whose definition says nothing of their spec."""
    found: dict[str, Any] = json.loads(
        json.dumps(next(crd for crd in crds() if crd["spec"]["names"]["kind"] == "Queue"))
    )
    for version in found["spec"]["versions"]:
        version["schema"] = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return found


async def test_an_object_that_cannot_be_read_keeps_no_other_from_being_seen(caplog: pytest.LogCaptureFixture) -> None:
    async with embedded() as server:
        client = admin(server)
        await client.create(CRD, loose_queues())
        for name, parent in (("good", "top"), ("odd", ["not", "a", "name"])):
            await client.create_only(QUEUE, {"metadata": {"name": name}, "spec": {"parentQueue": parent}})
        cache = Cache(client)
        cache.informer(QUEUE)
        await cache.start()
        assert [queue.name for queue in cache.list(QUEUE)] == ["good"]
        assert (
            "Queue odd cannot be read and is left as it was: Expected `str`, got `array` - at `$.spec.parentQueue`"
            in caplog.text
        )
        await client.patch_only(QUEUE, "good", "", {"spec": {"parentQueue": ["odd", "too"]}})
        await client.create(QUEUE, {"metadata": {"name": "later"}, "spec": {"parentQueue": "top"}})
        await until(lambda: cache.get(QUEUE, "later") is not None)
        good = cache.get(QUEUE, "good")
        assert good is not None
        assert good.spec.parent_queue == "top"
        await client.patch_only(QUEUE, "odd", "", {"spec": {"parentQueue": "top"}})
        await until(lambda: cache.get(QUEUE, "odd") is not None)
        await cache.stop()
