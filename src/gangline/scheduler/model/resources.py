"""Resource names as vector indices, and the small arithmetic on vectors.

A vector is a tuple of numbers, one per known resource name; names that appear later are appended, and a vector that
is too short is read as having zeros at its end. The first four places are fixed. Amounts are whole numbers wherever
Kubernetes gives whole numbers, so that adding and subtracting is exact.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from operator import add, le, sub
from typing import TypeAlias

Vector: TypeAlias = tuple[float, ...]

CPU, MEMORY, GPU, PODS = 0, 1, 2, 3
FIXED = ("cpu", "memory", "gpu", "pods")

_MIG_PREFIX = "nvidia.com/mig-"
_MIG_NAME = re.compile(r"nvidia\.com/mig-(\d+)g\.\d+gb")


def is_mig(name: str) -> bool:
    return name.startswith(_MIG_PREFIX)


def mig_portion(name: str) -> int:
    """How much of a GPU one instance of this MIG profile counts in quotas; unknown forms count 0."""
    match = _MIG_NAME.fullmatch(name)
    return int(match.group(1)) if match else 0


def half_up(number: float) -> int:
    """Rounding as Go does it: halves away from zero (numbers here are never negative)."""
    return math.floor(number + 0.5)


def plain(number: float) -> float:
    """The same number as an int when it is whole."""
    return int(number) if number == int(number) else number


def plain_name(name: str) -> str:
    """Every maker's GPUs are one resource."""
    return "gpu" if name.endswith("gpu") else name


class ResourceNames:
    """The growing list of resource names; every name that ends in "gpu" is the one GPU dimension."""

    __slots__ = ("_index", "mig", "names")

    def __init__(self) -> None:
        self.names: list[str] = list(FIXED)
        self.mig: dict[int, int] = {}
        self._index: dict[str, int] = {name: place for place, name in enumerate(FIXED)}

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        place = self._index.get(name)
        if place is None:
            place = GPU if name.endswith("gpu") else self._append(name)
            self._index[name] = place
        return place

    def _append(self, name: str) -> int:
        self.names.append(name)
        place = len(self.names) - 1
        if is_mig(name):
            self.mig[place] = mig_portion(name)
        return place

    def vector(self, amounts: Mapping[str, float]) -> Vector:
        """Amounts by name as a vector over every name known so far."""
        places = [(self.index(name), amount) for name, amount in amounts.items() if amount]
        values: list[float] = [0] * len(self.names)
        for place, amount in places:
            values[place] += plain(amount)
        return tuple(values)

    def amounts(self, vector: Vector) -> dict[str, float]:
        """The non-zero amounts of a vector by name."""
        return {self.names[place]: amount for place, amount in enumerate(vector) if amount}

    def total_gpus(self, vector: Vector) -> float:
        """GPUs with MIG instances counted by their portion."""
        total = vector[GPU]
        for place, portion in self.mig.items():
            if place < len(vector):
                total += vector[place] * portion
        return total


def at(vector: Vector, place: int) -> float:
    return vector[place] if place < len(vector) else 0


def plus(left: Vector, right: Vector) -> Vector:
    if len(left) == len(right) == 4:
        return (left[0] + right[0], left[1] + right[1], left[2] + right[2], left[3] + right[3])
    if len(left) == len(right):
        return tuple(map(add, left, right))
    size = max(len(left), len(right))
    return tuple([at(left, i) + at(right, i) for i in range(size)])


def minus(left: Vector, right: Vector) -> Vector:
    if len(left) == len(right) == 4:
        return (left[0] - right[0], left[1] - right[1], left[2] - right[2], left[3] - right[3])
    if len(left) == len(right):
        return tuple(map(sub, left, right))
    size = max(len(left), len(right))
    return tuple([at(left, i) - at(right, i) for i in range(size)])


def fits(demand: Vector, room: Vector) -> bool:
    """Whether demand ≤ room in every place; a place that one side lacks is 0 there."""
    if len(demand) == len(room) == 4:
        return demand[0] <= room[0] and demand[1] <= room[1] and demand[2] <= room[2] and demand[3] <= room[3]
    if len(demand) == len(room):
        return all(map(le, demand, room))
    return all(at(demand, i) <= at(room, i) for i in range(max(len(demand), len(room))))


def summed(vectors: Iterable[Vector]) -> Vector:
    total: Vector = (0, 0, 0, 0)
    for vector in vectors:
        total = plus(total, vector)
    return total
