"""The fast way of keeping account of fields says what the thorough one says."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.cluster.schema import builtin_schema, compile_schema
from gangline.cluster.server.patch.apply import track_update
from gangline.cluster.server.patch.ownership import track

NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"
POD = builtin_schema("core", "Pod")
DOG = compile_schema(
    {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "legs": {"type": "integer"},
                    "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                    "toys": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["name"],
                        "items": {
                            "type": "object",
                            "properties": {"name": {"type": "string"}, "price": {"type": "integer"}},
                        },
                    },
                    "home": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            },
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
)
RESET = (("status",),)

words = st.sampled_from(["a", "b", "c-d", 'e"f'])
maps = st.dictionaries(words, words, max_size=3)
meta = st.fixed_dictionaries(
    {"name": st.just("x")},
    optional={
        "labels": maps,
        "annotations": maps,
        "finalizers": st.lists(st.sampled_from(["x.io/a", "x.io/b"]), unique=True, max_size=2),
    },
)
toys = st.lists(words, unique=True, max_size=3).map(
    lambda names: [{"name": name, "price": len(name)} for name in names]
)
dogs = st.fixed_dictionaries(
    {"apiVersion": st.just("x.io/v1"), "kind": st.just("Dog"), "metadata": meta},
    optional={
        "spec": st.fixed_dictionaries(
            {},
            optional={
                "legs": st.integers(0, 4),
                "tags": st.lists(words, unique=True, max_size=3),
                "toys": toys,
                "home": st.recursive(maps, lambda inner: st.dictionaries(words, inner, max_size=2), max_leaves=4),
            },
        ),
        "status": maps,
    },
)
containers = st.lists(words, min_size=1, unique=True, max_size=3).map(
    lambda names: [{"name": name, "image": name} for name in names]
)
pods = st.fixed_dictionaries(
    {"apiVersion": st.just("v1"), "kind": st.just("Pod"), "metadata": meta},
    optional={
        "spec": st.fixed_dictionaries(
            {"containers": containers},
            optional={
                "nodeSelector": maps,
                "tolerations": st.lists(st.fixed_dictionaries({"key": words}), max_size=2),
                "schedulingGates": st.lists(words, unique=True, max_size=2).map(
                    lambda names: [{"name": name} for name in names]
                ),
            },
        )
    },
)


def same(left: dict[str, Any], right: dict[str, Any]) -> None:
    assert json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def told(text: dict[str, Any]) -> str:
    return json.dumps(text["metadata"].get("managedFields"))


@settings(max_examples=200, deadline=None)
@given(dogs, dogs, st.sampled_from(["one", "two"]))
def test_for_a_custom_resource(first: dict[str, Any], second: dict[str, Any], manager: str) -> None:
    for reset in ((), RESET):
        fast = track(None, first, "one", DOG, NOW, "", "x.io/v1", reset)
        slow = track_update(None, first, "one", DOG, NOW, "", "x.io/v1", reset)
        same(fast, slow)
        assert told(fast) == told(slow)
        again = copy.deepcopy(second)
        same(
            track(slow, again, manager, DOG, LATER, "", "x.io/v1", reset),
            track_update(slow, again, manager, DOG, LATER, "", "x.io/v1", reset),
        )


@settings(max_examples=100, deadline=None)
@given(pods, pods, st.sampled_from(["one", "two"]))
def test_for_a_pod(first: dict[str, Any], second: dict[str, Any], manager: str) -> None:
    made, changed = POD.admit(first)[0], POD.admit(second)[0]
    fast = track(None, made, "one", POD, NOW, "", "v1", RESET)
    slow = track_update(None, made, "one", POD, NOW, "", "v1", RESET)
    same(fast, slow)
    assert told(fast) == told(slow)
    same(
        track(slow, changed, manager, POD, LATER, "", "v1", RESET),
        track_update(slow, changed, manager, POD, LATER, "", "v1", RESET),
    )
