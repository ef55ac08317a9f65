"""Server-side apply, and keeping account of who owns which field.

    apply(live, applied, manager, force, schema, now, subresource, api_version, reset) -> object     raises
    ApplyConflict, UntypableError
    track_update(old, new, manager, schema, now, subresource, api_version, reset) -> object

Both return the object with its `metadata.managedFields`; the caller admits, defaults and validates what `apply` returns
before it is stored. `live` / `old` is None for a create. `reset` are the paths a strategy takes back on this endpoint
(("status",) on the main one): nobody owns them there. Pure: the time is handed in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from gangline.cluster.schema import Schema, SchemaNode
from gangline.cluster.server.patch.apply import last_applied
from gangline.cluster.server.patch.apply import managed as accounts
from gangline.cluster.server.patch.apply.fieldset import FieldSet
from gangline.cluster.server.patch.apply.managed import APPLY, UPDATE, Entry, FieldManager, Managed, Obj, keep_times
from gangline.cluster.server.patch.apply.merging import merge
from gangline.cluster.server.patch.apply.walk import (
    Difference,
    UntypableError,
    check,
    compare,
    element_text,
    fields_of,
    remove,
    with_named,
)
from gangline.errors import GanglineError

__all__ = ["ApplyConflict", "UntypableError", "apply", "as_set", "keep_times", "track_update"]

Path = tuple[str, ...]
BEFORE_FIRST_APPLY = "before-first-apply"
_SERVER_FIELDS = (
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
)
_STRIPPED = FieldSet(
    {"f:apiVersion", "f:kind", "f:metadata"}, {"f:metadata": FieldSet({f"f:{name}" for name in _SERVER_FIELDS})}
)


class ApplyConflict(GanglineError):
    """Fields that others own would change. `causes` are what the Status carries."""

    def __init__(self, conflicts: list[tuple[FieldManager, FieldSet]]) -> None:
        self.conflicts = conflicts
        self.causes = [
            {
                "reason": "FieldManagerConflict",
                "message": f"conflict with {who.named()}",
                "field": "".join(map(element_text, path)),
            }
            for who, fields in conflicts
            for path in fields.paths()
        ]
        super().__init__(_conflict_text(conflicts, len(self.causes)))


def _conflict_text(conflicts: list[tuple[FieldManager, FieldSet]], count: int) -> str:
    if count == 1:
        who, fields = conflicts[0]
        return (
            f"Apply failed with 1 conflict: conflict with {who.named()}: "
            f"{''.join(map(element_text, next(fields.paths())))}"
        )
    lines = (
        [f"Apply failed with {count} conflicts: " + _listed(conflicts[0])]
        if len(conflicts) == 1
        else [f"Apply failed with {count} conflicts: " + "\n".join(_listed(conflict) for conflict in conflicts)]
    )
    return lines[0]


def _listed(conflict: tuple[FieldManager, FieldSet]) -> str:
    who, fields = conflict
    return f"conflicts with {who.named()}:" + "".join(
        f"\n- {''.join(map(element_text, path))}" for path in fields.paths()
    )


def apply(
    live: Obj | None,
    applied: Obj,
    manager: str,
    force: bool,
    schema: Schema,
    now: str,
    subresource: str = "",
    api_version: str = "",
    reset: Iterable[Path] = (),
) -> Obj:
    """Merge what a manager wants into the live object; drop what it wanted before, wants no more, and nobody else
    owns. kubectl takes over what it applied from its own side before."""

    def merged(forced: bool) -> Obj:
        return _merged(live, applied, manager, forced, schema, now, subresource, api_version, reset)

    if manager != last_applied.MANAGER or live is None:
        return merged(force)
    try:
        result = merged(force)
    except ApplyConflict as conflict:
        allowed = last_applied.owned_by_annotation(live, schema, api_version)
        left = [(who, rest) for who, fields in conflict.conflicts if (rest := fields - allowed)]
        if left:
            raise ApplyConflict(left) from None
        result = merged(True)
    return last_applied.with_annotation(result, applied)


def _merged(
    live: Obj | None,
    applied: Obj,
    manager: str,
    force: bool,
    schema: Schema,
    now: str,
    subresource: str,
    api_version: str,
    reset: Iterable[Path],
) -> Obj:
    node, hidden = schema.root, as_set(tuple(reset))
    check(node, applied)
    before, accounts_now = _live(live, applied, schema, api_version, hidden)
    me = accounts.owner(manager, APPLY, api_version, subresource)
    last = accounts_now.get(me)
    wanted = fields_of(node, applied).without_below(hidden)
    mine = wanted - _STRIPPED
    accounts_now[me] = Entry(wanted, api_version, last.time if last else "")
    merged = merge(node, before, applied)
    if last is not None and last.fields - mine:
        owned = FieldSet()
        for entry in accounts_now.values():
            owned = owned | entry.fields
        merged = _dropped(node, merged, last.fields, owned)
    difference = compare(node, before, merged).without(hidden)
    _settle(accounts_now, difference, me, force)
    changed = merged != before
    if me in accounts_now:
        before_now = last.time if last else ""
        accounts_now[me] = Entry(mine, api_version, now if changed else before_now)
    return accounts.attach(merged if changed else before, accounts_now)


def _live(live: Obj | None, applied: Obj, schema: Schema, api_version: str, hidden: FieldSet) -> tuple[Obj, Managed]:
    if live is None:
        return zero_object(schema, applied), {}
    managed = accounts.read_stored((live.get("metadata") or {}).get("managedFields"))
    before = accounts.detached(live)
    if not managed:
        me = accounts.owner(BEFORE_FIRST_APPLY, UPDATE, api_version, "")
        set_before = compare(schema.root, zero_object(schema, live), before).without(hidden).changed - _STRIPPED
        if set_before:
            managed[me] = Entry(set_before, api_version, (live.get("metadata") or {}).get("creationTimestamp") or "")
    return before, managed


def zero_object(schema: Schema, like: Obj) -> Obj:
    """The object a create starts from: nothing but what an empty one of its kind always shows."""
    identity: Obj = {name: like[name] for name in ("apiVersion", "kind") if name in like}
    return schema.admit(identity)[0] if schema.builtin else identity


def _dropped(node: SchemaNode, merged: Obj, last: FieldSet, owned: FieldSet) -> Obj:
    present = with_named(node, fields_of(node, merged))
    gone = (present & with_named(node, last)) - with_named(node, owned)
    left: Obj = remove(node, merged, gone) or {}
    return left


def _settle(managed: Managed, difference: Difference, me: FieldManager, force: bool) -> None:
    """Take changed fields from their other owners, or refuse; forget removed ones."""
    changed, removed = difference.changed, difference.removed
    if changed:
        conflicts = [
            (who, taken)
            for who in sorted(managed, key=lambda item: (item.manager, item.operation, item.api_version))
            if who != me and (taken := managed[who].common(changed))
        ]
        if conflicts and not force:
            raise ApplyConflict(conflicts)
        for who, taken in conflicts:
            managed[who] = managed[who].without(taken)
    if removed:
        for who in [item for item in managed if item != me]:
            managed[who] = managed[who].without(removed)
    for who in [item for item in managed if not managed[item]]:
        del managed[who]


@lru_cache(maxsize=1024)
def as_set(paths: tuple[Path, ...]) -> FieldSet:
    """The fields at some paths. Shared: only to be read."""
    field_set = FieldSet()
    for path in paths:
        spot = field_set
        for name in path[:-1]:
            spot = spot.children.setdefault(f"f:{name}", FieldSet())
        spot.members.add(f"f:{path[-1]}")
    return field_set


def track_update(
    old: Obj | None,
    new: Obj,
    manager: str,
    schema: Schema,
    now: str,
    subresource: str = "",
    api_version: str = "",
    reset: Iterable[Path] = (),
) -> Obj:
    """Account for a create, update or patch: the writer owns what it changed, and nobody owns what it removed."""
    managed = _accounts_of(old, new, subresource)
    if managed is None:
        return accounts.detached(new)
    node, hidden = schema.root, as_set(tuple(reset))
    before = zero_object(schema, new) if old is None else accounts.detached(old)
    after = accounts.detached(new)
    difference = compare(node, before, after).without(hidden)
    me = FieldManager("", "")
    _settle(managed, difference, me, force=True)
    mine = difference.changed - _STRIPPED
    if mine:
        who = accounts.owner(manager, UPDATE, api_version, subresource)
        previous = managed[who].fields if who in managed else FieldSet()
        managed[who] = Entry(previous | mine, api_version, now)
    return keep_times(old, accounts.attach(after, accounts.capped(managed)))


def _accounts_of(old: Obj | None, new: Obj, subresource: str) -> Managed | None:
    """The entries to start from; None: ownership of this object is not tracked (any more)."""
    if old is None:
        return {}
    given = (new.get("metadata") or {}).get("managedFields")
    if not subresource and given in ([], [{}]):
        return None
    stored = (old.get("metadata") or {}).get("managedFields")
    managed = {} if subresource else _readable(given)
    managed = managed or accounts.read_stored(stored)
    return managed or None


def _readable(entries: Any) -> Managed:
    try:
        return accounts.read(entries)
    except (ValueError, AttributeError, TypeError):
        return {}
