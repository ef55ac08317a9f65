"""Who logged in with a browser: a random word in a cookie stands for the token, which stays here.

Bounded in number and time, and gone when the process is. Knows no request."""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict

MOST = 1000
LASTS = 12 * 3600.0


class LoginSessions:
    def __init__(self) -> None:
        self._tokens: OrderedDict[bytes, tuple[float, str]] = OrderedDict()

    def begin(self, token: str, now: float) -> str:
        """The word for the cookie."""
        word = secrets.token_urlsafe(32)
        self._tokens[_digest(word)] = now + LASTS, token
        while len(self._tokens) > MOST:
            self._tokens.popitem(last=False)
        return word

    def token(self, word: str, now: float) -> str:
        """The token that a word stands for; empty: for none."""
        ends, token = self._tokens.get(_digest(word), (0.0, ""))
        return token if ends > now else ""

    def end(self, word: str) -> None:
        self._tokens.pop(_digest(word), None)


def _digest(word: str) -> bytes:
    return hashlib.sha256(word.encode(errors="replace")).digest()
