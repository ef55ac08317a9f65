"""Required affinity and anti-affinity of pods: where a pod may stand beside others, and where others keep it away."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.scheduler.records import PodTerm, Requirement
from scheduler.scene import Outcome, Scene

ZONE = "zone"
WEB = (Requirement("app", "In", ("web",)),)
NO_MATCH = "node(s) didn't match pod affinity rules"
AVOIDED = "node(s) didn't match pod anti-affinity rules"
SHUNNED = "node(s) didn't satisfy existing pods anti-affinity rules"


def two_zones(*without: str) -> Scene:
    """Nodes n0 and n1 in zone east, n2 in zone west; those in `without` lack the label."""
    scene = Scene().queue("a", quota=24)
    for name, zone in (("n0", "east"), ("n1", "east"), ("n2", "west")):
        scene.node(name, labels={} if name in without else {ZONE: zone})
    return scene


def web_on(scene: Scene, node: str, **asks: Any) -> Scene:
    return scene.gang("a/web", 1, on=node, task={"labels": {"app": "web"}, **asks})


def placed(scene: Scene, labels: dict[str, str] | None = None, gpus: int = 8, **asks: Any) -> Outcome:
    """Nobody is moved or evicted for it."""
    scene.gang("a/new", 1, gpus=gpus, task={"labels": labels or {}, **asks})
    return scene.with_settings(actions=("allocate",)).decide()


@pytest.mark.parametrize(("there", "domain"), [("n0", {"n1"}), ("n2", set[str]())])
def test_a_pod_goes_only_where_a_pod_that_it_names_stands_in_the_same_domain(there: str, domain: set[str]) -> None:
    """All 8 GPUs are asked for, so the node of the other pod itself has no room."""
    after = placed(web_on(two_zones(), there), pod_affinity=(PodTerm(ZONE, WEB),))
    assert set(after.bound.values()) == domain
    assert domain or NO_MATCH in after.why("new")


def test_the_first_of_its_kind_may_stand_anywhere_where_the_domain_is_known() -> None:
    own = {"app": "web"}
    after = placed(two_zones("n0", "n1"), own, pod_affinity=(PodTerm(ZONE, WEB),))
    assert after.bound == {"new-0": "n2"}
    alone = placed(two_zones(), {"app": "other"}, pod_affinity=(PodTerm(ZONE, WEB),))
    assert not alone.bound and NO_MATCH in alone.why("new"), "nobody of that kind, and it is none itself"


def test_who_matches_only_one_of_two_terms_does_not_make_the_domain_fit() -> None:
    both = (PodTerm(ZONE, WEB), PodTerm(ZONE, (Requirement("tier", "Exists"),)))
    after = placed(web_on(two_zones(), "n0"), pod_affinity=both)
    assert not after.bound and NO_MATCH in after.why("new")


def test_a_pod_keeps_away_from_whole_domains_of_those_that_it_avoids() -> None:
    after = placed(web_on(two_zones(), "n0"), pod_anti_affinity=(PodTerm(ZONE, WEB),))
    assert after.bound == {"new-0": "n2"}
    everywhere = placed(web_on(two_zones("n1", "n2"), "n0"), pod_anti_affinity=(PodTerm(ZONE, WEB),))
    assert everywhere.bound in ({"new-0": "n1"}, {"new-0": "n2"}), "a node without the label is in no domain"


def test_a_running_pod_keeps_others_away_that_do_not_know_of_it() -> None:
    shy = {"pod_anti_affinity": (PodTerm(ZONE, (Requirement("app", "In", ("batch",)),)),)}
    after = placed(web_on(two_zones(), "n0", **shy), {"app": "batch"})
    assert after.bound == {"new-0": "n2"}
    full = placed(
        web_on(two_zones("n0", "n1"), "n2", **shy).gang("a/x", 2, gpus=8, on=["n0", "n1"]), {"app": "batch"}, 1
    )
    assert not full.bound and f"1 {SHUNNED}" in full.why("new")


def test_a_term_counts_pods_of_its_namespaces_and_without_any_those_of_the_pods_own() -> None:
    elsewhere = (PodTerm(ZONE, WEB, namespaces=("other",)),)
    assert not placed(web_on(two_zones(), "n0"), pod_affinity=elsewhere).bound
    everywhere = (PodTerm(ZONE, WEB, namespaces=("other",), every_namespace=True),)
    assert placed(web_on(two_zones(), "n0"), pod_affinity=everywhere).bound == {"new-0": "n1"}


def test_a_term_without_a_selector_selects_nobody() -> None:
    assert not placed(web_on(two_zones(), "n0"), pod_affinity=(PodTerm(ZONE, None),)).bound
    assert placed(web_on(two_zones(), "n0"), pod_anti_affinity=(PodTerm(ZONE, None),)).bound


def test_the_refusal_names_the_rule_that_keeps_the_pod_away() -> None:
    scene = web_on(two_zones(), "n0").gang("a/x", 1, gpus=8, on="n2")
    after = placed(scene, gpus=1, pod_anti_affinity=(PodTerm(ZONE, WEB),))
    assert not after.bound and f"2 {AVOIDED}" in after.why("new")
