"""JSON patch and merge patch."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.server.hypothesis_settings import patient
from gangline.cluster.server.patch.json_patch import PatchFailed, PatchTooLong, json_patch
from gangline.errors import ApiError
from gangline.rules.values.merge_patch import merge_patch

DOCUMENT = {"a": {"b": "1"}, "l": ["x", "y"], "s/t": 1}


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/a/c", "value": 2}, {"a": {"b": "1", "c": 2}}),
        ({"op": "add", "path": "/l/-", "value": "z"}, {"l": ["x", "y", "z"]}),
        ({"op": "add", "path": "/l/0", "value": "z"}, {"l": ["z", "x", "y"]}),
        ({"op": "replace", "path": "/a/b", "value": "2"}, {"a": {"b": "2"}}),
        ({"op": "remove", "path": "/l/-1"}, {"l": ["x"]}),
        ({"op": "replace", "path": "/s~1t", "value": 2}, {"s/t": 2}),
        ({"op": "copy", "from": "/a/b", "path": "/a/c"}, {"a": {"b": "1", "c": "1"}}),
        ({"op": "copy", "from": "/a/nope", "path": "/a/c"}, {"a": {"b": "1", "c": None}}),
        ({"op": "replace", "path": "/a/c", "value": 2}, {"a": {"b": "1", "c": 2}}),
        ({"op": "test", "path": "/a/nope", "value": None}, {}),
        ({"op": "add", "path": "/a/c"}, {"a": {"b": "1", "c": None}}),
    ],
)
def test_an_operation_changes_one_place(operation: dict[str, Any], expected: dict[str, Any]) -> None:
    before = copy.deepcopy(DOCUMENT)
    assert json_patch(DOCUMENT, [operation]) == {**DOCUMENT, **expected}
    assert before == DOCUMENT


def test_move_takes_a_value_along() -> None:
    assert json_patch({"a": 1}, [{"op": "move", "from": "/a", "path": "/b"}]) == {"b": 1}


def test_the_whole_document_can_be_replaced() -> None:
    assert json_patch({"a": 1}, [{"op": "replace", "path": "", "value": {"b": 2}}]) == {"b": 2}


@pytest.mark.parametrize(
    ("operation", "told"),
    [
        ({"op": "remove", "path": "/nope"}, 'remove operation does not apply: doc is missing path: "/nope"'),
        ({"op": "replace", "path": "/nope/x", "value": 1}, "replace operation does not apply"),
        ({"op": "add", "path": "/nope/x", "value": 1}, "add operation does not apply"),
        ({"op": "frob", "path": "/a"}, "Unexpected kind: frob"),
        ({"op": "add", "path": "/l/7", "value": 1}, "index 7 is out of bounds"),
        ({"op": "test", "path": "/a/b", "value": "9"}, "test failed"),
        ({"op": "move", "from": "/nope", "path": "/x"}, "move operation does not apply"),
        ({"op": "test", "path": "/a/b", "value": True}, "test failed"),
    ],
)
def test_what_cannot_be_done_is_refused(operation: dict[str, Any], told: str) -> None:
    with pytest.raises(PatchFailed) as caught:
        json_patch(DOCUMENT, [operation])
    assert told in str(caught.value) and not caught.value.malformed


def test_an_object_is_no_list_of_operations() -> None:
    with pytest.raises(PatchFailed) as caught:
        json_patch(DOCUMENT, {"op": "add"})
    assert caught.value.malformed


def test_too_many_operations_are_refused_before_the_first() -> None:
    with pytest.raises(PatchTooLong, match="The allowed maximum operations in a JSON patch is 10000, got 10001"):
        json_patch({}, [{"op": "add", "path": "/a", "value": 1}] * 10_001)


def test_a_merge_patch_merges_objects_replaces_lists_and_deletes_with_null() -> None:
    patched = merge_patch(
        {"a": {"x": 1, "y": 2}, "l": [1, 2], "z": 1}, {"a": {"x": None, "n": {"q": None}}, "l": [3], "z": "s"}
    )
    assert patched == {"a": {"y": 2, "n": {}}, "l": [3], "z": "s"}


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "0", "-"]), inner, max_size=3)
    ),
    max_leaves=8,
)
OPERATIONS = st.lists(
    st.fixed_dictionaries(
        {
            "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "x"]),
            "path": st.sampled_from(["", "/a", "/a/b", "/a/0", "/a/-", "x"]),
        },
        optional={"value": JSON, "from": st.sampled_from(["/a", "/b", "/a/0"])},
    ),
    max_size=4,
)


@patient
@given(JSON, OPERATIONS)
def test_any_patch_works_or_is_refused_and_never_touches_its_input(document: Any, operations: Any) -> None:
    before = copy.deepcopy(document)
    with contextlib.suppress(PatchFailed):
        json_patch(document, operations)
    assert document == before


@patient
@given(JSON, JSON)
def test_merging_twice_is_merging_once(document: Any, patch: Any) -> None:
    once = merge_patch(document, patch)
    assert merge_patch(once, patch) == once


@pytest.mark.parametrize(
    "operations",
    [
        [{"op": "add", "path": "/a" * depth, "value": {}} for depth in range(1, 150)],
        [{"op": "copy", "from": "/a", "path": "/a" + "/b" * (2**times)} for times in range(7)],
    ],
)
def test_no_patch_leaves_an_object_that_nests_deeper_than_any_that_is_read(operations: list[dict[str, Any]]) -> None:
    with pytest.raises(PatchFailed, match="the patch leaves an object that exceeds the max depth of 100"):
        json_patch({"a": {"b": {}}}, operations)


def test_copies_of_copies_end_where_they_would_fill_the_memory() -> None:
    doubling = [{"op": "copy", "from": "/a", "path": f"/a/{number}"} for number in range(100)]
    with pytest.raises(ApiError, match=r"increase of copy is [0-9]+, exceeding the limit 3145728") as refusal:
        json_patch({"a": {"text": "x" * 1000}}, doubling)
    assert refusal.value.code == 413
