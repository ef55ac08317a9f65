"""The few facts that pages need of each object, kept beside the informer's copy: no page reads every object anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from gangline.api.meta import Object
from gangline.runtime import Key, key_of
from gangline.runtime.watching.informer import Informer

T = TypeVar("T", bound=Object)
Fact = TypeVar("Fact")


class ObjectFacts(Generic[T, Fact]):
    """One fact per object of a kind, made anew when the object changes."""

    def __init__(self, informer: Informer[T], made: Callable[[T], Fact]) -> None:
        self._made = made
        self._facts: dict[Key, Fact] = {}
        informer.on_change(self._changed)

    def _changed(self, before: T | None, after: T | None) -> None:
        if after is not None:
            self._facts[key_of(after)] = self._made(after)
        elif before is not None:
            self._facts.pop(key_of(before), None)

    def all(self) -> list[Fact]:
        return list(self._facts.values())
