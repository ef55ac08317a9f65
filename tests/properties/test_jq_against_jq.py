"""jq expressions, beside libjq."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import jq as libjq
from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.grouper.jq import JqError, compile
from properties.examples import examples
from properties.oracle import (
    Difference,
    answer,
    anywhere,
    is_whole_float,
    json_values,
    meant,
    names,
    numbers,
    plain,
    scalars,
    texts,
)

PATHS = [".", ".a", ".b", ".name", '.["x/y"]', ".[0]", ".[-1]", ".[1:]", ".[:2]", ".[]", ".[]?", ".a?", ".a.b?"]
LITERALS = ["null", "true", "false", "0", "1", "-2", "2.5", '"a"', '"b"', "[]", "{}", '[1,"a"]', '{"a":1}']
PLAIN = """length keys tostring type add sort unique flatten reverse to_entries from_entries first last min max any all
ascii_downcase ascii_upcase floor ceil abs tojson not values nulls strings numbers booleans arrays objects iterables
scalars empty tonumber trim ltrim rtrim"""
WITH_ARGUMENT = """map map_values sort_by any all min_by max_by group_by unique_by select add isempty first last has
contains inside startswith endswith split join ltrimstr rtrimstr"""
OPERATORS = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or", "//", ",", "|"]

leaves = st.sampled_from([*PATHS, *LITERALS, *PLAIN.split()])


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(
            lambda left, operator, right: f"({left}) {operator} ({right})", inner, st.sampled_from(OPERATORS), inner
        ),
        st.builds(lambda left, right: f"{left} | {right}", inner, inner),
        st.builds(lambda name, of: f"{name}({of})", st.sampled_from(WITH_ARGUMENT.split()), inner),
        st.builds(lambda of: f"[{of}]", inner),
        st.builds(lambda a, b: f'{{"a": ({a}), "b": ({b})}}', inner, inner),
        st.builds(lambda test, yes, no: f"if {test} then {yes} else {no} end", inner, inner, inner),
        st.builds(lambda of: f"try ({of}) catch 7", inner),
        st.builds(lambda of, then: f"({of}) as $x | [$x, ({then})]", inner, inner),
        st.builds(lambda of, step: f"reduce ({of}) as $x (null; [., $x, ({step})])", inner, inner),
        st.builds(lambda of: f'"<\\({of})>"', inner),
        st.builds(lambda of, at: f"({of})[{at}]?", inner, inner),
    )


expressions = st.recursive(leaves, _larger, max_leaves=6)


def _uses(word: str) -> Callable[[str, Any], bool]:
    return lambda text, value: word in text


def _complains(ask: Callable[[str, Any], Any], complaint: str, where: str) -> Callable[[str, Any], bool]:
    """Who is asked refuses with these words; or may do so unheard, where errors are swallowed."""

    def applies(text: str, value: Any) -> bool:
        if ("?" in text or "try" in text) and re.search(where, text):
            return True
        try:
            ask(text, value)
        except (JqError, ValueError) as error:
            return re.search(complaint, str(error)) is not None
        return False

    return applies


def _ours(text: str, value: Any) -> list[Any]:
    return compile(text)(value)


def _theirs(text: str, value: Any) -> Any:
    """gojq goes through objects by sorted key, libjq in the order in which they were written."""
    return _program(text).input_text(json.dumps(value, sort_keys=True)).all()


@cache
def _program(text: str) -> Any:
    return libjq.compile(text)


DIFFERENCES = [
    Difference("a Karta is read by gojq, whose abs takes numbers alone", _uses("abs")),
    Difference(
        "gojq reverses lists and null; libjq also what has the length 0",
        _complains(_ours, "an array is needed", "reverse"),
    ),
    Difference(
        "gojq looks up letters of a text by number",
        _complains(_theirs, "Cannot index string with number", r"\.\[-?[0-9]\]|\)\[|first|last"),
    ),
    Difference(
        "we multiply neither texts nor objects, as docs/compat.md says",
        _complains(_ours, "cannot multiply .*(string|object)", r"\*"),
    ),
    Difference("libjq shows 1000.0 as it was written", lambda text, value: anywhere(value, is_whole_float)),
]


@settings(max_examples=examples(200))
@given(expressions, json_values)
def test_an_expression_gives_what_jq_gives(text: str, value: Any) -> None:
    assert _ours_and_theirs_agree(text, value), text


def _ours_and_theirs_agree(text: str, value: Any) -> bool:
    """Whether both answer alike, where they are not meant to differ."""
    if meant(DIFFERENCES, text, value):
        return True
    ours, theirs = answer(lambda: _ours(text, value), JqError), answer(lambda: _theirs(text, value), ValueError)
    return bool(plain(ours) == plain(theirs))


rows = st.lists(st.dictionaries(st.sampled_from(["a", "b", "key", "name", "value"]), scalars, max_size=3), max_size=5)
FITTING: list[tuple[st.SearchStrategy[Any], str]] = [
    (rows, "sort_by(.a) group_by(.b) unique_by(.a) min_by(.b) max_by(.b) map(.a) map(has('a')) add any(.a) all(.b)"),
    (rows, "map(select(.a)) map(.a//.b) length map(keys) [limit(2;.[])] first(.[]) map(.a) nth(1) .[1:] from_entries"),
    (st.lists(scalars, max_size=6), "sort unique min max add reverse any all flatten tojson contains([1]) .-[1,null]"),
    (st.lists(scalars, max_size=6), "join(',') join('') inside([1,2]) map(tostring) map(type) map(not) tostring"),
    (st.lists(numbers, max_size=6), "add min max sort map(floor) map(ceil) map(round) map(.%3) map(-.) map(.*2)"),
    (st.lists(json_values, max_size=4), "flatten sort unique group_by(type) tojson map(scalars) first map(arrays)"),
    (st.dictionaries(names, scalars, max_size=4), "keys to_entries length add [.[]] map_values(.) map_values(empty)"),
    (st.dictionaries(names, scalars, max_size=4), "with_entries({key,value:[.value]}) has('a') any all .+{a:1} tojson"),
    (texts, "length tonumber ascii_downcase ascii_upcase split(',') split('') startswith('a') endswith('b')"),
    (texts, "test('a.*b') test('A';'i') sub('a';'x') gsub('[ab]';'x') gsub('(?<c>[ab])';'<\\(.c)>') trim ltrim"),
    (texts, "contains('a') inside('xaby') tostring .+'x' ./',' tojson ltrimstr('a') rtrimstr('b') .[1:] .[:-1]"),
    (numbers, "floor ceil round tostring tojson length .+1 .*3 ./4 .%3 .>2 .==2 -. [.,1]|max type"),
]
"""Values, and what they may be asked; ' stands for a quotation mark."""
questions = st.one_of(*(st.tuples(st.sampled_from(line.replace("'", '"').split()), values) for values, line in FITTING))


@settings(max_examples=examples(200))
@given(questions)
def test_a_function_gives_what_jq_gives_for_values_that_it_is_made_for(question: tuple[str, Any]) -> None:
    assert _ours_and_theirs_agree(*question)
