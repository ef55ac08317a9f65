"""Patterns mean what they mean to the real server's engine; formats are checked or only hints."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.server.hypothesis_settings import patient
from gangline.rules.values.formats import FORMATS
from gangline.rules.values.patterns import KEPT, BadPattern, compile_pattern, worked_out


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("^a$", "a", True),
        ("^a$", "a\n", False),
        (r"\Aa\z", "a", True),
        ("[[:digit:]]+", "x1", True),
        (r"^\d$", "٣", False),
        (r"\Qa.b\E", "a.b", True),
        (r"\Qa.b\E", "axb", False),
        ("[]a]", "]", True),
        ("(?i)ABC", "abc", True),
        (r"^\pL$", "é", True),
        (r"\w", "é", False),
        (r"^(?s).$", "\n", True),
        (r"^.$", "\n", False),
    ],
)
def test_a_pattern_finds(pattern: str, text: str, found: bool) -> None:
    assert compile_pattern(pattern).found(text) is found


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("[", "missing closing ]: `[`"),
        ("(", "missing closing ): `(`"),
        ("(?=x)", "invalid or unsupported Perl syntax: `(?=`"),
        (r"(a)\1", "invalid escape sequence: `\\1`"),
        ("*a", "missing argument to repetition operator"),
    ],
)
def test_a_bad_pattern_is_named(pattern: str, told: str) -> None:
    with pytest.raises(BadPattern) as caught:
        compile_pattern(pattern)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("byte", "YWJj", "***"),
        ("cidr", "10.0.0.0/8", "10.0.0.0"),
        ("date", "2020-01-01", "01/01/2020"),
        ("date-time", "2020-01-01T00:00:00Z", "yesterday"),
        ("duration", "1h5m", "soon"),
        ("email", "a@b.co", "nope"),
        ("hostname", "example.com", "-a-"),
        ("ipv4", "1.2.3.4", "::1"),
        ("ipv6", "::1", "1.2.3.4"),
        ("mac", "01:23:45:67:89:ab", "01:23"),
        ("uri", "http://x/y", "::"),
        ("uuid", "a8098c1a-f86e-11da-bd1a-00112444be1e", "x"),
        ("k8s-short-name", "a-b", "a.b"),
        ("k8s-long-name", "a.b", "A_b"),
        ("isbn", "978-0-306-40615-7", "978-0-306-40615-8"),
        ("hexcolor", "#ff0000", "red"),
    ],
)
def test_a_format_is_checked(name: str, good: str, bad: str) -> None:
    assert FORMATS[name](good) and not FORMATS[name](bad)


@patient
@given(st.text(max_size=20))
def test_any_text_is_a_pattern_or_a_bad_one_and_quoted_it_finds_itself(text: str) -> None:
    with contextlib.suppress(BadPattern):
        assert compile_pattern(f"(?:{text})|").found("")
    assert compile_pattern("^" + re.escape(text) + "$").found(text)


SLOW = (
    "^(a+)+$",
    "(a|a)*(a|b)*c$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "^([0-9]+(,[0-9]*)*)*$",
    "^(a|b|ab){1,60}c$",
    r"^(a+)+\b$",
    "(?i)(a+)+$",
    "(?s)(a+)+$",
    r"\b(a+)+$",
    "(a|b)*a(a|b){1000}$",
)


@pytest.mark.parametrize("pattern", SLOW)
def test_a_pattern_that_could_backtrack_without_end_does_not(pattern: str) -> None:
    assert compile_pattern(pattern).found("a" * 500 + "!") is False
    assert compile_pattern(pattern).found("ab" * 50_000 + "!") is False


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("^((a{1,80}){1,80})+$", "error parsing regexp: invalid repeat count: `{1,80}`"),
        ("a{1001}", "error parsing regexp: invalid repeat count: `{1001}`"),
        ("(?:\\pL{999}){1}" * 40, "error parsing regexp: expression too large"),
        ("a" * 2_000_000, "error parsing regexp: expression too large"),
        ("a\\", "error parsing regexp: trailing backslash at end of expression: ``"),
        (r"\C", r"error parsing regexp: invalid escape sequence: `\C`"),
        ("a**", "error parsing regexp: invalid nested repetition operator: `**`"),
        ("[z-a]", "error parsing regexp: invalid character class range: `z-a`"),
        (")", "error parsing regexp: unexpected ): `)`"),
        ("(?P<n", "error parsing regexp: invalid named capture: `(?P<n`"),
        ("\ud800", "error parsing regexp: invalid UTF-8: ``"),
    ],
)
def test_what_goes_would_not_compile_is_refused_in_its_words(pattern: str, told: str) -> None:
    with pytest.raises(BadPattern) as caught:
        compile_pattern(pattern)
    assert str(caught.value) == told


def test_a_search_that_could_take_seconds_is_refused() -> None:
    with pytest.raises(BadPattern) as caught:
        compile_pattern("(a|b)*a(a|b){1000}c").found("ab" * 500_000)
    assert str(caught.value) == "expression too large for a text of 1000000 letters: `(a|b)*a(a|b){1000}c`"


def test_only_so_many_patterns_are_kept() -> None:
    for number in range(2 * KEPT):
        compile_pattern(f"a{number}")
    assert [worked_out(f"a{number}")[1] for number in range(KEPT, 2 * KEPT)] == [0] * KEPT
    assert worked_out("a0")[1] > 0


def test_what_a_search_takes_grows_with_the_program_and_not_with_the_letters_of_the_expression() -> None:
    long, short = compile_pattern("(a|b){999}c"), compile_pattern("abababababc")
    assert long.steps("x" * 1000) > 50 * short.steps("x" * 1000)
    assert short.found("known") is False and short.steps("known") == 0


def test_an_expression_of_a_hundred_thousand_alternatives_is_too_large_to_compile() -> None:
    with pytest.raises(BadPattern, match="expression too large"):
        compile_pattern("|".join(map(str, range(100_000))))
