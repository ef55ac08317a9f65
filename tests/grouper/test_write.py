"""Which fields of a PodGroup are ours: everything that follows the workload, and nothing that others may take over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.meta import Raw
from gangline.grouper.grouping import Grouping, GroupPart, GroupTopology
from gangline.grouper.plan import matters
from gangline.grouper.settings import GrouperSettings, from_flags
from gangline.grouper.write import change, new_object, pod_change
from grouper.surroundings import COMPAT, grouped, obj, pod

OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "1"}
GROUPING = Grouping(
    "pg-j-1",
    "work",
    OWNER,
    labels={"kai.scheduler/queue": "a", "kai.scheduler/node-pool": "p"},
    annotations={"n": "1"},
    queue="a",
    priority_class="train",
    minimum=4,
    leaf="w",
    parts=(
        GroupPart("w", 3),
        GroupPart("s", children=2),
        GroupPart("x", 1, parent="s", placement=GroupTopology("dc", "rack")),
    ),
)
SETTINGS = GrouperSettings()


def live(grouping: Grouping = GROUPING, **spec: Any) -> PodGroup:
    made = new_object(grouping)
    meta = {**made["metadata"], "resourceVersion": "7"}
    return msgspec.convert({"metadata": meta, "spec": {**made["spec"], **spec}}, PodGroup)


def test_a_group_that_is_as_it_should_be_is_left_alone() -> None:
    assert change(live(), GROUPING, SETTINGS) is None


def test_a_minimum_in_pods_gives_way_to_one_in_sub_groups() -> None:
    patch = change(live(), replace(GROUPING, minimum=0, children=2), SETTINGS)
    assert patch == {
        "metadata": {"resourceVersion": "7"},
        "spec": {"minMember": None, "minSubGroup": 2, "topologyConstraint": {}},
    }


def test_what_the_workload_no_longer_says_is_taken_back() -> None:
    before = live(replace(GROUPING, preemption_delay="1m0s", preemptibility="preemptible"))
    patch = change(before, GROUPING, SETTINGS)
    assert patch is not None
    assert patch["spec"] == {"preemptibility": None, "preemptionDelay": None, "topologyConstraint": {}}


def test_queue_marking_and_back_off_are_never_written_again() -> None:
    assert change(live(queue="b", markUnschedulable=False, schedulingBackoff=1), GROUPING, SETTINGS) is None


def test_labels_are_added_but_neither_removed_nor_is_the_node_pool_moved() -> None:
    moved = {"kai.scheduler/queue": "z", "kai.scheduler/node-pool": "other", "new": "1"}
    patch = change(live(), replace(GROUPING, labels=moved), SETTINGS)
    assert patch == {"metadata": {"labels": {"new": "1"}, "resourceVersion": "7"}, "spec": {"topologyConstraint": {}}}


def test_an_empty_queue_is_not_written() -> None:
    assert "queue" not in new_object(replace(GROUPING, queue=""))["spec"]


def marked(annotations: Raw | None = None, labels: Raw | None = None, **more: Any) -> Pod:
    return msgspec.convert(pod("p", annotations=annotations, labels=labels) | more, Pod, strict=False)


def test_a_pod_is_marked_with_group_and_leaf_and_only_if_it_is_not_yet() -> None:
    marks = {"annotations": {"pod-group-name": "pg-j-1"}, "labels": {"kai.scheduler/subgroup-name": "w"}}
    assert pod_change(marked(), GROUPING) == {"metadata": marks}
    assert pod_change(marked(**marks), GROUPING) is None
    assert pod_change(marked(**marks), replace(GROUPING, leaf="")) is None


def test_only_changes_that_may_move_a_pod_are_looked_at() -> None:
    plain, ours = marked(), marked({"pod-group-name": "g"})
    assert matters(None, plain)
    assert not matters(plain, None)
    assert not matters(plain, ours)
    assert matters(ours, plain)
    assert matters(ours, marked({"pod-group-name": "other"}))
    assert matters(plain, marked(labels={"a": "1"}))
    assert matters(plain, marked(status={"phase": "Pending"}))
    bound = pod("p", nodeName="n")
    assert not matters(
        msgspec.convert(bound, Pod, strict=False), msgspec.convert(bound | {"status": {"phase": "Running"}}, Pod)
    )


def test_defaults_of_a_skipped_kind_may_be_written_in_any_case_unless_upstream_is_imitated() -> None:
    flags = ["--default-priorities-configmap-name=d", "--default-priorities-configmap-namespace=work"]
    types = '[{"typeName": "Workflow", "group": "argoproj.io", "preemptibility": "Preemptible"}]'
    workflow = obj("argoproj.io/v1alpha1 Workflow", "wf")
    surroundings = (workflow, obj("v1 ConfigMap", "d", data={"types": types}))
    assert grouped(pod(owner=workflow), *surroundings, settings=from_flags(flags)).preemptibility == "preemptible"
    assert grouped(pod(owner=workflow), *surroundings, settings=from_flags(flags, COMPAT.manner)).preemptibility == ""
