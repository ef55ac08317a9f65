"""The part of JSONPath that printer columns, scale paths and selectable fields use: `.a.b`, `.a['b']`, `.l[0]`, `.l[*]`,
`.l[?(@.type=="Ready")].status`. A path is compiled once into a function; what it cannot reach it leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

Step = Callable[[Any], list[Any]]
_PART = re.compile(
    r"""\.(?P<name>[^.\[\]]+)|\[['"](?P<quoted>[^'"]+)['"]\]|\[(?P<index>-?\d+)\]|\[(?P<all>\*)\]"""
    r"""|\[\?\(@\.(?P<key>[^=!<>)\s]+)\s*(?P<operator>==|!=)\s*(?P<value>'[^']*'|"[^"]*"|[^)\s]+)\s*\)\]""")


class BadPath(ValueError):
    """A path this reader does not understand."""


@lru_cache(maxsize=4096)
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
    found = [obj]
    for step in steps:
        found = [item for value in found for item in step(value)]
    return found


def _step(match: re.Match[str]) -> Step:
    name = match["name"] or match["quoted"]
    if name:
        name = name.replace("\\.", ".")
        return lambda value: [value[name]] if isinstance(value, dict) and name in value else []
    if match["index"]:
        index = int(match["index"])
        return lambda value: [value[index]] if isinstance(value, list) and -len(value) <= index < len(value) else []
    if match["all"]:
        return lambda value: list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return _filter(match["key"], match["operator"] == "==", match["value"])


def _filter(key: str, equal: bool, literal: str) -> Step:
    wanted: Any = literal[1:-1] if literal[0] in "'\"" else {"true": True, "false": False}.get(literal, literal)
    inner = compile_path(key)

    def matching(value: Any) -> list[Any]:
        items = value if isinstance(value, list) else []
        return [item for item in items if any((found == wanted or str(found) == wanted) is equal for found in inner(item))]

    return matching


def first(obj: Any, path: str) -> Any:
    """The first value a path finds, or None."""
    found = compile_path(path)(obj)
    return found[0] if found else None
