"""Minima of 0: cliques and groups that may be scaled to nothing, where the rest of their gang keeps a minimum."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.admission.sets import defaults, podcliqueset
from gangline.api.meta import Raw
from gangline.config import manner
from gangline.rules.hooks import Denied, HookReview
from gangline.rules.sets import OperatorSettings
from operator_world import clique, group, pod_clique_set

NATIVE, LIKE_GROVE = OperatorSettings(), OperatorSettings(manner=manner(["grove"]))


def told(raw: Raw, settings: OperatorSettings = NATIVE) -> dict[str, str]:
    [defaulting, checks] = podcliqueset.hooks(settings)
    assert defaulting.mutate is not None and checks.validate is not None
    filled = defaulting.mutate(
        HookReview(
            "CREATE",
            raw
            | {
                "spec": raw["spec"]
                | {"template": {"cliqueStartupType": "CliqueStartupTypeAnyOrder", **raw["spec"]["template"]}}
            },
        )
    )
    assert not isinstance(filled, Denied), filled
    refused = checks.validate(HookReview("CREATE", filled))
    return {problem.path: problem.message for problem in refused.problems} if refused is not None else {}


def sizes(**spec: Any) -> tuple[int, int]:
    """What becomes of a clique that says only this of its size: replicas and minimum."""
    raw = pod_clique_set("p", clique("a"))
    given = raw["spec"]["template"]["cliques"][0]["spec"]
    del given["replicas"], given["minAvailable"]
    given |= spec
    filled = defaults.defaulted(HookReview("CREATE", raw))
    assert not isinstance(filled, Denied)
    made = filled["spec"]["template"]["cliques"][0]["spec"]
    return made["replicas"], made["minAvailable"]


def test_a_clique_may_hibernate_beside_one_that_stays() -> None:
    assert told(pod_clique_set("p", clique("front"), clique("worker", 0, 0))) == {}
    assert told(pod_clique_set("p", clique("front"), clique("worker", 3, 0))) == {}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, (1, 1)),
        ({"replicas": 0}, (0, 0)),
        ({"replicas": 0, "minAvailable": 0}, (0, 0)),
        ({"replicas": 2, "minAvailable": 0}, (2, 0)),
        ({"replicas": 0, "minAvailable": 1}, (1, 1)),
        ({"minAvailable": 1}, (1, 1)),
        ({"replicas": 3}, (3, 3)),
    ],
)
def test_what_is_left_open_is_filled_so_that_only_who_says_zero_gets_zero(spec: Raw, expected: tuple[int, int]) -> None:
    assert sizes(**spec) == expected


def test_a_group_may_hibernate_too() -> None:
    assert told(pod_clique_set("p", clique("front"), clique("w"), groups=[group("g", ["w"], 0, 0)])) == {}


def test_a_gang_without_any_minimum_is_refused() -> None:
    nothing = "nothing in the set has a minAvailable above 0, so its gang would have no minimum"
    assert told(pod_clique_set("p", clique("a", 1, 0), clique("b", 0, 0))) == {"spec.template.cliques": nothing}
    assert told(pod_clique_set("p", clique("w"), groups=[group("g", ["w"], 1, 0)])) == {
        "spec.template.cliques": nothing
    }
    assert told(pod_clique_set("p", clique("a", 1, 0), clique("w", 1, 0), groups=[group("g", ["w"])])) == {
        "spec.template.cliques": nothing,
        "spec.template.podCliqueScalingGroups[0].cliqueNames": "every clique of g has minAvailable 0, so its gangs "
        "would have no minimum",
    }


def test_in_groves_manner_zero_is_refused() -> None:
    raw = pod_clique_set("p", clique("front"), clique("worker", 1, 0), clique("w"), groups=[group("g", ["w"], 0, 0)])
    assert told(raw, LIKE_GROVE) == {
        "spec.template.cliques[1].spec.minAvailable": "must be greater than 0",
        "spec.template.podCliqueScalingGroups[0].replicas": "must be greater than 0",
        "spec.template.podCliqueScalingGroups[0].minAvailable": "must be greater than 0",
    }


@pytest.mark.parametrize(
    ("notes", "problem"),
    [
        ({"gangline.io/gang-termination": "off"}, "must be enabled or disabled"),
        ({"gangline.io/max-unavailable": "0"}, "must be a number above 0, or a share from 1% to 100%"),
        ({"gangline.io/max-unavailable": "120%"}, "must be a number above 0, or a share from 1% to 100%"),
        ({"gangline.io/progress-deadline": "soon"}, "must be a duration above 0"),
        (
            {
                "gangline.io/gang-termination": "disabled",
                "gangline.io/max-unavailable": "25%",
                "gangline.io/progress-deadline": "10m",
            },
            "",
        ),
    ],
)
def test_wishes_in_annotations_must_be_readable(notes: Raw, problem: str) -> None:
    found = told(pod_clique_set("p", clique("a"), annotations=notes))
    assert list(found.values()) == ([problem] if problem else [])
