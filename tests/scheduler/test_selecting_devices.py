"""Which devices a claim gets: selectors, taints, constraints, choices and counters, and extended resources that devices
back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gangline.scheduler.decisions import ContainerUse
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.placing.devices import CannotTell, choose
from gangline.scheduler.placing.extended import extended_claim
from gangline.scheduler.records import (
    ClaimRecord,
    DeviceClassRecord,
    DeviceConstraint,
    DeviceRecord,
    DeviceRequest,
    ExtendedNeed,
    NodeRecord,
    NodeTerm,
    Record,
    Requirement,
    SliceRecord,
    TaintRecord,
    TaskRecord,
    TolerationRecord,
)

DRIVER = "gpu.example.com"
GPU = DeviceClassRecord("gpu", selectors=(f"device.driver == '{DRIVER}'",))


def device(name: str, memory: str = "80Gi", **more: Any) -> DeviceRecord:
    attributes: Mapping[str, Mapping[str, object]] = more.pop("attributes", {})
    return DeviceRecord(
        name,
        attributes={f"{DRIVER}/{key}": value for key, value in attributes.items()},
        capacity={f"{DRIVER}/memory": memory},
        **more,
    )


def on_node(*devices: DeviceRecord, **more: Any) -> list[Record]:
    return [
        NodeRecord("n0", {"pods": 10}, labels={"zone": "a"}),
        GPU,
        SliceRecord("s0", "n0", DRIVER, "n0", devices, **more),
    ]


def given(
    records: list[Record], *requests: DeviceRequest, constraints: tuple[DeviceConstraint, ...] = ()
) -> list[str] | None:
    cluster = ClusterModel.build(records)
    found = choose(cluster.devices, cluster.nodes["n0"], [ClaimRecord("c", requests=requests, constraints=constraints)])
    return None if found is None else [item.device for item in found[0]]


def wants(expression: str = "", count: int | None = 1, name: str = "r", **more: Any) -> DeviceRequest:
    return DeviceRequest(name, "gpu", count, (expression,) if expression else (), **more)


def test_a_request_gets_the_first_device_that_its_selector_means() -> None:
    records = on_node(
        device("0", attributes={"model": {"string": "L4"}}), device("1", attributes={"model": {"string": "H100"}})
    )
    assert given(records, wants(f"device.attributes['{DRIVER}'].model == 'H100'")) == ["1"]
    assert given(records, wants(f"device.attributes['{DRIVER}'].model == 'B200'")) is None


def test_capacity_is_compared_as_a_quantity_and_a_version_as_a_version() -> None:
    old, new = ({"cuda": {"version": version}} for version in ("12.9.0", "13.0.0"))
    records = on_node(device("0", "40Gi", attributes=old), device("1", "80Gi", attributes=new))
    assert given(records, wants(f"device.capacity['{DRIVER}'].memory.compareTo(quantity('64Gi')) >= 0")) == ["1"]
    assert given(records, wants(f"device.attributes['{DRIVER}'].cuda.isLessThan(semver('13.0.0'))")) == ["0"]


def test_the_class_and_the_request_must_both_mean_the_device() -> None:
    other = SliceRecord("s1", "n0", "nic.example.com", "n0-nics", (DeviceRecord("nic"),))
    assert given([*on_node(device("0")), other], wants("true", None)) == ["0"]


def test_a_device_whose_attribute_nobody_wrote_can_be_asked_for_it() -> None:
    assert given(on_node(device("0")), wants("!has(device.attributes['other.example.com'].x)")) == ["0"]


def test_a_selector_that_fails_is_told_instead_of_guessed() -> None:
    with pytest.raises(
        CannotTell, match="a selector of request r cannot be evaluated for device 0: no such key: model"
    ):
        given(on_node(device("0")), wants(f"device.attributes['{DRIVER}'].model == 'H100'"))


def test_a_selector_that_takes_long_for_one_device_is_not_tried_on_thousands() -> None:
    request = DeviceRequest("r", "gpu", selectors=("lists.range(100000).all(x, x >= 0)",))
    with pytest.raises(CannotTell, match="cannot be evaluated for device 0: operation cancelled: actual cost limit"):
        given(on_node(device("0")), request)


def test_all_devices_means_all_and_fails_when_one_is_in_use() -> None:
    records = on_node(device("0"), device("1"))
    assert given(records, wants(count=None)) == ["0", "1"]
    assert given(records, wants(name="one"), wants(name="all", count=None)) is None


def test_all_devices_of_a_pool_that_is_not_complete_are_not_known() -> None:
    assert given(on_node(device("0"), slices=2), wants(count=None)) is None
    assert given(on_node(device("0"), slices=2), wants()) == ["0"]


def test_only_the_newest_generation_of_a_pool_counts() -> None:
    older = SliceRecord("old", "n0", DRIVER, "n0", (device("gone"),), generation=1)
    assert given([*on_node(device("0"), generation=2), older], wants(count=None)) == ["0"]


def test_a_tainted_device_is_for_those_who_tolerate_it() -> None:
    records = on_node(device("0", taints=(TaintRecord("broken", "NoSchedule"),)))
    assert given(records, wants()) is None
    assert given(records, wants(tolerations=(TolerationRecord("broken", "Exists"),))) == ["0"]


def test_devices_that_must_agree_come_from_the_same_root_even_when_the_first_does_not_suffice() -> None:
    records = on_node(*(device(str(place), attributes={"root": {"string": root}}) for place, root in enumerate("abb")))
    same = DeviceConstraint(same=f"{DRIVER}/root")
    assert given(records, wants(count=2), constraints=(same,)) == ["1", "2"]
    assert given(records, wants(count=3), constraints=(same,)) is None


def test_devices_that_must_differ_do() -> None:
    records = on_node(*(device(str(place), attributes={"root": {"string": root}}) for place, root in enumerate("aab")))
    assert given(records, wants(count=2), constraints=(DeviceConstraint(different=f"{DRIVER}/root"),)) == ["0", "2"]


def test_the_first_choice_that_can_be_met_is_taken_and_named() -> None:
    records = on_node(device("0", attributes={"model": {"string": "L4"}}))
    choices = (wants(f"device.attributes['{DRIVER}'].model == 'H100'", name="r/big"), wants(name="r/any"))
    cluster = ClusterModel.build(records)
    found = choose(
        cluster.devices, cluster.nodes["n0"], [ClaimRecord("c", requests=(DeviceRequest("r", "gpu", choices=choices),))]
    )
    assert found is not None and [item.request for item in found[0]] == ["r/any"]


def test_a_look_at_a_device_does_not_take_it() -> None:
    records = on_node(device("0"))
    assert given(records, wants(name="watch", admin=True), wants(name="use")) == ["0", "0"]


def test_parts_of_a_device_share_its_counters() -> None:
    half: dict[str, Any] = {"counters": {"gpu0": {"slices": 4}}}
    records = on_node(
        device("whole", counters={"gpu0": {"slices": 7}}),
        device("a", **half),
        device("b", **half),
        counters={"gpu0": {"slices": 7}},
    )
    assert given(records, wants(count=1)) == ["whole"]
    assert given(records, wants(count=2)) is None


def test_a_pod_may_ask_for_more_devices_than_the_stack_is_deep() -> None:
    devices = [device(f"gpu-{number}") for number in range(2000)]
    assert given(on_node(*devices), DeviceRequest("r", "gpu", count=2000)) == [item.name for item in devices]
    assert given(on_node(*devices), DeviceRequest("r", "gpu", count=2000), DeviceRequest("one-more", "gpu")) is None


def test_a_claim_that_asks_for_nothing_is_met() -> None:
    assert given(on_node(device("gpu-0"))) == []


def test_devices_of_the_network_are_within_reach_where_their_slice_says() -> None:
    here, elsewhere = ((NodeTerm((Requirement("zone", "In", (zone,)),)),) for zone in "ab")
    far = SliceRecord("far", "", DRIVER, "far", (device("far"),), nodes=elsewhere)
    near = SliceRecord("near", "", DRIVER, "near", (device("near"),), nodes=here)
    everywhere = SliceRecord("sky", "", DRIVER, "sky", (device("sky"),), everywhere=True)
    assert given(
        [NodeRecord("n0", {"pods": 10}, labels={"zone": "a"}), GPU, far, near, everywhere], wants(count=None)
    ) == ["near", "sky"]


# ── extended resources ──

RESOURCE = "example.com/gpu"


def need(place: int, count: int, lasting: bool = True, resource: str = RESOURCE) -> ExtendedNeed:
    return ExtendedNeed(f"c{place}", place, 0, resource, count, lasting)


Claimed = tuple[list[tuple[str, int | None]], list[tuple[str, str]]]


def claimed(*needs: ExtendedNeed, allocatable: dict[str, float] | None = None) -> Claimed | None:
    backing = DeviceClassRecord("gpu", RESOURCE)
    cluster = ClusterModel.build([NodeRecord("n0", {"pods": 10} | (allocatable or {})), backing])
    found = extended_claim(cluster.devices, TaskRecord("p", extended=needs), cluster.nodes["n0"])
    if found is None:
        return None
    assert all(isinstance(use, ContainerUse) for use in found.uses)
    return [(request.name, request.count) for request in found.claim.requests], [
        (use.container, use.request) for use in found.uses
    ]


def test_every_container_gets_a_request_of_its_own() -> None:
    assert claimed(need(0, 1), need(1, 2)) == (
        [("container-0-request-0", 1), ("container-1-request-0", 2)],
        [("c0", "container-0-request-0"), ("c1", "container-1-request-0")],
    )


def test_an_init_container_uses_the_devices_of_those_after_it_and_adds_only_what_it_lacks() -> None:
    assert claimed(need(0, 3, lasting=False), need(1, 1)) == (
        [("container-0-request-0", 2), ("container-1-request-0", 1)],
        [("c1", "container-1-request-0"), ("c0", "container-1-request-0"), ("c0", "container-0-request-0")],
    )
    assert claimed(need(0, 1, lasting=False), need(1, 1)) == (
        [("container-1-request-0", 1)],
        [("c1", "container-1-request-0"), ("c0", "container-1-request-0")],
    )


def test_of_several_init_containers_only_the_largest_counts() -> None:
    assert claimed(need(0, 1, lasting=False), need(1, 3, lasting=False)) == (
        [("container-1-request-0", 3)],
        [("c0", "container-1-request-0"), ("c1", "container-1-request-0")],
    )


def test_a_node_that_has_the_resource_itself_needs_no_devices() -> None:
    assert claimed(need(0, 1), allocatable={"gpu": 2}) is None


def test_a_class_backs_its_own_name_without_being_told() -> None:
    assert claimed(need(0, 1, resource="deviceclass.resource.kubernetes.io/gpu")) is not None
    assert claimed(need(0, 1, resource="deviceclass.resource.kubernetes.io/other")) is None


def test_of_two_classes_behind_one_resource_the_newer_serves_it() -> None:
    cluster = ClusterModel.build(
        [DeviceClassRecord("old", RESOURCE, created=1), DeviceClassRecord("new", RESOURCE, created=2)]
    )
    assert cluster.devices.class_of(RESOURCE) == "new"
