"""The contract of a grouper: which kinds it knows, what else it reads, and how it turns a pod and its owner into a
group."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper.grouping import Grouping
from gangline.grouper.look import GrouperView


class Grouper(ABC):
    """A grouper of one family of workloads. A subclass says `kinds` and `group`."""

    kinds: Sequence[str]
    """The kinds of owners it knows: `group/version Kind`, without a group for core; version `*` stands for any."""
    reads: Sequence[str] = ()
    """Further kinds it looks at, in the same notation. Rights are derived from these two."""

    @abstractmethod
    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        """`owner` is the top owner, `chain` the pod's owners, nearest first. Raises Ungroupable."""
