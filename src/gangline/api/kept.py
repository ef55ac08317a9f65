"""Answers that are kept for who asks the same again, as long as the question is short.

    @kept(4096)                     like functools.lru_cache, for a function of one text
    def parsed(text: str) -> …

    @kept_pairs(4096)               for a function of two, by position
    def parsed(kind: Kind, text: str) -> …

Texts come from callers: a cache that counts its entries alone would keep thousands of megabytes for whoever sends long
ones. Long questions are answered anew each time. A dictionary that answers what it lacks makes a known answer as cheap
as a look into it; when it is full it begins anew. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

LONGEST = 1024
"""Letters of a question that is kept."""
Function = TypeVar("Function", bound=Callable[..., Any])


class _Answers(dict[Any, Any]):
    """Question → answer; what is asked for the first time is worked out."""

    __slots__ = ("_count", "_longest", "_work_out")

    def __init__(self, work_out: Callable[[Any], Any], count: int, longest: int) -> None:
        super().__init__()
        self._work_out, self._count, self._longest = work_out, count, longest

    def __missing__(self, question: Any) -> Any:
        answer = self._work_out(question)
        if self._length(question) <= self._longest:
            if len(self) >= self._count:
                self.clear()
            self[question] = answer
        return answer

    def _length(self, question: Any) -> int:
        return len(question)


class _PairAnswers(_Answers):
    __slots__ = ()

    def _length(self, question: tuple[Any, Any]) -> int:
        return sum(len(part) for part in question if isinstance(part, str | bytes))


def kept(count: int, longest: int = LONGEST) -> Callable[[Function], Function]:
    def around(function: Function) -> Function:
        return cast(Function, _Answers(function, count, longest).__getitem__)

    return around


def kept_pairs(count: int, longest: int = LONGEST) -> Callable[[Function], Function]:
    def around(function: Function) -> Function:
        answers = _PairAnswers(lambda pair: function(*pair), count, longest)

        def ask(about: Any, text: Any) -> Any:
            return answers[about, text]

        return cast(Function, ask)

    return around
