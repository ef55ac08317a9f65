"""A write as data: create, patch, apply or delete one object.

Whoever thinks says which writes there should be; runtime/writer.py sends them and says how each one ended. Nothing is
sent here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from gangline.api.kinds import Kind
from gangline.api.meta import Object, Raw
from gangline.errors import ApiError


@dataclass(frozen=True, slots=True)
class Create:
    kind: Kind[Any]
    obj: Raw
    code: str = ""
    """The error code that status.lastErrors gets if it fails."""
    taken: str = ""
    """The code if somebody else's object has the name; empty: the same."""

    @property
    def name(self) -> str:
        return str(self.obj["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.obj["metadata"].get("namespace", ""))


@dataclass(frozen=True, slots=True)
class Patch:
    kind: Kind[Any]
    name: str
    namespace: str
    patch: Raw
    subresource: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Apply:
    kind: Kind[Any]
    obj: Raw
    code: str = ""
    manager: str = ""
    force: bool = True

    @property
    def name(self) -> str:
        return str(self.obj["metadata"]["name"])


@dataclass(frozen=True, slots=True)
class Delete:
    kind: Kind[Any]
    name: str
    namespace: str
    uid: str = ""
    code: str = ""


Step: TypeAlias = Create | Patch | Apply | Delete

DONE, GONE, TAKEN, CONFLICT, REFUSED = "done", "gone", "taken", "conflict", "refused"


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """How a write ended."""

    step: Step
    ended: str
    """One of the words above."""
    seconds: float
    answer: Object | None = None
    """What was created."""
    error: ApiError | None = None
    """None as well where what was wanted is so already: the object is ours, or it is gone."""

    @property
    def verb(self) -> str:
        return type(self.step).__name__.lower()
