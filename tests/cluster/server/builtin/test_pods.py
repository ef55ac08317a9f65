"""Pods: what the server adds, what it refuses, and what may change afterwards."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.server.builtin.samples import sample
from cluster.server.hypothesis_settings import patient
from gangline.cluster.kinds import rules
from gangline.cluster.schema import BadForm, WrongType

Obj = dict[str, Any]
PODS = rules("", "v1", "Pod")


def pod(**spec: Any) -> Obj:
    """A pod as it is after creation."""
    given_spec = {"containers": [{"name": "c", "image": "img"}], **spec}
    obj, _ = PODS.schema.admit(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "creationTimestamp": "2020-01-01T00:00:00Z"},
            "spec": given_spec,
        }
    )
    PODS.defaults(obj)
    PODS.prepare_create(obj)
    return obj


def refused(**spec: Any) -> list[str]:
    return [str(problem) for problem in PODS.validate(pod(**spec))]


def container(**about: Any) -> list[Obj]:
    return [{"name": "c", "image": "img", **about}]


def changed(obj: Obj, subresource: str = "", **spec: Any) -> tuple[Obj, list[str]]:
    new = copy.deepcopy(obj)
    new["spec"].update(spec)
    PODS.prepare_update(new, obj, subresource)
    return new, [str(problem) for problem in PODS.validate_update(new, obj, subresource)]


def test_a_minimal_pod_gets_its_defaults() -> None:
    assert pod()["spec"] == {
        "containers": [
            {
                "name": "c",
                "image": "img",
                "resources": {},
                "imagePullPolicy": "Always",
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }
        ],
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        "schedulerName": "default-scheduler",
        "enableServiceLinks": True,
    }
    assert pod()["metadata"]["generation"] == 1
    assert PODS.validate(pod()) == []


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("a", "Always"),
        ("a:latest", "Always"),
        ("a:v1", "IfNotPresent"),
        ("h:5000/a", "Always"),
        ("a@sha256:" + "0" * 64, "IfNotPresent"),
    ],
)
def test_only_images_without_a_fixed_tag_are_always_pulled(image: str, policy: str) -> None:
    assert pod(containers=[{"name": "c", "image": image}])["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_a_limit_without_a_request_requests_itself() -> None:
    found = pod(containers=container(resources={"limits": {"nvidia.com/gpu": "1"}}))["spec"]["containers"][0][
        "resources"
    ]
    assert found["requests"] == {"nvidia.com/gpu": "1"}


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "0"}}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"nvidia.com/gpu": "1"}}, "BestEffort"),
    ],
)
def test_quality_of_service_follows_cpu_and_memory(resources: Obj, quality: str) -> None:
    assert pod(containers=container(resources=resources))["status"]["qosClass"] == quality


def test_a_gated_pod_says_that_it_waits() -> None:
    condition = pod(schedulingGates=[{"name": "x.io/a"}])["status"]["conditions"][0]
    assert (condition["type"], condition["status"], condition["reason"]) == ("PodScheduled", "False", "SchedulingGated")


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"containers": []}, "spec.containers: Required value"),
        ({"containers": [{"name": "", "image": "i"}]}, "spec.containers[0].name: Required value"),
        ({"containers": container(image="")}, "spec.containers[0].image: Required value"),
        (
            {"containers": container(ports=[{"containerPort": 70000}])},
            "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
        ),
        (
            {"containers": container(resources={"requests": {"nvidia.com/gpu": "1"}})},
            "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
        ),
        (
            {"containers": container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}})},
            'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
        ),
        (
            {"containers": container(volumeMounts=[{"name": "zz", "mountPath": "/x"}])},
            'spec.containers[0].volumeMounts[0].name: Not found: "zz"',
        ),
        (
            {"containers": container(livenessProbe={"periodSeconds": 3})},
            "spec.containers[0].livenessProbe: Required value: must specify a handler type",
        ),
        (
            {"containers": container(env=[{"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "spec.foo"}}}])},
            'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.foo": error converting '
            "fieldPath: field label not "
            "supported: spec.foo",
        ),
        ({"initContainers": container(name="c")}, 'spec.initContainers[0].name: Duplicate value: "c"'),
        (
            {"restartPolicy": "Foo"},
            'spec.restartPolicy: Unsupported value: "Foo": supported values: "Always", "OnFailure", "Never"',
        ),
        (
            {"volumes": [{"name": "v", "emptyDir": {}, "configMap": {"name": "x"}}]},
            "spec.volumes[0].configMap: Forbidden: may not specify more than 1 volume type",
        ),
        (
            {"tolerations": [{"key": "a", "operator": "Foo"}]},
            'spec.tolerations[0].operator: Unsupported value: "Foo": supported values: "Equal", "Exists"',
        ),
        (
            {"nodeName": "n", "schedulingGates": [{"name": "x.io/a"}]},
            "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared",
        ),
        (
            {"ephemeralContainers": [{"name": "d", "image": "i"}]},
            "spec.ephemeralContainers: Forbidden: cannot be set on create",
        ),
        (
            {"hostNetwork": True, "containers": container(ports=[{"containerPort": 1, "hostPort": 5}])},
            "spec.containers[0].ports[0].hostPort: Invalid value: 5: must match `containerPort` when `hostNetwork` is "
            "true",
        ),
    ],
)
def test_a_bad_pod_is_refused_at_the_field(spec: Obj, told: str) -> None:
    assert refused(**spec) == [told]


def test_images_may_change_and_count_as_a_new_generation() -> None:
    new, problems = changed(pod(), containers=[{**pod()["spec"]["containers"][0], "image": "new"}])
    assert problems == [] and new["metadata"]["generation"] == 2


def test_other_fields_may_not_change() -> None:
    _, problems = changed(pod(), hostname="x")
    assert len(problems) == 1 and problems[0].startswith(
        "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`"
    )


def test_gates_only_ever_go_and_while_gated_selection_only_narrows() -> None:
    gated = pod(schedulingGates=[{"name": "x.io/a"}], nodeSelector={"a": "b"})
    assert changed(gated, schedulingGates=[])[1] == []
    assert changed(gated, nodeSelector={"a": "b", "c": "d"})[1] == []
    assert "only additions to spec.nodeSelector are allowed" in changed(gated, nodeSelector={"a": "z"})[1][0]
    assert changed(pod(), schedulingGates=[{"name": "x.io/b"}])[1][0] == (
        "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'x.io/b'"
    )


def test_tolerations_may_be_added_but_not_taken_away() -> None:
    one = pod(tolerations=[{"key": "a", "operator": "Exists"}])
    assert changed(one, tolerations=[{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}])[1] == []
    assert "existing toleration can not be modified" in changed(one, tolerations=[])[1][0]


def test_a_status_write_leaves_the_spec_alone_and_a_spec_write_the_status() -> None:
    live = pod()
    new = copy.deepcopy(live)
    new["spec"]["hostname"], new["status"]["phase"] = "x", "Running"
    through_status = copy.deepcopy(new)
    PODS.prepare_update(through_status, live, "status")
    PODS.prepare_update(new, live)
    assert "hostname" not in through_status["spec"] and through_status["status"]["phase"] == "Running"
    assert new["status"]["phase"] == "Pending"


def test_only_cpu_and_memory_can_be_resized() -> None:
    live = pod(containers=container(resources={"limits": {"nvidia.com/gpu": "1", "cpu": "1"}}))
    more = {"limits": {"nvidia.com/gpu": "2", "cpu": "1"}, "requests": {"nvidia.com/gpu": "2", "cpu": "1"}}
    assert changed(live, "resize", containers=container(resources=more))[1] == [
        "spec: Forbidden: only cpu and memory resources are mutable"
    ]


@patient
@given(st.integers(0, 2**32))
def test_any_pod_is_judged_and_the_live_one_not_changed_by_that(seed: int) -> None:
    random = Random(seed)
    node = PODS.schema.root.fields["spec"]
    spec = sample(node, random) or {}
    other = {**spec, **(sample(node, random) or {})}
    try:
        first, second = pod(**spec), pod(**other)
    except (WrongType, BadForm):
        return
    before = copy.deepcopy(first)
    problems = {str(problem) for problem in PODS.validate(first)}
    for endpoint in ("", "status", "resize", "ephemeralcontainers"):
        PODS.prepare_update(second, first, endpoint)
        PODS.validate_update(second, first, endpoint)
    PODS.warnings(first)
    assert {str(problem) for problem in PODS.validate_update(copy.deepcopy(first), first, "")} <= problems
    assert first == before
