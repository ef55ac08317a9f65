"""What a node says of itself: whether it takes pods, and how much memory its GPUs have.

Read by the scheduler for its records and by the dashboard for its pages, so that both say the same. Pure."""

from __future__ import annotations

from gangline.api.core import Node

DEFAULT_GPU_MEMORY = 100
_TEBIBYTE_IN_MIB = 1048576
_PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")


def not_ready_because(node: Node) -> list[str]:
    reasons = ["node is unschedulable"] if node.spec.unschedulable else []
    for condition in node.status.conditions:
        if condition.type == "Ready" and condition.status != "True":
            reasons.append("node has NotReady condition")
        elif condition.type in _PRESSURES and condition.status != "False":
            reasons.append(f"node has {condition.type} condition")
    return reasons


def gpu_memory(label: str | None) -> tuple[int, bool]:
    """MiB of every GPU, a multiple of 100, and whether the node says so at all. Values too large for MiB are taken as
    bytes."""
    value = integer(label)
    if value is None:
        return DEFAULT_GPU_MEMORY, False
    if value >= _TEBIBYTE_IN_MIB:
        value //= 2**20
    return value - value % 100, True


def integer(text: str | None) -> int | None:
    """The number that a label gives; None: it gives none."""
    try:
        return int(text) if text else None
    except ValueError:
        return None
