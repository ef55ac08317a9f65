"""What must hold for any sequence of writes."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cluster.server.conftest import MAPS, Api, Watch, config_map, in_process
from gangline.cluster.server.server import Server, ServerSettings

NAMES, COLOURS = ("a", "b", "c"), ("red", "blue", "")
writes = st.lists(
    st.tuples(st.sampled_from(["put", "delete"]), st.sampled_from(NAMES), st.sampled_from(COLOURS), st.integers(0, 2)),
    max_size=25,
)
selectors = st.sampled_from(
    [
        {},
        {"labelSelector": "colour=red"},
        {"labelSelector": "!colour"},
        {"fieldSelector": "metadata.name=b"},
        {"labelSelector": "colour in (red,blue)", "fieldSelector": "metadata.name!=a"},
    ]
)


async def carry_out(api: Api, write: tuple[str, str, str, int]) -> None:
    operation, name, colour, number = write
    if operation == "delete":
        await api.delete(f"{MAPS}/{name}")
        return
    labels = {"colour": colour} if colour else {}
    body = config_map(name, {"n": str(number)}, labels=labels)
    if (await api.post(MAPS, body)).status == 409:
        await api.put(f"{MAPS}/{name}", body)


def by_name(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {item["metadata"]["name"]: {"metadata": item["metadata"], "data": item.get("data")} for item in items}


async def followed(watch: Watch, state: dict[str, Any], until: int) -> dict[str, Any]:
    """A state brought up to a revision by a watch's events."""
    while True:
        event = await watch.next()
        assert event is not None
        obj = event["object"]
        if event["type"] == "BOOKMARK":
            if int(obj["metadata"]["resourceVersion"]) >= until:
                return state
            continue
        if event["type"] == "DELETED":
            state.pop(obj["metadata"]["name"], None)
        else:
            state |= by_name([obj])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(writes, writes, selectors)
async def test_a_list_and_the_watch_from_it_give_the_list_of_now(
    before: list[Any], after: list[Any], selector: dict[str, str]
) -> None:
    server = Server(ServerSettings(bookmark_seconds=0.01))
    await server.open()
    api = in_process(server)
    for write in before:
        await carry_out(api, write)
    then = (await api.get(MAPS, **selector)).body
    watch = await api.watch(
        MAPS, resourceVersion=then["metadata"]["resourceVersion"], allowWatchBookmarks="true", **selector
    )
    for write in after:
        await carry_out(api, write)
    state = await followed(watch, by_name(then["items"]), server.revision)
    now = (await api.get(MAPS, **selector)).body
    assert json.dumps(state, sort_keys=True) == json.dumps(by_name(now["items"]), sort_keys=True)
    await watch.close()
    await server.close()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(writes, st.integers(0, 25))
async def test_a_restart_at_any_point_gives_the_same_state(sequence: list[Any], cut: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(ServerSettings(folder=folder))
        await server.open()
        for write in sequence[:cut]:
            await carry_out(in_process(server), write)
        before = (await in_process(server).get(MAPS)).body
        await server.close()
        server = Server(ServerSettings(folder=folder))
        await server.open()
        assert (await in_process(server).get(MAPS)).body == before
        for write in sequence[cut:]:
            await carry_out(in_process(server), write)
        await server.close()


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["metadata", "spec", "data", "name", "labels", "containers", "x"]), inner, max_size=4
            )
        ),
        max_leaves=12,
    ),
    st.sampled_from(["configmaps", "pods", "services"]),
)
async def test_no_body_whatever_makes_the_server_fail(body: Any, plural: str) -> None:
    server = Server()
    await server.open()
    api = in_process(server)
    path = f"/api/v1/namespaces/default/{plural}"
    assert (await api.post(path, body)).body.get("reason") != "InternalError"
    await api.post(path, {"metadata": {"name": "x"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    for kind in (
        "application/merge-patch+json",
        "application/json-patch+json",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
    ):
        answer = await api.call("PATCH", f"{path}/x", body, kind, fieldManager="m")
        assert answer.body.get("reason") != "InternalError", answer.body
    await server.close()


@settings(max_examples=100, deadline=None)
@given(
    st.text(max_size=30), st.sampled_from(["labelSelector", "fieldSelector", "continue", "resourceVersion", "limit"])
)
async def test_no_query_whatever_makes_the_server_fail(text: str, argument: str) -> None:
    server = Server()
    await server.open()
    assert (await in_process(server).get(MAPS, **{argument: text})).body.get("reason") != "InternalError"
    await server.close()
