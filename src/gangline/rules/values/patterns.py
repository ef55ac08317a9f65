"""Regular expressions as the real server reads them: RE2, by its own library, with Go's words for what is wrong.

    compile_pattern(text) -> Pattern        raises BadPattern
    pattern.found(value) -> bool            whether it occurs
    pattern.each(value) -> matches          for those who need what was found
    pattern.steps(value) -> steps           what a search takes at worst, for those who count
    worked_out(text) -> Pattern, steps      the pattern, and what it took to have it

Time grows only with the text, and a search that could take longer than a moment is refused. The size of a program and
how many are kept are bounded. Patterns of custom resources, CEL's `matches` and jq's `test` all come here; nobody else
compiles a text that a user wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import re2  # type: ignore[import-untyped]

from gangline.errors import GanglineError

MEMORY = 4 * 2**20
"""Bytes a program and what it remembers of its searches may take."""
LONGEST = 64 * 2**10
"""Letters of an expression: what is longer takes too long to compile."""
KEPT = 128
STEPS = 128_000_000
"""Letters times instructions of one search, at most: about a second, for the few patterns that are as slow as that."""
PER_STEP = 128
"""Letters times instructions that are one step, for those who count them: about a microsecond."""
COMPILED, COMPILED_PER_STEP = 20, 2
"""Steps of compiling anything, and instructions that are compiled in another."""
SEARCHES = 4
"""How many times as much all matches of a text may take."""
_GO = {
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "bad repetition operator": "invalid nested repetition operator",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "unexpected )": "unexpected )",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid escape sequence": "invalid escape sequence",
    "invalid character class range": "invalid character class range",
    "invalid character class": "invalid character class",
    "invalid named capture group": "invalid named capture",
    "invalid UTF-8": "invalid UTF-8",
}
_BYTE = re.compile(r"(?:[^\\]|\\[^C])*+(\\C)", re.DOTALL)
"""What RE2 knows and Go does not: any one byte."""


SHORT, KNOWN = 40, 200
"""Letters of a text whose answer is kept, and how many of them at a time."""


class BadPattern(GanglineError):
    """The expression cannot be compiled, or not be searched for; the text is what the server's own engine would say."""


class Pattern:
    def __init__(self, text: str) -> None:
        self._text = text
        self._program = _program(text, groups=False)
        self._with_groups: Any = None
        self._known: dict[str, bool] = {}
        """Answers about short texts, which come again and again: names, amounts, times."""

    def found(self, value: str) -> bool:
        known = self._known.get(value)
        return self._search(value) if known is None else known

    def _search(self, value: str) -> bool:
        self._check(value, self._program)
        answer = self._program.search(value) is not None
        if len(value) <= SHORT:
            if len(self._known) >= KNOWN:
                self._known.clear()
            self._known[value] = answer
        return answer

    def steps(self, value: str) -> int:
        """Of one search, at worst; none where the answer is known."""
        return 0 if value in self._known else 1 + len(value) * self.size // PER_STEP

    @property
    def size(self) -> int:
        """Instructions of the program."""
        return int(self._program.programsize)

    def each(self, value: str) -> Iterator[Any]:
        """Every match, from left to right; each has `group()`, `groupdict()`, `start()` and `end()`, as Python's
        have."""
        if self._with_groups is None:
            self._with_groups = _program(self._text, groups=True)
        self._check(value, self._with_groups)
        return self._counted(value, self._with_groups)

    def _counted(self, value: str, program: Any) -> Iterator[Any]:
        """Each match was a search to the end, at worst."""
        spent = 0
        for match in program.finditer(value):
            yield match
            spent += (len(value) - match.end()) * program.programsize
            if spent > SEARCHES * STEPS:
                raise self._too_large(value)

    def _check(self, value: str, program: Any) -> None:
        if len(value) * program.programsize > STEPS:
            raise self._too_large(value)

    def _too_large(self, value: str) -> BadPattern:
        return BadPattern(f"expression too large for a text of {len(value)} letters: `{_shown(self._text)}`")


def _program(text: str, groups: bool) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY
    options.never_capture = not groups
    if len(text) > LONGEST:
        raise BadPattern("error parsing regexp: expression too large")
    if byte := _BYTE.match(text):
        raise BadPattern(f"error parsing regexp: invalid escape sequence: `{byte[1]}`")
    try:
        return re2.compile(text, options)
    except UnicodeEncodeError:
        raise BadPattern("error parsing regexp: invalid UTF-8: ``") from None
    except re2.error as error:
        raise BadPattern(f"error parsing regexp: {_in_go(error.args[0].decode('utf-8', 'replace'))}") from None


def _in_go(message: str) -> str:
    if message.startswith("pattern too large"):
        return "expression too large"
    if message.startswith("trailing \\"):
        return "trailing backslash at end of expression: ``"
    what, _, where = message.partition(": ")
    return f"{_GO.get(what, what)}: `{where}`"


def _shown(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]} ..."


_kept: dict[str, Pattern] = {}


def compile_pattern(text: str) -> Pattern:
    return worked_out(text)[0]


def worked_out(text: str) -> tuple[Pattern, int]:
    """The pattern, and the steps that it took to have it: none where it was kept."""
    pattern = _kept.get(text)
    if pattern is not None:
        return pattern, 0
    pattern = Pattern(text)
    if len(_kept) >= KEPT:
        del _kept[next(iter(_kept))]
    _kept[text] = pattern
    return pattern, COMPILED + pattern.size // COMPILED_PER_STEP
