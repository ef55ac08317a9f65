"""One family of workloads after the other: how many pods must start together, and in which sub-groups."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.api.meta import Raw
from gangline.grouper.groupers import GROUPERS
from gangline.grouper.grouping import GroupTopology, Ungroupable
from gangline.grouper.rights import rights
from gangline.grouper.settings import from_flags
from grouper.surroundings import COMPAT, grouped, obj, pod, pod_group, shape

REPLICA_TYPE, REPLICA_INDEX = "training.kubeflow.org/replica-type", "training.kubeflow.org/replica-index"
WORKER_INDEX, GROUP_INDEX = "leaderworkerset.sigs.k8s.io/worker-index", "leaderworkerset.sigs.k8s.io/group-index"


def test_no_kind_has_two_groupers_and_all_42_are_there() -> None:
    kinds = [kind for grouper in GROUPERS for kind in grouper.kinds]
    assert len(kinds) == len(set(kinds)) == 42


def test_a_batch_job_starts_with_one_pod_unless_its_annotation_asks_for_a_gang() -> None:
    plain, gang = (
        obj("batch/v1 Job", "j"),
        obj("batch/v1 Job", "j", annotations={"kai.scheduler/batch-min-member": "4"}),
    )
    assert grouped(pod(owner=plain), plain).minimum == 1
    assert grouped(pod(owner=gang), gang).minimum == 4


def test_a_gang_size_that_is_no_number_is_refused() -> None:
    job = obj("batch/v1 Job", "j", annotations={"kai.scheduler/batch-min-member": "four"})
    with pytest.raises(
        Ungroupable, match=r"kai\.scheduler/batch-min-member of Job work/j must be a whole number, not 'four'"
    ):
        grouped(pod(owner=job), job)


def test_a_job_pod_grouped_by_an_older_release_keeps_its_group() -> None:
    job = obj("batch/v1 Job", "j", annotations={"kai.scheduler/batch-min-member": "4"})
    found = grouped(pod("j-abc", owner=job), job, pod_group("pg-j-abc-j-uid"))
    assert (found.name, found.minimum) == ("pg-j-abc-j-uid", 1)
    off = from_flags(["--search-legacy-pg=false"])
    assert grouped(pod("j-abc", owner=job), job, pod_group("pg-j-abc-j-uid"), settings=off).name == "pg-j-j-uid"


def test_the_pods_of_a_runai_job_share_the_group_of_their_stem_or_that_of_an_older_release() -> None:
    job = obj("run.ai/v1 RunaiJob", "j")
    several = obj("run.ai/v1 RunaiJob", "j", spec={"parallelism": 2})
    assert grouped(pod("j-1-abc", owner=job), job).name == "pg-j-1-j-uid"
    assert grouped(pod("j-1-abc", owner=job), job, pod_group("pg-j-j-uid")).name == "pg-j-j-uid"
    assert grouped(pod("j-1-abc", owner=several), several, pod_group("pg-j-j-uid")).name == "pg-j-1-j-uid"
    of_pod = pod_group("pg-j-1-abc-j-uid")
    assert grouped(pod("j-1-abc", owner=several), several, of_pod).name == "pg-j-1-abc-j-uid"
    off = from_flags(["--search-legacy-pg=false"])
    assert grouped(pod("j-1-abc", owner=job), job, pod_group("pg-j-j-uid"), settings=off).name == "pg-j-1-j-uid"


def test_each_run_of_a_cron_job_is_a_group() -> None:
    cron = obj("batch/v1 CronJob", "nightly")
    job = obj("batch/v1 Job", "nightly-1", owner=cron)
    assert grouped(pod(owner=job), job, cron).name == "pg-nightly-1-nightly-1-uid"


def test_replicas_of_a_deployment_do_not_need_each_other() -> None:
    deployment = obj("apps/v1 Deployment", "d")
    replicas = obj("apps/v1 ReplicaSet", "d-1", owner=deployment)
    found = grouped(pod("d-1-x", owner=replicas), replicas, deployment)
    assert (found.name, found.owner["kind"], found.priority_class) == ("pg-d-1-x-d-1-x-uid", "Pod", "inference")


def test_driver_and_executors_of_a_spark_application_share_a_group() -> None:
    labels = {"spark-app-name": "pi", "spark-app-selector": "spark-1"}
    assert grouped(pod("driver", labels=labels)).name == grouped(pod("exec-1", labels=labels)).name == "spark-1"


@pytest.mark.parametrize(
    ("kind", "priority"), [("kubeflow.org/v1beta1 Notebook", "build"), ("egx.nvidia.io/v1 SPOTRequest", "inference")]
)
def test_some_kinds_have_a_usual_priority_of_their_own(kind: str, priority: str) -> None:
    owner = obj(kind, "o")
    assert grouped(pod(owner=owner), owner).priority_class == priority


def test_an_azure_job_has_as_many_pods_as_its_environment_says() -> None:
    spec = {"job": {"options": {"envs": {"AZUREML_NODE_COUNT": 3}}}}
    job = obj("amlarc.azureml.com/v1alpha1 AmlJob", "a", spec=spec)
    assert grouped(pod(owner=job), job).minimum == 3
    with pytest.raises(Ungroupable, match=r"set spec\.job\.options\.envs\.AZUREML_NODE_COUNT"):
        grouped(pod(owner=job), obj("amlarc.azureml.com/v1alpha1 AmlJob", "a", spec={}))


# --- kubeflow ---------------------------------------------------------------------------------------------------------


def test_a_training_job_needs_all_its_replicas_unless_its_policy_says_less() -> None:
    job = obj("kubeflow.org/v1 TFJob", "t", spec={"tfReplicaSpecs": {"PS": {"replicas": 1}, "Worker": {"replicas": 4}}})
    assert grouped(pod(owner=job), job).minimum == 5
    job["spec"]["runPolicy"] = {"schedulingPolicy": {"minAvailable": 2}}
    assert grouped(pod(owner=job), job).minimum == 2


def test_a_role_without_replicas_or_a_missing_role_is_refused() -> None:
    job = obj("kubeflow.org/v1 XGBoostJob", "x", spec={"xgbReplicaSpecs": {"Master": {"replicas": 1}}})
    with pytest.raises(Ungroupable, match=r"XGBoostJob work/x needs a Worker in spec\.xgbReplicaSpecs"):
        grouped(pod(owner=job), job)
    job["spec"]["xgbReplicaSpecs"]["Worker"] = {"replicas": 0}
    with pytest.raises(Ungroupable, match="cannot have 0 Worker pods"):
        grouped(pod(owner=job), job)


def test_an_mpi_launcher_that_waits_for_its_workers_joins_the_gang_when_it_is_there() -> None:
    spec = {
        "launcherCreationPolicy": "WaitForWorkersReady",
        "mpiReplicaSpecs": {"Launcher": {"replicas": 1}, "Worker": {"replicas": 2}},
    }
    job = obj("kubeflow.org/v2beta1 MPIJob", "m", spec=spec)
    worker = pod("w", owner=job)
    assert grouped(worker, job).minimum == 2
    launcher = pod(
        "l", owner=job, labels={"training.kubeflow.org/job-name": "m", "training.kubeflow.org/job-role": "launcher"}
    )
    assert grouped(worker, job, launcher).minimum == 3


def test_an_mpi_launcher_with_older_labels_is_seen_unless_upstream_is_imitated() -> None:
    spec = {
        "launcherCreationPolicy": "WaitForWorkersReady",
        "mpiReplicaSpecs": {"Launcher": {"replicas": 1}, "Worker": {"replicas": 2}},
    }
    job = obj("kubeflow.org/v1 MPIJob", "m", spec=spec)
    launcher = pod("l", owner=job, labels={"training.kubeflow.org/job-name": "m", REPLICA_TYPE: "launcher"})
    assert grouped(pod("w", owner=job), job, launcher).minimum == 3
    assert grouped(pod("w", owner=job), job, launcher, settings=COMPAT).minimum == 2


def pytorch(workers: int, **spec: Any) -> Raw:
    replicas = {
        "Master": {"replicas": 1},
        "Worker": {"replicas": workers, "template": {"metadata": {"annotations": {}}}},
    }
    return obj("kubeflow.org/v1 PyTorchJob", "t", spec={"pytorchReplicaSpecs": replicas, **spec})


def test_a_pytorch_job_has_its_master_and_its_workers_as_sub_groups() -> None:
    job = pytorch(4)
    found = grouped(pod(owner=job, labels={REPLICA_TYPE: "worker"}), job)
    assert (found.minimum, found.leaf) == (5, "worker")
    assert shape(found.parts) == {"master": (1, None), "worker": (4, None)}


def test_workers_that_are_not_counted_are_refused_even_where_a_policy_says_how_many_are_needed() -> None:
    job = pytorch(4, runPolicy={"schedulingPolicy": {"minAvailable": 2}})
    job["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] = "four"
    with pytest.raises(Ungroupable, match=r"Worker\.replicas must be a whole number, not 'four'"):
        grouped(pod(owner=job), job)


def test_segments_past_the_elastic_minimum_ask_for_nothing() -> None:
    job = pytorch(5, elasticPolicy={"minReplicas": 3})
    job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["metadata"]["annotations"] = {
        "kai.scheduler/segment-size": "2",
        "kai.scheduler/segment-topology-required-placement": "rack",
        "kai.scheduler/topology": "dc",
    }
    found = grouped(pod(owner=job, labels={REPLICA_TYPE: "worker", REPLICA_INDEX: "4"}), job)
    assert shape(found.parts) == {
        "master": (1, None),
        "worker": (None, None),
        "worker-0": (2, "worker"),
        "worker-1": (0, "worker"),
        "worker-2": (0, "worker"),
    }
    assert (found.leaf, found.parts[2].placement) == ("worker-2", GroupTopology("dc", "rack", ""))


@pytest.mark.parametrize("size", ["0", "-2", "two", "1.5"])
def test_a_segment_size_that_is_not_positive_is_refused(size: str) -> None:
    job = pytorch(4)
    with pytest.raises(Ungroupable, match=f"segment-size of pod work/p must be a positive whole number, not '{size}'"):
        grouped(pod(owner=job, annotations={"kai.scheduler/segment-size": size}), job)


def test_ten_thousand_segments_are_enough() -> None:
    job = pytorch(20_001)
    with pytest.raises(Ungroupable, match="10001 segments are too many"):
        grouped(pod(owner=job, annotations={"kai.scheduler/segment-size": "2"}), job)


# --- ray --------------------------------------------------------------------------------------------------------------


def ray(*groups: Raw) -> Raw:
    return obj("ray.io/v1 RayCluster", "r", spec={"headGroupSpec": {}, "workerGroupSpecs": list(groups)})


def test_a_ray_cluster_needs_its_head_and_the_minimum_of_each_worker_group() -> None:
    cluster = ray(
        {"groupName": "gpu", "replicas": 4, "minReplicas": 2, "numOfHosts": 2},
        {"replicas": 1},
        {"groupName": "off", "replicas": 0},
    )
    found = grouped(pod(owner=cluster, labels={"ray.io/group": "gpu"}), cluster)
    assert (found.minimum, found.leaf) == (6, "gpu")
    assert shape(found.parts) == {"headgroup": (1, None), "gpu": (4, None), "worker-group-1": (1, None)}


def test_a_ray_job_is_sized_by_the_cluster_its_status_names() -> None:
    job = obj(
        "ray.io/v1 RayJob", "rj", labels={"ray.io/priority-class-name": "whatever"}, status={"rayClusterName": "r"}
    )
    cluster = {
        **ray({"groupName": "gpu", "replicas": 2}),
        "metadata": {
            **ray()["metadata"],
            "ownerReferences": [{"apiVersion": "ray.io/v1", "kind": "RayJob", "name": "rj", "uid": "rj-uid"}],
        },
    }
    found = grouped(pod(owner=cluster), cluster, job)
    assert (found.name, found.minimum, found.priority_class) == ("pg-rj-rj-uid", 3, "whatever")
    with pytest.raises(Ungroupable, match="RayJob work/rj names no RayCluster in its status yet"):
        grouped(pod(owner=cluster), cluster, {**job, "status": {}})


def test_a_suspended_worker_group_takes_no_part_unless_upstream_is_imitated() -> None:
    cluster = ray({"groupName": "gpu", "replicas": 2, "suspend": True})
    assert grouped(pod(owner=cluster), cluster).minimum == 1
    assert grouped(pod(owner=cluster), cluster, settings=COMPAT).minimum == 3


def test_a_ray_group_made_before_there_were_sub_groups_stays_flat() -> None:
    cluster = ray({"groupName": "gpu", "replicas": 2})
    found = grouped(
        pod(owner=cluster, labels={"ray.io/group": "gpu"}), cluster, pod_group("pg-r-r-uid", spec={"minMember": 3})
    )
    assert (found.minimum, found.parts, found.leaf) == (3, (), "")


# --- knative ----------------------------------------------------------------------------------------------------------


def revision_and_service(**revision: Any) -> tuple[Raw, Raw]:
    service = obj("serving.knative.dev/v1 Service", "s", labels={"kai.scheduler/queue": "team-a"})
    return obj("serving.knative.dev/v1 Revision", "s-1", owner=service, **revision), service


def test_a_knative_revision_is_a_gang_of_its_minimum_scale() -> None:
    revision, service = revision_and_service(annotations={"autoscaling.knative.dev/min-scale": "3"})
    found = grouped(pod(owner=revision, labels={"serving.knative.dev/revision": "s-1"}), revision, service)
    assert (found.name, found.minimum, found.owner["kind"], found.priority_class) == (
        "pg-s-1-s-1-uid",
        3,
        "Revision",
        "inference",
    )


def test_a_knative_group_hears_the_service_above_it_unless_upstream_is_imitated() -> None:
    revision, service = revision_and_service(labels={"kai.scheduler/preemptibility": "preemptible"})
    member = pod(owner=revision, labels={"serving.knative.dev/revision": "s-1"})
    native, compat = grouped(member, revision, service), grouped(member, revision, service, settings=COMPAT)
    assert (native.queue, native.preemptibility) == ("team-a", "preemptible")
    assert (compat.queue, compat.preemptibility) == ("default-queue", "")


def test_a_revision_whose_pods_were_grouped_one_by_one_stays_that_way() -> None:
    revision, service = revision_and_service()
    labels = {"serving.knative.dev/revision": "s-1"}
    others = [
        pod(name, owner=revision, labels=labels, annotations={"pod-group-name": f"pg-{name}"}) for name in ("a", "b")
    ]
    assert grouped(pod("c", owner=revision, labels=labels), revision, service, *others).name == "pg-c-c-uid"
    shared = [pod(name, owner=revision, labels=labels, annotations={"pod-group-name": "pg-x"}) for name in ("a", "b")]
    assert grouped(pod("c", owner=revision, labels=labels), revision, service, *shared).name == "pg-s-1-s-1-uid"


def test_without_knative_gangs_each_pod_is_a_group() -> None:
    revision, service = revision_and_service()
    settings = from_flags(["--knative-gang-schedule=false"])
    member = pod(owner=revision, labels={"serving.knative.dev/revision": "s-1"})
    assert grouped(member, revision, service, settings=settings).name == "pg-p-p-uid"


# --- leader worker set ------------------------------------------------------------------------------------------------


def lws(size: int, segment: int | None = None, policy: str | None = None, **spec: Any) -> Raw:
    template: Raw = {"size": size, "workerTemplate": {}}
    if segment is not None:
        template["subGroupPolicy"] = {"subGroupSize": segment} | ({"subGroupPolicyType": policy} if policy else {})
    return obj("leaderworkerset.x-k8s.io/v1 LeaderWorkerSet", "lw", spec={"leaderWorkerTemplate": template, **spec})


def member(owner: Raw, index: int, **spec: Any) -> Raw:
    return pod(f"lw-0-{index}", owner=owner, labels={WORKER_INDEX: str(index), GROUP_INDEX: "0"}, **spec)


def test_each_replica_of_a_leader_worker_set_is_a_group() -> None:
    owner = lws(4)
    found = grouped(member(owner, 2), owner)
    assert (found.name, found.minimum, found.leaf) == ("pg-lw-lw-uid-group-0", 4, "workers")
    assert shape(found.parts) == {"leader": (1, None), "workers": (3, None)}


def test_a_leader_that_must_be_ready_first_starts_alone() -> None:
    owner = lws(4, startupPolicy="LeaderReady")
    assert grouped(member(owner, 0), owner).minimum == 1
    assert grouped(member(owner, 0, nodeName="n"), owner).minimum == 4


def test_the_leader_joins_the_first_segment() -> None:
    owner = lws(5, 2)
    found = grouped(member(owner, 3), owner)
    assert found.leaf == "segment-1"
    assert shape(found.parts) == {
        "segment-0": (None, None),
        "segment-1": (2, None),
        "leader": (1, "segment-0"),
        "workers": (2, "segment-0"),
    }


def test_an_excluded_leader_stands_beside_the_segments() -> None:
    owner = lws(5, 2, "LeaderExcluded")
    found = grouped(member(owner, 1), owner)
    assert (found.leaf, shape(found.parts)) == (
        "segment-0",
        {"leader": (1, None), "segment-0": (2, None), "segment-1": (2, None)},
    )


@pytest.mark.parametrize("policy", ["LeaderWorker", "LeaderExcluded"])
def test_a_lone_segment_asks_for_the_pods_there_are_unless_upstream_is_imitated(policy: str) -> None:
    owner = lws(5, 4, policy)
    native, compat = grouped(member(owner, 0), owner), grouped(member(owner, 0), owner, settings=COMPAT)
    assert sum(part.minimum for part in native.parts) == 5
    assert sum(part.minimum for part in compat.parts) == 6


def test_a_segmented_leader_that_must_be_ready_first_starts_alone_unless_upstream_is_imitated() -> None:
    owner = lws(5, 2, startupPolicy="LeaderReady")
    assert shape(grouped(member(owner, 0), owner).parts) == {"leader": (1, None)}
    with pytest.raises(Ungroupable, match="segments of 2 pods do not fit into the 1"):
        grouped(member(owner, 0), owner, settings=COMPAT)


def test_a_worker_past_the_end_is_refused() -> None:
    owner = lws(5, 2)
    with pytest.raises(Ungroupable, match="worker-index of pod work/lw-0-9 must be below 5, not '9'"):
        grouped(member(owner, 9), owner)


# --- job set ----------------------------------------------------------------------------------------------------------


def job_set(*jobs: Raw, order: str = "AnyOrder", **meta: Any) -> Raw:
    spec = {"replicatedJobs": list(jobs), "startupPolicy": {"startupPolicyOrder": order}}
    return obj("jobset.x-k8s.io/v1alpha2 JobSet", "js", spec=spec, **meta)


def job_pod(owner: Raw, job: str, index: str = "0") -> Raw:
    return pod(
        owner=owner, labels={"jobset.sigs.k8s.io/replicatedjob-name": job, "jobset.sigs.k8s.io/job-index": index}
    )


def test_a_job_set_has_a_parent_per_job_and_a_leaf_per_replica() -> None:
    owner = job_set({"name": "a", "replicas": 2, "template": {"spec": {"parallelism": 3}}}, {"name": "b"})
    found = grouped(job_pod(owner, "a", "1"), owner)
    assert (found.children, found.leaf) == (2, "a-replica-1")
    assert shape(found.parts) == {
        "a": (None, None),
        "a-replica-0": (3, "a"),
        "a-replica-1": (3, "a"),
        "b": (None, None),
        "b-replica-0": (1, "b"),
    }


def test_a_job_set_that_starts_in_order_may_begin_with_its_first_job() -> None:
    owner = job_set({"name": "a"}, {"name": "b"}, order="InOrder")
    assert grouped(job_pod(owner, "a"), owner).children == 1


def test_a_pod_whose_job_the_set_does_not_have_is_refused() -> None:
    owner = job_set({"name": "a"})
    with pytest.raises(Ungroupable, match="belongs to z-replica-0, which the JobSet's spec does not have"):
        grouped(job_pod(owner, "z"), owner)


def test_a_job_set_of_two_billion_jobs_is_refused_before_a_leaf_is_made_for_each() -> None:
    owner = job_set({"name": "a", "replicas": 2147483647})
    with pytest.raises(
        Ungroupable, match=r"spec.replicatedJobs\[0\].replicas is 2147483647; a gang has at most 5000 jobs of a kind"
    ):
        grouped(job_pod(owner, "a"), owner)


def test_a_job_set_grouped_before_there_were_sub_groups_stays_flat() -> None:
    owner = job_set({"name": "a"}, order="InOrder")
    found = grouped(job_pod(owner, "a"), owner, pod_group("pg-js-js-uid-a", spec={"minMember": 1}))
    assert (found.name, found.children, found.parts) == ("pg-js-js-uid-a", None, ())


# --- grove ------------------------------------------------------------------------------------------------------------


def gang(*groups: Raw, **content: Any) -> Raw:
    spec = {"podgroups": list(groups), **content.pop("spec", {})}
    return obj("scheduler.grove.io/v1alpha1 PodGang", "inf-0", spec=spec, **content)


def leaf(name: str, minimum: int, *pods: str) -> Raw:
    return {
        "name": name,
        "minReplicas": minimum,
        "podReferences": [{"namespace": "work", "name": item} for item in pods],
    }


SET = obj("grove.io/v1alpha1 PodCliqueSet", "inf", labels={"kai.scheduler/queue": "team-a"})
CLIQUE = obj("grove.io/v1alpha1 PodClique", "inf-0-a", owner=SET)


def clique_pod(name: str) -> Raw:
    return pod(name, owner=CLIQUE, labels={"grove.io/podgang": "inf-0"})


def test_a_pod_gang_becomes_a_group_with_a_leaf_per_clique() -> None:
    found = grouped(clique_pod("b-0"), CLIQUE, SET, gang(leaf("a", 2, "a-0", "a-1"), leaf("b", 1, "b-0")))
    assert (found.name, found.minimum, found.leaf) == ("pg-inf-0-inf-0-uid", 3, "b")
    assert shape(found.parts) == {"a": (2, None), "b": (1, None)}


def test_the_queue_of_a_set_reaches_its_gangs_unless_upstream_is_imitated() -> None:
    members = (CLIQUE, SET, gang(leaf("a", 1, "a-0")))
    assert grouped(clique_pod("a-0"), *members).queue == "team-a"
    assert grouped(clique_pod("a-0"), *members, settings=COMPAT).queue == "default-queue"


def test_topology_groups_become_parents() -> None:
    spec = {
        "topologyConstraintGroupConfigs": [
            {
                "name": "both",
                "podGroupNames": ["a", "b"],
                "topologyConstraint": {"packConstraint": {"required": "rack"}},
            }
        ]
    }
    its = gang(leaf("a", 1, "a-0"), leaf("b", 1), spec=spec, annotations={"grove.io/topology-name": "dc"})
    found = grouped(clique_pod("a-0"), CLIQUE, SET, its)
    assert shape(found.parts) == {"both": (None, None), "a": (1, "both"), "b": (1, "both")}
    assert found.parts[0].placement == GroupTopology("dc", "rack", "")


def test_a_gang_may_not_name_pods_of_another_namespace() -> None:
    foreign = {"name": "a", "minReplicas": 1, "podReferences": [{"namespace": "other", "name": "x"}]}
    with pytest.raises(Ungroupable, match="names pod other/x; a PodGang may only name pods of its namespace work"):
        grouped(clique_pod("a-0"), CLIQUE, SET, gang(foreign))


# --- skipped owners ---------------------------------------------------------------------------------------------------


def test_a_wrapper_is_skipped_and_heard_by_the_workload_below() -> None:
    train = obj("trainer.kubeflow.org/v1alpha1 TrainJob", "tj", labels={"kai.scheduler/queue": "team-a"})
    owner = {
        **job_set({"name": "a"}),
        "metadata": {
            **job_set()["metadata"],
            "ownerReferences": [
                {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "name": "tj", "uid": "tj-uid"}
            ],
        },
    }
    found = grouped(job_pod(owner, "a"), owner, train)
    assert (found.name, found.queue, found.children) == ("pg-js-js-uid", "team-a", 1)


def test_the_priority_of_a_skipped_owner_counts_unless_upstream_is_imitated() -> None:
    workflow = obj("argoproj.io/v1alpha1 Workflow", "wf", labels={"priorityClassName": "gold"})
    owner = obj("apps/v1 StatefulSet", "s", owner=workflow)
    assert grouped(pod(owner=owner), owner, workflow).priority_class == "gold"
    assert grouped(pod(owner=owner), owner, workflow, settings=COMPAT).priority_class == "train"


def test_wrappers_may_be_stacked_unless_upstream_is_imitated() -> None:
    workflow = obj("argoproj.io/v1alpha1 Workflow", "wf")
    graph = obj("nvidia.com/v1beta1 DynamoGraphDeployment", "dgd", owner=workflow)
    owner = obj("grove.io/v1alpha1 PodCliqueSet", "inf", owner=graph)
    clique = obj("grove.io/v1alpha1 PodClique", "inf-0-a", owner=owner)
    member = pod("a-0", owner=clique, labels={"grove.io/podgang": "inf-0"})
    surroundings = (clique, owner, graph, workflow, gang(leaf("a", 1, "a-0")))
    assert grouped(member, *surroundings).name == "pg-inf-0-inf-0-uid"
    assert grouped(member, *surroundings, settings=COMPAT).name == "pg-dgd-dgd-uid"


def test_the_rights_cover_every_kind_that_a_grouper_reads() -> None:
    readable = [rule for rule in rights() if "get" in rule["verbs"]]
    granted = {(group, plural) for rule in readable for group in rule["apiGroups"] for plural in rule["resources"]}
    wanted = {
        ("batch", "jobs"),
        ("nvidia.com", "dynamographdeployments"),
        ("scheduler.grove.io", "podgangs"),
        ("", "pods"),
        ("serving.knative.dev", "revisions"),
        ("run.ai", "kartas"),
        ("run.ai", "trainingworkloads"),
        ("ray.io", "rayclusters"),
    }
    assert wanted <= granted
    assert {"apiGroups": [""], "resources": ["pods"], "verbs": ["patch"]} in rights()
