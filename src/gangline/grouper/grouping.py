"""What a grouper answers: one pod group as it should be, and where in it the pod stands.

Made by groupers/, turned into API objects by write.py. Pure data; nothing here reads or writes anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gangline.api.meta import Raw
from gangline.errors import GanglineError, NotFound


class Ungroupable(GanglineError):
    """A pod cannot be put into a group as things stand; the text ends in an event on the pod."""


class OwnerGone(Ungroupable):
    """The object that a pod belongs to is not there: deleted, or not made yet."""


class OwnerUnknown(OwnerGone):
    """It cannot be there: nobody serves its kind."""


class UnservedKind(NotFound):
    """What the server answers about an object of a kind that it does not serve."""


@dataclass(frozen=True, slots=True)
class GroupTopology:
    """A topology constraint: a Topology by name, and the levels that are required and preferred in it."""

    topology: str = ""
    required: str = ""
    preferred: str = ""


@dataclass(frozen=True, slots=True)
class GroupPart:
    """A sub-group. A parent counts sub-groups (`children`), a leaf counts pods (`minimum`)."""

    name: str
    minimum: int = 0
    children: int | None = None
    parent: str | None = None
    placement: GroupTopology | None = None


@dataclass(frozen=True, slots=True)
class Grouping:
    name: str
    namespace: str
    owner: Raw
    """The one ownerReference of the group."""
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    queue: str = ""
    priority_class: str = ""
    preemptibility: str = ""
    preemption_delay: str | None = None
    staleness_grace: str | None = None
    placement: GroupTopology = GroupTopology()
    minimum: int = 1
    children: int | None = None
    """How many direct sub-groups are required; then `minimum` is not written."""
    parts: tuple[GroupPart, ...] = ()
    leaf: str = ""
    """The sub-group of the pod that was looked at; empty: none."""
