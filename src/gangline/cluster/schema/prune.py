"""Custom resources: drop what the schema does not know, fill in defaults, read metadata as the built-in kinds do.

One compiled closure per node does it in a single walk. Unknown fields are counted while walking; their paths are worked
out only when there are any. Nulls of fields that may not be null are dropped, so that a default can take their place.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gangline.api.notation import MISSING
from gangline.cluster.schema.decode import decoder, unknown_fields
from gangline.rules.values.canonical import BadForm
from gangline.rules.values.schema_node import SchemaNode

MOST_FILLED = 200_000
"""How many values the defaults of a schema may add to one object; a long text counts as several."""
_LETTERS = 16
"""Letters of a text that count as one more value."""


class PruneFindings(list[str]):
    """What a walk found: names that nobody knows, and how many values defaults have added."""

    filled = 0

    def fill(self, weight: int) -> None:
        self.filled += weight
        if self.filled > MOST_FILLED:
            raise BadForm(f"the defaults of its schema add more than {MOST_FILLED} values")


Pruner = Callable[[Any, PruneFindings], Any]


def pruner(node: SchemaNode) -> Pruner | None:
    """The closure that cleans a value of this node; None when every value passes as it is."""
    if node.type_name:
        return decoder(node)
    if node.shape == "list":
        return _list(node)
    if node.shape in ("struct", "map") or (node.shape == "any" and node.fields):
        return _object(node)
    if node.scalar == "integer":
        return _integer
    return None


def _integer(value: Any, unknown: PruneFindings) -> Any:
    return int(value) if type(value) is float and value.is_integer() and abs(value) < 2**63 else value


def _list(node: SchemaNode) -> Pruner | None:
    assert node.items is not None
    clean = pruner(node.items)
    fallback = node.items.default
    if clean is None and fallback is MISSING:
        return None

    weight = _weight(fallback)

    def prune(value: Any, unknown: PruneFindings) -> Any:
        if type(value) is not list:
            return _mistaken(node, value, unknown)
        if fallback is not MISSING:
            unknown.fill(weight * value.count(None))
        filled = [copy.deepcopy(fallback) if item is None and fallback is not MISSING else item for item in value]
        return [clean(item, unknown) for item in filled] if clean else filled

    return prune


def _object(node: SchemaNode) -> Pruner:
    parts = {name: pruner(child) for name, child in node.fields.items()}
    taken = _takers(node, parts)
    strict = frozenset(name for name, child in node.fields.items() if not child.nullable and child.shape != "any")
    values = (pruner(node.values) if node.values else None) or _as_it_is
    keep_unknown = node.keep_unknown or node.values is not None or node.shape == "any"
    fill = _defaults(node, parts)

    def prune(value: Any, unknown: PruneFindings) -> Any:
        if type(value) is not dict:
            return _mistaken(node, value, unknown)
        out: dict[str, Any] = {}
        for name, item in value.items():
            if name in taken:
                if item is not None or name not in strict:
                    out[name] = taken[name](item, unknown)
            elif keep_unknown:
                out[name] = values(item, unknown)
            else:
                unknown.append(name)
        fill(out, unknown)
        return out

    return prune


def _takers(node: SchemaNode, parts: Mapping[str, Pruner | None]) -> dict[str, Pruner]:
    return {name: clean or partial(_mistaken, node.fields[name]) for name, clean in parts.items()}


def _mistaken(node: SchemaNode, value: Any, unknown: PruneFindings) -> Any:
    """What passes as it is. But where the schema has neither object nor list, what stands in one is unknown."""
    if (type(value) is not dict and type(value) is not list) or node.keep_unknown or node.shape == "any":
        return value
    if type(value) is dict:
        unknown.extend(value)
        return {}
    inner = node.items if node.shape == "list" else None
    return [_mistaken(inner or node, item, unknown) for item in value]


def _as_it_is(value: Any, unknown: PruneFindings) -> Any:
    return value


def _defaults(node: SchemaNode, parts: Mapping[str, Pruner | None]) -> Callable[[dict[str, Any], PruneFindings], None]:
    """Sets the fields that are missing and have a default."""
    defaults = [
        (name, child.default, _weight(child.default))
        for name, child in node.fields.items()
        if child.default is not MISSING
    ]

    def fill(out: dict[str, Any], unknown: PruneFindings) -> None:
        for name, default, weight in defaults:
            if name not in out:
                unknown.fill(weight)
                clean = parts[name]
                fresh = copy.deepcopy(default)
                out[name] = _completed(clean, fresh, unknown) if clean is not None else fresh

    return fill


def _completed(clean: Pruner, default: Any, noted: PruneFindings) -> Any:
    """A default with the defaults inside; unknown fields in it are not reported."""
    inner = PruneFindings()
    inner.filled = noted.filled
    completed = clean(default, inner)
    noted.filled = inner.filled
    return completed


def _weight(value: Any) -> int:
    """How many values it holds."""
    if isinstance(value, str):
        return 1 + len(value) // _LETTERS
    if isinstance(value, dict):
        return 1 + sum(map(_weight, value.values()))
    return 1 + sum(map(_weight, value)) if isinstance(value, list) else 1


def pruned_fields(node: SchemaNode, value: Any, path: str = "") -> list[str]:
    """The paths of fields that pruning drops, sorted by name within each object."""
    if node.type_name:
        return sorted(unknown_fields(node, value, path))
    fields: list[str] = []
    if isinstance(value, dict) and (node.shape in ("struct", "map") or node.fields):
        for name in sorted(value):
            fields.extend(_pruned_child(node, name, value[name], f"{path}.{name}" if path else name))
    elif node.shape == "list" and isinstance(value, list) and node.items is not None:
        for index, item in enumerate(value):
            fields.extend(pruned_fields(node.items, item, f"{path}[{index}]"))
    elif not node.keep_unknown and node.shape != "any":
        fields.extend(_mistaken_fields(value, path))
    return fields


def _mistaken_fields(value: Any, path: str) -> list[str]:
    """The paths in what stands where the schema has something else."""
    if isinstance(value, dict):
        return [f"{path}.{name}" for name in sorted(value)]
    items = enumerate(value) if isinstance(value, list) else ()
    return [field for index, item in items for field in _mistaken_fields(item, f"{path}[{index}]")]


def _pruned_child(node: SchemaNode, name: str, value: Any, where: str) -> list[str]:
    child = node.child(name)
    if child is not None:
        return pruned_fields(child, value, where)
    return [] if node.keep_unknown or node.shape == "any" else [where]
