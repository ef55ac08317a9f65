"""GPUs of drivers (DRA) on the pages: they are counted on their nodes, and who claims one holds it."""

from __future__ import annotations

from typing import Any

from dashboard.seen import Given, group, look, meta, node, pod, queue
from gangline.api.kinds import RESOURCE_CLAIM, RESOURCE_SLICE
from gangline.dashboard.look import ClusterView
from gangline.dashboard.map.data import MapNode
from gangline.dashboard.pages import gang_page, map_page, node_page, overview

DRIVER = "gpu.example.com"


def published(on: str, *devices: str, driver: str = DRIVER, generation: int = 1, name: str = "") -> Given:
    pool = {"name": on, "generation": generation, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": on, "pool": pool, "devices": [{"name": device} for device in devices]}
    return RESOURCE_SLICE, {"metadata": meta(name or f"{on}-{driver}-{generation}", ""), "spec": spec}


def claim(name: str, count: int = 1, *devices: str, on: str = "n", admin: bool = False) -> Given:
    request = {"name": "gpu", "exactly": {"deviceClassName": DRIVER, "count": count}}
    results = [
        {"request": "gpu", "driver": DRIVER, "pool": on, "device": device, "adminAccess": admin} for device in devices
    ]
    status = {"allocation": {"devices": {"results": results}}} if devices else {}
    return RESOURCE_CLAIM, {"metadata": meta(name), "spec": {"devices": {"requests": [request]}}, "status": status}


def claiming(given: Given, *claims: str) -> Given:
    kind, obj = given
    obj["spec"]["resourceClaims"] = [{"name": name, "resourceClaimName": name} for name in claims]
    return kind, obj


def mapped(view: ClusterView) -> MapNode:
    [domain] = map_page(view, {}).domains
    return domain.nodes[0]


def test_a_device_of_a_gpu_driver_is_a_gpu_of_its_node_beside_those_of_the_device_plugin() -> None:
    view = look(node("n", 2), published("n", "a", "b"), published("n", "nic", driver="net.example.com"))
    assert mapped(view).gpus == 4 and overview(view, {}).room.free == 4


def test_of_a_pool_only_the_newest_generation_counts() -> None:
    view = look(node("n", 0), published("n", "a", "b", "c"), published("n", "a", "b", generation=2))
    assert mapped(view).gpus == 2


def test_a_claimed_device_is_held_by_the_gang_whose_pod_claims_it() -> None:
    view = look(
        node("n", 0),
        published("n", "a", "b", "c"),
        group("g"),
        claim("two", 2, "a", "b"),
        claiming(pod("p", "g", on="n"), "two"),
    )
    page = map_page(view, {})
    [held] = mapped(view).held
    assert (page.gangs[held.gang].title, held.gpus, mapped(view).free) == ("g", 2, 1)
    counts = overview(view, {}).counts
    assert (counts.gpus, counts.gpus_used, counts.gpus_shared) == (3, 2, 0)


def test_a_device_that_two_pods_claim_is_shared_and_taken_whole() -> None:
    view = look(
        node("n", 0),
        published("n", "a", "b"),
        group("g"),
        claim("both", 1, "a"),
        claiming(pod("p", "g", on="n"), "both"),
        claiming(pod("q", "g", on="n"), "both"),
    )
    [share] = mapped(view).shared
    assert share.used == 1.0 and mapped(view).free == 1
    assert gang_of(view).gpus_held == 1.0


def test_who_only_watches_a_device_does_not_take_it() -> None:
    view = look(
        node("n", 0),
        published("n", "a"),
        group("g"),
        claim("watch", 1, "a", admin=True),
        claiming(pod("p", "g", on="n"), "watch"),
    )
    assert mapped(view).free == 1


def test_a_waiting_gang_needs_what_its_claims_ask_for() -> None:
    view = look(node("n", 0), published("n", "a"), group("g"), claim("four", 4), claiming(pod("p", "g"), "four"))
    assert (gang_of(view).gpus_asked, gang_of(view).gpus_held) == (4.0, 0.0)


def test_a_queue_holds_the_gpus_that_its_claims_have() -> None:
    kind, obj = queue("q", quota=4)
    obj["status"] = {"allocated": {DRIVER: "3", "run.ai/gpu.memory": "9000"}, "requested": {DRIVER: "3"}}
    [line] = overview(look((kind, obj)), {}).queues.rows
    assert (line.gpu.allocated, line.gpu.requested, line.borrows) == (3.0, 3.0, 0.0)


def test_the_page_of_a_node_shows_who_claims_its_devices() -> None:
    view = look(
        node("n", 1), published("n", "a"), group("g"), claim("one", 1, "a"), claiming(pod("p", "g", 1, on="n"), "one")
    )
    line: Any = node_page(view, "n", {})
    assert [device.state for device in line.node.devices] == ["used", "used"] and line.pods.rows[0].gpus == 2.0


def gang_of(view: ClusterView) -> Any:
    page: Any = gang_page(view, "work", "g")
    return page.gang
