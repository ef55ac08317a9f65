"""CEL text as tokens, and its literals as values.

First step before syntax.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gangline.rules.cel.tree import CelSyntaxError

Fault = Callable[[str, int], CelSyntaxError]
"""Makes an error of what is wrong, and of where."""
LONGEST = 100_000
"""Letters of an expression, at most."""


_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\n\f]+|//[^\n]*)
  | (?P<string>[rR]?(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
  | (?P<bytes>(?:[bB][rR]?|[rR][bB])(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
  | (?P<float>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
  | (?P<number>0[xX][0-9a-fA-F]+[uU]?|\d+[uU]?)
  | (?P<quoted>`[A-Za-z0-9_./ -]+`)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<mark>\[\?|\.\?|&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]{}])
""",
    re.VERBOSE | re.DOTALL,
)


_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "`": "`",
    "?": "?",
}


def tokens_of(text: str) -> list[tuple[str, str, int]]:
    tokens: list[tuple[str, str, int]] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CelSyntaxError(f"Syntax error: token recognition error at: '{text[at]}'", at, text)
        form = match.lastgroup or ""
        if form != "space":
            tokens.append((form, match.group(), at))
        at = match.end()
    tokens.append(("end", "", at))
    return tokens


def _letter(number: int, fault: Fault, at: int) -> str:
    if number > 0x10FFFF or 0xD800 <= number < 0xE000:
        raise fault("Syntax error: invalid unicode code point", at)
    return chr(number)


def unquoted(word: str, fault: Fault, at: int) -> str:
    raw = word[0] in "rR"
    body = word[1:] if raw else word
    quotes = 3 if body[:3] in ('"""', "'''") else 1
    inner = body[quotes:-quotes]
    if raw:
        return inner

    def replace(match: re.Match[str]) -> str:
        code = match.group(1)
        if code[0] in "xXuU" and len(code) > 1:
            return _letter(int(code[1:], 16), fault, at)
        if code[0] in "0123":
            return chr(int(code, 8))
        if code not in _ESCAPES:
            raise fault(f"Syntax error: invalid escape sequence '\\{code}'", at)
        return _ESCAPES[code]

    return re.sub(
        r"\\([xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", replace, inner, flags=re.DOTALL
    )
