"""The contract of a grouper: which kinds it knows, what else it reads, and how it turns a pod and its owner into a
group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper.grouping import Grouping
from gangline.grouper.look import GrouperView


class Grouper(Protocol):
    @property
    def kinds(self) -> Sequence[str]:
        """`group/version Kind`, without a group for core; version `*` stands for any."""
        ...

    @property
    def reads(self) -> Sequence[str]:
        """Further kinds it looks at, in the same notation. Rights are derived from these two."""
        ...

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        """`owner` is the top owner, `chain` the pod's owners, nearest first. Raises Ungroupable."""
        ...
