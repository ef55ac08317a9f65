"""The small path language of the recorded cases, and their placeholders.

`a.b`, list index `a.0`, `a[*]`, `a[field=value]` (`/` nests inside the brackets), `#keys`, `#len`, `~` for a dot inside
a key; `<ns>`, `{{steps.N.body.a.b}}` and `<repeat:x:N>` in requests."""

from __future__ import annotations

import re
from typing import Any

_REFERENCE = re.compile(r"\{\{steps\.([^}]+)\}\}")
_REPEAT = re.compile(r"<repeat:(.):(\d+)>")
_SEGMENT = re.compile(r"([^.\[\]]*)(?:\[([^\]]*)\])?")


def pick(body: Any, path: str) -> Any:
    """One path's value: a list once the path has passed `[*]`, else a single value or None."""
    found, many = [body], False
    for key, bracket in _segments(path):
        found = [step for value in found for step in _into(value, key)]
        if bracket == "*":
            many = True
            found = [item for value in found for item in value or []]
        elif bracket:
            found = [item for value in found for item in value or [] if _matches(item, bracket)]
    if many:
        return found
    return found[0] if found else None


def _segments(path: str) -> list[tuple[str, str]]:
    return [(match.group(1), match.group(2) or "") for match in _SEGMENT.finditer(path) if match.group(0)]


def _into(value: Any, key: str) -> list[Any]:
    if not key:
        return [value]
    if key == "#keys":
        return [sorted(value) if isinstance(value, dict) else None]
    if key == "#len":
        return [None if value is None else len(value)]
    if isinstance(value, list):
        return [value[int(key)] if key.isdigit() and int(key) < len(value) else None]
    return [value.get(key.replace("~", ".")) if isinstance(value, dict) else None]


def _matches(item: Any, condition: str) -> bool:
    path, wanted = condition.split("=", 1)
    for key in path.split("/"):
        item = item.get(key) if isinstance(item, dict) else None
    return str(item) == wanted


def fill(value: Any, namespace: str, done: list[Any]) -> Any:
    """A request with its placeholders replaced; `done` are the raw results so far."""
    if isinstance(value, str):
        whole = _REFERENCE.fullmatch(value)
        if whole:
            return _walk(done, whole.group(1))
        value = _REFERENCE.sub(lambda match: str(_walk(done, match.group(1))), value)
        value = _REPEAT.sub(lambda match: match.group(1) * int(match.group(2)), value)
        return value.replace("<ns>", namespace)
    if isinstance(value, list):
        return [fill(item, namespace, done) for item in value]
    if isinstance(value, dict):
        return {key.replace("<ns>", namespace): fill(item, namespace, done) for key, item in value.items()}
    return value


def _walk(value: Any, path: str) -> Any:
    for key in path.split("."):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value
