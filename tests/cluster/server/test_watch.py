"""Watching: what is told, from where on, and to whom."""

from __future__ import annotations

import asyncio

import pytest

from cluster.server.conftest import MAPS, PODS, Api, config_map, in_process
from gangline.client.wire import Request
from gangline.cluster.server.server import Server, ServerSettings
from gangline.cluster.server.verbs.meta import Obj


async def test_a_watch_tells_what_happens_after_a_revision(api: Api) -> None:
    await api.post(MAPS, config_map("before"))
    seen = (await api.get(MAPS)).body["metadata"]["resourceVersion"]
    watch = await api.watch(MAPS, resourceVersion=seen)
    await api.post(MAPS, config_map("a"))
    await api.merge(f"{MAPS}/a", {"data": {"k": "v"}})
    await api.delete(f"{MAPS}/a")
    assert await watch.take(3) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
    await watch.close()


async def test_a_watch_may_begin_with_what_is_there(api: Api) -> None:
    await api.post(MAPS, config_map("a"))
    watch = await api.watch(
        MAPS, sendInitialEvents="true", resourceVersionMatch="NotOlderThan", allowWatchBookmarks="true"
    )
    assert await watch.take(2) == [("ADDED", "a"), ("BOOKMARK", "")]
    await watch.close()


async def test_an_object_that_leaves_a_selection_is_told_as_deleted(api: Api) -> None:
    await api.post(MAPS, config_map("a", labels={"colour": "red"}))
    watch = await api.watch(MAPS, labelSelector="colour=red", resourceVersion=str(api.server.revision))
    await api.merge(f"{MAPS}/a", {"metadata": {"labels": {"colour": "blue"}}})
    await api.merge(f"{MAPS}/a", {"metadata": {"labels": {"colour": "red"}}})
    assert await watch.take(2) == [("DELETED", "a"), ("ADDED", "a")]
    await watch.close()


async def test_the_old_address_of_a_watch_still_answers(api: Api) -> None:
    await api.post(MAPS, config_map("a"))
    await api.post(MAPS, config_map("b"))
    for path, seen in ((MAPS, ["a", "b"]), (f"{MAPS}/b", ["b"])):
        watch = await api.watch(path.replace("/api/v1/", "/api/v1/watch/"))
        assert [name for _, name in await watch.take(len(seen))] == seen
        await watch.close()


async def test_a_watch_ends_when_its_time_is_up_also_while_there_is_always_news(api: Api) -> None:
    quiet = await api.watch(PODS, timeoutSeconds="1", resourceVersion=str(api.server.revision))
    busy = await api.watch(MAPS, timeoutSeconds="1", resourceVersion=str(api.server.revision))
    await api.post(MAPS, config_map("a"))
    told = 0
    while await busy.next() is not None:
        told += 1
        await api.merge(f"{MAPS}/a", {"data": {"k": str(told)}})
    assert told
    assert await quiet.next() is None


async def test_a_watcher_too_slow_to_follow_is_told_410_and_others_never_wait() -> None:
    server = Server(ServerSettings(history=10))
    await server.open()
    api = in_process(server)
    await api.post(MAPS, config_map("a"))
    slow = await api.watch(MAPS, resourceVersion=str(server.revision))
    for number in range(50):
        await api.merge(f"{MAPS}/a", {"data": {"k": str(number)}})
    event = await slow.next()
    assert event is not None
    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 410, "Expired")
    assert await slow.next() is None
    await server.close()


async def test_a_watch_from_before_what_is_remembered_is_told_410() -> None:
    server = Server(ServerSettings(history=10))
    await server.open()
    api = in_process(server)
    await api.post(MAPS, config_map("a"))
    start = str(server.revision)
    for number in range(50):
        await api.merge(f"{MAPS}/a", {"data": {"k": str(number)}})
    watch = await api.watch(MAPS, resourceVersion=start)
    event = await watch.next()
    assert event is not None
    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
    assert event["object"]["message"].startswith(f"too old resource version: {start} (")
    await server.close()


async def test_what_is_remembered_for_watchers_is_bounded_in_bytes_and_who_is_behind_is_told_410() -> None:
    server = Server(ServerSettings(history_bytes=1_000_000))
    await server.open()
    api = in_process(server)
    await api.post(MAPS, config_map("a"))
    start = str(server.revision)
    slow = await api.watch(MAPS, resourceVersion=start)
    for number in range(60):
        await api.merge(f"{MAPS}/a", {"data": {"k": str(number) * 50_000}})
    assert sum(shelf.size for shelf in server.store.shelves()) < 1_000_000
    assert sum(len(change.record.body) for shelf in server.store.shelves() for change in shelf.changes) < 500_000
    late = await api.watch(MAPS, resourceVersion=start)
    for watch in (slow, late):
        event = await watch.next()
        assert event is not None
        assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 410, "Expired")
    near = await api.watch(MAPS, resourceVersion=str(server.revision - 2))
    assert [(await near.next() or {})["object"]["data"]["k"][:2] for _ in range(2)] == ["58", "59"]
    await server.close()


async def test_closing_the_server_ends_its_watches(api: Api) -> None:
    watch = await api.watch(MAPS, resourceVersion=str(api.server.revision))
    await api.server.close()
    assert await watch.next() is None


async def test_watchers_at_the_same_place_are_told_the_same_bytes(server: Server) -> None:
    send = in_process(server).send
    streams = [
        (await send(Request("GET", MAPS, (("watch", "true"), ("resourceVersion", str(server.revision)))))).stream
        for _ in range(2)
    ]
    await in_process(server).post(MAPS, config_map("a"))
    first, second = [await anext(stream) for stream in streams if stream is not None]
    assert first is second


async def test_a_watcher_of_some_objects_sleeps_through_changes_of_others(server: Server) -> None:
    api = in_process(server)
    watch = await api.watch(MAPS, labelSelector="colour=red", resourceVersion=str(server.revision))
    witness = await api.watch(MAPS, resourceVersion=str(server.revision))
    waiting = asyncio.ensure_future(watch.next())
    for name in ("a", "b", "c"):
        await api.post(MAPS, config_map(name))
        assert await witness.take(1) == [("ADDED", name)]
    assert not waiting.done()
    await api.post(MAPS, config_map("d", labels={"colour": "red"}))
    event = await waiting
    assert event is not None
    assert event["object"]["metadata"]["name"] == "d"
    await watch.close()
    await witness.close()


async def test_a_watch_that_is_closed_ends_for_whoever_waits_for_it(api: Api) -> None:
    watch = await in_process(api.server).watch(MAPS, resourceVersion=str(api.server.revision))
    waiting = asyncio.ensure_future(watch.next())
    await asyncio.sleep(0)
    await watch.close()
    assert await waiting is None


DOGS = "/apis/example.com/v1/namespaces/default/dogs"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def dogs(*versions: str) -> Obj:
    """A definition that serves some versions; the first is stored."""
    schema = {"openAPIV3Schema": {"type": "object"}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "dogs.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "dogs", "kind": "Dog", "singular": "dog"},
            "versions": [
                {"name": name, "served": True, "storage": name == versions[0], "schema": schema} for name in versions
            ],
        },
    }


@pytest.mark.parametrize("some", [{}, {"labelSelector": "colour=red"}], ids=["all", "some"])
async def test_watches_of_a_kind_end_with_its_definition_after_they_were_told_of_its_last_object(
    api: Api, some: dict[str, str]
) -> None:
    await api.post(DEFINITIONS, dogs("v1"))
    await api.post(
        DOGS, {"apiVersion": "example.com/v1", "kind": "Dog", "metadata": {"name": "rex", "labels": {"colour": "red"}}}
    )
    watch = await api.watch(DOGS, resourceVersion=str(api.server.revision), **some)
    bystander = await api.watch(MAPS, resourceVersion=str(api.server.revision))
    await api.delete(f"{DEFINITIONS}/dogs.example.com")
    assert await watch.take(1) == [("DELETED", "rex")]
    assert await watch.next() is None
    assert (await api.get(DOGS)).status == 404
    await api.post(MAPS, config_map("a"))
    assert await bystander.take(1) == [("ADDED", "a")]
    await bystander.close()


async def test_watches_of_a_version_that_is_served_no_more_end(api: Api) -> None:
    await api.post(DEFINITIONS, dogs("v1", "v2"))
    first = await api.watch(DOGS, resourceVersion=str(api.server.revision))
    second = await api.watch(DOGS.replace("v1", "v2"), resourceVersion=str(api.server.revision))
    versions = [version | {"served": version["name"] == "v2"} for version in dogs("v1", "v2")["spec"]["versions"]]
    await api.merge(f"{DEFINITIONS}/dogs.example.com", {"spec": {"versions": versions}})
    assert await first.next() is None
    await api.post(
        DOGS.replace("v1", "v2"), {"apiVersion": "example.com/v2", "kind": "Dog", "metadata": {"name": "rex"}}
    )
    assert await second.take(1) == [("ADDED", "rex")]
    await second.close()
