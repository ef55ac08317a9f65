"""What a cycle decided, as requests to the binder: one for what it places of a gang, one for many single pods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.meta import Raw
from gangline.scheduler.decisions import Bind
from gangline.scheduler.thought.decision_objects import allocation, bind_request, quantity
from gangline.scheduler.thought.gang_requests import MOST_PODS, MOST_SINGLES, PlacedPod, RequestDraft, drafts, placing
from gangline.scheduler.thought.options import SchedulerOptions

GROUP = msgspec.convert({"metadata": {"name": "pg-llm", "namespace": "work", "uid": "u"}}, PodGroup)


def pod(name: str, *, namespace: str = "work", annotations: Raw | None = None, **spec: Any) -> Pod:
    meta = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "annotations": annotations or {}}
    return msgspec.convert({"metadata": meta, "spec": spec}, Pod)


def placed(name: str, node: str = "n0", gang: str = "pg-llm", group: PodGroup | None = GROUP, **more: Any) -> PlacedPod:
    what = {key: more.pop(key) for key in ("namespace", "annotations", "volumes") if key in more}
    return PlacedPod(Bind(f"work/{name}", node, action="allocate", **more), pod(name, **what), gang, group)


def single(name: str, **more: Any) -> PlacedPod:
    return placed(name, gang=f"pg-{name}", group=None, **more)


def drafted(*given: PlacedPod, options: SchedulerOptions | None = None) -> list[RequestDraft]:
    words: Iterator[str] = (f"word{number}" for number in range(100_000))
    return list(drafts(given, options or SchedulerOptions(), lambda: next(words)))


def test_what_is_placed_of_a_gang_is_one_request_that_its_group_owns() -> None:
    [draft] = drafted(placed("a", "n0"), placed("b", "n1"), placed("c", "n0"))
    assert draft.body["metadata"]["name"] == "pg-llm-word0"
    assert [owner["name"] for owner in draft.body["metadata"]["ownerReferences"]] == ["pg-llm"]
    spec = draft.body["spec"]
    assert (spec["gang"], spec["podCount"], spec["nodeCount"], spec["backoffLimit"]) == ("pg-llm", 3, 2, 3)
    assert [(order["podName"], order["podUID"], order["selectedNode"]) for order in spec["pods"]] == [
        ("a", "uid-a", "n0"),
        ("b", "uid-b", "n1"),
        ("c", "uid-c", "n0"),
    ]


def test_each_pod_is_told_who_placed_it_and_with_how_many_others() -> None:
    [draft] = drafted(placed("a"), placed("b"), placed("c"))
    assert {order["annotations"][names.PLACED] for order in draft.body["spec"]["pods"]} == {
        "by allocate at node-pool default, together with 2 more pods of pg-llm"
    }
    [alone] = drafted(single("a"))
    assert alone.body["spec"]["pods"][0]["annotations"][names.PLACED] == "by allocate at node-pool default"


def test_a_bind_marks_a_pod_that_is_not_marked_yet() -> None:
    marked = placed("b", annotations={names.POD_GROUP_NAME: "pg-llm"})
    [draft] = drafted(placed("a"), marked)
    marks = [order["annotations"].get(names.POD_GROUP_NAME) for order in draft.body["spec"]["pods"]]
    assert marks == ["pg-llm", None]


def test_a_gang_that_is_too_large_for_one_object_is_several_that_all_know_its_size() -> None:
    first, second = drafted(*(placed(f"p{number}") for number in range(MOST_PODS + 1)))
    assert (first.body["spec"]["podCount"], second.body["spec"]["podCount"]) == (MOST_PODS, 1)
    assert first.name != second.name
    [last] = second.body["spec"]["pods"]
    assert last["annotations"][names.PLACED].endswith(f"together with {MOST_PODS} more pods of pg-llm")


def test_many_single_pods_of_a_namespace_share_a_request_that_nobody_owns() -> None:
    here, there = drafted(single("a"), single("b", namespace="other"), single("c"))
    assert [order["podName"] for order in there.body["spec"]["pods"]] == ["a", "c"]
    assert (there.body["metadata"]["namespace"], there.body["spec"]["gang"]) == ("work", "")
    assert "ownerReferences" not in there.body["metadata"]
    assert here.body["metadata"]["namespace"] == "other"


def test_at_most_so_many_single_pods_share_a_request() -> None:
    sizes = [draft.body["spec"]["podCount"] for draft in drafted(*(single(f"p{n}") for n in range(MOST_SINGLES + 2)))]
    assert sizes == [MOST_SINGLES, 2]


def test_a_single_pod_for_which_something_is_prepared_has_a_request_of_its_own() -> None:
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    shares = single("a", received="Fraction", gpu_groups=("g",), gpu_count=1, gpu_portion=0.5)
    stores = single("b", volumes=[claim])
    assert [len(draft.placed) for draft in drafted(shares, stores, single("c"), single("d"))] == [1, 1, 2]


def test_a_shared_gpu_is_told_with_its_part() -> None:
    [draft] = drafted(placed("a", received="Fraction", gpu_groups=("g1",), gpu_count=1, gpu_portion=0.5))
    [order] = draft.body["spec"]["pods"]
    assert (order["selectedGPUGroups"], order["receivedGPU"]) == (["g1"], {"count": 1, "portion": "0.50"})
    [whole] = drafted(placed("a", gpu_count=2, gpu_portion=1))[0].body["spec"]["pods"]
    assert "selectedGPUGroups" not in whole and "receivedGPU" not in whole


def test_requests_of_a_shard_carry_its_pool() -> None:
    [draft] = drafted(placed("a"), placed("b"), options=SchedulerOptions(node_pool="gpu"))
    assert draft.body["metadata"]["labels"] == {names.NODE_POOL: "gpu"}
    assert drafted(placed("a"))[0].body["metadata"]["labels"] == {}


def test_a_name_is_never_too_long() -> None:
    [draft] = drafted(placed("a", gang="g" * 300), placed("b", gang="g" * 300))
    assert len(draft.name) <= 253


def test_the_gang_hears_of_its_request_and_a_single_pod_of_its_own() -> None:
    assert drafted(placed("a"), placed("b"))[0].group == GROUP
    assert drafted(single("a"))[0].group is None


def test_the_event_names_the_first_few_nodes() -> None:
    assert drafted(placed("a"))[0].news == "assigned 1 pods to 1 node: n0"
    five = [Bind(f"t{number}", f"n{number % 5}") for number in range(7)]
    assert placing(five) == "7 pods to 5 nodes: n0, n1, n2 and 2 more"


# --- upstream's form: one request per pod -----------------------------------------------------------------------------


def test_the_request_of_one_pod_is_named_after_it_and_owned_by_it() -> None:
    body = bind_request(Bind("work/a", "n0", gpu_count=2, gpu_portion=1), pod("a"), "pg-llm", SchedulerOptions())
    meta = body["metadata"]
    assert (meta["name"], meta["namespace"], meta["labels"]) == ("a", "work", {names.SELECTED_NODE: "n0"})
    assert [owner["uid"] for owner in meta["ownerReferences"]] == ["uid-a"]
    assert meta["annotations"] == {names.POD_GROUP_NAME: "pg-llm"}
    assert body["spec"] == {
        "podName": "a",
        "selectedNode": "n0",
        "receivedResourceType": "Regular",
        "receivedGPU": {"count": 2, "portion": "1.00"},
        "backoffLimit": 3,
    }


def test_devices_of_a_node_are_usable_there_alone() -> None:
    written = allocation((), "n0", ({"source": "FromClass"},))
    assert written["nodeSelector"]["nodeSelectorTerms"] == [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n0"]}]}
    ]
    assert written["devices"] == {"results": [], "config": [{"source": "FromClass"}]}
    assert "config" not in allocation((), "n0")["devices"]


def test_amounts_of_the_model_are_written_as_kubernetes_writes_them() -> None:
    assert (quantity("cpu", 1500), quantity("cpu", 2000)) == ("1500m", "2")
    assert (quantity("memory", 2.0**31), quantity("gpu", 2)) == ("2147483648", "2")
    assert quantity("rdma/hca", 3000) == "3"
    assert quantity("hugepages-2Mi", 2.0**21) == "2097152"
