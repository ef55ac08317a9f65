"""Typed views: what is read of an object, whoever wrote it; the rest is left out and never lost on the way back."""

from __future__ import annotations

import msgspec
import pytest

from gangline.api.meta import (
    Condition,
    LabelSelector,
    Metadata,
    Object,
    OwnerReference,
    as_raw,
    condition,
    spec_of,
    status_of,
)
from gangline.api.selectors import (
    EVERYTHING,
    Selector,
    SelectorRequirement,
    equals,
    from_selector,
    print_labels,
    whole_number,
)

OWNERS = (
    OwnerReference(api_version="v1", kind="Node", name="n", uid="1"),
    OwnerReference(api_version="batch/v1", kind="Job", name="j", uid="2", controller=True),
)


def test_an_object_says_what_its_metadata_says() -> None:
    text = b"""{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n", "uid": "u",
        "labels": {"a": "b"}, "annotations": {"c": "d"}, "unknown": 1}, "spec": {"unknown": []}}"""
    obj = msgspec.json.decode(text, type=Object)
    assert (obj.kind, obj.name, obj.namespace, obj.uid) == ("Pod", "p", "n", "u")
    assert (obj.labels, obj.annotations) == ({"a": "b"}, {"c": "d"})


def test_an_object_is_on_its_way_out_once_it_has_a_time_of_deletion() -> None:
    assert not Metadata().deleting
    assert Metadata(deletion_timestamp="2026-01-01T00:00:00Z").deleting


def test_of_several_owners_one_is_the_controller() -> None:
    owner = Metadata(owner_references=OWNERS).controller
    assert owner is not None
    assert (owner.name, owner.group, OWNERS[0].group) == ("j", "batch", "")
    assert Metadata(owner_references=OWNERS[:1]).controller is None


def test_a_view_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Object().kind = "Pod"  # type: ignore[misc]


def test_fields_are_named_as_in_the_api_and_defaults_are_left_out() -> None:
    assert as_raw(Condition(type="Ready", last_transition_time="t")) == {"type": "Ready", "lastTransitionTime": "t"}


def test_a_condition_is_looked_up_by_its_type() -> None:
    conditions = (Condition(type="A", status="True"), Condition(type="B", status="False"))
    assert condition(conditions, "B") == conditions[1]
    assert condition(conditions, "C") is None


@pytest.mark.parametrize(
    ("value", "number"),
    [("5", 5), ("-5", -5), ("+5", 5), ("5_0", None), (" 5", None), ("", None), (None, None), ("5.0", None)],
)
def test_a_label_is_a_number_where_go_reads_one(value: str | None, number: int | None) -> None:
    assert whole_number(value) == number


def test_a_label_beyond_64_bits_is_no_number() -> None:
    assert (whole_number(str(2**63 - 1)), whole_number(str(2**63))) == (2**63 - 1, None)
    assert (whole_number(str(-(2**63))), whole_number(str(-(2**63) - 1))) == (-(2**63), None)


def test_typed_and_plain_selectors_are_the_same() -> None:
    plain = {"matchLabels": {"b": "2", "a": "1"}, "matchExpressions": [{"key": "c", "operator": "Exists"}]}
    typed = msgspec.convert(plain, LabelSelector)
    assert from_selector(plain) == from_selector(typed)
    assert print_labels(from_selector(plain)) == "a=1,b=2,c"


def test_no_selector_and_an_empty_one_match_everything() -> None:
    assert from_selector(None) == EVERYTHING == from_selector({})
    assert EVERYTHING.matches({}) and EVERYTHING.matches({"a": "b"})


def test_every_operator_is_printed_as_a_query_writes_it() -> None:
    def asked(operator: str, *values: str) -> SelectorRequirement:
        return SelectorRequirement("k", operator, values)

    selector = Selector(
        (
            asked("exists"),
            asked("!exists"),
            asked("in", "a", "b"),
            asked("notin", "a"),
            asked("gt", "1"),
            asked("lt", "2"),
            asked("=", "a"),
            asked("!=", "a"),
        )
    )
    assert print_labels(selector) == "k,!k,k in (a,b),k notin (a),k>1,k<2,k=a,k!=a"
    assert print_labels(equals({"z": "1", "a": "2"})) == "a=2,z=1"


def test_a_spec_or_status_that_is_not_there_is_empty() -> None:
    bare = msgspec.convert({"metadata": {"name": "x"}}, Object)
    assert (spec_of(bare), status_of(bare)) == ({}, {})
