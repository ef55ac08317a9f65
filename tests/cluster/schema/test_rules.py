"""CEL rules of custom resources: when they run, and how a failure is told."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.api.notation import MISSING
from gangline.cluster.schema import Schema, compile_schema
from gangline.rules.cel import StepBudget

Obj = dict[str, Any]
FIELDS = {
    "n": {"type": "integer"},
    "a": {"type": "string"},
    "o": {"type": "object", "properties": {"x": {"type": "string"}}},
}


def told(rules: list[Obj], spec: Obj, old: Obj | None = None) -> list[str]:
    about = compile_schema(
        {
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": FIELDS, "x-kubernetes-validations": rules}},
        }
    )
    return [str(problem) for problem in about.validate({"spec": spec}, {"spec": old} if old is not None else None)]


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({}, "spec: Invalid value: failed rule: self.n > 2"),
        ({"message": "n is small"}, "spec: Invalid value: n is small"),
        ({"messageExpression": "'n is ' + string(self.n)"}, "spec: Invalid value: n is 1"),
        ({"fieldPath": ".o.x"}, "spec.o.x: Invalid value: failed rule: self.n > 2"),
        ({"reason": "FieldValueForbidden"}, "spec: Forbidden: failed rule: self.n > 2"),
        ({"reason": "FieldValueRequired", "fieldPath": ".a"}, "spec.a: Required value: failed rule: self.n > 2"),
        ({"reason": "FieldValueDuplicate"}, "spec: Duplicate value"),
    ],
)
def test_a_broken_rule_is_told_as_its_author_asked(about: Obj, expected: str) -> None:
    assert told([{"rule": "self.n > 2", **about}], {"n": 1}) == [expected]


def test_a_rule_that_cannot_be_evaluated_names_the_cause() -> None:
    assert told([{"rule": "self.a == 'x'"}], {}) == [
        "spec: Invalid value: \"object\": no such key: a evaluating rule: self.a == 'x'"
    ]


def test_transition_rules_run_only_when_there_was_something_before() -> None:
    rule = [{"rule": "self.n >= oldSelf.n"}]
    assert told(rule, {"n": 1}) == []
    assert told(rule, {"n": 1}, old={"n": 5}) == ["spec: Invalid value: failed rule: self.n >= oldSelf.n"]


def test_an_optional_old_self_is_there_at_creation_too() -> None:
    rule = [{"rule": "oldSelf.hasValue() || self.n == 1", "optionalOldSelf": True}]
    assert told(rule, {"n": 1}) == []
    assert len(told(rule, {"n": 2})) == 1
    assert told(rule, {"n": 2}, old={"n": 1}) == []


def test_a_rule_is_not_asked_again_about_what_did_not_change() -> None:
    assert told([{"rule": "self.n > 2"}], {"n": 1}, old={"n": 1}) == []


def test_rules_do_not_run_on_an_object_of_the_wrong_shape() -> None:
    found = told([{"rule": "self.n > 2"}], {"n": "x"})
    assert found[-1].startswith("<nil>: Invalid value: null: some validation rules were not checked")


COSTLY = {"rule": "self.l.all(x, self.l.all(y, self.l.all(z, x + y + z >= 0)))"}


def costly(*rules: dict[str, str]) -> Schema:
    return compile_schema(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"l": {"type": "array", "items": {"type": "integer"}}},
                    "x-kubernetes-validations": list(rules),
                }
            },
        }
    )


def test_a_cubic_rule_ends_at_its_limit_with_a_clear_word_and_no_rule_is_run_after_it() -> None:
    found = costly(COSTLY, {"rule": "false"}).validate({"spec": {"l": list(range(400))}})
    assert [str(problem) for problem in found] == [
        "spec: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation "
        "rules will be run due "
        f"to call cost exceeds limit for rule: {COSTLY['rule']}"
    ]


def test_rules_share_the_budget_of_their_object() -> None:
    found = [*costly(COSTLY, COSTLY).rules.run({"spec": {"l": list(range(20))}}, MISSING, None, StepBudget(30_000))]
    assert "running out of cost budget" in str(found[0]) and len(found) == 1
