"""What one pod counts for in the status of its group: what it asks for, and what it holds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gangline.api import names
from gangline.api.core import Node, Pod
from gangline.api.meta import Raw
from gangline.config import NATIVE
from gangline.controllers.parts import PartUnreadable, part
from gangline.controllers.sums import printed

SHARED = {names.RECEIVED_TYPE: "Fraction"}


def pod(phase: str = "Running", *, scheduled: str = "", node: str = "n", **annotations: str) -> Pod:
    conditions = [{"type": "PodScheduled", "status": scheduled}] if scheduled else []
    container = {"name": "main", "resources": {"requests": {"cpu": "500m"}}}
    return msgspec.convert(
        {
            "metadata": {"name": "p", "namespace": "work", "annotations": annotations},
            "spec": {"nodeName": node, "containers": [container, container]},
            "status": {"phase": phase, "conditions": conditions},
        },
        Pod,
    )


def node(**labels: str) -> Node:
    return msgspec.convert({"metadata": {"name": "n", "labels": labels}}, Node)


def counted(pod: Pod, on: Node | None = None, claims: list[Raw] | None = None) -> tuple[Any, Any]:
    """What it asks for, and what it holds."""
    of_pod = part(pod, claims or [], on, NATIVE)
    return printed(of_pod.requested), printed(of_pod.allocated)


@pytest.mark.parametrize(
    ("of", "asked", "held"),
    [
        pytest.param(pod("Running"), True, True, id="runs"),
        pytest.param(pod("Pending"), True, False, id="not judged"),
        pytest.param(pod("Pending", scheduled="False"), True, False, id="refused"),
        pytest.param(pod("Pending", scheduled="True"), True, True, id="has a node and does not run yet"),
        pytest.param(pod("Succeeded"), False, False, id="done"),
        pytest.param(pod("Failed", scheduled="True"), False, False, id="failed"),
        pytest.param(pod("Unknown"), False, False, id="nobody knows"),
    ],
)
def test_a_pod_asks_until_it_ends_and_holds_from_its_node_on(of: Pod, asked: bool, held: bool) -> None:
    amount = {"cpu": "1"}
    assert counted(of) == (amount if asked else {}, amount if held else {})


def test_a_share_of_gpus_is_asked_for_and_held_once_it_was_given() -> None:
    asks = {names.GPU_FRACTION: "0.25", names.GPU_FRACTION_DEVICES: "2"}
    assert counted(pod(**asks)) == ({"cpu": "1", names.NVIDIA_GPU: "500m"}, {"cpu": "1"})
    assert counted(pod(**asks, **SHARED))[1] == {"cpu": "1", names.NVIDIA_GPU: "500m"}


def test_gpu_memory_is_a_share_of_what_a_gpu_of_its_node_has() -> None:
    asks = {names.GPU_MEMORY: "4096"} | SHARED
    of_nvidia = node(**{names.GPU_MEMORY_LABEL: "16384"})
    assert counted(pod(**asks), of_nvidia)[1] == {"cpu": "1", names.NVIDIA_GPU: "250m"}


@pytest.mark.parametrize(
    ("annotations", "labels", "why"),
    [
        ({names.GPU_MEMORY: "4096"}, {}, "node n must say its GPU memory in label"),
        (
            {names.GPU_MEMORY: "4096"},
            {names.GPU_MEMORY_LABEL: "16384", "beta.amd.com/gpu.vram.16G": "1"},
            "and not in both",
        ),
        ({names.GPU_MEMORY: "4096"}, {names.GPU_MEMORY_LABEL: "0"}, f"label {names.GPU_MEMORY_LABEL} says 0 MiB"),
        ({names.GPU_MEMORY: "4096"}, {names.GPU_MEMORY_LABEL: "much"}, "the label with its GPU memory cannot be read"),
        ({names.GPU_MEMORY: "4Gi"}, {}, "must be a whole number of MiB, not '4Gi'"),
        ({names.GPU_FRACTION: "half"}, {}, f"pod work/p: annotation {names.GPU_FRACTION}"),
        (
            {names.GPU_FRACTION: "0.5", names.GPU_FRACTION_DEVICES: "1.5"},
            {},
            f"annotation {names.GPU_FRACTION_DEVICES} must be a whole number",
        ),
        ({}, {}, "shares a GPU but asks for neither a fraction nor GPU memory"),
    ],
)
def test_what_cannot_be_worked_out_is_named(annotations: dict[str, str], labels: dict[str, str], why: str) -> None:
    with pytest.raises(PartUnreadable) as refused:
        counted(pod(**annotations, **SHARED), node(**labels))
    assert why in str(refused.value)


def test_a_node_that_is_gone_is_named() -> None:
    with pytest.raises(PartUnreadable, match="is on node 'n', which does not exist"):
        counted(pod(**{names.GPU_MEMORY: "4096"}, **SHARED))
