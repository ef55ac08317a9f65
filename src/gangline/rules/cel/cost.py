"""An upper bound of what an expression can cost, from the sizes its schema allows.

Sizes come from maxLength, maxItems and maxProperties; where there is none, from what fits into a request. The unit is
the one the runtime budget is counted in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gangline.rules.cel.kinds import unescape
from gangline.rules.cel.tree import LEVELS, Call, Const, Expr, Ident, ListLit, Macro, MapLit, Select, chain
from gangline.rules.values.schema_node import SchemaNode

REQUEST = 3 * 2**20
UNKNOWN = 2**63
_TENTH = (
    "startsWith",
    "endsWith",
    "lowerAscii",
    "upperAscii",
    "trim",
    "split",
    "replace",
    "substring",
    "quote",
    "url",
    "isURL",
    "ip",
    "isIP",
    "cidr",
    "isCIDR",
    "quantity",
    "isQuantity",
    "semver",
    "isSemver",
    "timestamp",
    "duration",
    "int",
    "uint",
    "double",
    "bool",
    "bytes",
    "format",
    "find",
    "findAll",
    "isCanonical",
    "containsIP",
    "containsCIDR",
)
_ROUND = {"all": 3, "exists": 4, "exists_one": 4, "existsOne": 4, "optMap": 1, "optFlatMap": 1, "transformList": 12}
"""What one round of a comprehension costs besides its body."""
_NUMBERS = ("int", "uint", "double", "timestamp", "duration")
_COMPARED = ("isSorted", "sum", "min", "max", "indexOf", "lastIndexOf")
_WHOLE = ("distinct", "flatten", "sort")


@dataclass(frozen=True, slots=True)
class ValueSize:
    """How large a value can be, and where in the schema it comes from."""

    most: int
    node: SchemaNode | None = None


def size_of(node: SchemaNode | None) -> ValueSize:
    if node is None:
        return ValueSize(UNKNOWN)
    return ValueSize(_most(node), node)


def _most(node: SchemaNode) -> int:
    checks = node.checks
    if node.shape == "list":
        if "maxItems" in checks:
            return int(checks["maxItems"])
        return REQUEST // ((smallest(node.items) if node.items else 1) + 1)
    if node.shape in ("map",):
        if "maxProperties" in checks:
            return int(checks["maxProperties"])
        return REQUEST // ((smallest(node.values) if node.values else 1) + 6)
    if node.scalar == "string":
        return _longest(node)
    return REQUEST - 2 if node.shape == "intstr" else 1


def _longest(node: SchemaNode) -> int:
    checks = node.checks
    if node.form in ("date-time", "time", "date", "duration"):
        return 32
    if "maxLength" in checks:
        return int(checks["maxLength"])
    if "enum" in checks:
        return max((len(str(item)) for item in checks["enum"]), default=0)
    return REQUEST - 2


def smallest(node: SchemaNode, depth: int = 0) -> int:
    """The fewest bytes a value takes in a request."""
    if depth > 30:
        return 2
    if node.shape == "struct":
        total = 2
        for name in node.required:
            child = node.fields.get(name)
            if child is not None:
                total += len(name) + 4 + smallest(child, depth + 1)
        return total
    if node.shape in ("list", "map") or node.scalar == "string":
        return 2
    return 4 if node.scalar == "boolean" else 1


class CostEstimate:
    """Cost of a tree. `sizes` gives the size of each variable."""

    def __init__(self, sizes: dict[str, ValueSize]) -> None:
        self.sizes = sizes

    def cost(self, tree: Expr) -> int:
        return min(self._of(tree, self.sizes)[0], UNKNOWN)

    def _of(self, tree: Expr, scope: dict[str, ValueSize]) -> tuple[int, ValueSize]:
        return _COSTS[type(tree)](self, tree, scope)

    def _const(self, tree: Const, scope: dict[str, ValueSize]) -> tuple[int, ValueSize]:
        return 0, ValueSize(len(tree.value) if isinstance(tree.value, str | bytes) else 1)

    def _ident(self, tree: Ident, scope: dict[str, ValueSize]) -> tuple[int, ValueSize]:
        return 1, scope.get(tree.name, ValueSize(UNKNOWN))

    def _select(self, tree: Select, scope: dict[str, ValueSize]) -> tuple[int, ValueSize]:
        cost, size = self._of(tree.operand, scope)
        return cost + (0 if tree.test else 1), self._child(size, tree.field)

    def _list(self, tree: ListLit, scope: dict[str, ValueSize]) -> tuple[int, ValueSize]:
        parts = [self._of(item, scope) for item in tree.items]
        return 10 + sum(cost for cost, _ in parts), ValueSize(len(parts))

    def _map(self, tree: MapLit, scope: dict[str, ValueSize]) -> tuple[int, ValueSize]:
        costs = [self._of(part, scope)[0] for key, value, _ in tree.entries for part in (key, value)]
        return 30 + sum(costs), ValueSize(len(tree.entries))

    def _child(self, size: ValueSize, name: str) -> ValueSize:
        node = size.node.child(unescape(name)) if size.node is not None else None
        return size_of(node)

    def _macro(self, tree: Macro, scope: dict[str, ValueSize]) -> tuple[int, ValueSize]:
        cost, target = self._of(tree.target, scope)
        node = target.node
        inside = (node.items or node.values) if node is not None else None
        item = size_of(inside) if inside is not None else ValueSize(UNKNOWN if node is None else 1)
        key = ValueSize(1)
        inner = (
            {**scope, tree.variables[-1]: item}
            if len(tree.variables) == 1
            else {**scope, tree.variables[0]: key, tree.variables[1]: item}
        )
        if node is not None and node.shape == "map" and len(tree.variables) == 1:
            inner[tree.variables[0]] = ValueSize(REQUEST // 2)
        bodies = [self._of(body, inner) for body in tree.bodies]
        rounds = 1 if tree.name in ("optMap", "optFlatMap") else target.most
        step = sum(entry for entry, _ in bodies) + _ROUND.get(tree.name, 13)
        if tree.name == "sortBy":
            step += self._text_inside(target) // 10
        result = ValueSize(target.most, node) if tree.name in ("filter", "sortBy") else ValueSize(target.most)
        return cost + 1 + rounds * step, result

    def _chain(self, tree: Call, scope: dict[str, ValueSize]) -> tuple[int, ValueSize]:
        first, calls = chain(tree)
        total = self._of(first, scope)
        for call in calls:
            total = self._sum(call, [total, self._of(call.args[1], scope)])
        return total

    def _call(self, tree: Call, scope: dict[str, ValueSize]) -> tuple[int, ValueSize]:
        if tree.target is None and tree.name in LEVELS:
            return self._chain(tree, scope)
        parts = [*([tree.target] if tree.target is not None else []), *tree.args]
        return self._sum(tree, [self._of(part, scope) for part in parts])

    def _sum(self, tree: Call, parts: list[tuple[int, ValueSize]]) -> tuple[int, ValueSize]:
        cost = sum(item for item, _ in parts) + (0 if tree.name in ("_&&_", "_||_", "_?_:_") else 1)
        if tree.name == "_?_:_":
            return parts[0][0] + max(parts[1][0], parts[2][0]), max(
                parts[1][1], parts[2][1], key=lambda size: size.most
            )
        sizes = [size for _, size in parts]
        extra, result = self._extra(
            tree.name.rpartition(".")[2] if not tree.name.startswith("_") else tree.name, sizes, tree
        )
        return cost + extra, result

    def _extra(self, name: str, sizes: list[ValueSize], tree: Call) -> tuple[int, ValueSize]:
        if name == "_+_" and self._joins(tree, sizes):
            total = sum(size.most for size in sizes)
            return total // 10, ValueSize(total)
        if name in ("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"):
            return (min(size.most for size in sizes) // 10 if self._is_text(tree) else 0), ValueSize(1)
        if name == "@in":
            return sizes[1].most, ValueSize(1)
        first = sizes[0] if sizes else ValueSize(1)
        if name in ("_[_]", "_[?_]"):
            inside = (first.node.items or first.node.values) if first.node is not None else None
            return 0, size_of(inside)
        return self._function(name, first, sizes)

    def _joins(self, tree: Call, sizes: list[ValueSize]) -> bool:
        """Whether a plus may put texts or lists together."""
        if _kind_name(tree) in _NUMBERS:
            return False
        return self._is_text(tree) or UNKNOWN in (size.most for size in sizes)

    def _function(self, name: str, first: ValueSize, sizes: list[ValueSize]) -> tuple[int, ValueSize]:
        if name == "contains":
            return max(1, first.most // 10) * max(1, sizes[-1].most // 10), ValueSize(1)
        if name == "matches":
            return (first.most + 1) // 10 * max(1, sizes[-1].most // 4), ValueSize(1)
        if name == "validate":
            return (sizes[-1].most + 1) // 10 * 32, ValueSize(1)
        if name == "string":
            return first.most // 10 if first.node is not None and first.node.scalar == "string" else 0, (
                first if first.node is not None and first.node.scalar == "string" else ValueSize(UNKNOWN)
            )
        if name in _TENTH:
            return first.most // 10, ValueSize(first.most)
        if name in _COMPARED:
            return first.most * (1 + self._text_inside(first) // 10), ValueSize(1)
        if name == "join":
            return first.most * self._text_inside(first) // 10, ValueSize(first.most * self._text_inside(first))
        if name == "charAt":
            return 0, ValueSize(UNKNOWN)
        if name in _WHOLE:
            return first.most, ValueSize(first.most)
        return 0, ValueSize(1) if name == "size" else first

    @staticmethod
    def _text_inside(size: ValueSize) -> int:
        """How long the texts of a list can be; of what came from no place of the schema, nobody knows."""
        if size.node is None:
            return UNKNOWN
        inside = size.node.items
        return _longest(inside) if inside is not None and inside.scalar == "string" else 0

    @staticmethod
    def _is_text(tree: Call) -> bool:
        return any(_kind_name(arg) in ("string", "bytes", "dyn") for arg in tree.args)


def _kind_name(tree: Expr) -> str:
    """Of its static type; empty where the checker gave it none."""
    return "" if tree.kind is None else str(tree.kind.name)


_COSTS: dict[type[Expr], Callable[[CostEstimate, Any, dict[str, ValueSize]], tuple[int, ValueSize]]] = {
    Const: CostEstimate._const,
    Ident: CostEstimate._ident,
    Select: CostEstimate._select,
    ListLit: CostEstimate._list,
    MapLit: CostEstimate._map,
    Call: CostEstimate._call,
    Macro: CostEstimate._macro,
}


def estimate(tree: Expr, sizes: dict[str, ValueSize]) -> int:
    return CostEstimate(sizes).cost(tree)


def cardinality(node: SchemaNode) -> int:
    """How many values of this place fit into a request."""
    return REQUEST // (smallest(node) + 1)


def shown_factor(cost: Any, limit: int) -> str:
    factor = cost / limit
    return "more than 100x" if factor > 100 else f"{factor:f}x"
