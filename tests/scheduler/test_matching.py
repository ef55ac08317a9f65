"""Selectors, affinity terms and taints of the core, each with what Kubernetes says of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from gangline.scheduler.matching import counts, matches, node_matches, untolerated
from gangline.scheduler.records.terms import NodeTerm, Requirement, SpreadTerm, TaintRecord, TolerationRecord

LABELS = {"zone": "a", "gpus": "8", "model": "A100"}


@dataclass
class LabelledMachine:
    name: str = "node-1"
    labels: dict[str, str] = field(default_factory=lambda: dict(LABELS))


@pytest.mark.parametrize(
    ("key", "operator", "values", "matched"),
    [
        ("zone", "In", ("a", "b"), True),
        ("zone", "In", ("b",), False),
        ("rack", "In", ("",), False),
        ("zone", "NotIn", ("b",), True),
        ("zone", "NotIn", ("a",), False),
        ("rack", "NotIn", ("a",), True),
        ("zone", "Exists", (), True),
        ("rack", "Exists", (), False),
        ("zone", "DoesNotExist", (), False),
        ("rack", "DoesNotExist", (), True),
        ("gpus", "Gt", ("7",), True),
        ("gpus", "Gt", ("8",), False),
        ("gpus", "Lt", ("9",), True),
        ("gpus", "Lt", ("8",), False),
        ("rack", "Lt", ("8",), False),
        ("model", "Gt", ("1",), False),
        ("gpus", "Gt", ("few",), False),
        ("gpus", "Gt", (), False),
        ("zone", "Near", ("a",), False),
    ],
)
def test_a_requirement_holds_as_kubernetes_has_it(
    key: str, operator: str, values: tuple[str, ...], matched: bool
) -> None:
    assert matches(Requirement(key, operator, values), LABELS) is matched


def test_one_term_is_enough_and_all_of_a_term_must_hold() -> None:
    zone, rack = Requirement("zone", "In", ("a",)), Requirement("rack", "Exists")
    assert node_matches((NodeTerm((rack,)), NodeTerm((zone,))), LabelledMachine())
    assert not node_matches((NodeTerm((zone, rack)),), LabelledMachine())


def test_a_term_without_requirements_matches_no_node() -> None:
    assert not node_matches((NodeTerm(),), LabelledMachine())
    assert not node_matches((), LabelledMachine())


def test_a_node_is_found_by_its_name_and_labels_together() -> None:
    name, zone = Requirement("metadata.name", "In", ("node-1",)), Requirement("zone", "In", ("b",))
    assert node_matches((NodeTerm((), (name,)),), LabelledMachine())
    assert not node_matches((NodeTerm((zone,), (name,)),), LabelledMachine())


def test_an_empty_selector_of_a_spread_counts_nobody() -> None:
    assert not counts(SpreadTerm("zone"), LABELS)
    assert not counts(SpreadTerm("zone", selector=()), LABELS)
    assert counts(SpreadTerm("zone", selector=(Requirement("zone", "Exists"),)), LABELS)


@pytest.mark.parametrize(
    ("toleration", "tolerates"),
    [
        (TolerationRecord("gpu", "Equal", "yes", "NoSchedule"), True),
        (TolerationRecord("gpu", "Equal", "no", "NoSchedule"), False),
        (TolerationRecord("gpu", "Equal", "yes"), True),
        (TolerationRecord("gpu", "Equal", "yes", "NoExecute"), False),
        (TolerationRecord("gpu", "Exists"), True),
        (TolerationRecord("other", "Exists"), False),
        (TolerationRecord("", "Exists"), True),
        (TolerationRecord("", "Equal", "yes"), False),
    ],
)
def test_a_toleration_covers_a_taint_by_key_value_and_effect(toleration: TolerationRecord, tolerates: bool) -> None:
    taint = TaintRecord("gpu", "NoSchedule", "yes")
    assert untolerated([taint], (toleration,)) == (None if tolerates else taint)


def test_the_first_taint_that_blocks_is_told_and_one_that_only_prefers_blocks_nobody() -> None:
    prefers, blocks = TaintRecord("slow", "PreferNoSchedule"), TaintRecord("gone", "NoExecute")
    assert untolerated([prefers, blocks, TaintRecord("late", "NoSchedule")], ()) == blocks
    assert untolerated([prefers], ()) is None
