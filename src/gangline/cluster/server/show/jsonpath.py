"""The part of JSONPath that printer columns, scale paths and selectable fields use: `.a.b`, `.a\\.b`, `..b`, `.a['b']`,
`.l[0]`, `.l[*]`, `.l[-2:]`, `.l[0,2]`, `.l[?(@.type=="Ready")].status`. A path is compiled once into a function; what
it cannot reach it leaves out."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, Protocol

from gangline.api.kept import kept

MOST = 10_000
"""Values a path finds, at most."""
MOST_VISITED = 50_000
"""Values it looks at on its way, at most: `..a..a` comes by the same ones again and again."""
Step = Callable[["Visits", Any], Iterable[Any]]
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


class Visits:
    """How many values one walk may still look at."""

    def __init__(self) -> None:
        self.left = MOST_VISITED

    def each(self, values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            self.left -= 1
            if self.left < 0:
                return
            yield value


class PathFinder(Protocol):
    def __call__(self, obj: Any, visits: Visits | None = None) -> list[Any]: ...


@kept(4096)
def compile_path(path: str) -> PathFinder:
    """What finds a path's values in an object; several that share `visits` look at no more together than one."""
    steps = _steps(path)
    return lambda obj, visits=None: _walk(obj, steps, visits or Visits())


def _steps(path: str) -> list[Step]:
    text = path.strip()
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1]
    text = text.removeprefix("$")
    if text and text[0] not in ".[":
        text = "." + text
    steps: list[Step] = []
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None:
            raise BadPath(f"{path}: cannot be read from {text[position:]!r} on")
        steps.append(_step(match))
        position = match.end()
    return steps


def _walk(obj: Any, steps: list[Step], visits: Visits) -> list[Any]:
    values = [obj]
    for step in steps:
        if not values:
            break
        values = list(islice((item for value in visits.each(values) for item in step(visits, value)), MOST))
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
        return lambda visits, value: _children(value)
    return _filter(match["key"], match["operator"], match["value"])


def _field(name: str, visits: Visits, value: Any) -> list[Any]:
    return [value[name]] if isinstance(value, dict) and name in value else []


def _all_fields(name: str, visits: Visits, value: Any) -> Iterator[Any]:
    """The field, however deep it lies."""
    return (obj[name] for obj in visits.each(_below(value)) if isinstance(obj, dict) and name in obj)


def _items(indexes: list[int], visits: Visits, value: Any) -> list[Any]:
    return [value[at] for at in indexes if isinstance(value, list) and -len(value) <= at < len(value)]


def _sliced(part: slice, visits: Visits, value: Any) -> list[Any]:
    return value[part] if isinstance(value, list) and part.step != 0 else []


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _below(value: Any) -> Iterator[Any]:
    """Everything in a value, itself first."""
    levels = [iter((value,))]
    while levels:
        for item in levels[-1]:
            yield item
            if isinstance(item, dict | list):
                levels.append(iter(_children(item)))
                break
        else:
            levels.pop()


def _filter(key: str, sign: str | None, literal: str | None) -> Step:
    inner = _steps(key)

    def matching(visits: Visits, value: Any) -> Iterator[Any]:
        return (
            item
            for item in visits.each(value if isinstance(value, list) else ())
            if any(sign is None or _holds(tested, sign, literal or "") for tested in _walk(item, inner, visits))
        )

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
