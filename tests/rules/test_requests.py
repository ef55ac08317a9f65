"""What a pod asks for, as every component reads it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gangline.api.core import Pod
from gangline.rules import requests
from gangline.rules.requests import FRACTION, GPU_MEMORY, MIG, REGULAR, GpuRequest


def pod(*containers: dict[str, Any], annotations: dict[str, str] | None = None, **spec: Any) -> Pod:
    body = {"containers": [{"resources": {"requests": container}} for container in containers], **spec}
    return msgspec.convert({"metadata": {"annotations": annotations or {}}, "spec": body}, Pod)


def init(always: bool = False, **asks: Any) -> dict[str, Any]:
    return {"resources": {"requests": asks}} | ({"restartPolicy": "Always"} if always else {})


def gpu(**annotations: str) -> GpuRequest:
    return requests.request(
        pod({}, annotations={key.replace("_", "-"): value for key, value in annotations.items()})
    ).gpu


def test_containers_are_added_and_a_pod_slot_is_always_taken() -> None:
    asked = requests.request(pod({"cpu": "500m", "memory": "1Gi"}, {"cpu": 1, "memory": "1G"}))
    assert asked.amounts == {"cpu": 1500, "memory": 2**30 + 10**9, "pods": 1}


def test_limits_alone_ask_for_nothing() -> None:
    limited = msgspec.convert({"spec": {"containers": [{"resources": {"limits": {"cpu": 4}}}]}}, Pod)
    assert requests.request(limited).amounts == {"pods": 1}


def test_an_init_container_counts_only_where_it_needs_more_than_the_rest_together() -> None:
    asked = requests.request(pod({"cpu": 1, "memory": "2Gi"}, initContainers=[init(cpu=3, memory="1Gi")]))
    assert asked.amounts == {"cpu": 3000, "memory": 2 * 2**30, "pods": 1}


def test_a_sidecar_runs_beside_the_containers_and_beside_the_init_containers_after_it() -> None:
    asked = requests.request(pod({"cpu": 1}, initContainers=[init(cpu=2), init(always=True, cpu=1), init(cpu=2)]))
    assert asked.amounts["cpu"] == 3000
    assert requests.request(pod({"cpu": 5}, initContainers=[init(always=True, cpu=1)])).amounts["cpu"] == 6000


def test_overhead_comes_on_top_of_the_peak() -> None:
    asked = requests.request(pod({"cpu": 1}, initContainers=[init(cpu=2)], overhead={"cpu": "250m", "memory": "100Mi"}))
    assert asked.amounts == {"cpu": 2250, "memory": 100 * 2**20, "pods": 1}


def test_other_resources_are_counted_in_thousandths_and_storage_in_bytes() -> None:
    asked = requests.request(pod({"example.com/fpga": 2, "hugepages-2Mi": 4, "ephemeral-storage": "1k", "nonsense": 5}))
    assert asked.amounts == {"example.com/fpga": 2000, "hugepages-2Mi": 4000, "ephemeral-storage": 1000, "pods": 1}


@pytest.mark.parametrize("name", ["nvidia.com/gpu", "amd.com/gpu"])
def test_whole_gpus_of_either_maker(name: str) -> None:
    asked = requests.request(pod({name: 2}, {name: 1}))
    assert asked.gpu == GpuRequest(REGULAR, 3, 1.0) and asked.amounts == {"gpu": 3, "pods": 1}


def test_a_gpu_of_a_maker_we_do_not_know_is_a_gpu_all_the_same() -> None:
    assert requests.request(pod({"example.com/gpu": 1})).amounts == {"gpu": 1, "pods": 1}


def test_a_fraction_decides_over_gpu_memory() -> None:
    assert gpu(gpu_fraction="0.5", gpu_memory="2000") == GpuRequest(FRACTION, 1, 0.5)


def test_a_fraction_of_one_is_still_a_fraction() -> None:
    whole = gpu(gpu_fraction="1")
    assert whole == GpuRequest(FRACTION, 1, 1.0) and whole.gpus == 1 and whole.shared


@pytest.mark.parametrize("text", ["0", "-0.5", "1.1", "half", "", "nan"])
def test_a_fraction_that_makes_no_sense_is_as_if_it_were_not_there(text: str) -> None:
    assert gpu(gpu_fraction=text) == GpuRequest()


def test_several_devices_each_with_a_fraction_or_with_memory() -> None:
    assert gpu(gpu_fraction="0.3", gpu_fraction_num_devices="3").gpus == 0.9
    assert gpu(gpu_memory="4000", gpu_fraction_num_devices="2") == GpuRequest(GPU_MEMORY, 2, 0.0, 4000)


def test_gpu_memory_is_worth_something_only_against_the_memory_of_a_device() -> None:
    asked = requests.request(pod({}, annotations={"gpu-memory": "4000"}))
    assert asked.amounts == {"pods": 1} and asked.gpu.any
    assert asked.gpu.memory_as_gpus(16000) == 0.25 and asked.gpu.memory_as_gpus(None) == 0


def test_ten_tenths_are_exactly_one() -> None:
    assert gpu(gpu_fraction="0.1", gpu_fraction_num_devices="10").gpus == 1.0


def test_mig_slices_are_asked_for_by_profile() -> None:
    asked = requests.request(pod({"nvidia.com/mig-1g.5gb": 2}))
    assert asked.gpu == GpuRequest(MIG, mig={"nvidia.com/mig-1g.5gb": 2})
    assert asked.amounts == {"nvidia.com/mig-1g.5gb": 2, "pods": 1}
    assert requests.mig_gpus("nvidia.com/mig-3g.20gb") == 3 and requests.mig_gpus("nvidia.com/mig-1g.5gb.me") == 0


def test_a_mig_profile_in_an_annotation_is_the_old_style() -> None:
    asked = requests.request(pod({}, annotations={"nvidia.com/mig-2g.10gb": "1"}))
    assert asked.gpu == GpuRequest(MIG, mig={"nvidia.com/mig-2g.10gb": 1}, legacy_mig=True)


def claim(device_class: str, annotations: dict[str, str] | None = None, **exactly: Any) -> dict[str, Any]:
    return {
        "metadata": {"annotations": annotations or {}},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": device_class, **exactly}}]}},
    }


def test_claims_for_gpu_like_classes_add_gpus() -> None:
    claims = [
        claim("gpu.nvidia.com", count=2),
        claim("gpu.nvidia.com", allocationMode="All"),
        claim("nic.example.com", count=9),
    ]
    asked = requests.request(pod({"nvidia.com/gpu": 1}), claims)
    assert asked.gpu.dra == {"gpu.nvidia.com": 3} and asked.amounts["gpu"] == 4


def test_a_claim_that_stands_for_an_extended_resource_is_not_counted_twice() -> None:
    synthetic = claim("gpu.nvidia.com", {"resource.kubernetes.io/extended-resource-claim": "true"}, count=1)
    assert requests.gpu_devices([synthetic]) == {}


def test_absurd_counts_stay_positive() -> None:
    assert requests.gpu_devices([claim("gpu", count=2**63 - 1), claim("gpu", count=2**63 - 1)]) == {"gpu": 2**63 - 1}


def test_claims_made_from_a_template_are_found_by_the_pod_status() -> None:
    owner = msgspec.convert(
        {
            "spec": {
                "resourceClaims": [
                    {"name": "a", "resourceClaimName": "mine"},
                    {"name": "b", "resourceClaimTemplateName": "t"},
                    {"name": "c", "resourceClaimTemplateName": "t"},
                ]
            },
            "status": {"resourceClaimStatuses": [{"name": "b", "resourceClaimName": "made-b"}]},
        },
        Pod,
    )
    assert requests.claim_names(owner) == {"a": "mine", "b": "made-b"}


def test_the_shared_gpus_of_a_pod_are_in_its_labels() -> None:
    labelled = msgspec.convert({"metadata": {"labels": {"runai-gpu-group": "g1", "runai-gpu-group/g2": "g2"}}}, Pod)
    assert requests.gpu_groups(labelled) == ("g1", "g2")
    assert requests.gpu_groups(pod({})) == ()


def test_overhead_of_a_runtime_takes_no_gpu() -> None:
    amounts = requests.pod_amounts(
        pod({"cpu": 1}, overhead={"cpu": "1", "nvidia.com/gpu": 1, "nvidia.com/mig-1g.5gb": 1})
    )
    assert amounts == {"cpu": 2000, "pods": 1}


def test_gpus_of_all_makers_are_one_amount() -> None:
    assert requests.by_name({"nvidia.com/gpu": 2, "amd.com/gpu": "1", "cpu": "1", "unknown": 5}) == {
        "gpu": 3,
        "cpu": 1000,
    }


@pytest.mark.parametrize(
    ("exactly", "devices"),
    [
        ({}, 1),
        ({"count": 3}, 3),
        ({"count": 0}, 1),
        ({"count": -2}, 1),
        ({"allocationMode": "ExactCount", "count": 2}, 2),
        ({"allocationMode": "All", "count": 5}, 1),
        ({"allocationMode": "Unheard"}, 0),
    ],
)
def test_a_claim_counts_as_many_devices_as_it_asks_for(exactly: dict[str, Any], devices: int) -> None:
    assert requests.gpu_devices([claim("gpu.example.com", **exactly)]) == {"gpu.example.com": devices}


def test_a_claim_for_another_class_is_no_gpu() -> None:
    assert requests.gpu_devices([claim("nic.example.com")]) == {}


@pytest.mark.parametrize(
    ("request_", "needs"),
    [
        (GpuRequest(), False),
        (GpuRequest(REGULAR, 1, 1.0), True),
        (GpuRequest(dra={"gpu": 1}), True),
        (GpuRequest(GPU_MEMORY, 1, memory=100), True),
        (GpuRequest(MIG, mig={"nvidia.com/mig-1g.5gb": 1}), True),
    ],
)
def test_a_pod_needs_a_gpu_in_whichever_form_it_asks_for_one(request_: GpuRequest, needs: bool) -> None:
    assert request_.any is needs


def test_memory_of_a_gpu_is_a_part_of_it_only_where_both_are_known() -> None:
    asked = GpuRequest(GPU_MEMORY, 2, memory=1)
    assert asked.memory_as_gpus(1000) == 0.002
    assert asked.memory_as_gpus(0) == asked.memory_as_gpus(-1) == 0
    assert GpuRequest(GPU_MEMORY, 2, memory=0).memory_as_gpus(1000) == 0
