"""Label selectors as kubectl writes them."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.api.selectors import FEW, equals, from_selector, print_labels
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
    long = ",".join([text, *(f"no-{number}!=a" for number in range(FEW))]).strip(",")
    assert parse_labels(long).matches(LABELS) is matches, "the same among many others"


class AskedLabels(dict[str, str]):
    """Labels that count how often they are looked at."""

    asked = 0

    def __contains__(self, key: object) -> bool:
        self.asked += 1
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.asked += 1
        return super().get(key, default)


@pytest.mark.parametrize(
    "text",
    [
        ",".join(f"k{number}!=v" for number in range(4000)),
        ",".join(f"app!=v{number}" for number in range(4000)),
        ",".join(f"tier<{number + 5}" for number in range(4000)),
        ",".join(["app", *(f"k{number}" for number in range(4000))]),
        ",".join(f"!k{number}" for number in range(4000)),
    ],
)
def test_what_a_long_selector_costs_is_in_the_number_of_labels(text: str) -> None:
    labels = AskedLabels(LABELS)
    parse_labels(text).matches(labels)
    assert labels.asked < 10


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
