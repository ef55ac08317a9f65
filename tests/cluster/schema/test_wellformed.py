"""A schema that cannot work is refused when it is written, with the place and the reason."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.cluster.schema.wellformed import schema_problems

Obj = dict[str, Any]
AT = "s.properties[spec].properties[a]"


def problems(about: Obj) -> list[str]:
    whole = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": about}}}}
    return [str(problem) for problem in schema_problems(whole, "s")]


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({}, f"{AT}.type: Required value: must not be empty for specified object fields"),
        ({"type": "array"}, f"{AT}.items: Required value: must be specified"),
        (
            {"type": "array", "items": {}},
            f"{AT}.items.type: Required value: must not be empty for specified array items",
        ),
        (
            {"type": "string", "anyOf": [{"type": "string"}]},
            f"{AT}.anyOf[0].type: Forbidden: must be empty to be structural",
        ),
        (
            {"type": "string", "not": {"default": "x"}},
            f"{AT}.not.default: Forbidden: must be undefined to be structural",
        ),
        (
            {"type": "string", "default": 5},
            f'{AT}.default: Invalid value: "integer":  in body must be of type string: "integer"',
        ),
        (
            {"type": "string", "pattern": "(?=x)"},
            f'{AT}.pattern: Invalid value: "(?=x)": must be a valid regular expression, but isn\'t: '
            "error parsing regexp: invalid or unsupported Perl syntax: `(?=`",
        ),
        (
            {"type": "string", "x-kubernetes-list-type": "set"},
            f'{AT}.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified',
        ),
        (
            {"type": "object", "x-kubernetes-preserve-unknown-fields": False},
            f"{AT}.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined",
        ),
        ({"type": "string", "$ref": "#/x"}, f"{AT}.$ref: Forbidden: $ref is not supported"),
        (
            {"type": "array", "uniqueItems": True, "items": {"type": "string"}},
            f"{AT}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes "
            f"quadratic",
        ),
        (
            {"type": "string", "x-kubernetes-validations": [{"rule": "self == 1"}]},
            f"{AT}.x-kubernetes-validations[0].rule: Invalid value: ",
        ),
        (
            {"type": "string", "default": "x", "x-kubernetes-validations": [{"rule": "self == 'y'"}]},
            f"{AT}.default: Invalid value: \"x\": failed rule: self == 'y'",
        ),
        (
            {"type": "string", "x-kubernetes-validations": [{"rule": "true", "reason": "Foo"}]},
            f'{AT}.x-kubernetes-validations[0].reason: Unsupported value: "Foo": supported values: ',
        ),
    ],
)
def test_what_is_wrong_with_a_schema_is_named(about: Obj, expected: str) -> None:
    found = problems(about)
    assert len(found) == 1 and found[0].startswith(expected), found


@pytest.mark.parametrize(
    "about",
    [
        {"type": "string", "enum": []},
        {"type": "string", "format": "wibble"},
        {"type": "integer", "minimum": 5, "maximum": 1},
        {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        {"type": "integer", "x-kubernetes-int-or-string": True},
        {"type": "string", "default": None},
    ],
)
def test_what_looks_odd_but_is_allowed_passes(about: Obj) -> None:
    assert problems(about) == []


def test_a_rule_that_could_cost_too_much_is_refused_with_advice() -> None:
    about = {
        "type": "array",
        "items": {"type": "string"},
        "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x == y))"}],
    }
    found = problems(about)
    assert "estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule" in found[0]
    assert found[-1].startswith("s: Forbidden: x-kubernetes-validations estimated rule cost total")


def test_the_same_rule_on_a_bounded_list_is_affordable() -> None:
    about = {
        "type": "array",
        "maxItems": 20,
        "items": {"type": "string", "maxLength": 20},
        "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x == y))"}],
    }
    assert problems(about) == []


def test_old_values_cannot_be_compared_inside_lists_whose_items_have_no_name() -> None:
    item = {"type": "string", "maxLength": 5, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
    about = {"type": "array", "maxItems": 5, "items": item}
    assert "oldSelf cannot be used on the uncorrelatable portion of the schema within " + AT in problems(about)[0]
