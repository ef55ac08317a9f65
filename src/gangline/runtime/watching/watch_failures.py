"""Why a watch cannot be followed: in a word, in a sentence, and how long to wait. Pure."""

from __future__ import annotations

import logging

import msgspec

from gangline.errors import ApiError, Forbidden, Gone, NotFound, Unauthorized, Unreadable

GONE, NOT_SERVED, REFUSED, UNAVAILABLE, UNREADABLE, UNEXPECTED = (
    "gone",
    "not-served",
    "refused",
    "unavailable",
    "unreadable",
    "unexpected",
)
LATER, SHORTER = 30.0, 5.0
"""Seconds between two tries, at most; and where the server does not know the kind."""


def diagnosis(error: Exception) -> tuple[str, str, float]:
    """Why a copy cannot be followed: in a word, in a sentence, and the longest wait until the next try."""
    match error:
        case Gone():
            return GONE, f"the revision it had come to is no longer kept ({error})", LATER
        case NotFound():
            text = f"the server does not know this kind ({error}); is its CustomResourceDefinition installed?"
            return NOT_SERVED, text, SHORTER
        case Forbidden() | Unauthorized():
            return REFUSED, f"the server refuses it ({error}); the account needs the verbs list and watch", LATER
        case Unreadable():
            return UNREADABLE, str(error), LATER
        case ApiError():
            return UNAVAILABLE, str(error), LATER
        case msgspec.MsgspecError() | UnicodeDecodeError():
            return UNREADABLE, f"the server sent what is no answer to that: {error}", LATER
    return UNEXPECTED, f"{type(error).__name__}: {error}", LATER


def level_of(why: str, known: bool) -> int:
    """The log level; `known`: that the server does not serve the kind was logged before."""
    if why in (GONE, NOT_SERVED):
        return logging.DEBUG if known else logging.INFO
    return logging.ERROR if why in (UNREADABLE, UNEXPECTED) else logging.WARNING
