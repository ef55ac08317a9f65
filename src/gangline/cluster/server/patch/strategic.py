"""Strategic merge patch: a merge patch that knows which lists are keyed.

    strategic_merge(obj, patch, schema) -> obj        raises BadDirective (the real server answers 500)

Directives: `$patch` (replace, delete, merge), `$retainKeys`, `$setElementOrder/<list>`,
`$deleteFromPrimitiveList/<list>`. Merge keys come from the built-in tables; where they name none a list is replaced.
Neither argument is changed. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from gangline.cluster.schema import Schema, SchemaNode
from gangline.errors import GanglineError
from gangline.rules.values.problems import compact
from gangline.rules.values.schema_node import ANY

Obj = dict[str, Any]
_PATCH, _RETAIN, _ORDER, _DELETE = "$patch", "$retainKeys", "$setElementOrder/", "$deleteFromPrimitiveList/"


class BadDirective(GanglineError):
    """A directive that cannot be followed, or a list item without its merge key."""


class MisshapenPatch(BadDirective):
    """A directive or a list that is not written as it must be: a `$retainKeys` that does not name every key of its
    patch, an order that is not the list's, an item that is no map."""


def strategic_merge(obj: Obj, patch: Obj, schema: Schema) -> Obj:
    return _merge_map(obj, patch, schema.root)


def go_text(value: Any) -> str:
    """A value the way the real server prints it in these messages."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{name}:{go_text(value[name])}" for name in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(go_text(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "<nil>" if value is None else str(value)


def _merge_map(original: Obj, patch: Obj, node: SchemaNode) -> Obj:
    directive = patch.get(_PATCH)
    if directive == "replace":
        return {name: value for name, value in patch.items() if name != _PATCH}
    if directive == "delete":
        return {}
    if directive is not None and directive != "merge":
        raise BadDirective(f"unknown patch type: {directive} in map: {go_text(patch)}")
    out = _retained(original, patch)
    _order_untouched(out, patch, node)
    for name, value in patch.items():
        if name.startswith(_DELETE):
            _delete_primitives(out, name.removeprefix(_DELETE), value)
        elif not name.startswith("$"):
            _merge_field(out, name, value, patch, node)
    return out


def _retained(original: Obj, patch: Obj) -> Obj:
    if _RETAIN not in patch:
        return dict(original)
    keep = patch[_RETAIN]
    if not isinstance(keep, list):
        raise MisshapenPatch("invalid patch format of retainKeys")
    kept = {_mark(name) for name in keep}
    if any(not name.startswith("$") and name not in kept for name in patch):
        raise MisshapenPatch("invalid patch format of retainKeys")
    return {name: value for name, value in original.items() if name in kept}


def _merge_field(out: Obj, name: str, value: Any, patch: Obj, node: SchemaNode) -> None:
    child = node.child(name) or ANY
    if value is None:
        out.pop(name, None)
        return
    before = out.get(name)
    if isinstance(value, dict):
        if _PATCH in value and not isinstance(before, dict):
            _merge_map({}, value, child)
            return
        merged: Any = _merge_map(before, value, child) if isinstance(before, dict) else _fresh(value, child)
    elif isinstance(value, list) and child.merge:
        merged = _merge_list(before if isinstance(before, list) else [], value, child, patch.get(_ORDER + name))
    else:
        merged = value
    out[name] = merged


def _fresh(value: Any, node: SchemaNode) -> Any:
    """A part that had no counterpart: its directives and nulls are not kept."""
    if isinstance(value, dict):
        return _merge_map({}, value, node)
    if isinstance(value, list) and node.merge:
        return _merge_list([], value, node, None)
    return value


def _delete_primitives(out: Obj, name: str, values: Any) -> None:
    if isinstance(values, list) and isinstance(out.get(name), list):
        gone = {_mark(value) for value in values}
        out[name] = [item for item in out[name] if _mark(item) not in gone]


def _order_untouched(out: Obj, patch: Obj, node: SchemaNode) -> None:
    """An order for a list the patch does not otherwise touch."""
    for name, order in patch.items():
        field = name.removeprefix(_ORDER)
        if name.startswith(_ORDER) and field not in patch and isinstance(out.get(field), list):
            child = node.child(field) or ANY
            out[field] = _sorted(out[field], out[field], _identity(child), order)


def _merge_list(original: list[Any], patch: list[Any], node: SchemaNode, order: Any) -> list[Any]:
    scalars = all(not isinstance(item, dict) for item in [*original, *patch])
    if scalars:
        merged = [*original, *_new(original, patch)]
        return _sorted(merged, original, lambda item: item, order if isinstance(order, list) else patch)
    key = node.merge_key
    kept, changes, replaced = _special(original, patch, key)
    if replaced:
        return [_fresh(item, node.items or ANY) for item in changes]
    merged = list(kept)
    places = {_mark(entry.get(key)): at for at, entry in reversed([*enumerate(merged)]) if isinstance(entry, dict)}
    for item in changes:
        _merge_item(merged, places, item, key, node.items or ANY)
    if isinstance(order, list):
        _check_order(changes, order, _identity(node))
    return _sorted(merged, original, _identity(node), order if isinstance(order, list) else changes)


def _check_order(changes: list[Any], order: list[Any], identity: Callable[[Any], Any]) -> None:
    """What a patch changes stands in its list of order, and in that order."""
    wanted = [_mark(identity(item)) for item in changes]
    given, asked = [_mark(identity(item)) for item in order], set(wanted)
    if [entry for entry in given if entry in asked] != wanted:
        raise MisshapenPatch(
            f"The order in patch list:\n{go_text(changes)}\n doesn't match $setElementOrder list:\n{go_text(order)}\n"
        )


def _special(original: list[Any], patch: list[Any], key: str) -> tuple[list[Any], list[Any], bool]:
    """What is left of the original after `$patch` items, the ordinary items, and whether the list is replaced."""
    deleted: set[Any] = set()
    changes, replaced = [], False
    for item in patch:
        if not isinstance(item, dict):
            raise MisshapenPatch(f"expected a map in a list keyed by {key}, got {go_text(item)}")
        directive = item.get(_PATCH)
        if directive is None:
            changes.append(item)
        elif directive == "replace":
            replaced = True
            if len(item) > 1:
                changes.append({name: value for name, value in item.items() if name != _PATCH})
        elif directive == "delete":
            deleted.add(_mark(_key(item, key)))
        elif directive == "merge":
            raise MisshapenPatch("merging lists cannot yet be specified in the patch")
        else:
            raise BadDirective(f"unknown patch type: {directive} in map: {go_text(item)}")
    kept = [entry for entry in original if not isinstance(entry, dict) or _mark(entry.get(key)) not in deleted]
    return kept, changes, replaced


def _key(item: Obj, key: str) -> Any:
    if key not in item:
        raise BadDirective(f"map: {go_text(item)} does not contain declared merge key: {key}")
    return item[key]


def _merge_item(merged: list[Any], places: dict[Any, int], item: Obj, key: str, node: SchemaNode) -> None:
    """`places`: where the item of each key stands."""
    at = places.setdefault(_mark(_key(item, key)), len(merged))
    if at < len(merged):
        merged[at] = _merge_map(merged[at], item, node)
    else:
        merged.append(_fresh(item, node))


def _identity(node: SchemaNode) -> Callable[[Any], Any]:
    key = node.merge_key
    return lambda item: item.get(key) if isinstance(item, dict) else item


def _sorted(merged: list[Any], original: list[Any], identity: Callable[[Any], Any], order: Any) -> list[Any]:
    """Patched items in the patch's order, the others where they stood; a new item comes before those it is not compared
    with."""
    if not isinstance(order, list):
        raise MisshapenPatch(f"invalid patch format of setElementOrder: {go_text(order)}")
    given, stood = _positions(order, identity), _positions(original, identity)
    named = [(_mark(identity(item)), item) for item in merged]
    patched = deque(sorted((entry for entry in named if entry[0] in given), key=lambda entry: given[entry[0]]))
    others = deque(
        sorted((entry for entry in named if entry[0] not in given), key=lambda entry: stood.get(entry[0], len(stood)))
    )
    out: list[Any] = []
    while patched and others:
        left, right = others[0][0], patched[0][0]
        earlier = left in stood and right in stood and stood[left] < stood[right]
        out.append((others if earlier else patched).popleft()[1])
    return [*out, *(item for _, item in patched), *(item for _, item in others)]


def _new(original: list[Any], patch: list[Any]) -> list[Any]:
    """What a patch adds to a list, each once."""
    seen, added = {_mark(item) for item in original}, []
    for item in patch:
        if _mark(item) not in seen:
            seen.add(_mark(item))
            added.append(item)
    return added


def _positions(items: list[Any], identity: Callable[[Any], Any]) -> dict[Any, int]:
    """Where each stands first."""
    positions: dict[Any, int] = {}
    for at, item in enumerate(items):
        positions.setdefault(_mark(identity(item)), at)
    return positions


def _mark(value: Any) -> Any:
    """A value as one that can be looked up."""
    return compact(value) if isinstance(value, list | dict) else value
