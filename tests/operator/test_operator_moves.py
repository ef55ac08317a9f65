"""Pods that are moved by starting first: which replacements are made, who goes when, and how a replacement is built."""

from __future__ import annotations

from typing import Any

import msgspec

from gangline.api import names
from gangline.api.core import Pod
from gangline.operator.cliques.moves import PATIENCE, clique_moves, replacing
from operator_world import pod

CREATED, NOW = "2026-01-01T00:00:00Z", 1_767_225_600.0


def moving(**more: Any) -> Pod:
    return noted(pod(0, node="n", ready=True, name="old", **more), names.MOVE_TO, "m")


def replacement(**more: Any) -> Pod:
    return noted(pod(0, name="new", created=CREATED, **more), names.REPLACES, "old")


def noted(given: Pod, key: str, value: str) -> Pod:
    metadata = msgspec.structs.replace(given.metadata, annotations={key: value})
    return msgspec.structs.replace(given, metadata=metadata)


def test_a_pod_that_should_move_gets_one_replacement_beside_it() -> None:
    assert [old.name for old in clique_moves([moving()], NOW).wanted] == ["old"]
    moves = clique_moves([moving(), replacement()], NOW)
    assert not moves.wanted and not moves.gone and moves.again == PATIENCE
    assert [item.name for item in moves.without_extra([moving(), replacement()])] == ["old"]


def test_the_old_pod_goes_when_the_new_one_is_ready_and_not_before() -> None:
    assert not clique_moves([moving(), replacement(node="m")], NOW + 10 * PATIENCE).gone
    ready = clique_moves([moving(), replacement(node="m", ready=True)], NOW)
    assert [gone.name for gone in ready.gone] == ["old"] and not ready.stays


def test_a_replacement_without_a_node_is_given_up_and_the_wish_is_taken_off_the_old_pod() -> None:
    moves = clique_moves([moving(), replacement()], NOW + PATIENCE)
    assert [gone.name for gone in moves.gone] == ["new"]
    assert [(patch.name, patch.patch) for patch in moves.patches()] == [
        ("old", {"metadata": {"annotations": {names.MOVE_TO: None}}})
    ]


def test_a_replacement_whose_pod_is_gone_is_a_pod_like_any_other() -> None:
    moves = clique_moves([replacement(node="m", ready=True)], NOW)
    assert not moves.extra and not moves.gone


def test_a_replacement_must_run_on_its_node_and_keeps_what_the_pod_asked_for() -> None:
    zone = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    given = {"metadata": {}, "spec": {"affinity": {"nodeAffinity": {required: {"nodeSelectorTerms": [zone]}}}}}
    here = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["m"]}]}
    for own, terms in ((given, [zone | here]), ({"metadata": {}, "spec": {}}, [here])):
        made = replacing(own, moving())
        assert made["spec"]["affinity"]["nodeAffinity"][required]["nodeSelectorTerms"] == terms
        assert made["metadata"]["annotations"] == {names.REPLACES: "old"}
