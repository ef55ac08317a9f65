"""Custom resources: what is kept, filled in and refused, in the words of the real server."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.server.hypothesis_settings import patient
from gangline.cluster.schema import Schema, compile_schema

Obj = dict[str, Any]


def schema(**properties: Any) -> Schema:
    return compile_schema({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}})


def refused(about: Schema, spec: Any, old: Any = None) -> list[str]:
    obj, _ = about.admit({"spec": spec})
    before = about.admit({"spec": old})[0] if old is not None else None
    return [str(problem) for problem in about.validate(obj, before)]


def test_unknown_fields_are_dropped_and_told_with_their_paths() -> None:
    about = schema(items={"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}})
    kept, unknown = about.admit(
        {"spec": {"items": [{"name": "a", "z": 1}], "b": 2}, "metadata": {"name": "x", "foo": 1}}
    )
    assert kept == {"spec": {"items": [{"name": "a"}]}, "metadata": {"name": "x"}}
    assert unknown == ["metadata.foo", "spec.b", "spec.items[0].z"]


def test_preserved_parts_keep_everything_but_declared_fields_inside_are_still_pruned() -> None:
    about = schema(
        free={
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "properties": {"k": {"type": "object", "properties": {"n": {"type": "string"}}}},
        }
    )
    kept, unknown = about.admit({"spec": {"free": {"q": [1, None], "k": {"n": "1", "z": 1}}}})
    assert kept["spec"]["free"] == {"q": [1, None], "k": {"n": "1"}}
    assert unknown == ["spec.free.k.z"]


def test_defaults_fill_what_is_absent_or_null_and_reach_into_defaulted_objects() -> None:
    about = schema(
        a={"type": "string", "default": "x"},
        o={"type": "object", "default": {}, "properties": {"n": {"type": "integer", "default": 3}}},
    )
    assert about.admit({"spec": {"a": None}})[0] == {"spec": {"a": "x", "o": {"n": 3}}}


def test_a_default_is_copied_for_every_object() -> None:
    about = schema(tags={"type": "array", "items": {"type": "string"}, "default": []})
    first, second = about.admit({"spec": {}})[0], about.admit({"spec": {}})[0]
    first["spec"]["tags"].append("mine")
    assert second["spec"]["tags"] == []


def test_null_is_dropped_unless_the_field_may_be_null() -> None:
    about = schema(a={"type": "string", "nullable": True}, b={"type": "string"})
    assert about.admit({"spec": {"a": None, "b": None}})[0] == {"spec": {"a": None}}


@pytest.mark.parametrize(
    ("rule", "value", "told"),
    [
        ({"type": "string"}, 1, 'spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer"'),
        ({"type": "integer"}, 1.5, 'spec.a: Invalid value: "number": spec.a in body must be of type integer: "number"'),
        (
            {"x-kubernetes-int-or-string": True},
            True,
            'spec.a: Invalid value: "boolean": spec.a in body must be of type integer,string: "boolean"',
        ),
        (
            {"type": "integer", "minimum": 5},
            1,
            "spec.a: Invalid value: 1: spec.a in body should be greater than or equal to 5",
        ),
        (
            {"type": "integer", "maximum": 5, "exclusiveMaximum": True},
            5,
            "spec.a: Invalid value: 5: spec.a in body should be less than 5",
        ),
        ({"type": "string", "enum": ["x", "y"]}, "q", 'spec.a: Unsupported value: "q": supported values: "x", "y"'),
        ({"type": "integer", "enum": [1]}, 3, 'spec.a: Unsupported value: 3: supported values: "1"'),
        ({"type": "string", "maxLength": 2}, "abc", "spec.a: Too long: may not be more than 2 bytes"),
        (
            {"type": "string", "minLength": 2},
            "a",
            'spec.a: Invalid value: "a": spec.a in body should be at least 2 chars long',
        ),
        (
            {"type": "string", "pattern": "^[a-z]+$"},
            "A",
            "spec.a: Invalid value: \"A\": spec.a in body should match '^[a-z]+$'",
        ),
        (
            {"type": "string", "pattern": "^a$"},
            "a\n",
            "spec.a: Invalid value: \"a\\n\": spec.a in body should match '^a$'",
        ),
        (
            {"type": "string", "format": "ipv4"},
            "x",
            'spec.a: Invalid value: "x": spec.a in body must be of type ipv4: "x"',
        ),
        (
            {"type": "array", "maxItems": 1, "items": {"type": "integer"}},
            [1, 2],
            "spec.a: Too many: 2: must have at most 1 item",
        ),
        (
            {"type": "array", "minItems": 1, "items": {"type": "integer"}},
            [],
            "spec.a: Invalid value: 0: spec.a in body should have at least 1 items",
        ),
        ({"type": "integer", "multipleOf": 3}, 7, "spec.a: Invalid value: 7: spec.a in body should be a multiple of 3"),
        (
            {"type": "number", "multipleOf": 0},
            1.5,
            "spec.a: Invalid value: 0: factor MultipleOf declared for spec.a must be positive: 0",
        ),
        (
            {"type": "integer", "multipleOf": -2},
            4,
            "spec.a: Invalid value: -2: factor MultipleOf declared for spec.a must be positive: -2",
        ),
        (
            {"type": "number", "multipleOf": 0.5},
            1,
            "spec.a: Invalid value: 0: factor MultipleOf declared for spec.a must be positive: 0",
        ),
        (
            {"type": "number", "multipleOf": 1e-300},
            1e300,
            "spec.a: Invalid value: 1e+300: spec.a in body should be a multiple of 1e-300",
        ),
        (
            {"type": "object", "required": ["x"], "properties": {"x": {"type": "string"}}},
            {},
            "spec.a.x: Required value",
        ),
        (
            {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            ["a", "a"],
            'spec.a[1]: Duplicate value: "a"',
        ),
    ],
)
def test_each_check_speaks_the_servers_words(rule: Obj, value: Any, told: str) -> None:
    assert refused(schema(a=rule), {"a": value}) == [told]


def test_a_keyed_list_holds_each_key_once_defaults_counted() -> None:
    item = {
        "type": "object",
        "required": ["n"],
        "properties": {"n": {"type": "string"}, "p": {"type": "string", "default": "T"}},
    }
    about = schema(
        a={"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n", "p"], "items": item}
    )
    assert refused(about, {"a": [{"n": "x"}, {"n": "x", "p": "T"}]}) == [
        'spec.a[1]: Duplicate value: {"n":"x","p":"T"}'
    ]
    assert refused(about, {"a": [{"n": "x"}, {"n": "x", "p": "U"}]}) == []


def test_alternatives_tell_that_none_fits_and_why_the_first_does_not() -> None:
    about = schema(a={"type": "integer", "oneOf": [{"minimum": 10}, {"maximum": 5}]})
    assert refused(about, {"a": 7}) == [
        '<nil>: Invalid value: "": "spec.a" must validate one and only one schema (oneOf). Found none valid',
        "spec.a: Invalid value: 7: spec.a in body should be greater than or equal to 10",
    ]


def test_all_problems_are_listed_not_only_the_first() -> None:
    about = compile_schema(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "required": ["r"],
                    "properties": {"a": {"type": "string", "enum": ["x"]}, "n": {"type": "integer", "minimum": 5}},
                }
            },
        }
    )
    assert len(about.validate({"spec": {"a": "q", "n": 1}})) == 3


def test_what_an_update_leaves_alone_is_not_judged_again() -> None:
    about = schema(a={"type": "string", "enum": ["good"]}, b={"type": "string"})
    assert refused(about, {"a": "bad", "b": "2"}, old={"a": "bad", "b": "1"}) == []
    assert len(refused(about, {"a": "worse"}, old={"a": "bad"})) == 1


def test_a_status_write_is_judged_by_the_status_schema_alone() -> None:
    about = compile_schema(
        {
            "type": "object",
            "properties": {
                "spec": {"type": "object", "required": ["x"], "properties": {"x": {"type": "string"}}},
                "status": {"type": "object", "properties": {"s": {"type": "string"}}},
            },
        }
    )
    found = about.validate({"spec": {}, "status": {"s": 5}}, status=True)
    assert [str(problem) for problem in found] == [
        'status.s: Invalid value: "integer": s in body must be of type string: "integer"'
    ]


def test_embedded_resources_need_a_kind_and_sound_labels() -> None:
    about = schema(
        e={"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    )
    assert refused(about, {"e": {"kind": "Pod"}}) == ["spec.e.apiVersion: Required value"]
    assert about.admit({"spec": {"e": {"apiVersion": "v1", "kind": "Pod", "metadata": {"foo": 1}}}})[1] == [
        "spec.e.metadata.foo"
    ]


NAMES = st.sampled_from(["a", "b", "spec", "metadata"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
KEYED = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["a"],
    "items": {"type": "object", "properties": {"a": {"type": "string"}}},
}
ANYTHING = schema(
    a={"type": "string", "maxLength": 3, "pattern": "a*", "format": "date-time"},
    b={"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
    spec=KEYED,
    metadata={"type": "object", "additionalProperties": {"type": "number", "minimum": 1}},
)


@patient
@given(JSON)
def test_any_input_is_judged_where_it_stands_and_not_changed_by_that(value: Any) -> None:
    kept, _ = ANYTHING.admit({"spec": value})
    before = copy.deepcopy(kept)
    for old in (None, {"spec": {"a": "x"}}):
        problems = [str(problem) for problem in ANYTHING.validate(kept, old)]
        assert all(problem.startswith(("spec", "<nil>: ")) for problem in problems), problems
        if value is not None and not isinstance(value, dict):
            assert problems, "only an object fits"
    assert kept == before


@patient
@given(JSON)
def test_admitting_twice_changes_nothing_more(value: Any) -> None:
    once, _ = ANYTHING.admit({"spec": value})
    assert ANYTHING.admit(once) == (once, [])
