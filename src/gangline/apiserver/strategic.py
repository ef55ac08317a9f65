"""Strategic merge patch: a merge patch that knows which lists are keyed.

    strategic_merge(obj, patch, schema) -> obj        raises BadDirective (the real server answers 500)

Directives: `$patch` (replace, delete, merge), `$retainKeys`, `$setElementOrder/<list>`, `$deleteFromPrimitiveList/<list>`. Merge keys come
from the built-in tables; where they name none a list is replaced. Neither argument is changed. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gangline.errors import GanglineError
from gangline.schema import Node, Schema
from gangline.schema.node import ANY

Obj = dict[str, Any]
_PATCH, _RETAIN, _ORDER, _DELETE = "$patch", "$retainKeys", "$setElementOrder/", "$deleteFromPrimitiveList/"


class BadDirective(GanglineError):
    """A directive that cannot be followed, or a list item without its merge key."""


class BadRetention(BadDirective):
    """A `$retainKeys` that is no list, or does not name every key of its patch."""


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


def _merge_map(original: Obj, patch: Obj, node: Node) -> Obj:
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
        raise BadRetention("invalid patch format of retainKeys")
    strangers = [name for name in patch if not name.startswith("$") and name not in keep]
    if strangers:
        raise BadRetention("invalid patch format of retainKeys")
    return {name: value for name, value in original.items() if name in keep}


def _merge_field(out: Obj, name: str, value: Any, patch: Obj, node: Node) -> None:
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


def _fresh(value: Any, node: Node) -> Any:
    """A part that had no counterpart: its directives and nulls are not kept."""
    if isinstance(value, dict):
        return _merge_map({}, value, node)
    if isinstance(value, list) and node.merge:
        return _merge_list([], value, node, None)
    return value


def _delete_primitives(out: Obj, name: str, values: Any) -> None:
    if isinstance(values, list) and isinstance(out.get(name), list):
        out[name] = [item for item in out[name] if item not in values]


def _order_untouched(out: Obj, patch: Obj, node: Node) -> None:
    """An order for a list the patch does not otherwise touch."""
    for name, order in patch.items():
        field = name.removeprefix(_ORDER)
        if name.startswith(_ORDER) and field not in patch and isinstance(out.get(field), list):
            child = node.child(field) or ANY
            out[field] = _sorted(out[field], out[field], _identity(child), order)


def _merge_list(original: list[Any], patch: list[Any], node: Node, order: Any) -> list[Any]:
    scalars = all(not isinstance(item, dict) for item in [*original, *patch])
    if scalars:
        merged = [*original, *(item for index, item in enumerate(patch) if item not in original and item not in patch[:index])]
        return _sorted(merged, original, lambda item: item, order if isinstance(order, list) else patch)
    key = node.merge_key
    kept, changes, replaced = _special(original, patch, key)
    if replaced:
        return [_fresh(item, node.items or ANY) for item in changes]
    merged = list(kept)
    for item in changes:
        _merge_item(merged, item, key, node.items or ANY)
    if isinstance(order, list):
        _check_order(changes, order, _identity(node))
    return _sorted(merged, original, _identity(node), order if isinstance(order, list) else changes)


def _check_order(changes: list[Any], order: list[Any], identity: Callable[[Any], Any]) -> None:
    """What a patch changes stands in its list of order, and in that order."""
    wanted = [identity(item) for item in changes]
    given = [identity(item) for item in order]
    if [each for each in given if each in wanted] != wanted:
        raise BadDirective(f"The order in patch list:\n{go_text(changes)}\n doesn't match $setElementOrder list:\n{go_text(order)}\n")


def _special(original: list[Any], patch: list[Any], key: str) -> tuple[list[Any], list[Any], bool]:
    """What is left of the original after `$patch` items, the ordinary items, and whether the list is replaced."""
    kept, changes, replaced = list(original), [], False
    for item in patch:
        if not isinstance(item, dict):
            raise BadDirective(f"expected a map in a list keyed by {key}, got {go_text(item)}")
        directive = item.get(_PATCH)
        if directive is None:
            changes.append(item)
        elif directive == "replace":
            replaced = True
            if len(item) > 1:
                changes.append({name: value for name, value in item.items() if name != _PATCH})
        elif directive == "delete":
            wanted = _key(item, key)
            kept = [each for each in kept if not isinstance(each, dict) or each.get(key) != wanted]
        elif directive == "merge":
            raise BadDirective("merging lists cannot yet be specified in the patch")
        else:
            raise BadDirective(f"unknown patch type: {directive} in map: {go_text(item)}")
    return kept, changes, replaced


def _key(item: Obj, key: str) -> Any:
    if key not in item:
        raise BadDirective(f"map: {go_text(item)} does not contain declared merge key: {key}")
    return item[key]


def _merge_item(merged: list[Any], item: Obj, key: str, node: Node) -> None:
    wanted = _key(item, key)
    for index, each in enumerate(merged):
        if isinstance(each, dict) and each.get(key) == wanted:
            merged[index] = _merge_map(each, item, node)
            return
    merged.append(_fresh(item, node))


def _identity(node: Node) -> Callable[[Any], Any]:
    key = node.merge_key
    return lambda item: item.get(key) if isinstance(item, dict) else item


def _sorted(merged: list[Any], original: list[Any], identity: Callable[[Any], Any], order: Any) -> list[Any]:
    """Patched items in the patch's order, the others where they stood; a new item comes before those it is not compared with."""
    if not isinstance(order, list):
        raise BadDirective(f"invalid patch format of setElementOrder: {go_text(order)}")
    given = [identity(item) for item in order]
    stood = [identity(item) for item in original]
    patched = sorted((item for item in merged if identity(item) in given), key=lambda item: given.index(identity(item)))
    others = sorted((item for item in merged if identity(item) not in given), key=lambda item: stood.index(identity(item)))
    out: list[Any] = []
    while patched and others:
        left, right = identity(others[0]), identity(patched[0])
        earlier = left in stood and right in stood and stood.index(left) < stood.index(right)
        out.append(others.pop(0) if earlier else patched.pop(0))
    return [*out, *patched, *others]
