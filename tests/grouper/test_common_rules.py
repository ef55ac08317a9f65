"""The rules that every workload shares: owner walk, names, queue, priority, preemptibility, delays, topology."""

from __future__ import annotations

import msgspec
import pytest

from gangline.api.core import Pod
from gangline.grouper.grouping import GroupTopology, Ungroupable
from gangline.grouper.marks import can_wait, group_can_wait
from gangline.grouper.settings import GrouperSettings, from_flags
from grouper.surroundings import COMPAT, FORBIDDEN, MISSING, asked, grouped, obj, pod, pod_group

JOB = "batch/v1 Job"


def test_a_bare_pod_is_a_group_of_its_own() -> None:
    found = grouped(pod("solo", labels={"kai.scheduler/queue": "team-a"}))
    assert (found.name, found.minimum, found.queue, found.priority_class) == ("pg-solo-solo-uid", 1, "team-a", "train")
    assert found.owner == {"apiVersion": "v1", "kind": "Pod", "name": "solo", "uid": "solo-uid"}
    assert (
        found.annotations["kai.scheduler/top-owner-metadata"]
        == 'name: solo\nuid: solo-uid\ngroup: ""\nversion: v1\nkind: Pod\n'
    )


@pytest.mark.parametrize("name", ["true", "y", "0755", "1e3", "2024-01-31", "null", "12"])
def test_a_name_that_looks_like_another_type_is_quoted_in_the_owner_annotation(name: str) -> None:
    assert f'name: "{name}"\n' in grouped(pod(name)).annotations["kai.scheduler/top-owner-metadata"]


def test_whether_a_group_can_wait_is_known_before_it_is_worked_out() -> None:
    refused = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
    spark = {"spark-app-name": "pi", "spark-app-selector": "spark-1"}
    pods = (
        (pod("alone"), True),
        (pod("half-spark", labels={"spark-app-name": "pi"}), True),
        (pod("spark", labels=spark), False),
        (pod("refused") | {"status": {"conditions": refused}}, False),
    )
    for raw, waits in pods:
        settings, read = GrouperSettings(), msgspec.convert(raw, Pod)
        assert group_can_wait(read, settings) is can_wait(read, grouped(raw), settings) is waits
        assert not group_can_wait(read, COMPAT) and not can_wait(read, grouped(raw), COMPAT)
    assert not group_can_wait(msgspec.convert(pod(owner=obj(JOB, "j")), Pod), GrouperSettings())


def test_a_pod_that_asks_to_be_left_alone_is_left_alone() -> None:
    job = obj(JOB, "j", annotations={"kai.scheduler/skip-podgrouper": "true"})
    assert asked(pod(annotations={"kai.scheduler/skip-podgrouper": "true"})) is None
    assert asked(pod(owner=job), job) is None


def test_a_lone_pod_that_somebody_put_into_a_group_stays_there() -> None:
    assert asked(pod(annotations={"pod-group-name": "mine"})) is None


def test_an_owned_pod_stays_in_a_group_that_no_grouper_made_unless_upstream_is_imitated() -> None:
    job = obj(JOB, "j")
    member = pod(owner=job, annotations={"pod-group-name": "theirs"})
    assert asked(member, job, pod_group("theirs")) is None
    assert grouped(member, job, pod_group("theirs"), settings=COMPAT).name == "pg-j-j-uid"
    ours = pod_group("theirs", annotations={"kai.scheduler/top-owner-metadata": "…"})
    assert grouped(member, job, ours).name == "pg-j-j-uid"
    assert grouped(member, job).name == "pg-j-j-uid"


def test_a_lone_pod_whose_own_group_is_gone_is_grouped_again() -> None:
    lost = pod("solo", annotations={"pod-group-name": "pg-solo-solo-uid"})
    assert grouped(lost).name == "pg-solo-solo-uid"
    assert asked(lost, settings=COMPAT) is None


def test_a_pod_of_another_scheduler_is_none_of_our_business() -> None:
    assert asked(pod(), settings=GrouperSettings(scheduler_names=("other",))) is None


def test_the_walk_ends_below_an_owner_that_may_not_be_read() -> None:
    secret = obj("example.com/v1 Secretive", "s")
    job = obj(JOB, "j", owner=secret)
    assert grouped(pod(owner=job), job, refused={"s": FORBIDDEN}).name == "pg-j-j-uid"
    assert grouped(pod(owner=secret), refused={"s": FORBIDDEN}).name == "pg-p-p-uid"


def test_an_owner_that_is_gone_is_named_in_the_refusal() -> None:
    job = obj(JOB, "j")
    with pytest.raises(Ungroupable, match=r"failed to find Job work/j \(uid j-uid\): not found"):
        grouped(pod(owner=job), refused={"j": MISSING})


def test_an_owner_of_the_same_name_but_another_uid_is_not_the_owner() -> None:
    job = obj(JOB, "j")
    again = {**job, "metadata": {**job["metadata"], "uid": "new"}}
    with pytest.raises(Ungroupable, match=r"an object of that name exists, but it is another one \(uid new\)"):
        grouped(pod(owner=job), again)


def test_two_owners_of_an_owner_are_refused_by_name() -> None:
    job = obj(JOB, "j")
    job["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "1"},
        {"apiVersion": "v1", "kind": "B", "name": "b", "uid": "2"},
    ]
    with pytest.raises(Ungroupable, match=r"has several owners \(A a, B b\); a gang has one"):
        grouped(pod(owner=job), job)


def test_owners_that_own_each_other_are_noticed() -> None:
    first, second = obj("example.com/v1 A", "a"), obj("example.com/v1 B", "b")
    first["metadata"]["ownerReferences"] = [{"apiVersion": "example.com/v1", "kind": "B", "name": "b", "uid": "b-uid"}]
    second["metadata"]["ownerReferences"] = [{"apiVersion": "example.com/v1", "kind": "A", "name": "a", "uid": "a-uid"}]
    with pytest.raises(Ungroupable, match="do they own each other"):
        grouped(pod(owner=first), first, second)


def test_the_queue_comes_from_the_owner_then_the_pod_then_the_project_then_the_default() -> None:
    labelled, plain = obj(JOB, "j", labels={"kai.scheduler/queue": "a"}), obj(JOB, "j")
    assert grouped(pod(owner=labelled, labels={"kai.scheduler/queue": "b"}), labelled).queue == "a"
    assert grouped(pod(owner=plain, labels={"kai.scheduler/queue": "b"}), plain).queue == "b"
    assert (
        grouped(pod(owner=plain, labels={"project": "x", "kai.scheduler/node-pool": "fast"}), plain).queue == "x-fast"
    )
    assert grouped(pod(owner=plain), plain).queue == "default-queue"


def test_an_empty_queue_label_counts_as_none_unless_upstream_is_imitated() -> None:
    job = obj(JOB, "j", labels={"kai.scheduler/queue": ""})
    member = pod(owner=job, labels={"kai.scheduler/queue": "b"})
    assert grouped(member, job).queue == "b"
    assert grouped(member, job, settings=COMPAT).queue == ""


def test_a_priority_class_that_does_not_exist_is_passed_over_unless_upstream_is_imitated() -> None:
    job = obj(JOB, "j", labels={"priorityClassName": "no-such-class"})
    member = pod(owner=job, priorityClassName="gold")
    assert grouped(member, job).priority_class == "gold"
    assert grouped(member, job, settings=COMPAT).priority_class == "train"


def test_kinds_have_default_priorities_and_preemptibilities_that_an_administrator_sets() -> None:
    settings = from_flags(["--default-priorities-configmap-name=d", "--default-priorities-configmap-namespace=work"])
    types = '[{"typeName": "Job", "group": "batch", "priorityName": "silver", "preemptibility": "Non-Preemptible"}]'
    job = obj(JOB, "j")
    found = grouped(pod(owner=job), job, obj("v1 ConfigMap", "d", data={"types": types}), settings=settings)
    assert (found.priority_class, found.preemptibility) == ("silver", "non-preemptible")
    broken = grouped(pod(owner=job), job, obj("v1 ConfigMap", "d", data={"types": "[{"}), settings=settings)
    assert (broken.priority_class, broken.preemptibility) == ("train", "")


def test_the_fields_of_an_administrators_defaults_count_in_any_case() -> None:
    settings = from_flags(["--default-priorities-configmap-name=d", "--default-priorities-configmap-namespace=work"])
    job, types = obj(JOB, "j"), '[null, {"TypeName": "Job", "GROUP": "batch", "priorityname": "silver"}]'
    assert (
        grouped(pod(owner=job), job, obj("v1 ConfigMap", "d", data={"types": types}), settings=settings).priority_class
        == "silver"
    )


def test_preemptibility_and_delays_are_searched_from_the_nearest_owner_to_the_pod() -> None:
    top = obj(
        "apps/v1 StatefulSet",
        "top",
        labels={"kai.scheduler/preemptibility": "preemptible"},
        annotations={"kai.scheduler/preemption-delay": "-5s"},
    )
    member = pod(
        owner=top,
        labels={"kai.scheduler/preemptibility": "non-preemptible"},
        annotations={"kai.scheduler/preemption-delay": "90s", "kai.scheduler/staleness-grace-period": "-1s"},
    )
    found = grouped(member, top)
    assert (found.preemptibility, found.preemption_delay, found.staleness_grace) == ("preemptible", "1m30s", "-1s")


def test_topology_comes_from_the_top_owner() -> None:
    job = obj(
        JOB, "j", annotations={"kai.scheduler/topology": "dc", "kai.scheduler/topology-required-placement": "rack"}
    )
    assert grouped(pod(owner=job), job).placement == GroupTopology("dc", "rack", "")


def test_the_group_joins_the_node_pool_of_its_pod() -> None:
    assert grouped(pod(labels={"kai.scheduler/node-pool": "fast"})).labels["kai.scheduler/node-pool"] == "fast"
    without = from_flags(["--nodepool-label-key="])
    assert grouped(pod(labels={"user": "me"}), settings=without).labels == {"user": "me"}


def test_a_group_does_not_repeat_what_kubectl_applied_to_its_workload_unless_upstream_is_imitated() -> None:
    note = "kubectl.kubernetes.io/last-applied-configuration"
    job = obj(JOB, "j", annotations={note: "{}"})
    assert note not in grouped(pod(owner=job), job).annotations
    assert note in grouped(pod(owner=job), job, settings=COMPAT).annotations


def test_a_group_does_not_repeat_its_members_mark_unless_upstream_is_imitated() -> None:
    secret = obj("example.com/v1 Secretive", "s")
    member = pod(owner=secret, annotations={"pod-group-name": "pg-p-p-uid"})
    assert "pod-group-name" not in grouped(member, refused={"s": FORBIDDEN}).annotations
    assert "pod-group-name" in grouped(member, refused={"s": FORBIDDEN}, settings=COMPAT).annotations
