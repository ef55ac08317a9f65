"""Quantities, beside those of the Kubernetes client for Python."""

from __future__ import annotations

from decimal import ROUND_UP, Decimal, localcontext
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from kubernetes.utils import parse_quantity

from gangline.api import resources
from properties.oracle import REFUSED, Difference, answer, meant

suffixes = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-2", "e+1"]
odd_suffixes = ["K", "ki", "mi", "i", "e", "g", "KiB", " "]
digits = st.text("0123456789", max_size=8)
quantities = st.builds(
    lambda sign, whole, dot, fraction, suffix: f"{sign}{whole}{dot}{fraction}{suffix}",
    st.sampled_from(["", "", "-", "+", "--"]),
    digits,
    st.sampled_from(["", "."]),
    digits,
    st.sampled_from(suffixes) | st.sampled_from(odd_suffixes),
)

DIFFERENCES = [
    Difference("Kubernetes has no suffix K: a thousand is k", lambda text: text.endswith("K")),
    Difference("the library lets spaces stand around a number", lambda text: text != text.strip()),
]


def _nanos(text: str) -> int:
    """Nano-units as Kubernetes rounds: away from zero."""
    with localcontext(prec=100):
        return int((parse_quantity(text) * 10**9).quantize(Decimal(1), rounding=ROUND_UP))


@settings(max_examples=300)
@given(quantities)
def test_a_quantity_is_worth_what_the_library_says(text: str) -> None:
    if not meant(DIFFERENCES, text):
        assert answer(lambda: resources.nanos(text), resources.QuantityError) == answer(
            lambda: _nanos(text), ValueError
        )


@settings(max_examples=150)
@given(quantities)
def test_the_canonical_spelling_is_worth_the_same(text: str) -> None:
    """Where it has a binary suffix, up to the largest number of 64 bits: Kubernetes stores no more."""
    written: Any = answer(lambda: resources.canonical(text), resources.QuantityError)
    if written != REFUSED:
        most = resources.MOST * resources.NANO
        assert _nanos(written) == (min(resources.nanos(text), most) if text.endswith("i") else resources.nanos(text))
        assert resources.canonical(written) == written
