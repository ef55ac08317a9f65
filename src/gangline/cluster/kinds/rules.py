"""What the server asks about a built-in kind. A kind overrides the questions it has an answer to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from gangline.cluster.schema import Schema, builtin_schema
from gangline.errors import Problem
from gangline.rules.values.names import subdomain_problems

Obj = dict[str, Any]
Path = tuple[str, ...]


class KindRules:
    """The rules of one kind; this base is right for kinds that are plain data."""

    generation: ClassVar[bool] = False
    """The server counts changes of the spec in metadata.generation."""
    has_status: ClassVar[bool] = False
    """Status is written through its own endpoint only."""
    create_on_update: ClassVar[bool] = False
    """PUT to a name that does not exist creates it."""
    unconditional_update: ClassVar[bool] = True
    """PUT without a resourceVersion is allowed."""
    status_keeps: ClassVar[tuple[str, ...]] = ()
    """Metadata that a write through the status endpoint leaves as it was."""

    def __init__(self, table: str, kind: str) -> None:
        self.kind = kind
        self._table = table

    @property
    def schema(self) -> Schema:
        return builtin_schema(self._table, self.kind)

    def defaults(self, obj: Obj) -> None:
        """Fill in defaults, in place."""

    def prepare_create(self, obj: Obj) -> None:
        if self.has_status:
            self.clear_status(obj)
        if self.generation:
            obj["metadata"]["generation"] = 1

    def clear_status(self, obj: Obj) -> None:
        obj["status"] = self.schema.admit({})[0].get("status", {})

    def prepare_update(self, new: Obj, old: Obj, subresource: str = "") -> None:
        """Keep what this endpoint may not write; count the generation."""
        if self.has_status:
            self.keep_other_half(new, old, subresource)
        if self.generation:
            before = old["metadata"].get("generation", 0)
            bump = not subresource and self.spec_changed(new, old)
            _set(new["metadata"], "generation", before + 1 if bump else before)

    def keep_other_half(self, new: Obj, old: Obj, subresource: str) -> None:
        if subresource == "status":
            for name in [item for item in new if item not in ("status", "metadata", "apiVersion", "kind")]:
                del new[name]
            new.update(
                {name: value for name, value in old.items() if name not in ("status", "metadata", "apiVersion", "kind")}
            )
            for name in self.status_keeps:
                _set(new["metadata"], name, old["metadata"].get(name))
        elif not subresource:
            if "status" in old:
                new["status"] = old["status"]
            else:
                new.pop("status", None)

    def spec_changed(self, new: Obj, old: Obj) -> bool:
        return new.get("spec") != old.get("spec")

    def validate(self, obj: Obj) -> list[Problem]:
        return []

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        """Everything wrong with an update; by default what is wrong with the new object."""
        return self.validate(new) if not subresource else []

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        return []

    def name_problems(self, name: str) -> list[str]:
        return subdomain_problems(name)

    def reset(self, subresource: str = "") -> Sequence[Path]:
        if not self.has_status:
            return ()
        if not subresource:
            return (("status",),)
        return (("spec",), ("metadata", "deletionTimestamp"), *(("metadata", name) for name in self.status_keeps))


WHOLE_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")


class StatusRules(KindRules):
    """Plain data with a status of its own."""

    has_status = True
    status_keeps = WHOLE_METADATA


def _set(target: Obj, name: str, value: Any) -> None:
    if value:
        target[name] = value
    else:
        target.pop(name, None)
