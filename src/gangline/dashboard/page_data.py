"""What all pages have in common as data: their base, tables that are shown a page at a time, and where the data comes
from.

Below model.py, which is what pages say. Nothing here looks at a cluster or knows HTML."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec


class PageData(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The base of everything a page says."""


T = TypeVar("T")


class Table(PageData, Generic[T], frozen=True):
    """One page of rows. `total` of them match the search; `start` come before the first one shown."""

    rows: tuple[T, ...] = ()
    total: int = 0
    start: int = 0
    size: int = 25

    @property
    def hidden(self) -> int:
        return self.total - len(self.rows)


class PageSource(PageData, frozen=True):
    """Where the data comes from, and how fresh it is."""

    server: str = ""
    version: int = 0
    """Grows with every change that pages can show; a browser asks for news since this one."""
    now: float = 0.0
    heard: float | None = None
    """When the cluster last answered; None: never yet."""
    problem: str = ""
    """Why it does not answer now."""
    reading: tuple[str, ...] = ()
    """Kinds that are being read for the first time."""
    absent: tuple[str, ...] = ()
    """Kinds that this cluster does not serve."""
    viewer: str = ""
    """Who looks, where people log in."""
    leaves: bool = False
    """They can log out here."""
    hidden: tuple[str, ...] = ()
    """Kinds that the viewer may not list."""
    troubles: tuple[str, ...] = ()
    """Kinds that cannot be read, each with the reason."""
    unseen: tuple[str, ...] = ()
    """Kinds (plural) of which the user may read nothing: none of them is not the same as none seen."""
    partly: tuple[str, ...] = ()
    """Kinds of which they may read those of one namespace."""
