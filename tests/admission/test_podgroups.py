"""PodGroups on their way in: a sound tree in which each sub-group says once how much of it must start together."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.admission.scheduling import podgroups
from gangline.api.meta import Raw
from gangline.rules.hooks import HookReview


def asked(operation: str = "CREATE", *groups: Raw, **spec: Any) -> tuple[str | None, list[str]]:
    """The refusal and the warnings for a PodGroup."""
    review = HookReview(
        operation, {"metadata": {"name": "g"}, "spec": {**spec, **({"subGroups": list(groups)} if groups else {})}}
    )
    denied = podgroups.problem(review)
    return (denied.message if denied else None), podgroups.warnings(review)


def leaf(name: str, parent: str | None = None, **more: Any) -> Raw:
    return {"name": name, "minMember": 1, **({"parent": parent} if parent else {}), **more}


def parent(name: str, minimum: int = 1, **more: Any) -> Raw:
    return {"name": name, "minSubGroup": minimum, **more}


def test_a_plain_group_and_a_sound_tree_are_welcome() -> None:
    assert asked(minMember=4) == (None, [])
    assert asked("CREATE", parent("a", 1), parent("b", 1, parent="a"), leaf("c", "b"), minSubGroup=1) == (None, [])


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (
            {"minMember": 3, "minSubGroup": 1},
            "spec.minMember (3) and spec.minSubGroup exclude each other: count pods, or count sub-groups",
        ),
        ({"subGroups": [leaf("a"), leaf("a")]}, "sub-group names must be unique; used twice: a"),
        ({"subGroups": [leaf("a", "ghost")]}, "sub-groups have a parent that does not exist: a (below ghost)"),
        ({"subGroups": [parent("a", parent="b"), parent("b", parent="a")]}, "sub-groups are below themselves: a, b"),
        ({"subGroups": [leaf("a", "a")]}, "sub-groups are below themselves: a"),
        ({"subGroups": [leaf("a", minSubGroup=1)]}, "minMember and minSubGroup exclude each other in sub-groups a"),
    ],
)
@pytest.mark.parametrize("operation", ["CREATE", "UPDATE"])
def test_a_broken_tree_is_refused_whatever_the_operation(operation: str, spec: Raw, words: str) -> None:
    assert asked(operation, **spec) == (words, [])


def test_all_that_is_wrong_with_the_minima_is_said_at_once() -> None:
    refusal, warnings = asked("CREATE", {"name": "z"}, leaf("m"), leaf("n", "m"), parent("k", 2), minSubGroup=9)
    assert refusal == "\n".join(
        [
            "sub-group k has no sub-groups below it that minSubGroup could count",
            "sub-group k has no minMember",
            "sub-group m has sub-groups below it, so it counts them: set minSubGroup instead of minMember",
            "sub-group z has no minMember",
        ]
    )
    assert warnings == ["spec: minSubGroup (9) is more than the 3 sub-groups below it"]


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE"])
def test_a_group_that_requires_none_of_its_sub_groups_is_refused(operation: str) -> None:
    words = "spec.minSubGroup must be at least 1, not 0; leave it out to require every sub-group"
    assert asked(operation, leaf("a"), minSubGroup=0) == (words, [])


def test_a_parent_that_counts_pods_is_only_warned_about_later() -> None:
    refusal, warnings = asked("UPDATE", leaf("a"), leaf("b", "a"))
    assert refusal is None
    assert warnings == ["sub-group a has sub-groups below it, so it counts them: set minSubGroup instead of minMember"]


def test_a_duration_that_nobody_can_read_is_a_bad_request() -> None:
    denied = podgroups.problem(HookReview("CREATE", {"metadata": {"name": "g"}, "spec": {"preemptionDelay": "soon"}}))
    assert denied is not None
    assert (denied.code, denied.message) == (
        400,
        "spec.preemptionDelay must be a duration such as 90s or 1h30m, not 'soon'",
    )


def test_the_longest_tree_that_fits_into_a_request_is_judged() -> None:
    deep = [parent("g0"), *(parent(f"g{place}", parent=f"g{place - 1}") for place in range(1, 50_000))]
    wide = [leaf(f"g{place}") for place in range(50_000)]
    assert podgroups.broken_tree({"subGroups": deep}) == podgroups.broken_tree({"subGroups": wide}) == ""
    deep[0]["parent"] = "g49999"
    assert podgroups.broken_tree({"subGroups": deep}).startswith("sub-groups are below themselves: g0, g1, g10, ")
