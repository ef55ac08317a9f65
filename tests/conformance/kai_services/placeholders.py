"""UIDs in the recorded cases have names: `<uid:Job/train>`, `<uid:Job/train#2>` for one that was made again.

Turns named UIDs into the ones our server gave, and back, in any part of an object. Nothing here knows kinds.
"""

from __future__ import annotations

import re
from typing import Any

_NAMED = re.compile(r"<uid:[^>]+>")


class Uids:
    def __init__(self) -> None:
        self._real: dict[str, str] = {}

    def learn(self, kind: str, name: str, uid: str) -> None:
        """An object was created."""
        label, count = f"{kind}/{name}", 1
        while self._token(label, count) in self._real:
            count += 1
        self._real[self._token(label, count)] = uid

    @staticmethod
    def _token(label: str, count: int) -> str:
        return f"<uid:{label}>" if count == 1 else f"<uid:{label}#{count}>"

    def real(self, value: Any) -> Any:
        """With our UIDs in place of the names."""
        return _replace(value, lambda text: _NAMED.sub(lambda found: self._real.get(found[0], found[0]), text))

    def named(self, value: Any) -> Any:
        """With names in place of our UIDs."""
        return _replace(value, self._name)

    def _name(self, text: str) -> str:
        for token, uid in self._real.items():
            text = text.replace(uid, token)
        return text


def _replace(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _replace(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace(item, change) for item in value]
    return value


def difference(expected: Any, found: Any, path: str = "") -> str:
    """The first place where two values differ, for people; empty when they are equal."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted(expected.keys() | found.keys()):
            if key not in found or key not in expected:
                which = "missing" if key not in found else "not expected"
                return f"{path}.{key} is {which}: {expected.get(key, found.get(key))!r}"
            deeper = difference(expected[key], found[key], f"{path}.{key}")
            if deeper:
                return deeper
        return ""
    if isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            return f"{path}: {len(expected)} expected, {len(found)} found: {_names(expected)} / {_names(found)}"
        pairs = enumerate(zip(expected, found, strict=True))
        return next((text for at, (one, other) in pairs if (text := difference(one, other, f"{path}[{at}]"))), "")
    return (
        "" if expected == found and type(expected) is type(found) else f"{path}: {expected!r} expected, {found!r} found"
    )


def _names(items: list[Any]) -> list[Any]:
    return [item.get("name", item) if isinstance(item, dict) else item for item in items]
