"""Pods and groups that are kept for long share what is equal, and lose what nobody reads."""

from __future__ import annotations

from typing import Any

import msgspec

from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.rules.objects.lean import MADE, MOST, lean_group, lean_pod, shared


def pod(name: str, phase: str = "Running", gpus: int = 1) -> Pod:
    container = {"name": "main", "image": "img", "resources": {"requests": {"nvidia.com/gpu": gpus}}}
    status: dict[str, Any] = {"phase": phase, "containerStatuses": [{"name": "main", "ready": True}]}
    status["conditions"] = [{"type": "PodScheduled", "status": "True"}]
    raw = {"metadata": {"name": name, "labels": {"q": "a"}}, "spec": {"containers": [container]}, "status": status}
    return msgspec.convert(raw, Pod, strict=False)


def group(name: str, phase: str) -> PodGroup:
    conditions = [{"type": "Phase", "reason": phase}] if phase else []
    raw = {"metadata": {"name": name}, "spec": {"queue": "q", "minMember": 2}, "status": {"conditions": conditions}}
    return msgspec.convert(raw, PodGroup, strict=False)


def test_siblings_share_their_containers_conditions_and_labels() -> None:
    one, two = lean_pod(pod("a")), lean_pod(pod("b"))
    assert one.spec.containers is two.spec.containers
    assert one.status.conditions is two.status.conditions
    assert one.labels is two.labels
    assert (one.name, two.name) == ("a", "b")


def test_pods_that_differ_keep_their_own_containers() -> None:
    one, two = lean_pod(pod("a", gpus=1)), lean_pod(pod("b", gpus=2))
    assert [item.spec.containers[0].resources.requests for item in (one, two)] == [
        {"nvidia.com/gpu": 1},
        {"nvidia.com/gpu": 2},
    ]


def test_statuses_of_containers_go_once_a_pod_has_started() -> None:
    assert lean_pod(pod("a")).status.container_statuses == ()


def test_a_pod_that_waits_is_left_as_it_is() -> None:
    waiting = pod("a", "Pending")
    assert lean_pod(waiting) is waiting


def test_groups_share_their_spec_once_their_status_is_written() -> None:
    one, two = lean_group(group("a", "Running")), lean_group(group("b", "Running"))
    assert one.spec is two.spec and one.status.conditions is two.status.conditions
    fresh = group("c", "")
    assert lean_group(fresh) is fresh


def test_what_is_compared_with_does_not_grow_for_ever() -> None:
    first = shared("field", ["first"])
    for number in range(MOST + 1):
        shared("field", [str(number)])
    assert shared("field", ["first"]) == first
    assert shared("field", ["first"]) is not first


def test_equal_parts_of_different_fields_are_not_mixed_up() -> None:
    assert shared("one", ["x", "y"]) is not shared("another", ["x", "y"])


def test_components_of_one_process_keep_one_lean_object_of_what_they_are_all_given() -> None:
    first, group_seen = pod("a"), group("g", "Running")
    lean = lean_pod(first)
    assert lean_pod(first) is lean and lean_group(group_seen) is lean_group(group_seen)
    for number in range(MADE + 1):
        lean_pod(pod(str(number)))
    assert lean_pod(first) == lean
    assert lean_pod(first) is not lean
