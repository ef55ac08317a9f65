"""YAML and JSON are read within bounds: what a text says is what is built, and no text can ask for more."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gangline.rules.values import documents
from gangline.rules.values.documents import DEPTH, VALUES, DocumentUnreadable, read_documents, read_json, read_yaml

MERGES = "\n".join(
    ["a0: &a0 {k: v}"] + [f"a{at}: &a{at} {{<<: [{', '.join([f'*a{at - 1}'] * 9)}]}}" for at in range(1, 12)]
)
LISTS = "\n".join(["a0: &a0 [x]"] + [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]" for at in range(1, 12)])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (MERGES, "line 6: document contains excessive aliasing"),
        (LISTS, "line 6: document contains excessive aliasing"),
        (f"a: &a {'x' * 10_000}\nb: [{', '.join(['*a'] * 200)}]", "line 2: document contains excessive aliasing"),
        ("[" * 100_000, f"line 1: exceeded max depth of {DEPTH}"),
        ("\n".join(" " * at + "- " for at in range(0, 400, 2)), f"line {DEPTH + 1}: exceeded max depth of {DEPTH}"),
        (f"a: &a {'[' * 60}{']' * 60}\nb: {'[' * 60}*a{']' * 60}", f"line 2: exceeded max depth of {DEPTH}"),
        ("- a\n" * (VALUES + 1), f"line {VALUES}: document holds more than {VALUES} values"),
        ("%TAG !a! tag:b\n" * 101 + "--- c", "document declares more than 100 tags"),
        ("a: &a [*a]", "line 1: anchor 'a' value contains itself"),
        ("a: *b", "line 1: unknown anchor 'b' referenced"),
        ("<<: 3", "line 1: map merge requires map or sequence of maps as the value"),
        ("[a]: 1", "line 1: a key must be a text, not list"),
        ("a: .nan", "line 1: .nan is no number that JSON can write"),
        (
            "a: !!python/object/apply:os.system [ls]",
            "line 1: unknown tag tag:yaml.org,2002:python/object/apply:os.system",
        ),
        ("--- 1\n--- 2", "expected a single document in the stream, but found another document"),
    ],
)
def test_a_text_beyond_the_bounds_is_refused_with_its_place(text: str, told: str) -> None:
    with pytest.raises(DocumentUnreadable) as caught:
        read_yaml(text)
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}", {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}}),
        ("a: {<<: [{b: 1}, {b: 2, c: 3}]}", {"a": {"b": 1, "c": 3}}),
        ("{1: a, true: b, 1.5: c}", {"1": "a", "true": "b", "1.5": "c"}),
        (
            "[2020-01-01, 1:20, 0x1F, 017, 0b11, 1_000, 1e3, .5, ~, yes, Off, '5', !!str 5, !!float 5]",
            ["2020-01-01", "1:20", 31, 15, 3, 1000, 1000.0, 0.5, None, True, False, "5", "5", 5.0],
        ),
        ("!!binary aGk=", "hi"),
        ("", None),
        ("99999999999999999999", 1e20),
    ],
)
def test_a_text_means_what_it_means_to_kubernetes(text: str, data: Any) -> None:
    assert read_yaml(text) == data


def test_documents_of_one_text_have_one_bound_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "ALL_VALUES", 5)
    assert read_documents("--- [1]\n--- a\n") == [[1], "a"]
    for text in ("--- [1]\n--- a\n---\n", "---\n" * 6):
        with pytest.raises(DocumentUnreadable, match=r"^line \d+: documents hold more than 5 values together$"):
            read_documents(text)


def test_an_alias_is_a_copy() -> None:
    found = read_yaml("a: &x [1]\nb: *x")
    found["a"].append(2)
    assert found["b"] == [1]


def test_keys_that_stand_twice_are_told() -> None:
    told: list[str] = []
    assert read_yaml("a: 1\nb: 2\na: 3", told) == {"a": 3, "b": 2}
    assert told == ['line 3: key "a" already set in map']


def test_a_text_may_hold_several_documents() -> None:
    assert read_documents("a: 1\n---\n---\nb: 2") == [{"a": 1}, None, {"b": 2}]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"[" * 100_000, f"exceeded max depth of {DEPTH}"),
        (b"[" * 200 + b"]" * 200, f"exceeded max depth of {DEPTH}"),
        (b"[" + b"1," * VALUES + b"1]", f"document holds more than {VALUES} values"),
        (b"", "unexpected end of JSON input"),
        (b'"\xff"', "invalid UTF-8 in the text"),
        (b"9" * 5000, "Integer value out of range"),
        (b"{", "unexpected end of JSON input"),
    ],
)
def test_json_beyond_the_bounds_is_refused(body: bytes, told: str) -> None:
    with pytest.raises(DocumentUnreadable) as caught:
        read_json(body)
    assert str(caught.value) == told


def test_marks_inside_texts_do_not_count() -> None:
    assert read_json(b'["' + b"[{," * VALUES + b'"]') == ["[{," * VALUES]


def test_python_alone_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_Loader", yaml.SafeLoader)
    assert read_yaml("a: &x {b: 1}\nd: {<<: *x, c: '3'}") == {"a": {"b": 1}, "d": {"b": 1, "c": "3"}}
    with pytest.raises(DocumentUnreadable, match="exceeded max depth"):
        read_yaml("[" * 500)


def test_a_number_of_a_million_digits_is_text_that_no_pattern_is_tried_on() -> None:
    text = "1" + "_" * 1_000_000 + "1x"
    assert read_yaml(f"a: {text}") == {"a": text}
