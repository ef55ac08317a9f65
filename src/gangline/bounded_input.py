"""Read the files that users name (also devices, pipes and standard input): whole, but never beyond a bound.

Every command and component reads its input here. Two readers stand elsewhere: a folder of secrets has its own, and a
recording is read line by line. Nothing here knows what the content means."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import BinaryIO

from gangline.errors import BadInput

SMALL = 1024 * 1024
"""Bytes of a token, a certificate, a key, or the answer of a plug-in."""
LARGE = 64 * 1024 * 1024
"""Bytes of manifests, a trace, a nodes file, a configuration."""


def read_bytes(path: Path, limit: int) -> bytes:
    """What a file holds. OSError where it holds more than the limit, or has no end, as a device may."""
    with path.open("rb") as file:
        return _whole(file, limit)


def read_text(path: Path, limit: int = LARGE) -> str:
    """The same as text; raises OSError, and UnicodeDecodeError where the content is not UTF-8."""
    return _text(read_bytes(path, limit))


def given_text(source: str, limit: int = LARGE) -> str:
    """A file, or standard input for `-`; raises BadInput with what is wrong with it."""
    try:
        return _standard_input(limit) if source == "-" else read_text(Path(source), limit)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        shown = "standard input" if source == "-" else source
        raise BadInput(f"{shown} cannot be read: {_why(error, limit)}") from None


def _standard_input(limit: int) -> str:
    if sys.stdin is None or sys.stdin.closed:
        raise ValueError("it is closed")
    return _text(_whole(sys.stdin.buffer, limit))


def _whole(file: BinaryIO, limit: int) -> bytes:
    content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return content


def _text(content: bytes) -> str:
    """With the ends of lines as Python has them."""
    return content.decode().replace("\r\n", "\n").replace("\r", "\n")


def _why(error: Exception, limit: int) -> str:
    if isinstance(error, OSError):
        large = f"it is larger than {limit // 1024 // 1024} MiB"
        return large if error.errno == errno.EFBIG else error.strerror or str(error)
    return str(error)
