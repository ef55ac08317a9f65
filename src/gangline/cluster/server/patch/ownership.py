"""managedFields for the common writes, fast: a create, and an update of an object whose accounts are in order.

The meaning is that of `apply.track_update`, which is asked for everything unusual; tests hold the two against each
other. Here accounts stay trees in the spelling of `fieldsV1`, and only the paths a write touches are rewritten. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gangline.cluster.schema import Schema, SchemaNode
from gangline.cluster.server.patch.apply import as_set, track_update
from gangline.cluster.server.patch.apply.fieldset import FieldSet
from gangline.cluster.server.patch.apply.managed import MOST_UPDATERS, UPDATE, detached
from gangline.cluster.server.patch.apply.walk import LEAF, LIST, compare, element, form, keyed
from gangline.rules.values.schema_node import ANY

Obj = dict[str, Any]
Tree = dict[str, Any]
Walk = Callable[[Any], Tree]
Path = tuple[str, ...]
_LEAF: Tree = {}
_SERVER_FIELDS = frozenset(
    (
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
)
_DROPPED = frozenset(f"f:{name}" for name in _SERVER_FIELDS)
_MOST_PLANS = 1024


def track(
    old: Obj | None,
    new: Obj,
    manager: str,
    schema: Schema,
    now: str,
    subresource: str,
    api_version: str,
    reset: Sequence[Path],
) -> Obj:
    """The object with its accounts after this write."""
    if any(len(path) > 1 for path in reset) and old is None:
        return track_update(old, new, manager, schema, now, subresource, api_version, reset)
    if old is None:
        return _created(new, manager, schema, now, subresource, api_version, {path[0] for path in reset})
    stored = old["metadata"].get("managedFields")
    given = new["metadata"].get("managedFields")
    usual = stored and (given is None or given == stored) and len(stored) < MOST_UPDATERS
    if not usual:
        return track_update(old, new, manager, schema, now, subresource, api_version, reset)
    return _updated(old, new, manager, schema, now, subresource, api_version, reset)


def _entry(manager: str, api_version: str, now: str, tree: Tree, subresource: str) -> Obj:
    entry: Obj = {
        "manager": manager or "unknown",
        "operation": UPDATE,
        "apiVersion": api_version,
        "time": now,
        "fieldsType": "FieldsV1",
        "fieldsV1": tree,
    }
    if subresource:
        entry["subresource"] = subresource
    return entry


def _created(
    new: Obj, manager: str, schema: Schema, now: str, subresource: str, api_version: str, hidden: set[str]
) -> Obj:
    tree = _top(schema, new, hidden)
    meta = {name: value for name, value in new["metadata"].items() if name != "managedFields"}
    if tree:
        meta["managedFields"] = [_entry(manager, api_version, now, tree, subresource)]
    return {**new, "metadata": meta}


def _top(schema: Schema, new: Obj, hidden: set[str]) -> Tree:
    """Everything a new object sets, apart from what the server decides."""
    zero = schema.zero
    tree: Tree = {}
    for name, value in new.items():
        if name in ("apiVersion", "kind") or name in hidden:
            continue
        child = schema.root.fields.get(name) or schema.root.values or ANY
        if name == "metadata":
            kept = {key: item for key, item in value.items() if key not in _SERVER_FIELDS}
            inner = _beyond(child, zero.get("metadata") or _NOTHING, kept)
            if inner:
                tree["f:metadata"] = inner
        else:
            _add_beyond(tree, f"f:{name}", child, zero, name, value)
    return _sorted(tree)


_NOTHING: Obj = {}
_Beyond = tuple[Tree, list[tuple[str, str, Walk]], list[tuple[str, str, SchemaNode]]]
"""The account if everything were a leaf, where to look further, and what may be as in the zero."""


def _beyond(node: SchemaNode, zero: Obj, value: Obj) -> Tree:
    """What an object sets beyond its zero."""
    plans: dict[tuple[int, Path], _Beyond] = node.made.setdefault("beyond", {})
    key = (id(zero), tuple(value))
    plan = plans.get(key)
    if plan is None:
        if len(plans) >= _MOST_PLANS:
            plans.clear()
        plan = plans[key] = _beyond_plan(node, zero, key[1])
    flat, deeper, doubtful = plan
    tree = flat.copy()
    for part, name, inner in deeper:
        item = value[name]
        if item:
            tree[part] = inner(item)
    for part, name, child in doubtful:
        del tree[part]
        _add_beyond(tree, part, child, zero, name, value[name])
    return _sorted(tree) if doubtful else tree


def _beyond_plan(node: SchemaNode, zero: Obj, names: Path) -> _Beyond:
    children = [(f"f:{name}", name, node.fields.get(name) or node.values or ANY) for name in sorted(names)]
    walks = [(part, name, _walk(child)) for part, name, child in children if name not in zero]
    return (
        {part: _LEAF for part, _, _ in children},
        [walk for walk in walks if walk[2] is not _leaf],
        [item for item in children if item[1] in zero],
    )


def _add_beyond(tree: Tree, key: str, child: SchemaNode, zero: Obj, name: str, item: Any) -> None:
    if name not in zero:
        tree[key] = _walk(child)(item)
        return
    before = zero[name]
    if before == item and type(before) is type(item):
        return
    if isinstance(before, dict) and isinstance(item, dict) and form(child, item) != LEAF:
        inner = _beyond(child, before, item)
        if inner:
            tree[key] = inner
    elif before in (None, {}, []) and form(child, item) != LEAF:
        inner = {part: below for part, below in _walk(child)(item).items() if part != "."}
        if inner:
            tree[key] = inner
    else:
        tree[key] = _LEAF


def _walk(node: SchemaNode) -> Walk:
    """The account of a value that was not there before: itself, and what it sets below itself."""
    walk: Walk | None = node.made.get("walk")
    if walk is None:
        holder: list[Walk] = []
        node.made["walk"] = lambda value: holder[0](value)
        walk = node.made["walk"] = _compile(node)
        holder.append(walk)
    return walk


def _compile(node: SchemaNode) -> Walk:
    if node.atomic or node.shape in ("scalar", "intstr"):
        return _leaf
    if node.shape == "list":
        return _list_walk(node) if form(node, []) == LIST else _leaf
    return _object_walk(node)


def _leaf(value: Any) -> Tree:
    return _LEAF


def _object_walk(node: SchemaNode) -> Walk:
    known = {name: _walk(child) for name, child in node.fields.items()}
    rest = _walk(node.values or ANY) if node is not ANY else None
    plans: dict[Path, tuple[Tree, list[tuple[str, str, Walk]]]] = {}
    """By the names a value has: its account if everything in it were a leaf, and where to look further."""

    def walk(value: Any) -> Tree:
        if type(value) is not dict or not value:
            return _LEAF
        names = tuple(value)
        plan = plans.get(names)
        if plan is None:
            if len(plans) >= _MOST_PLANS:
                plans.clear()
            plan = plans[names] = _plan(names, lambda name: known.get(name) or rest or walk)
        flat, deeper = plan
        if not deeper:
            return flat
        tree = flat.copy()
        for key, name, inner in deeper:
            item = value[name]
            if item:
                tree[key] = inner(item)
        return tree

    return walk


def _plan(names: Path, walk_of: Callable[[str], Walk]) -> tuple[Tree, list[tuple[str, str, Walk]]]:
    ordered = sorted(names)
    walks = [(f"f:{name}", name, walk_of(name)) for name in ordered]
    return {".": _LEAF} | {key: _LEAF for key, _, _ in walks}, [walk for walk in walks if walk[2] is not _leaf]


def _sorted(tree: Tree) -> Tree:
    return dict(sorted(tree.items())) if len(tree) > 1 else tree


def _list_walk(node: SchemaNode) -> Walk:
    inner = _walk(node.items or ANY)
    only = node.keys[0] if len(node.keys) == 1 else ""

    def walk(value: Any) -> Tree:
        if type(value) is not list or not value:
            return _LEAF
        tree: Tree = {".": _LEAF}
        for item in value:
            named = item.get(only) if only and type(item) is dict else None
            key = keyed(only, named) if type(named) is str else element(node, item)
            if key not in tree:
                tree[key] = inner(item)
        return _sorted(tree)

    return walk


def _updated(
    old: Obj,
    new: Obj,
    manager: str,
    schema: Schema,
    now: str,
    subresource: str,
    api_version: str,
    reset: Sequence[Path],
) -> Obj:
    before, after = detached(old), detached(new)
    stored: list[Obj] = old["metadata"]["managedFields"]
    difference = compare(schema.root, before, after).without(as_set(tuple(reset)))
    changed, removed = difference.changed, difference.removed
    touched = changed | removed
    if not touched:
        return {**after, "metadata": {**after["metadata"], "managedFields": stored}}
    mine = _owned(changed)
    entries, is_known = [], False
    for entry in stored:
        tree = _without(entry["fieldsV1"], touched)
        is_me = (entry["manager"], entry["operation"], entry["apiVersion"], entry.get("subresource") or "") == (
            manager or "unknown",
            UPDATE,
            api_version,
            subresource,
        )
        if is_me and mine:
            entry, tree, is_known = {**entry, "time": now}, _with(tree, mine), True
        if tree:
            entries.append(entry if tree is entry["fieldsV1"] else {**entry, "fieldsV1": tree})
    if mine and not is_known:
        entries.append(_entry(manager, api_version, now, mine.encode(), subresource))
    entries.sort(
        key=lambda entry: (
            entry["operation"],
            entry.get("time", ""),
            entry["manager"],
            entry["apiVersion"],
            entry.get("subresource", ""),
        )
    )
    meta = {**after["metadata"], "managedFields": entries} if entries else after["metadata"]
    return {**after, "metadata": meta}


def _owned(changed: FieldSet) -> FieldSet:
    """A change without what nobody owns: identity, and what the server keeps in metadata."""
    children = dict(changed.children)
    meta = children.get("f:metadata")
    if meta is not None:
        rest = FieldSet(
            meta.members - _DROPPED, {key: child for key, child in meta.children.items() if key not in _DROPPED}
        )
        if rest:
            children["f:metadata"] = rest
        else:
            del children["f:metadata"]
    return FieldSet(changed.members - {"f:apiVersion", "f:kind", "f:metadata"}, children)


def _without(tree: Tree, gone: FieldSet) -> Tree:
    """A tree that no longer owns the members of `gone`; itself if it owned none."""
    out = tree
    for name in [item for item in tree if item in gone.members or item in gone.children]:
        below = out[name]
        rest = _branch_without(name, below, gone)
        if rest is below:
            continue
        out = {**out} if out is tree else out
        if rest is None:
            del out[name]
        else:
            out[name] = _LEAF if rest.keys() == {"."} else rest
    return out


def _branch_without(name: str, below: Tree, gone: FieldSet) -> Tree | None:
    """What is left of one branch; None: nothing."""
    rest = _without(below, gone.children[name]) if name in gone.children and below else below
    if name in gone.members:
        return {key: value for key, value in rest.items() if key != "."} or None
    return None if below and not rest else rest


def _with(tree: Tree, more: FieldSet) -> Tree:
    """A tree that also owns `more`."""
    out = dict(tree)
    for name in sorted(more.members | more.children.keys()):
        below = out.get(name)
        member = name in more.members or below == {} or (below is not None and "." in below)
        inner = {key: value for key, value in (below or {}).items() if key != "."}
        if name in more.children:
            inner = _with(inner, more.children[name])
        if member:
            inner = {".": _LEAF, **inner} if inner else {}
        if member or inner:
            out[name] = inner
    return _sorted(out)
