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
from gangline.rules.values.problems import compact, go_text, go_type
from gangline.rules.values.schema_node import ANY

Obj = dict[str, Any]
_PATCH, _RETAIN, _ORDER, _DELETE = "$patch", "$retainKeys", "$setElementOrder/", "$deleteFromPrimitiveList/"


class BadDirective(GanglineError):
    """A directive that cannot be followed, or a list item without its merge key."""


class MisshapenPatch(BadDirective):
    """A `$retainKeys` that does not name every key of its patch: the one mistake that is answered with 400."""


def strategic_merge(obj: Obj, patch: Obj, schema: Schema) -> Obj:
    return _merge_map(obj, patch, schema.root)


def _merge_map(original: Obj, patch: Obj, node: SchemaNode) -> Obj:
    if _PATCH in patch:
        directive = patch[_PATCH]
        if directive == "replace":
            return {name: value for name, value in patch.items() if name != _PATCH}
        if directive == "delete":
            return {}
        raise BadDirective(f"unknown patch type: {_named(directive)} in map: {go_text(patch)}")
    out = _retained(original, patch)
    _order_untouched(out, patch, node)
    for name, value in patch.items():
        if name.startswith(_DELETE):
            _delete_primitives(out, name.removeprefix(_DELETE), value)
        elif name != _RETAIN and not name.startswith(_ORDER):
            _merge_field(out, name, value, patch, node)
    return out


def _named(directive: Any) -> str:
    """A directive as Go prints one that is no text."""
    return directive if isinstance(directive, str) else f"%!s({go_type(directive)}={go_text(directive)})"


def _retained(original: Obj, patch: Obj) -> Obj:
    if _RETAIN not in patch:
        return dict(original)
    keep = patch[_RETAIN]
    if not isinstance(keep, list):
        raise MisshapenPatch("invalid patch format of retainKeys")
    kept = {_mark(name) for name in keep}
    for name, value in patch.items():
        if value is not None and name != _RETAIN and not name.startswith((_DELETE, _ORDER)) and name not in kept:
            raise MisshapenPatch("invalid patch format of retainKeys")
    return {name: value for name, value in original.items() if name in kept}


def _merge_field(out: Obj, name: str, value: Any, patch: Obj, node: SchemaNode) -> None:
    child = node.child(name) or ANY
    before = out.get(name)
    if value is None:
        out.pop(name, None)
    elif isinstance(value, dict) and isinstance(before, dict):
        out[name] = _merge_map(before, value, child)
    elif isinstance(value, list) and isinstance(before, list) and child.merge:
        out[name] = _merge_list(before, value, child, patch.get(_ORDER + name))
    elif isinstance(value, dict) and _PATCH in value:
        out.pop(name, None)
    else:
        out[name] = _fresh(value)


def _fresh(value: Any) -> Any:
    """A part that had no counterpart: its nulls are not kept, and no map with a directive."""
    if isinstance(value, dict):
        return {name: _fresh(item) for name, item in value.items() if item is not None and not _directed(item)}
    return [_fresh(item) for item in value if not _directed(item)] if isinstance(value, list) else value


def _directed(item: Any) -> bool:
    return isinstance(item, dict) and _PATCH in item


def _delete_primitives(out: Obj, name: str, values: Any) -> None:
    if isinstance(values, list) and isinstance(out.get(name), list):
        _check_types(out[name], values)
        gone = {_mark(value) for value in values}
        out[name] = [item for item in out[name] if _mark(item) not in gone]


def _check_types(original: list[Any], patch: list[Any]) -> None:
    """Items of a list that is merged are all of one type."""
    types = {type(item) for item in [*original, *patch]}
    if len(types) > 1:
        raise BadDirective(f"list element types are not identical: [{go_text(original)} {go_text(patch)}]")


def _order_untouched(out: Obj, patch: Obj, node: SchemaNode) -> None:
    """An order for a list the patch does not otherwise touch."""
    for name, order in patch.items():
        field = name.removeprefix(_ORDER)
        if name.startswith(_ORDER) and node.type_name and node.child(field) is None:
            struct = node.type_name.rpartition(".")[2]
            raise BadDirective(f'unable to find api field in struct {struct} for the json field "{field}"')
        if name.startswith(_ORDER) and field not in patch and isinstance(out.get(field), list):
            child = node.child(field) or ANY
            out[field] = _sorted(out[field], out[field], _identity(child), _order(order, child))


def _order(order: Any, node: SchemaNode) -> list[Any]:
    if not isinstance(order, list):
        raise BadDirective(f"expected a []interface {{}}, but received a {go_type(order)}")
    for index, item in enumerate(order if node.merge_key else ()):
        if not isinstance(item, dict):
            raise BadDirective(f"value for key {index} is not a map")
        _key(item, node.merge_key)
    return order


def _merge_list(original: list[Any], patch: list[Any], node: SchemaNode, order: Any) -> list[Any]:
    _check_types(original, patch)
    wanted = None if order is None else _order(order, node)
    if not any(isinstance(item, dict) for item in [*original, *patch]):
        _check_order(patch, wanted, patch, lambda item: item)
        merged = [*original, *_new(original, patch)]
        return _sorted(merged, original, lambda item: item, patch if wanted is None else wanted)
    key = node.merge_key
    kept, changes, replaced = _special(original, patch, key)
    if replaced:
        return changes
    _check_order(changes, wanted, patch, _identity(node))
    merged = list(kept)
    places = {_mark(entry.get(key)): at for at, entry in reversed([*enumerate(merged)]) if isinstance(entry, dict)}
    for item in changes:
        _merge_item(merged, places, item, key, node.items or ANY)
    return _sorted(merged, original, _identity(node), changes if wanted is None else wanted)


def _check_order(changes: list[Any], order: list[Any] | None, patch: list[Any], identity: Callable[[Any], Any]) -> None:
    """What a patch changes stands in its list of order, and in that order."""
    if not order:
        return
    wanted = [_mark(identity(item)) for item in changes]
    given, asked = [_mark(identity(item)) for item in order], set(wanted)
    if [entry for entry in given if entry in asked] != wanted:
        raise BadDirective(
            f"The order in patch list:\n{go_text(patch)}\n doesn't match $setElementOrder list:\n{go_text(order)}\n"
        )


def _special(original: list[Any], patch: list[Any], key: str) -> tuple[list[Any], list[Any], bool]:
    """What is left of the original after `$patch` items, the ordinary items, and whether the list is replaced."""
    deleted: set[Any] = set()
    changes, replaced = [], False
    for item in patch:
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
            raise BadDirective("merging lists cannot yet be specified in the patch")
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
        merged.append(_fresh(item))


def _identity(node: SchemaNode) -> Callable[[Any], Any]:
    key = node.merge_key
    return lambda item: item.get(key) if isinstance(item, dict) else item


def _sorted(merged: list[Any], original: list[Any], identity: Callable[[Any], Any], order: list[Any]) -> list[Any]:
    """Patched items in the patch's order, the others where they stood; a new item comes before those it is not compared
    with."""
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
