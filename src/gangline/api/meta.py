"""What every object has: metadata, owners, conditions, selectors.

Typed objects are *views*: they hold the fields we read, decoded straight from the server's bytes, and are frozen. They
are never written back whole; writes are creates of plain data, patches, or server-side apply, so fields that we do not
know survive."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

Raw: TypeAlias = dict[str, Any]
"""An object, or a part of one, as plain data."""


class Model(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", gc=False):
    """The base of every typed view."""


class OwnerReference(Model, frozen=True):
    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]


class Metadata(Model, frozen=True):
    name: str = ""
    namespace: str = ""
    generate_name: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()

    @property
    def deleting(self) -> bool:
        return self.deletion_timestamp is not None

    @property
    def controller(self) -> OwnerReference | None:
        return next((owner for owner in self.owner_references if owner.controller), None)


class Condition(Model, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    observed_generation: int | None = None
    last_transition_time: str | None = None


class Object(Model, frozen=True):
    """An object of any kind; kinds we read more of derive from it."""

    api_version: str = ""
    kind: str = ""
    metadata: Metadata = Metadata()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        return self.metadata.uid

    @property
    def labels(self) -> dict[str, str]:
        return self.metadata.labels

    @property
    def annotations(self) -> dict[str, str]:
        return self.metadata.annotations


class LabelRequirement(Model, frozen=True):
    key: str
    operator: str
    values: tuple[str, ...] = ()


class LabelSelector(Model, frozen=True):
    match_labels: dict[str, str] = {}
    match_expressions: tuple[LabelRequirement, ...] = ()


def condition(conditions: tuple[Condition, ...], type: str) -> Condition | None:
    """The condition of a type, if the object has it."""
    return next((item for item in conditions if item.type == type), None)


def as_raw(model: Model) -> Any:
    """A typed part as plain data, for building an object that is written."""
    return msgspec.to_builtins(model)


def spec_of(obj: Object) -> Raw:
    """The spec of an object of any kind as plain data; empty where its kind has none."""
    return _part(obj, "spec")


def status_of(obj: Object) -> Raw:
    """The status of an object of any kind as plain data; empty where its kind has none."""
    return _part(obj, "status")


def _part(obj: Object, name: str) -> Raw:
    part = msgspec.structs.asdict(obj).get(name)
    plain: Raw = as_raw(part) if isinstance(part, Model) else dict(part or {})
    return plain
