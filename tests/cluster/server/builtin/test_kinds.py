"""The other built-in kinds: defaults, refusals, what never changes."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.server.builtin.samples import sample
from cluster.server.hypothesis_settings import patient
from gangline.api import notation
from gangline.cluster.kinds import rules
from gangline.cluster.kinds.table import GROUPS
from gangline.cluster.schema import BadForm, WrongType

Obj = dict[str, Any]
TEMPLATE: Obj = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def created(group: str, version: str, kind: str, /, **body: Any) -> Obj:
    about = rules(group, version, kind)
    obj, _ = about.schema.admit({"metadata": {"name": "o", "namespace": "n", "uid": "u"}, **body})
    about.defaults(obj)
    about.prepare_create(obj)
    return obj


def refused(group: str, version: str, kind: str, /, **body: Any) -> list[str]:
    about = rules(group, version, kind)
    return [str(problem) for problem in about.validate(created(group, version, kind, **body))]


def test_a_deployment_is_filled_in() -> None:
    spec = created("apps", "v1", "Deployment", spec={"selector": {"matchLabels": {"app": "x"}}, "template": TEMPLATE})[
        "spec"
    ]
    assert (spec["replicas"], spec["revisionHistoryLimit"], spec["progressDeadlineSeconds"]) == (1, 10, 600)
    assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}


@pytest.mark.parametrize(
    ("address", "body", "told"),
    [
        ("apps/v1 Deployment", {"spec": {"template": TEMPLATE}}, "spec.selector: Required value"),
        (
            "apps/v1 Deployment",
            {"spec": {"selector": {}, "template": TEMPLATE}},
            "spec.selector: Invalid value: {}: empty selector is invalid for deployment",
        ),
        (
            "batch/v1 Job",
            {"spec": {"template": TEMPLATE}},
            'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
        ),
        (
            "policy/v1 PodDisruptionBudget",
            {"spec": {"minAvailable": "x"}},
            'spec.minAvailable: Invalid value: "x": a valid percent string',
        ),
        (
            "scheduling.k8s.io/v1 PriorityClass",
            {"value": 2_000_000_000},
            "value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
        ),
        (
            "scheduling.k8s.io/v1alpha1 Workload",
            {"spec": {"podGroups": [{"name": "g", "policy": {}}]}},
            "spec.podGroups[0].policy: Required value: exactly one of `basic`, `gang` is required",
        ),
        (
            "rbac.authorization.k8s.io/v1 Role",
            {"rules": [{"apiGroups": [""], "resources": ["pods"]}]},
            "rules[0].verbs: Required value: verbs must contain at least one value",
        ),
        (
            "resource.k8s.io/v1 ResourceClaim",
            {"spec": {"devices": {"requests": [{"name": "r", "exactly": {}}]}}},
            "spec.devices.requests[0].exactly.deviceClassName: Required value",
        ),
        (
            "autoscaling/v2 HorizontalPodAutoscaler",
            {
                "spec": {
                    "maxReplicas": 3,
                    "minReplicas": 5,
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
                }
            },
            "spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`",
        ),
        ("v1 Secret", {"type": "kubernetes.io/dockerconfigjson"}, "data[.dockerconfigjson]: Required value"),
        (
            "v1 ConfigMap",
            {"data": {"bad key": "1"}},
            'data[bad key]: Invalid value: "bad key": a valid config key must consist of',
        ),
        (
            "v1 Service",
            {"spec": {"type": "Foo", "ports": [{"port": 80}]}},
            'spec.type: Unsupported value: "Foo": supported values: "ClusterIP"',
        ),
        (
            "v1 ResourceQuota",
            {"spec": {"hard": {"pods": "-5"}}},
            'spec.hard[pods]: Invalid value: "-5": must be greater than or equal to 0',
        ),
        (
            "v1 PersistentVolume",
            {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}},
            "spec: Required value: must specify a volume type",
        ),
        ("storage.k8s.io/v1 StorageClass", {}, "provisioner: Required value"),
        (
            "coordination.k8s.io/v1 Lease",
            {"spec": {"leaseDurationSeconds": 0}},
            "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
        ),
        (
            "events.k8s.io/v1 Event",
            {
                "regarding": {"namespace": "n"},
                "reason": "R",
                "action": "A",
                "type": "Normal",
                "reportingController": "c",
                "reportingInstance": "i",
            },
            "eventTime: Required value",
        ),
        (
            "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration",
            {
                "webhooks": [
                    {
                        "name": "a.x.io",
                        "clientConfig": {"url": "https://h/x"},
                        "sideEffects": "None",
                        "admissionReviewVersions": ["v1"],
                        "timeoutSeconds": 31,
                    }
                ]
            },
            "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
        ),
        (
            "discovery.k8s.io/v1 EndpointSlice",
            {"addressType": "IPv4", "endpoints": [{"addresses": ["x"]}]},
            'endpoints[0].addresses[0]: Invalid value: "x": must be a valid IP address',
        ),
    ],
)
def test_a_bad_object_is_refused_at_the_field(address: str, body: Obj, told: str) -> None:
    version, kind = address.split(" ")
    group, _, number = version.rpartition("/")
    found = refused(group, number, kind, **body)
    assert found and found[0].startswith(told), found


def test_a_job_selects_its_pods_by_its_own_uid() -> None:
    template = {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
    job = created("batch", "v1", "Job", spec={"template": template})
    assert job["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}}
    assert job["spec"]["template"]["metadata"]["labels"]["batch.kubernetes.io/job-name"] == "o"


def test_string_data_of_a_secret_becomes_data_and_wins() -> None:
    assert created("", "v1", "Secret", stringData={"a": "abc"}, data={"a": "eHl6"})["data"] == {"a": "YWJj"}


@pytest.mark.parametrize(
    ("address", "before", "after", "path"),
    [
        ("scheduling.k8s.io/v1 PriorityClass", {"value": 5}, {"value": 9}, "value"),
        ("apps/v1 ControllerRevision", {"data": {"a": 1}}, {"data": {"a": 2}}, "data"),
        ("v1 ConfigMap", {"data": {"a": "1"}, "immutable": True}, {"data": {"a": "2"}, "immutable": True}, "data"),
        ("node.k8s.io/v1 RuntimeClass", {"handler": "a"}, {"handler": "b"}, "handler"),
    ],
)
def test_what_never_changes_is_named(address: str, before: Obj, after: Obj, path: str) -> None:
    version, kind = address.split(" ")
    group, _, number = version.rpartition("/")
    old, new = created(group, number, kind, **before), created(group, number, kind, **after)
    assert [problem.path for problem in rules(group, number, kind).validate_update(new, old)] == [path]


def test_a_namespace_carries_its_name_as_a_label() -> None:
    obj = created("", "v1", "Namespace")
    assert obj["metadata"]["labels"] == {"kubernetes.io/metadata.name": "o"}
    assert obj["spec"] == {"finalizers": ["kubernetes"]} and obj["status"] == {"phase": "Active"}


def test_a_kind_that_is_not_built_in_is_unknown() -> None:
    with pytest.raises(LookupError, match="Widget is not a built-in kind of core/v1"):
        rules("", "v1", "Widget")


KINDS = [
    (group, version, kind)
    for (group, version), table in GROUPS.items()
    for kind in notation.names(table)
    if notation.struct(table, kind).meta
]


@patient
@given(st.sampled_from(KINDS), st.integers(0, 2**32))
def test_any_object_of_any_kind_is_judged_and_not_changed_by_that(kind: tuple[str, str, str], seed: int) -> None:
    about, random = rules(*kind), Random(seed)
    body = {**(sample(about.schema.root, random) or {}), "metadata": {"name": "o"}}
    other = {**body, **(sample(about.schema.root, random) or {}), "metadata": {"name": "o"}}
    try:
        first, second = created(*kind, **body), created(*kind, **other)
    except (WrongType, BadForm):
        return
    before = copy.deepcopy((first, second))
    problems = {str(problem) for problem in about.validate(first)}
    for endpoint in ("", "status"):
        new = copy.deepcopy(second)
        about.prepare_update(new, first, endpoint)
        about.validate_update(new, first, endpoint)
    about.warnings(second, first)
    assert {str(problem) for problem in about.validate_update(copy.deepcopy(first), first, "")} <= problems
    assert (first, second) == before
