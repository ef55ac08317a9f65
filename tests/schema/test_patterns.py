"""Patterns mean what they mean to the real server's engine; formats are checked or only hints."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apiserver.hypothesis_settings import patient
from gangline.schema.formats import FORMATS
from gangline.schema.linear import Linear, Unsuited, risky
from gangline.schema.patterns import BadPattern, compile_pattern, finder


@pytest.mark.parametrize(("pattern", "text", "found"), [
    ("^a$", "a", True), ("^a$", "a\n", False), (r"\Aa\z", "a", True), ("[[:digit:]]+", "x1", True), (r"^\d$", "٣", False),
    (r"\Qa.b\E", "a.b", True), (r"\Qa.b\E", "axb", False), ("[]a]", "]", True), ("(?i)ABC", "abc", True), (r"^\pL$", "é", False),
])
def test_a_pattern_finds(pattern: str, text: str, found: bool) -> None:
    assert bool(compile_pattern(pattern).search(text)) is found


@pytest.mark.parametrize(("pattern", "told"), [
    ("[", "missing closing ]: `[`"), ("(", "missing closing ): `(`"), ("(?=x)", "invalid or unsupported Perl syntax: `(?=`"),
    (r"(a)\1", "invalid escape sequence: `\\1`"), ("*a", "missing argument to repetition operator"),
])
def test_a_bad_pattern_is_named(pattern: str, told: str) -> None:
    with pytest.raises(BadPattern) as caught:
        compile_pattern(pattern)
    assert told in str(caught.value)


@pytest.mark.parametrize(("name", "good", "bad"), [
    ("byte", "YWJj", "***"), ("cidr", "10.0.0.0/8", "10.0.0.0"), ("date", "2020-01-01", "01/01/2020"),
    ("date-time", "2020-01-01T00:00:00Z", "yesterday"), ("duration", "1h5m", "soon"), ("email", "a@b.co", "nope"),
    ("hostname", "example.com", "-a-"), ("ipv4", "1.2.3.4", "::1"), ("ipv6", "::1", "1.2.3.4"), ("mac", "01:23:45:67:89:ab", "01:23"),
    ("uri", "http://x/y", "::"), ("uuid", "a8098c1a-f86e-11da-bd1a-00112444be1e", "x"), ("k8s-short-name", "a-b", "a.b"),
    ("k8s-long-name", "a.b", "A_b"), ("isbn", "978-0-306-40615-7", "978-0-306-40615-8"), ("hexcolor", "#ff0000", "red"),
])
def test_a_format_is_checked(name: str, good: str, bad: str) -> None:
    assert FORMATS[name](good) and not FORMATS[name](bad)


@patient
@given(st.text(max_size=20))
def test_any_text_is_a_pattern_or_a_bad_one(text: str) -> None:
    with contextlib.suppress(BadPattern):
        compile_pattern(text)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|a)*(a|b)*c$", "^(([a-z])+.)+[A-Z]([a-z])+$", "^([0-9]+(,[0-9]*)*)*$"])
def test_a_pattern_that_could_backtrack_without_end_does_not(pattern: str) -> None:
    assert finder(pattern)("a" * 5000 + "!") is False


def test_one_endless_repeat_alone_is_not_risky() -> None:
    assert risky(compile_pattern("^(a+)+$")) and not risky(compile_pattern("^[a-z]+(-[a-z])?$"))


PIECES = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", "(a|b)", "(ab)+", "(a*b)*", "a{1,2}", "b?", "^", "$", r"\d", "[a-c1]*", "|",
    "(a+)+"])


@patient
@given(st.lists(PIECES, min_size=1, max_size=5), st.text("abc1\n", max_size=6))
def test_both_engines_agree(pieces: list[str], text: str) -> None:
    try:
        pattern = compile_pattern("".join(pieces))
        linear = Linear(pattern)
    except (BadPattern, Unsuited):
        return
    assert linear.found(text) is (pattern.search(text) is not None)
