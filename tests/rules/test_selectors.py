"""Label selectors as kubectl writes them."""

from __future__ import annotations

import pytest

from gangline.api.selectors import equals, from_selector, print_labels
from gangline.errors import BadInput
from gangline.rules.selectors import SelectorUnreadable, parse_labels

LABELS = {"app": "llm", "tier": "2", "empty": ""}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("app=llm", True),
        ("app==llm,tier", True),
        ("app!=llm", False),
        ("!other", True),
        ("!app", False),
        ("app in (llm, chat)", True),
        ("app notin (llm)", False),
        ("tier in (,2)", True),
        ("empty in (,a)", True),
        ("empty in (a,)", True),
        ("missing notin (x)", True),
        ("tier>1", True),
        ("tier<2", False),
        ("missing!=x", True),
    ],
)
def test_a_selector_matches_as_kubernetes_says(text: str, matches: bool) -> None:
    assert parse_labels(text).matches(LABELS) is matches


@pytest.mark.parametrize(
    "text",
    ["app in llm", "app in (llm", "app in (a b)", "app in ((a)", "=x,", "a=b,", "a=!", "a,,", "a b", "!", "!!", "("],
)
def test_a_broken_selector_is_refused_and_quoted(text: str) -> None:
    with pytest.raises(BadInput, match="unable to parse label selector"):
        parse_labels(text)


def test_what_is_wrong_is_said_in_the_words_of_a_kube_apiserver() -> None:
    with pytest.raises(SelectorUnreadable) as refused:
        parse_labels("tier>many")
    why = "for 'Gt', 'Lt' operators, the value must be an integer"
    assert refused.value.why == f'unable to parse requirement: values[0]: Invalid value: "many": {why}'
    assert str(refused.value) == f"unable to parse label selector 'tier>many': {refused.value.why}"


def test_printing_and_parsing_again_gives_the_same_selector() -> None:
    selector = parse_labels("a=b,c!=d,e in (f,g),!h,k,m>3")
    assert parse_labels(print_labels(selector)) == selector


def test_a_selector_object_and_its_text_agree() -> None:
    made = from_selector({"matchLabels": {"app": "llm"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]})
    assert made == parse_labels("app=llm,tier")
    assert equals({"app": "llm"}).matches(LABELS)
