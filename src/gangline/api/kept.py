"""Answers that are kept for who asks the same again, as long as the question is short.

    @kept(4096)                     like functools.lru_cache, for functions of texts and bytes
    def parsed(text: str) -> …

Texts come from callers: a cache that counts its entries alone would keep thousands of megabytes for whoever sends long
ones. Long questions are answered anew each time. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

LONGEST = 1024
"""Letters of a question that is kept."""
Function = TypeVar("Function", bound=Callable[..., Any])


def kept(count: int, longest: int = LONGEST) -> Callable[[Function], Function]:
    def around(function: Function) -> Function:
        remembered = lru_cache(maxsize=count)(function)

        @wraps(function)
        def ask(*questions: Any, **ways: Any) -> Any:
            for question in questions:
                if isinstance(question, str | bytes) and len(question) > longest:
                    return function(*questions, **ways)
            return remembered(*questions, **ways)

        return cast(Function, ask)

    return around
