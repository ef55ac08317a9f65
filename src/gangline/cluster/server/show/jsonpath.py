"""The part of JSONPath that printer columns, scale paths and selectable fields use: `.a.b`, `.a\\.b`, `..b`, `.a['b']`,
`.l[0]`, `.l[*]`, `.l[-2:]`, `.l[0,2]`, `.l[?(@.type=="Ready")].status`. A path is compiled once into a function; what
it cannot reach it leaves out."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from gangline.api.kept import kept

MOST = 10_000
"""Values a path finds, at most."""
Step = Callable[[Any], list[Any]]
_NAME = r"(?:\\.|[^.\[\]\\])+"
_PART = re.compile(
    rf"""\.\.(?P<deep>{_NAME})|\.(?P<name>{_NAME})|\[['"](?P<quoted>[^'"]+)['"]\]|\[(?P<all>\*)\]"""
    r"""|\[(?P<indexes>-?\d{1,9}(?:\s*,\s*-?\d{1,9})*)\]|\[(?P<slice>-?\d{0,9}:-?\d{0,9}(?::-?\d{0,9})?)\]"""
    r"""|\[\?\(@\.(?P<key>[^=!<>)\s]+)\s*"""
    r"""(?:(?P<operator>==|!=|<=|>=|<|>)\s*(?P<value>'[^']*'|"[^"]*"|[^)\s]+)\s*)?\)\]"""
)
_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class BadPath(ValueError):
    """A path this reader does not understand."""


@kept(4096)
def compile_path(path: str) -> Callable[[Any], list[Any]]:
    text = path.strip()
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1]
    text = text.removeprefix("$")
    if text and text[0] not in ".[":
        text = "." + text
    steps, position = [], 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None:
            raise BadPath(f"{path}: cannot be read from {text[position:]!r} on")
        steps.append(_step(match))
        position = match.end()
    return lambda obj: _walk(obj, steps)


def _walk(obj: Any, steps: list[Step]) -> list[Any]:
    values = [obj]
    for step in steps:
        values = list(islice((item for value in values for item in step(value)), MOST))
    return values


def _step(match: re.Match[str]) -> Step:
    name = match["name"] or match["quoted"] or match["deep"]
    if name:
        name = re.sub(r"\\(.)", r"\1", name)
        return partial(_all_fields, name) if match["deep"] else partial(_field, name)
    if match["indexes"]:
        return partial(_items, [int(item) for item in match["indexes"].split(",")])
    if match["slice"]:
        return partial(_sliced, slice(*(int(item) if item else None for item in match["slice"].split(":"))))
    if match["all"]:
        return _children
    return _filter(match["key"], match["operator"], match["value"])


def _field(name: str, value: Any) -> list[Any]:
    return [value[name]] if isinstance(value, dict) and name in value else []


def _all_fields(name: str, value: Any) -> list[Any]:
    """The field, however deep it lies."""
    return [obj[name] for obj in _below(value) if name in obj]


def _items(indexes: list[int], value: Any) -> list[Any]:
    return [value[at] for at in indexes if isinstance(value, list) and -len(value) <= at < len(value)]


def _sliced(part: slice, value: Any) -> list[Any]:
    return value[part] if isinstance(value, list) and part.step != 0 else []


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _below(value: Any) -> Iterator[dict[str, Any]]:
    """Every mapping in a value, itself first."""
    if isinstance(value, dict):
        yield value
    for item in _children(value):
        yield from _below(item)


def _filter(key: str, sign: str | None, literal: str | None) -> Step:
    inner = compile_path(key)

    def matching(value: Any) -> list[Any]:
        items = value if isinstance(value, list) else []
        return [
            item for item in items if any(sign is None or _holds(tested, sign, literal or "") for tested in inner(item))
        ]

    return matching


def _holds(value: Any, sign: str, literal: str) -> bool:
    wanted: Any = literal[1:-1] if literal[0] in "'\"" else {"true": True, "false": False}.get(literal, literal)
    if sign in ("==", "!="):
        return (value == wanted or str(value) == wanted) is (sign == "==")
    try:
        return bool(_COMPARE[sign](float(value), float(wanted)))
    except (TypeError, ValueError):
        return False


def first(obj: Any, path: str) -> Any:
    """The first value a path finds, or None."""
    values = compile_path(path)(obj)
    return values[0] if values else None
