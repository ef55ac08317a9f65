"""What commands print reaches the terminal harmless: control characters in texts of a server or a file are shown, not
obeyed.

`main` puts a `TerminalText` before standard output and standard error, so that this holds for every command, for errors
and for log lines. Our own colours and movements are made by `painted` and `moved` and carry a mark that nobody outside
this process can know; they alone are passed on. Data as JSON or YAML has no control characters and stays as it is.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO, cast

import click

_MARK = str(10**8 + int.from_bytes(os.urandom(8), "big") % (9 * 10**8))
_OURS = f"\x1b[{_MARK};"
_CONTROL = re.compile(rf"\x1b\[{_MARK};|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def painted(text: str, colour: str | None = None, *, bold: bool = False) -> str:
    """The text in a colour, where the terminal shows any; click takes the colour out elsewhere."""
    return moved(click.style(text, fg=colour, bold=bold or None))


def moved(sequences: str) -> str:
    """Sequences of our own for the terminal (`ESC [ …`), marked as such."""
    return sequences.replace("\x1b[", _OURS)


def harmless(text: str) -> str:
    """The text with its control characters written out, but for ends of lines, tabs and sequences of our own.
    Characters that turn the direction of writing or end a line unseen count as such."""
    return _CONTROL.sub(lambda control: _written_out(control.group()), text)


def _written_out(control: str) -> str:
    if control == _OURS:
        return "\x1b["
    code = ord(control)
    if code < 0x80:
        return f"^{chr(code ^ 0x40)}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class TerminalText:
    """A stream of text on which everything written is made harmless; otherwise the stream itself."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        safe = harmless(text)
        try:
            self._stream.write(safe)
        except UnicodeEncodeError:
            code = self._stream.encoding
            self._stream.write(safe.encode(code, "backslashreplace").decode(code))
        return len(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


@contextmanager
def guarded_output() -> Iterator[None]:
    """Standard output and standard error are harmless meanwhile."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (stream and cast(TextIO, TerminalText(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
