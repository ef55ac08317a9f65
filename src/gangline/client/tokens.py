"""Tokens and other small files that a kubeconfig names, and what is said of one that cannot be used."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from gangline.errors import ConfigError


def why_not(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)) or type(error).__name__


SMALL = 1024 * 1024
"""Bytes of a token, a certificate, a key, or the answer of a plug-in."""


def read_small(path: Path, limit: int = SMALL) -> bytes:
    """What a file holds; one without end, as a device may be, is an OSError."""
    with path.open("rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return content


def read_token(path: Path) -> str:
    try:
        return checked_token(read_small(path).decode().strip(), path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the token in {path} cannot be read: {why_not(error)}") from None


def checked_token(token: str, whence: object) -> str:
    """A token goes into a header."""
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(f"{whence} holds a token with characters that no token has")
    return token
