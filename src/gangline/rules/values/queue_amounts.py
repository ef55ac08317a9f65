"""Amounts of a queue as people say them: `gangline queue set` and `gangline whatif --quota` read them alike.

GPUs are numbers, CPU is in cores and memory in bytes, as in pods (8, 0.5, 500m, 64Gi). A Queue object counts CPU in
thousandths of a core and memory in millions of bytes; what is given back is in these. Pure.
"""

from __future__ import annotations

import math

from gangline.api import resources

UNLIMITED = -1
"""How a Queue says that there is no bound."""
UNBOUNDED = ("unlimited", "none", "-1")
MEANT = {
    "gpu": "write a number of GPUs, as in 8 or 0.5",
    "cpu": "write cores, as in 16, 0.5 or 500m",
    "memory": "write bytes, as in 64Gi or 500M",
}


def read_bound(resource: str, text: str) -> float:
    """A quota or limit of gpu, cpu or memory. Raises ValueError with what to write instead."""
    if text.lower() in UNBOUNDED:
        return UNLIMITED
    scale = {"gpu": 1.0, "cpu": 1000.0, "memory": 1e-6}[resource]
    try:
        value = float(text) if resource == "gpu" else resources.number(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is no amount: {MEANT[resource]}, or unlimited")
    if value < 0:
        raise ValueError("it must not be negative; `unlimited` stands for no bound")
    return as_whole(value * scale)


def read_weight(text: str) -> float:
    value = read_number(text)
    if value < 0:
        raise ValueError("it must not be negative")
    return as_whole(value)


def read_number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is no number")
    return value


def read_priority(text: str) -> int:
    value = read_number(text)
    if not value.is_integer():
        raise ValueError(f"{text!r} is no whole number")
    return int(value)


def as_whole(value: float) -> float:
    """A whole number as one."""
    return int(value) if float(value).is_integer() else value
