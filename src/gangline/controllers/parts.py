"""What one pod asks for and holds, as a PodGroup's status counts it.

Used by podgroup.py only. Counts what containers request plus shared GPUs and GPU claims; init containers and overhead
are left out, as upstream's status does. The scheduler's own view of a pod is rules/requests.py. No input or output.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from gangline.api import names, resources
from gangline.api.core import Node, Pod
from gangline.api.meta import Raw, condition
from gangline.config import Manner
from gangline.controllers.sums import Amounts, ExactAmount, amount, amounts, total
from gangline.errors import GanglineError
from gangline.rules import requests

GPU_MEMORY_RESOURCE = "run.ai/gpu.memory"
AMD_MEMORY_LABEL = "beta.amd.com/gpu.vram"
MEGA = 10**6


class PartUnreadable(GanglineError):
    """A pod's part cannot be worked out; its group's status stays as it is until it can."""


@dataclass(frozen=True, slots=True)
class PodPart:
    requested: Amounts = field(default_factory=dict)
    allocated: Amounts = field(default_factory=dict)


def part(pod: Pod, claims: list[Raw], node: Node | None, manner: Manner) -> PodPart:
    phase = pod.status.phase
    requested = allocated = False
    if phase == "Running":
        requested = allocated = True
    elif phase == "Pending":
        requested, scheduled = True, condition(pod.status.conditions, "PodScheduled")
        allocated = scheduled is not None and scheduled.status == "True"
    if not requested:
        return PodPart()
    plain = total(amounts(container.resources.requests) for container in pod.spec.containers)
    devices = {
        name: ExactAmount(count * resources.NANO, False)
        for name, count in requests.gpu_devices(claims).items()
        if count
    }
    held = _shared_held(pod, node, manner) if allocated else {}
    asked = _shared_asked(pod)
    if not manner.gpu_memory_unasked:
        asked = held | asked
    return PodPart(total((plain, asked, devices)), total((plain, held, devices)) if allocated else {})


def _shared_asked(pod: Pod) -> Amounts:
    devices = _devices(pod)
    asked: Amounts = {}
    for key, resource in ((names.GPU_FRACTION, names.NVIDIA_GPU), (names.GPU_MEMORY, GPU_MEMORY_RESOURCE)):
        if key in pod.annotations:
            per_device = _quantity(pod, key)
            asked[resource] = ExactAmount(per_device.nanos * devices, per_device.binary)
    return asked


def _shared_held(pod: Pod, node: Node | None, manner: Manner) -> Amounts:
    if pod.annotations.get(names.RECEIVED_TYPE) != requests.FRACTION:
        return {}
    devices = 1 if manner.fraction_counts_one_device else _devices(pod)
    if names.GPU_FRACTION in pod.annotations:
        per_device = _quantity(pod, names.GPU_FRACTION)
        return {names.NVIDIA_GPU: ExactAmount(per_device.nanos * devices, per_device.binary)}
    if names.GPU_MEMORY not in pod.annotations:
        raise PartUnreadable(
            f"pod {pod.namespace}/{pod.name} shares a GPU but asks for neither a fraction nor GPU memory"
        )
    asked = _whole_number(pod, names.GPU_MEMORY)
    share = asked / _device_memory(pod, node)
    return {names.NVIDIA_GPU: ExactAmount(amount(f"{Decimal(repr(share)):f}").nanos * devices, False)}


def _quantity(pod: Pod, key: str) -> ExactAmount:
    try:
        return amount(pod.annotations[key])
    except resources.QuantityError as error:
        raise PartUnreadable(f"pod {pod.namespace}/{pod.name}: annotation {key}: {error}") from error


def _devices(pod: Pod) -> int:
    if names.GPU_FRACTION_DEVICES not in pod.annotations:
        return 1
    count, rest = divmod(_quantity(pod, names.GPU_FRACTION_DEVICES).nanos, resources.NANO)
    if rest:
        raise PartUnreadable(
            f"pod {pod.namespace}/{pod.name}: annotation {names.GPU_FRACTION_DEVICES} must be a whole number"
        )
    return count


def _whole_number(pod: Pod, key: str) -> int:
    text = pod.annotations[key]
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise PartUnreadable(
            f"pod {pod.namespace}/{pod.name}: annotation {key} must be a whole number of MiB, not {text!r}"
        )
    return int(text)


def _device_memory(pod: Pod, node: Node | None) -> float:
    """MiB of one GPU of the pod's node."""
    if node is None:
        raise PartUnreadable(f"pod {pod.namespace}/{pod.name} is on node {pod.spec.node_name!r}, which does not exist")
    nvidia = node.labels.get(names.GPU_MEMORY_LABEL)
    amd = next(
        (
            match_
            for label in sorted(node.labels)
            if label.startswith(AMD_MEMORY_LABEL)
            and (match_ := re.search(r"\d+.*", label.removeprefix(AMD_MEMORY_LABEL)))
        ),
        None,
    )
    if (nvidia is None) == (amd is None):
        raise PartUnreadable(
            f"node {node.name} must say its GPU memory in label {names.GPU_MEMORY_LABEL} or one beginning with "
            f"{AMD_MEMORY_LABEL}, and not in both"
        )
    try:
        size = float(int(nvidia)) if nvidia is not None else _megabytes(amd)
    except (ValueError, resources.QuantityError) as error:
        raise PartUnreadable(f"node {node.name}: the label with its GPU memory cannot be read: {error}") from error
    if size <= 0:
        raise PartUnreadable(f"node {node.name}: label {names.GPU_MEMORY_LABEL} says {size:g} MiB")
    return size


def _megabytes(label: re.Match[str] | None) -> float:
    return 0.0 if label is None else float(Fraction(amount(label.group()).nanos, resources.NANO * MEGA))
