"""How a problem is worded: its path, what is wrong with it, and the value as a person wrote it."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.rules.values import problems as say


@pytest.mark.parametrize(
    ("value", "text"), [(3.0, "3"), (-2, "-2"), (1.5, "1.5"), (1e20, "1" + "0" * 20), (1e21, "1e+21"), (0.1, "0.1")]
)
def test_a_number_has_no_needless_fraction(value: float, text: str) -> None:
    assert say.number(value) == text


@pytest.mark.parametrize(
    ("value", "shown"), [("a", '"a"'), (5, "5"), (True, "true"), ({"b": 1, "a": "<"}, '{"a":"\\u003c","b":1}')]
)
def test_a_value_is_shown_as_json_has_it(value: Any, shown: str) -> None:
    assert say.invalid("spec.x", value, "must fit").message == f"Invalid value: {shown}: must fit"
