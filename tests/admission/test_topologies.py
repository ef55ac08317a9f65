"""Topologies on their way in: an alias names one level."""

from __future__ import annotations

from gangline.admission.scheduling import topologies
from gangline.rules.hooks import HookReview


def refusal(*levels: tuple[str, str]) -> str | None:
    listed = [{"nodeLabel": label, **({"alias": alias} if alias else {})} for label, alias in levels]
    denied = topologies.problem(HookReview("CREATE", {"metadata": {"name": "t"}, "spec": {"levels": listed}}))
    return denied.message if denied else None


def test_aliases_that_name_one_level_each_are_welcome() -> None:
    assert refusal(("example.com/zone", "zone"), ("example.com/rack", "rack"), ("kubernetes.io/hostname", "")) is None


def test_an_alias_for_two_levels_and_one_that_is_a_label_are_both_named() -> None:
    found = refusal(("zone", "b"), ("rack", "b"), ("c", "zone"), ("d", "a"), ("e", "a"))
    assert (
        found
        == "each alias must name one level of the topology; used for several levels: a, b; also the node label of a "
        "level: zone"
    )
