"""Exact sums of resource lists, kept up to date member by member.

Stands below the PodGroup and Queue controllers. A sum knows each member's part, so a change costs only that member;
amounts are integers of nano-units, so nothing drifts. It prints as Kubernetes would have added the quantities. Nothing
here knows pods or queues.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from gangline.api import resources

BINARY = "KMGTPE"


class ExactAmount(NamedTuple):
    """Nano-units, and whether they are written with Ki, Mi, Gi…"""

    nanos: int
    binary: bool

    def __str__(self) -> str:
        return resources.binary(self.nanos) if self.binary else resources.decimal(self.nanos)


Amounts: TypeAlias = dict[str, ExactAmount]
NOTHING: Amounts = {}


def amount(quantity: Any) -> ExactAmount:
    text = str(quantity)
    return ExactAmount(resources.nanos(quantity), text.endswith("i") and text[-2:-1] in BINARY)


def amounts(quantities: Mapping[str, Any]) -> Amounts:
    return {name: amount(value) for name, value in quantities.items()}


def plus(left: ExactAmount, right: ExactAmount) -> ExactAmount:
    """The form of the left one stays, unless it is zero, as Kubernetes does it."""
    return ExactAmount(left.nanos + right.nanos, left.binary if left.nanos else right.binary)


def total(lists: Iterable[Amounts]) -> Amounts:
    sums: Amounts = {}
    for item in lists:
        for name, value in item.items():
            sums[name] = plus(sums[name], value) if name in sums else value
    return sums


def printed(values: Amounts) -> dict[str, str]:
    return {name: str(values[name]) for name in sorted(values)}


@lru_cache(maxsize=1024)
def _shared_part(part: tuple[tuple[str, ExactAmount], ...]) -> Amounts:
    """Most members have the same part: they share it."""
    return dict(part)


class _Running:
    """One resource of a sum: how much, how many members name it, how many of them in binary form."""

    __slots__ = ("binary", "members", "nanos")

    def __init__(self) -> None:
        self.nanos = self.members = self.binary = 0

    def add(self, value: ExactAmount, sign: int) -> None:
        self.nanos += sign * value.nanos
        self.members += sign
        self.binary += sign * value.binary


class MemberSum:
    """The sum over members that come, change and go."""

    __slots__ = ("_parts", "_running")

    def __init__(self) -> None:
        self._parts: dict[Hashable, Amounts] = {}
        self._running: dict[str, _Running] = {}

    def set(self, member: Hashable, part: Amounts) -> bool:
        """Give a member its part; says whether that changed anything."""
        before = self._parts.get(member, NOTHING)
        if before == part:
            return False
        self._add(before, -1)
        self._add(part, 1)
        if part:
            self._parts[member] = _shared_part(tuple(part.items()))
        else:
            del self._parts[member]
        return True

    def drop(self, member: Hashable) -> bool:
        return self.set(member, NOTHING)

    @property
    def amounts(self) -> Amounts:
        """A resource that some member names is there, even at zero."""
        return {name: ExactAmount(item.nanos, item.binary > 0) for name, item in self._running.items()}

    def _add(self, part: Amounts, sign: int) -> None:
        for name, value in part.items():
            running = self._running.setdefault(name, _Running())
            running.add(value, sign)
            if not running.members:
                del self._running[name]


def resource_list_patch(before: Mapping[str, Any], after: Mapping[str, str]) -> dict[str, str | None] | None:
    """What turns one stored resource list into another; None empties it."""
    return {**dict.fromkeys(sorted(set(before) - set(after))), **after} if after else None
