"""Tokens and other small files that a kubeconfig names, and the error for one that cannot be used."""

from __future__ import annotations

from pathlib import Path

from gangline.bounded_input import SMALL, read_bytes
from gangline.errors import ConfigError


def why_not(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)) or type(error).__name__


def read_token(path: Path) -> str:
    try:
        return checked_token(read_bytes(path, SMALL).decode().strip(), path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the token in {path} cannot be read: {why_not(error)}") from None


def checked_token(token: str, whence: object) -> str:
    """A token goes into a header."""
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(f"{whence} holds a token with characters that no token has")
    return token
