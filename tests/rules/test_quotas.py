"""What objects take of quotas."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.api.resources import NANO, nanos
from gangline.rules.quotas import added, covers, matching, unstated, usage, written


def container(**requests: str) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": requests}}


def test_a_pod_takes_what_its_containers_ask_for_together_or_its_largest_init_container() -> None:
    spec = {
        "initContainers": [container(cpu="3")],
        "containers": [container(cpu="1"), container(cpu="1")],
        "overhead": {"cpu": "500m"},
    }
    assert usage("pods", {"spec": spec})["requests.cpu"] == nanos("3500m")


def test_an_init_container_that_stays_counts_beside_the_others() -> None:
    stays = container(cpu="1") | {"restartPolicy": "Always"}
    spec = {"initContainers": [stays, container(cpu="2")], "containers": [container(cpu="1")]}
    assert usage("pods", {"spec": spec})["cpu"] == nanos("3")


def test_a_pod_that_ended_only_counts_as_an_object() -> None:
    assert usage("pods", {"spec": {"containers": [container(cpu="1")]}, "status": {"phase": "Failed"}}) == {
        "count/pods": NANO
    }


def test_gpus_are_limited_by_what_is_requested() -> None:
    asked = usage("pods", {"spec": {"containers": [container(**{"nvidia.com/gpu": "8"})]}})
    assert asked["requests.nvidia.com/gpu"] == 8 * NANO and "nvidia.com/gpu" not in asked


def test_a_claim_counts_for_storage_of_its_class() -> None:
    taken = usage(
        "persistentvolumeclaims", {"spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "2Gi"}}}}
    )
    assert written(taken) == {
        "count/persistentvolumeclaims": "1",
        "persistentvolumeclaims": "1",
        "requests.storage": "2Gi",
        "fast.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
        "fast.storageclass.storage.k8s.io/requests.storage": "2Gi",
    }


def test_a_claim_that_names_its_class_the_old_way_counts_for_it_too() -> None:
    old = {"volume.beta.kubernetes.io/storage-class": "fast"}
    taken = usage(
        "persistentvolumeclaims",
        {"metadata": {"annotations": old}, "spec": {"resources": {"requests": {"storage": "2Gi"}}}},
    )
    assert taken["fast.storageclass.storage.k8s.io/persistentvolumeclaims"] == NANO


def test_services_count_by_their_type() -> None:
    taken = usage("services", {"spec": {"type": "NodePort", "ports": [{}, {}]}})
    assert (taken["services"], taken["services.nodeports"], taken["services.loadbalancers"]) == (NANO, 2 * NANO, 0)


@pytest.mark.parametrize(
    ("resource", "about"),
    [
        ("pods", ["count/pods", "limits.cpu", "pods", "requests.nvidia.com/gpu"]),
        ("persistentvolumeclaims", ["requests.storage"]),
        ("deployments.apps", ["count/deployments.apps"]),
        ("configmaps", ["configmaps"]),
    ],
)
def test_a_limit_is_about_one_resource(resource: str, about: list[str]) -> None:
    limits = [
        "pods",
        "count/pods",
        "limits.cpu",
        "requests.nvidia.com/gpu",
        "requests.storage",
        "count/deployments.apps",
        "configmaps",
    ]
    assert matching(resource, limits) == about


def test_a_quota_with_scopes_is_about_pods_in_all_of_them() -> None:
    quota = {"scopes": ["BestEffort", "NotTerminating"]}
    assert covers(quota, "pods", {"spec": {"containers": [{"name": "c"}]}})
    assert not covers(quota, "pods", {"spec": {"containers": [container(cpu="1")]}})
    assert not covers(quota, "pods", {"spec": {"containers": [{"name": "c"}], "activeDeadlineSeconds": 5}})
    assert not covers(quota, "configmaps", {})


def test_what_containers_do_not_state_is_named_with_them() -> None:
    spec = {"containers": [container(cpu="1"), {"name": "silent"}], "initContainers": [{"name": "first"}]}
    assert unstated({"spec": spec}, ["requests.cpu", "pods"]) == {"requests.cpu": ["first", "silent"]}


def test_sums_are_written_as_the_quantity_was() -> None:
    assert added("64Mi", nanos("64Mi")) == "128Mi"
    assert added("0", nanos("1Gi"), "4Gi") == "1Gi"
    assert added("500m", nanos("600m")) == "1100m"


def test_a_balancer_that_asks_for_no_node_ports_counts_only_those_that_it_was_given() -> None:
    ports = [{"port": 80, "nodePort": 30080}, {"port": 443}]
    service = {"spec": {"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False, "ports": ports}}
    assert usage("services", service)["services.nodeports"] == NANO
    service["spec"]["allocateLoadBalancerNodePorts"] = True
    assert usage("services", service)["services.nodeports"] == 2 * NANO


def test_only_claims_ask_for_storage() -> None:
    asks = {"spec": {"resources": {"requests": {"storage": "1Gi"}}}}
    assert "requests.storage" not in usage("configmaps", asks)
    assert usage("persistentvolumeclaims", asks)["requests.storage"] == 2**30 * NANO
    assert usage("persistentvolumeclaims", {"spec": {}})["requests.storage"] == 0


@pytest.mark.parametrize(("seconds", "ends"), [(None, False), (0, False), (1, True), (3600, True)])
def test_a_pod_that_ends_by_itself_is_terminating(seconds: int | None, ends: bool) -> None:
    pod = {"spec": {} if seconds is None else {"activeDeadlineSeconds": seconds}}
    assert covers({"scopes": ["Terminating"]}, "pods", pod) is ends
    assert covers({"scopes": ["NotTerminating"]}, "pods", pod) is not ends


@pytest.mark.parametrize(
    ("operator", "values", "covered"),
    [
        ("In", ["high"], True),
        ("In", ["low"], False),
        ("NotIn", ["low"], True),
        ("NotIn", ["high"], False),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
        ("Near", ["high"], False),
    ],
)
def test_a_quota_may_be_about_priority_classes(operator: str, values: list[str], covered: bool) -> None:
    scope = {"scopeName": "PriorityClass", "operator": operator, "values": values}
    quota = {"scopeSelector": {"matchExpressions": [scope]}}
    assert covers(quota, "pods", {"spec": {"priorityClassName": "high"}}) is covered
    assert not covers(quota, "services", {"spec": {}}), "a scope is about pods"


@pytest.mark.parametrize(
    ("term", "elsewhere"),
    [({"topologyKey": "zone"}, False), ({"namespaces": ["other"]}, True), ({"namespaceSelector": {}}, True)],
)
def test_a_pod_that_chooses_neighbours_elsewhere_is_counted_apart(term: dict[str, Any], elsewhere: bool) -> None:
    when = "DuringSchedulingIgnoredDuringExecution"
    for side in ("podAffinity", "podAntiAffinity"):
        for terms in ({f"required{when}": [term]}, {f"preferred{when}": [{"podAffinityTerm": term}]}):
            pod = {"spec": {"affinity": {side: terms}}}
            assert covers({"scopes": ["CrossNamespacePodAffinity"]}, "pods", pod) is elsewhere


def test_a_pod_that_states_its_amounts_as_a_whole_need_not_state_them_by_container() -> None:
    silent = {"spec": {"containers": [{"name": "a"}]}}
    assert unstated(silent, ["requests.cpu"]) == {"requests.cpu": ["a"]}
    silent["spec"]["resources"] = {"requests": {"cpu": "1"}}  # type: ignore[assignment]
    assert unstated(silent, ["requests.cpu"]) == {}


def test_one_term_among_others_that_looks_elsewhere_is_enough() -> None:
    here, there = {"topologyKey": "zone"}, {"topologyKey": "zone", "namespaces": ["other"]}
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": [here, there]}
    assert covers({"scopes": ["CrossNamespacePodAffinity"]}, "pods", {"spec": {"affinity": {"podAffinity": terms}}})


def test_amounts_that_nobody_states_are_named_in_order() -> None:
    limits = ["requests.memory", "limits.cpu", "requests.cpu", "limits.memory"]
    assert list(unstated({"spec": {"containers": [{"name": "a"}]}}, limits)) == sorted(limits)
