"""Tokens as they lie in files, and what is said of one that cannot be used."""

from __future__ import annotations

from pathlib import Path

from gangline.errors import ConfigError


def why_not(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)) or type(error).__name__


def read_token(path: Path) -> str:
    try:
        return checked_token(path.read_text().strip(), path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the token in {path} cannot be read: {why_not(error)}") from None


def checked_token(token: str, whence: object) -> str:
    """A token goes into a header."""
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(f"{whence} holds a token with characters that no token has")
    return token
