"""What a BindRequest orders, in upstream's form and in the one for a gang."""

from __future__ import annotations

from typing import Any

import msgspec

from gangline.api import kai, names
from gangline.api.core import Pod
from gangline.rules.gangs.bind_requests import by_gpu_group, by_node, by_pod, live, order_for, orders


def request(meta: dict[str, Any] | None = None, status: dict[str, Any] | None = None, **spec: Any) -> kai.BindRequest:
    written = {"metadata": {"name": "r", "namespace": "ns", **(meta or {})}, "spec": spec, "status": status or {}}
    return msgspec.convert(written, kai.BindRequest)


def pod(name: str, uid: str) -> Pod:
    return msgspec.convert({"metadata": {"name": name, "namespace": "ns", "uid": uid}}, Pod)


GANG = request(
    gang="g",
    pods=[
        {"podName": "a", "podUID": "1", "selectedNode": "n", "selectedGPUGroups": ["x"]},
        {"podName": "b", "podUID": "2", "selectedNode": "n", "selectedGPUGroups": ["x"]},
        {"podName": "c", "podUID": "3", "selectedNode": "m"},
    ],
)


def test_upstreams_form_is_one_order_for_the_pod_that_owns_it() -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1"}
    meta = {"ownerReferences": [owner], "annotations": {names.POD_GROUP_NAME: "g", "other": "x"}}
    (order,) = orders(request(meta, podName="a", selectedNode="n", selectedGPUGroups=["x"], backoffLimit=3))
    assert order == kai.BindOrder(
        pod_name="a",
        selected_node="n",
        selected_gpu_groups=("x",),
        pod_uid="1",
        annotations={names.POD_GROUP_NAME: "g"},
    )


def test_a_request_is_found_by_each_of_its_pods_nodes_and_gpu_groups_once() -> None:
    assert (by_pod(GANG), by_node(GANG), by_gpu_group(GANG)) == (["ns/a", "ns/b", "ns/c"], ["n", "m"], ["x"])


def test_an_order_is_for_the_pod_with_its_uid_and_not_for_a_later_one_of_that_name() -> None:
    order = order_for(GANG, pod("b", "2"))
    assert order is not None and order.selected_node == "n"
    assert order_for(GANG, pod("b", "9")) is None
    assert order_for(GANG, pod("d", "2")) is None


def test_orders_of_another_request_for_the_same_pods_are_never_mixed_up() -> None:
    for node in ("n", "m", "o"):
        moved = request(gang="g", pods=[{"podName": "a", "podUID": "1", "selectedNode": node}])
        order = order_for(moved, pod("a", "1"))
        assert order is not None and order.selected_node == node


def test_a_request_holds_its_nodes_until_it_failed_as_often_as_it_may() -> None:
    assert live(request())
    assert not live(request(status={"phase": "Failed", "failedAttempts": 1}))
    assert live(request(status={"phase": "Failed", "failedAttempts": 1}, backoffLimit=3))
    assert not live(request(status={"phase": "Failed", "failedAttempts": 3}, backoffLimit=3))
