"""The head of an answer, as text: status line, headers, warnings.

connection.py writes it before the body. Nothing here knows connections or what was asked.
"""

from __future__ import annotations

import time
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from itertools import accumulate

from gangline.client.wire import Response

WARNINGS, WARNING = 4096, 256
"""Characters of all warnings of an answer; of one, where they are more."""


@lru_cache(maxsize=64)
def _beginning(status: int, private: bool) -> str:
    """The status line, and that nobody on the way may keep the answer, unless it says itself who may."""
    try:
        line = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
    except ValueError:
        line = f"HTTP/1.1 {status} Status\r\n"
    return f"{line}Cache-Control: no-cache, private\r\n" if private else line


@lru_cache(maxsize=2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)


def print_head(response: Response, stays: bool) -> bytes:
    """Everything above the body of an answer."""
    parts = [_beginning(response.status, "Cache-Control" not in response.headers)]
    if response.content_type:
        parts.append(f"Content-Type: {response.content_type}\r\n")
    parts += [f"{name}: {_one_line(value)}\r\n" for name, value in response.headers.items()]
    parts += [f'Warning: 299 - "{_quoted(text)}"\r\n' for text in _bounded(response.warnings) if text.isprintable()]
    framed = "Transfer-Encoding: chunked" if response.stream is not None else f"Content-Length: {len(response.body)}"
    end = "\r\n\r\n" if stays else "\r\nConnection: close\r\n\r\n"
    parts.append(f"{framed}\r\nDate: {_date(int(time.time()))}{end}")
    return "".join(parts).encode(errors="replace")


def _bounded(warnings: tuple[str, ...]) -> list[str]:
    """Warnings that are long together are cut, and sent as far as they fit: a client reads a head of a few kilobytes
    only."""
    if sum(map(len, warnings)) <= WARNINGS:
        return list(warnings)
    cut = [text[:WARNING] for text in warnings]
    return [text for text, total in zip(cut, accumulate(map(len, cut)), strict=True) if total <= WARNINGS]


def _one_line(text: str) -> str:
    return text if text.isprintable() else " ".join(text.split())


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"') if "\\" in text or '"' in text else text
