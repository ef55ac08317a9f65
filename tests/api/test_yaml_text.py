"""What we print as YAML: the text that PyYAML writes, keys in their order, and our own reader reads it back."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as some

from gangline.api.yaml_text import yaml_documents, yaml_text
from gangline.rules.values.documents import read_documents, read_yaml

LETTERS = some.text(
    some.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters="\x7f\x85\xa0"), max_size=90
)
VALUES = some.recursive(
    some.none() | some.booleans() | some.integers(-(2**63), 2**63 - 1) | LETTERS,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(LETTERS, inner, max_size=3),
    max_leaves=12,
)


@given(VALUES)
def test_it_is_read_back_as_it_was(data: Any) -> None:
    assert read_yaml(yaml_text(data)) == data


@given(VALUES)
def test_it_reads_as_what_pyyaml_itself_writes(data: Any) -> None:
    assert yaml.safe_load(yaml_text(data)) == yaml.safe_load(yaml.safe_dump(data, sort_keys=False))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"b": 1, "a": [True, None]}, "b: 1\na:\n- true\n- null\n"),
        ({"version": "1.10", "on": "yes"}, "version: '1.10'\n'on': 'yes'\n"),
        ({"empty": {}, "none": []}, "empty: {}\nnone: []\n"),
        ({"script": "a\nb\n"}, "script: 'a\n\n  b\n\n  '\n"),
        ("Grüße", '"Gr\\xFC\\xDFe"\n'),
    ],
)
def test_keys_keep_their_order_and_texts_that_look_like_something_else_are_quoted(data: Any, text: str) -> None:
    assert yaml_text(data) == text


def test_letters_beyond_ascii_stay_as_they_are_where_people_read_them() -> None:
    assert yaml_text({"queue": "Süd"}, unicode=True) == "queue: Süd\n"


def test_long_texts_are_broken_where_the_caller_says() -> None:
    words = " ".join(["word"] * 30)
    assert max(map(len, yaml_text({"a": words}).splitlines())) <= 80 + len("word")
    assert yaml_text({"a": words}, width=200) == f"a: {words}\n"


def test_several_documents_are_kept_apart() -> None:
    text = yaml_documents([{"a": 1}, {"b": 2}])
    assert text == "a: 1\n---\nb: 2\n" and read_documents(text) == [{"a": 1}, {"b": 2}]
