"""In which version the body of a record is kept, where a conversion webhook makes that matter.

A body has neither apiVersion nor kind. One of a definition with a conversion webhook begins with the apiVersion that it
was stored in, because the storage version may change while older objects stay as they are. Pure."""

from __future__ import annotations

_BEGIN = b'{"apiVersion":"'


def version_of(body: bytes, otherwise: str) -> str:
    """The version that a body is marked with."""
    if not body.startswith(_BEGIN):
        return otherwise
    return body[len(_BEGIN) : body.index(b'"', len(_BEGIN))].decode().rpartition("/")[2]


def unmarked(body: bytes) -> bytes:
    return b"{" + body[body.index(b",") + 1 :] if body.startswith(_BEGIN) else body
