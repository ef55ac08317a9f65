"""Static types of CEL, and how a schema's places appear in them.

A `CelType` is a name with parameters; `dyn` fits everything. Objects carry the schema node they come from, so a field
that does not exist is found when a rule is written, not when it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gangline.rules.values.schema_node import MAP, SET, SchemaNode


@dataclass(frozen=True, slots=True)
class CelType:
    name: str
    args: tuple[CelType, ...] = ()
    node: Any = None
    """The schema node of an object, or of a list that is a set or keyed."""

    def __str__(self) -> str:
        if self.name == "object":
            return "object"
        return f"{self.name}({', '.join(map(str, self.args))})" if self.args else self.name

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, CelType)
            and self.name == other.name
            and self.args == other.args
            and (self.name != "object" or self.node is other.node)
        )

    def __hash__(self) -> int:
        return hash((self.name, self.args))


DYN, BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL = (
    CelType(name) for name in ("dyn", "bool", "int", "uint", "double", "string", "bytes", "null")
)
TIMESTAMP, DURATION, TYPE = CelType("timestamp"), CelType("duration"), CelType("type")
_PLAIN = {"string": STRING, "integer": INT, "number": DOUBLE, "boolean": BOOL}
_FORMED = {
    "date-time": TIMESTAMP,
    "time": TIMESTAMP,
    "date": TIMESTAMP,
    "duration": DURATION,
    "byte": BYTES,
    "bytes": BYTES,
}
_RESERVED = frozenset(
    (
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    )
)


def list_of(inner: CelType, node: SchemaNode | None = None) -> CelType:
    return CelType("list", (inner,), node)


def map_of(key: CelType, value: CelType) -> CelType:
    return CelType("map", (key, value))


def optional_of(inner: CelType) -> CelType:
    return CelType("optional_type", (inner,))


def variables_of(kinds: dict[str, CelType]) -> CelType:
    """An object of named values, each of its own kind."""
    return CelType("variables", (), dict(kinds))


AUTHORIZER = CelType("authorizer", (), {"requestResource": CelType("resourcecheck")})


def kind_of(node: SchemaNode) -> CelType:
    """How a value of this place looks to a rule; `dyn` when the schema does not say."""
    return _kind(node) or DYN


def _kind(node: SchemaNode) -> CelType | None:
    """None: a rule cannot see this place at all."""
    if node.shape == "list":
        inner = _kind(node.items) if node.items is not None else None
        return list_of(inner, node if node.list_type in (SET, MAP) else None) if inner else None
    if node.shape == "map":
        value = _kind(node.values) if node.values is not None else None
        return map_of(STRING, value) if value else None
    if node.shape == "struct":
        return CelType("object", (), node)
    if node.shape == "scalar":
        return _FORMED.get(node.form, STRING) if node.scalar == "string" else _PLAIN[node.scalar]
    return DYN if node.shape == "intstr" else None


def field_of(kind: CelType, name: str) -> tuple[str, CelType] | None:
    """The JSON name and kind of a field as a rule spells it."""
    node: SchemaNode = kind.node
    real = name if name in _RESERVED else unescape(name)
    child = node.fields.get(real)
    if child is None or (escape(real) != name and name not in _RESERVED):
        return None
    if node.typed and real == "metadata":
        return real, CelType("object", (), _METADATA)
    kind_of_field = _kind(child)
    return (real, kind_of_field) if kind_of_field is not None else None


_METADATA = SchemaNode(
    "struct",
    fields={"name": SchemaNode("scalar", "string", "str"), "generateName": SchemaNode("scalar", "string", "str")},
)


def escape(name: str) -> str | None:
    """A property's name as an identifier of CEL; None when it cannot be one."""
    if name in _RESERVED:
        return f"__{name}__"
    text = (
        name.replace("__", "__underscores__").replace(".", "__dot__").replace("-", "__dash__").replace("/", "__slash__")
    )
    return text if text.replace("_", "a").isalnum() and not text[:1].isdigit() else None


def unescape(name: str) -> str:
    if name.startswith("__") and name.endswith("__") and name[2:-2] in _RESERVED:
        return name[2:-2]
    text = name.replace("__dot__", ".").replace("__dash__", "-").replace("__slash__", "/")
    return text.replace("__underscores__", "__")


def fits(given: CelType, wanted: CelType, bound: dict[str, CelType]) -> bool:
    """Whether a value of one kind may stand where another is wanted; single capital letters are variables."""
    if len(wanted.name) == 1 and wanted.name.isupper():
        known = bound.get(wanted.name)
        if known is None or known.name == "dyn":
            bound[wanted.name] = given
            return True
        if known.name == "object" and given.name == "object":
            return True
        return fits(given, known, {}) or fits(known, given, {})
    if given.name == "dyn" or wanted.name == "dyn":
        return True
    if given.name == "null":
        return wanted.name in ("null", "object", "optional_type", "timestamp", "duration")
    if wanted.name == "null":
        return given.name in ("object", "timestamp", "duration")
    if given.name != wanted.name or len(given.args) != len(wanted.args):
        return False
    return all(fits(a, b, bound) for a, b in zip(given.args, wanted.args, strict=True))


def filled(kind: CelType, bound: dict[str, CelType]) -> CelType:
    if len(kind.name) == 1 and kind.name.isupper():
        return bound.get(kind.name, DYN)
    return (
        CelType(kind.name, tuple(filled(argument, bound) for argument in kind.args), kind.node) if kind.args else kind
    )


def read_kind(text: str) -> CelType:
    """`list(string)` → a Kind; how signatures in the library are written."""
    name, _, rest = text.strip().partition("(")
    if not rest:
        return CelType(name)
    parts, depth, last = [], 0, 0
    inner = rest[:-1]
    for index, char in enumerate(inner):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(inner[last:index])
            last = index + 1
    parts.append(inner[last:])
    return CelType(name, tuple(read_kind(part) for part in parts))
