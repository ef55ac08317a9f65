"""Sets of fields, read from trees and compared with them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gangline.cluster.server.patch.apply.fieldset import FieldSet, common, decode

NAMES = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"y"'])
TREES: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.just({}),
    lambda below: st.dictionaries(NAMES, below, max_size=3).flatmap(
        lambda tree: st.sampled_from([tree, {".": {}, **tree}] if tree else [tree])
    ),
    max_leaves=12,
)


@given(TREES, TREES)
def test_what_a_tree_and_a_set_have_in_common_is_what_two_sets_have(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert common(one, decode(other)) == decode(one) & decode(other)


@given(TREES)
def test_a_set_is_true_when_it_has_a_member(tree: dict[str, Any]) -> None:
    assert bool(decode(tree)) == bool(list(decode(tree).paths()))


def test_a_field_above_owned_ones_is_not_owned_itself() -> None:
    tree: dict[str, Any] = {"f:spec": {"f:replicas": {}}, "f:data": {".": {}, "f:k": {}}}
    assert common(tree, FieldSet({"f:spec", "f:data"})).members == {"f:data"}
