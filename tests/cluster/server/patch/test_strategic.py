"""Strategic merge patch on built-in kinds."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.server.hypothesis_settings import patient
from gangline.cluster.schema import builtin_schema
from gangline.cluster.server.patch.strategic import BadDirective, strategic_merge

Obj = dict[str, Any]
POD = builtin_schema("core", "Pod")
LIVE: Obj = {
    "metadata": {"finalizers": ["x.io/a", "x.io/b"]},
    "spec": {
        "containers": [
            {
                "name": "c",
                "image": "1",
                "args": ["x"],
                "ports": [{"containerPort": 80, "name": "http"}, {"containerPort": 81}],
            },
            {"name": "d", "image": "2"},
        ],
        "imagePullSecrets": [{"name": "s1"}],
        "nodeSelector": {"a": "1"},
        "tolerations": [{"key": "t"}],
        "volumes": [{"name": "v", "emptyDir": {}}],
    },
}


def patched(patch: Obj) -> Any:
    before = copy.deepcopy(LIVE)
    result = strategic_merge(LIVE, {"spec": patch}, POD)["spec"]
    assert before == LIVE
    return result


def test_containers_merge_by_name_and_their_plain_lists_are_replaced() -> None:
    found = patched({"containers": [{"name": "c", "image": "9", "args": ["z"]}]})["containers"]
    assert (
        found[0] == {**LIVE["spec"]["containers"][0], "image": "9", "args": ["z"]}
        and found[1] == LIVE["spec"]["containers"][1]
    )


def test_a_new_item_comes_before_those_it_is_not_compared_with() -> None:
    assert patched({"imagePullSecrets": [{"name": "s2"}]})["imagePullSecrets"] == [{"name": "s2"}, {"name": "s1"}]


def test_an_item_is_deleted_by_directive_and_a_missing_one_is_no_error() -> None:
    assert [
        container["name"] for container in patched({"containers": [{"name": "d", "$patch": "delete"}]})["containers"]
    ] == ["c"]
    assert len(patched({"containers": [{"name": "zz", "$patch": "delete"}]})["containers"]) == 2


def test_a_list_or_a_map_is_replaced_by_directive() -> None:
    assert patched({"containers": [{"$patch": "replace"}, {"name": "o"}]})["containers"] == [{"name": "o"}]
    assert patched({"nodeSelector": {"$patch": "replace", "c": "3"}})["nodeSelector"] == {"c": "3"}


def test_lists_without_a_key_are_replaced() -> None:
    assert patched({"tolerations": [{"key": "u"}]})["tolerations"] == [{"key": "u"}]


def test_null_deletes_a_field() -> None:
    assert "nodeSelector" not in patched({"nodeSelector": None})


def test_retained_keys_drop_the_others() -> None:
    found = patched({"volumes": [{"name": "v", "$retainKeys": ["name", "configMap"], "configMap": {"name": "q"}}]})[
        "volumes"
    ]
    assert found == [{"name": "v", "configMap": {"name": "q"}}]


def test_an_element_order_is_followed() -> None:
    found = patched(
        {"$setElementOrder/containers": [{"name": "d"}, {"name": "c"}], "containers": [{"name": "c", "image": "n"}]}
    )
    assert [container["name"] for container in found["containers"]] == ["d", "c"]


def test_primitives_are_deleted_from_a_list() -> None:
    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["x.io/a"]}}
    assert strategic_merge(LIVE, patch, POD)["metadata"]["finalizers"] == ["x.io/b"]


@pytest.mark.parametrize(
    ("patch", "told"),
    [
        ({"containers": [{"image": "x"}]}, "map: map[image:x] does not contain declared merge key: name"),
        ({"containers": [{"name": "c", "$patch": "frob"}]}, "unknown patch type: frob in map: map[$patch:frob name:c]"),
        ({"nodeSelector": {"$patch": "frob"}}, "unknown patch type: frob in map: map[$patch:frob]"),
    ],
)
def test_a_directive_that_cannot_be_followed_is_refused(patch: Obj, told: str) -> None:
    with pytest.raises(BadDirective) as caught:
        patched(patch)
    assert str(caught.value) == told


NAMES = [
    "spec",
    "containers",
    "name",
    "image",
    "ports",
    "containerPort",
    "$patch",
    "$retainKeys",
    "$setElementOrder/containers",
    "metadata",
    "finalizers",
    "$deleteFromPrimitiveList/finalizers",
]
JSON = st.recursive(
    st.none() | st.integers() | st.sampled_from(["delete", "replace", "merge", "c", "d"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


@patient
@given(st.dictionaries(st.sampled_from(NAMES), JSON, max_size=4))
def test_any_patch_works_or_is_refused_and_leaves_the_live_object_alone(patch: Obj) -> None:
    before = copy.deepcopy((LIVE, patch))
    directed = any(name.startswith("$") for name in patch)
    untouched = {} if directed else {name: LIVE[name] for name in LIVE.keys() - patch}
    with contextlib.suppress(BadDirective):
        assert strategic_merge(LIVE, patch, POD).items() >= untouched.items()
    assert (LIVE, patch) == before
