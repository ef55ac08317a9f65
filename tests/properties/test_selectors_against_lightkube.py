"""Label selectors: written by lightkube's client, read and printed by ours, and judged as the Kubernetes documentation
says. (No Python library judges them.)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from lightkube import operators
from lightkube.core.selector import build_selector

from gangline.api.selectors import from_selector, print_labels
from gangline.cluster.server.selectors import label_test, selector_test
from gangline.errors import ApiError, BadInput
from gangline.rules.selectors import parse_labels
from properties.oracle import REFUSED, answer

KEYS = ["app", "tier", "example.com/zone", "in"]
VALUES = ["", "a", "b", "1", "x_y.z", "notin"]

Labels = dict[str, str]
Sentence = tuple[str, str, list[str]]
"""A key, one of the operators of a selector object, and values."""

labels = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=4)
several = st.lists(st.sampled_from(VALUES), min_size=1, max_size=3, unique=True)
sentences = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(KEYS), st.sampled_from(["In", "NotIn"]), several),
        st.tuples(st.sampled_from(KEYS), st.sampled_from(["Exists", "DoesNotExist"]), st.just([])),
        st.tuples(st.sampled_from(KEYS), st.sampled_from(["=", "!="]), several.map(lambda values: values[:1])),
    ),
    max_size=4,
)

DOCUMENTED: dict[str, Callable[[Labels, str, list[str]], bool]] = {
    "In": lambda labels, key, values: key in labels and labels[key] in values,
    "NotIn": lambda labels, key, values: key not in labels or labels[key] not in values,
    "Exists": lambda labels, key, values: key in labels,
    "DoesNotExist": lambda labels, key, values: key not in labels,
    "=": lambda labels, key, values: labels.get(key) == values[0],
    "!=": lambda labels, key, values: labels.get(key) != values[0],
}
WRITTEN: dict[str, Callable[[list[str]], operators.Operator[Any]]] = {
    "In": operators.in_,
    "NotIn": operators.not_in,
    "Exists": lambda values: operators.exists(),
    "DoesNotExist": lambda values: operators.not_exists(),
    "=": lambda values: operators.equal(values[0]),
    "!=": lambda values: operators.not_equal(values[0]),
}


def _documented(meaning: list[Sentence], labels: Labels) -> bool:
    return all(DOCUMENTED[operator](labels, key, values) for key, operator, values in meaning)


@settings(max_examples=200)
@given(sentences, labels)
def test_a_selector_that_lightkube_writes_means_what_the_documentation_says(
    meaning: list[Sentence], labels: Labels
) -> None:
    text = build_selector([(key, WRITTEN[operator](values)) for key, operator, values in meaning])
    selector = parse_labels(text)
    served = label_test(text)
    assert selector.matches(labels) == _documented(meaning, labels), text
    assert (served is None or served(labels)) == _documented(meaning, labels), text
    assert parse_labels(print_labels(selector)) == selector


@settings(max_examples=150)
@given(sentences, labels)
def test_a_selector_object_means_what_the_documentation_says(meaning: list[Sentence], labels: Labels) -> None:
    expressions = [
        {"key": key, "operator": operator, "values": values}
        for key, operator, values in meaning
        if operator not in ("=", "!=")
    ]
    equal = {key: values[0] for key, operator, values in meaning if operator == "="}
    written = {"matchLabels": equal, "matchExpressions": expressions}
    plain = [(key, "=", [value]) for key, value in equal.items()]
    plain += [sentence for sentence in meaning if sentence[1] not in ("=", "!=")]
    assert from_selector(written).matches(labels) == _documented(plain, labels)
    assert selector_test(written)(labels) == _documented(plain, labels)


@settings(max_examples=200)
@given(st.lists(st.sampled_from(["a", "in", "notin", "b/c", "!", "=", "!=", "==", ",", "(", ")", "<", ">", "7", " "])))
def test_what_the_server_compiles_matches_as_the_selector_does(tokens: list[str]) -> None:
    text = " ".join(tokens)
    selector = answer(lambda: parse_labels(text), BadInput)
    if selector == REFUSED:
        assert answer(lambda: label_test(text), ApiError) == REFUSED, text
        return
    served = label_test(text)
    for labels in ({}, {"a": "7"}, {"a": "in", "b/c": ""}):
        assert (served is None or served(labels)) == selector.matches(labels), text


@settings(max_examples=100)
@given(st.sampled_from(["1", "-1", "+3", "1_0", "09", "x", "", "99999999999999999999"]), st.integers(0, 12))
def test_a_label_is_compared_where_go_reads_a_number(value: str, wanted: int) -> None:
    number = int(value) if value.lstrip("+-").isdigit() and len(value) < 19 else None
    for mark, above in ((">", True), ("<", False)):
        text, expected = f"a{mark}{wanted}", number is not None and number != wanted and (number > wanted) is above
        served = label_test(text)
        assert served is not None
        assert (parse_labels(text).matches({"a": value}), served({"a": value})) == (expected, expected)
