"""Claims that the replicas of a set share: which templates and which entries are refused, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.admission.sets.sharing import problems, template_problems
from gangline.api.meta import Raw

DEVICES = {"spec": {"devices": {"requests": [{"name": "gpu"}]}}}


def the_set(**template: Any) -> Raw:
    cliques = [{"name": "leader"}, {"name": "worker"}]
    groups = [{"name": "pair", "cliqueNames": ["leader", "worker"]}]
    return {"spec": {"template": {"cliques": cliques, "podCliqueScalingGroups": groups} | template}}


def shared(**entry: Any) -> Raw:
    return {"name": "fabric", "scope": "AllReplicas"} | entry


def told(obj: Raw) -> dict[str, str]:
    return {problem.path: problem.message for problem in (*template_problems(obj), *problems(obj))}


def test_a_template_with_a_name_and_a_request_may_be_shared_by_all() -> None:
    own = [{"name": "fabric", "templateSpec": DEVICES}]
    assert told(the_set(resourceClaimTemplates=own, resourceSharing=[shared()])) == {}
    assert told(the_set()) == {}


@pytest.mark.parametrize("spec", [None, {}, {"spec": None}, {"spec": {"devices": {"requests": []}}}])
def test_a_template_that_asks_for_no_device_is_refused(spec: Any) -> None:
    path = "spec.template.resourceClaimTemplates[0].templateSpec.spec.devices.requests"
    assert told(the_set(resourceClaimTemplates=[{"name": "fabric", "templateSpec": spec}])) == {
        path: "at least one device request must be given"
    }


def test_a_template_has_a_name_of_its_own() -> None:
    unnamed = the_set(resourceClaimTemplates=[{"templateSpec": DEVICES}])
    assert told(unnamed) == {"spec.template.resourceClaimTemplates[0].name": "must be given"}
    twice = the_set(resourceClaimTemplates=[{"name": "fabric", "templateSpec": DEVICES}] * 2)
    assert [path for path in told(twice) if path.startswith("spec.template.resourceClaimTemplates")] != []


@pytest.mark.parametrize(
    ("entries", "field", "words"),
    [
        ([shared(name="")], "[0].name", "must be given"),
        ([shared(), shared()], "[1].name", "fabric is shared twice"),
        ([shared(scope="Some")], "[0].scope", "must be AllReplicas or PerReplica"),
        ([shared(namespace="other")], "[0].namespace", "must be empty: fabric is one of the set's own templates"),
        (
            [shared(filter={})],
            "[0].filter",
            "at least one of childCliqueNames, childScalingGroupNames must have an entry",
        ),
        ([shared(filter={"childCliqueNames": ["pair"]})], "[0].filter.childCliqueNames[0]", "pair is not known here"),
        (
            [shared(filter={"childScalingGroupNames": ["worker"]})],
            "[0].filter.childScalingGroupNames[0]",
            "worker is not known here",
        ),
    ],
)
def test_what_is_wrong_with_an_entry_is_told_at_its_place(entries: list[Raw], field: str, words: str) -> None:
    own = [{"name": "fabric", "templateSpec": DEVICES}]
    found = told(the_set(resourceClaimTemplates=own, resourceSharing=entries))
    assert found == {f"spec.template.resourceSharing{field}": words}


def test_a_template_of_another_namespace_is_shared_by_its_namespace() -> None:
    assert told(the_set(resourceSharing=[shared(namespace="other")])) == {}


def test_a_group_shares_only_among_its_own_cliques() -> None:
    entry = shared(filter={"childCliqueNames": ["worker", "stranger"]})
    groups = [{"name": "pair", "cliqueNames": ["worker"], "resourceSharing": [entry]}]
    path = "spec.template.podCliqueScalingGroups[0].resourceSharing[0].filter.childCliqueNames[1]"
    assert told(the_set(podCliqueScalingGroups=groups)) == {path: "stranger is not known here"}


def test_a_clique_shares_with_nobody_it_could_name() -> None:
    cliques = [{"name": "leader", "resourceSharing": [shared(filter={"childCliqueNames": ["leader"]})]}]
    assert told(the_set(cliques=cliques)) == {
        "spec.template.cliques[0].resourceSharing[0].filter": "must not be given: a clique shares among its own pods"
    }
