"""The notation in which `api/tables` states the shape of every kind, and its reader.

A table is lines of text. A line that starts in column one opens a type; indented lines hold its fields, separated by ";
".

    Container                                    a type
      name str!; image str; ports [ContainerPort] map:containerPort,protocol merge:containerPort
    Pod +meta                                    a kind: apiVersion, kind and ObjectMeta come on top
    DeleteOptions +type                          a kind without metadata
    LabelSelector atomic                         a type that is owned as a whole in server-side apply (crd-atomic: in
    custom ones only)

A field is `name type marks…`. Types: str int int32 int64 float bool bytes time microtime quantity intstr, raw (any
object), json (any value), a type of the same table, of core or of meta, or `table.Type`; `[T]` is a list, `{T}` a map
from strings, `T|json` a T when it is an object and anything else too. Directly behind the type: `?` may be absent
without being zero (a zero value is kept), `!` always written and required, `~` left out when all of it is zero. Marks:
`opt` / `req` overrule what `!` says about required; `by:key` a list keyed in apply and strategic merge alike,
`map:keys` keyed in apply only, `merge:key` / `merge` in strategic merge only; `set`, `atomic`, `retainKeys`; `=json` a
default. A field or a type (line `! {…}`) of a custom resource may end with a JSON object: further schema attributes,
alone on its line (four spaces continue a line; a pattern `@name` is one of PATTERNS).

Pure. Turned into something that works by `schema` (built-in kinds) and `api/crds.py` (custom resource definitions).
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

SCALARS = frozenset(
    ("str", "int", "int32", "int64", "float", "bool", "bytes", "time", "microtime", "quantity", "intstr", "raw", "json")
)
MISSING: Any = object()
PATTERNS = {
    "qualified-name": (
        r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
        r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
    ),
    "label-key": r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$",
    "duration": r"^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$",
    "reason": r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
}
_FALLBACK = ("core", "meta")


@dataclass(frozen=True, slots=True)
class Type:
    """`form` is scalar, struct, list, map or either. A struct is named with its table; list and map have an inner
    type."""

    form: str
    name: str = ""
    table: str = ""
    inner: Type | None = None


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: Type
    pointer: bool = False
    always: bool = False
    omit_zero: bool = False
    required: bool = False
    list_type: str = ""
    keys: tuple[str, ...] = ()
    merge: bool = False
    merge_key: str = ""
    retain_keys: bool = False
    atomic: bool = False
    default: Any = MISSING
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Struct:
    name: str
    table: str
    atomic: bool
    typed: bool
    meta: bool
    crd_atomic: bool
    fields: tuple[Field, ...]
    extra: Mapping[str, Any]


@cache
def struct(table: str, name: str) -> Struct:
    head, lines = _blocks(table)[name]
    extra: dict[str, Any] = {}
    fields: list[Field] = []
    for line in lines:
        if line.startswith("! "):
            extra.update(_json(line[2:]))
        else:
            fields.extend(_field(table, text) for text in _split(line))
    return Struct(
        name,
        table,
        "atomic" in head,
        "+meta" in head or "+type" in head,
        "+meta" in head,
        "atomic" in head or "crd-atomic" in head,
        tuple(fields),
        extra,
    )


def _json(text: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(text)
    if str(schema.get("pattern", "")).startswith("@"):
        schema["pattern"] = PATTERNS[schema["pattern"][1:]]
    return schema


def names(table: str) -> list[str]:
    """The types of a table, in its order."""
    return list(_blocks(table))


@cache
def _blocks(table: str) -> dict[str, tuple[list[str], list[str]]]:
    text: str = importlib.import_module(f"gangline.api.tables.{table}").TABLE
    blocks: dict[str, tuple[list[str], list[str]]] = {}
    lines: list[str] = []
    for line in filter(None, text.splitlines()):
        if line[0] != " ":
            name, *marks = line.split()
            lines = []
            blocks[name] = (marks, lines)
        elif line.startswith("    "):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line.strip())
    return blocks


def _split(line: str) -> Iterator[str]:
    if ' {"' in line:
        yield line
        return
    for part in line.split(";"):
        if part.strip():
            yield part.strip()


def _field(table: str, text: str) -> Field:
    extra: dict[str, Any] = {}
    if ' {"' in text:
        text, _, tail = text.partition(' {"')
        extra = _json('{"' + tail)
    name, kind, *marks = text.split(" ")
    bare = kind.rstrip("?!~")
    suffix = kind[len(bare) :]
    facts = _marks(marks)
    always = "!" in suffix
    required = facts.pop("required", always)
    return Field(
        name,
        _type(table, bare),
        pointer="?" in suffix,
        always=always,
        omit_zero="~" in suffix,
        required=required,
        extra=extra,
        **facts,
    )


def _marks(marks: list[str]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for mark in marks:
        word, _, value = mark.partition(":")
        if mark.startswith("="):
            facts["default"] = json.loads(mark[1:])
        elif word == "by":
            facts |= {"list_type": "map", "keys": (value,), "merge": True, "merge_key": value}
        elif word == "map":
            facts |= {"list_type": "map", "keys": tuple(value.split(","))}
        elif word == "merge":
            facts |= {"merge": True, "merge_key": value}
        else:
            facts |= _FLAGS[mark]
    return facts


_FLAGS: dict[str, dict[str, Any]] = {
    "opt": {"required": False},
    "req": {"required": True},
    "set": {"list_type": "set"},
    "retainKeys": {"retain_keys": True},
    "atomic": {"atomic": True, "list_type": "atomic"},
}


def _type(table: str, text: str) -> Type:
    if text.startswith("["):
        return Type("list", inner=_type(table, text[1:-1]))
    if text.startswith("{"):
        return Type("map", inner=_type(table, text[1:-1]))
    if text in SCALARS:
        return Type("scalar", text)
    if text.endswith("|json"):
        return Type("either", inner=_type(table, text[:-5]))
    owner, dot, name = text.rpartition(".")
    if dot:
        return Type("struct", name, owner)
    for place in (table, *_FALLBACK):
        if text in _blocks(place):
            return Type("struct", text, place)
    raise LookupError(f"table {table}: type {text} is not in {table}, core or meta")
