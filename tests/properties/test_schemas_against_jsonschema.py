"""Structural schemas of custom resources, beside the library jsonschema-rs (JSON Schema, draft 4, which OpenAPI v3.0 is
made of)."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.cluster.schema import compile_schema
from properties.examples import examples
from properties.oracle import Difference, anywhere, is_whole_float, json_values, meant, names, texts

Schema = dict[str, Any]

limits = st.integers(0, 3)
bounds = st.one_of(st.integers(-3, 10), st.sampled_from([0.5, 2.5]))
patterns = st.sampled_from(["^a", "b$", "^[a-z]*$", "^.{2}$", "a|b", "[0-9]+", "^$"])

_STRINGS = st.fixed_dictionaries(
    {},
    optional={
        "minLength": limits,
        "maxLength": limits,
        "pattern": patterns,
        "enum": st.lists(texts, min_size=1, max_size=3, unique=True),
    },
)
_NUMBERS = st.fixed_dictionaries(
    {},
    optional={
        "minimum": bounds,
        "maximum": bounds,
        "exclusiveMinimum": st.booleans(),
        "exclusiveMaximum": st.booleans(),
        "multipleOf": st.sampled_from([1, 2, 5, 0.5]),
        "enum": st.lists(st.integers(-2, 5), min_size=1, max_size=3, unique=True),
    },
)
_ALTERNATIVES = st.one_of(
    _STRINGS,
    _NUMBERS,
    st.fixed_dictionaries({}, optional={"required": st.lists(names, min_size=1, max_size=2, unique=True)}),
    st.fixed_dictionaries({}, optional={"minItems": limits, "maxItems": limits, "minProperties": limits}),
)


def _tidy(schema: Schema) -> Schema:
    """An exclusive bound needs its bound."""
    for name, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if bound not in schema:
            schema.pop(name, None)
    return schema


def _typed(kind: str, checks: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return checks.map(lambda made: _tidy({"type": kind, **made}))


def _with_alternatives(plain: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    several = st.lists(_ALTERNATIVES.map(_tidy), min_size=1, max_size=3)
    logic = st.fixed_dictionaries(
        {}, optional={"anyOf": several, "oneOf": several, "allOf": several, "not": _ALTERNATIVES.map(_tidy)}
    )
    return st.builds(lambda schema, more: {**schema, **more}, plain, st.just({}) | logic)


def _nested(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    sizes = {"minItems": limits, "maxItems": limits}
    many = {"minProperties": limits, "maxProperties": limits}
    return st.one_of(
        _typed("array", st.fixed_dictionaries({"items": inner}, optional=sizes)),
        _typed("object", st.fixed_dictionaries({"additionalProperties": inner}, optional=many)),
        _typed(
            "object",
            st.fixed_dictionaries(
                {"properties": st.dictionaries(names, inner, max_size=3)},
                optional={"required": st.lists(names, min_size=1, max_size=2, unique=True), **many},
            ),
        ),
    )


_LEAVES = st.one_of(
    _typed("string", _STRINGS), _typed("integer", _NUMBERS), _typed("number", _NUMBERS), _typed("boolean", st.just({}))
)
schemas = st.recursive(_with_alternatives(_LEAVES), lambda inner: _with_alternatives(_nested(inner)), max_leaves=5)


@st.composite
def values_of(draw: st.DrawFn, schema: Any) -> Any:
    """A value that mostly fits: of the right type, often with the right names."""
    if draw(st.integers(0, 9)) == 0:
        return draw(json_values)
    if schema["type"] == "array":
        return [draw(values_of(schema["items"])) for _ in range(draw(limits))]
    if schema["type"] == "object":
        known: dict[str, Schema] = schema.get("properties", {})
        chosen = draw(st.lists(st.sampled_from([*known]) if known else names, max_size=4, unique=True))
        chosen += schema.get("required", []) if draw(st.booleans()) else []
        other: Schema = schema.get("additionalProperties", {"type": "string"})
        return {name: draw(values_of(known.get(name, other))) for name in chosen}
    if "enum" in schema and draw(st.booleans()):
        return draw(st.sampled_from(schema["enum"]))
    return draw(_SCALARS[schema["type"]])


_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": texts,
    "boolean": st.booleans(),
    "integer": st.integers(-4, 12),
    "number": st.one_of(st.integers(-4, 12), st.sampled_from([0.5, 1.5, 2.0, 3.25])),
}


@st.composite
def questions(draw: st.DrawFn) -> tuple[Schema, Any]:
    schema = draw(schemas)
    return schema, draw(values_of(schema))


def _is_half(value: Any) -> bool:
    return isinstance(value, float) and value == 0.5


DIFFERENCES = [
    Difference(
        "Kubernetes takes 2.0 for an integer, draft 4 does not", lambda schema, value: anywhere(value, is_whole_float)
    ),
    Difference(
        "Kubernetes divides whole numbers by the whole part of multipleOf, and nothing is a multiple of 0",
        lambda schema, value: anywhere(schema, _is_half) and anywhere(value, lambda item: type(item) is int),
    ),
]


@settings(max_examples=examples(200))
@given(questions())
def test_a_value_fits_a_structural_schema_where_the_library_says_so(question: tuple[Schema, Any]) -> None:
    schema, value = question
    if not meant(DIFFERENCES, schema, value):
        ours = compile_schema({"type": "object", "properties": {"spec": schema}}).validate({"spec": value})
        assert (not ours) == jsonschema_rs.Draft4Validator(schema).is_valid(value), ours
