"""HTML as values: what is not `Html` already is escaped, always.

The bottom of the writing half: parts.py and views.py build pages from `tag` and nothing else, so nothing from a cluster
reaches a page unescaped. Knows no page. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

VOID = frozenset({"meta", "link", "input", "br", "rect", "line", "wbr"})


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def text(value: object) -> Html:
    return value if isinstance(value, Html) else Html(escape(str(value)))


def join(parts: Iterable[object], between: str = "") -> Html:
    """One after the other; None is left out."""
    return Html(text(between).join([text(part) for part in parts if part is not None]))


def tag(name: str, /, *inside: object, **attributes: object) -> Html:
    """`tag("a", "here", href="/x")`. An attribute that is None or False is left out, `class_` is class, other
    underscores are dashes."""
    given = "".join(
        [_attribute(key, value) for key, value in attributes.items() if value is not None and value is not False]
    )
    if name in VOID:
        return Html(f"<{name}{given}>" if name not in ("rect", "line") else f"<{name}{given}/>")
    return Html(f"<{name}{given}>{join(inside)}</{name}>")


def _attribute(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
