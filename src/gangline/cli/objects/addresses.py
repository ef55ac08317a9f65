"""How people name objects on a command line: `pods web-0 web-1`, or `pods/web-0 pods/web-1` as kubectl takes it, too.

Pure: words become pairs of kind and name; whether there is such an object is for the caller to ask."""

from __future__ import annotations

from collections.abc import Sequence

from gangline.errors import BadInput


def addresses(kind: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """Kind and name of each object; one pair with an empty name where only a kind is given."""
    if "/" not in kind:
        return [_checked(kind, name) for name in names] or [(kind, "")]
    return [address(word) for word in (kind, *names)]


def address(word: str) -> tuple[str, str]:
    """`pods/web-0` → its kind and its name; a word without a kind has an empty one."""
    kind, slash, name = word.rpartition("/")
    if slash and not (kind and name):
        raise BadInput(f"{word!r} names no object: write KIND NAME, or KIND/NAME")
    return _checked(kind, name)


def _checked(kind: str, name: str) -> tuple[str, str]:
    if "/" in kind or "/" in name:
        raise BadInput(f"'{kind}/{name}' names no object: write KIND NAME, or KIND/NAME")
    return kind, name
