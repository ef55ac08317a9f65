"""Every family of workloads, as a user writes it and as its own operator would create its pods: grouped, scheduled,
running.

Third parties' kinds are taught to the server without a schema; `of` plays their operator. Kinds that Kubernetes itself
knows are carried out by the (simulated) controllers."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.api import names
from gangline.api.kinds import (
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    NAMESPACE,
    POD,
    POD_GROUP,
    QUEUE,
    REPLICA_SET,
    STATEFUL_SET,
    Kind,
)
from gangline.api.meta import Raw
from gangline.grouper.component import component as grouper
from gangline.grouper.settings import GrouperSettings, from_flags
from journeys.story import Story, told
from journeys.words import pod, pod_spec

TRAINING = "training.kubeflow.org"


class Workload:
    """An object of a third party's kind, and its operator: makes pods that it owns."""

    def __init__(self, story: Story, kind: Kind[Any], made: Any) -> None:
        self.story, self.kind, self.made = story, kind, made

    @property
    def group(self) -> str:
        return f"pg-{self.made.name}-{self.made.uid}"

    def owner(self) -> Raw:
        return {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "name": self.made.name,
            "uid": self.made.uid,
            "controller": True,
        }

    async def pods(self, *pods: str, **labels: str) -> None:
        """Pods of one GPU; labels are given with `__` for the slash."""
        marked = {key.replace("__", "/"): value for key, value in labels.items()}
        for name in pods:
            await self.story.pod(name, gpus=1, owner=self.owner(), labels=marked)


async def made(
    story: Story,
    kind: str,
    name: str,
    spec: Raw | None = None,
    *,
    owner: Workload | None = None,
    namespaced: bool = True,
    **more: Any,
) -> Workload:
    """An object of a kind such as `kubeflow.org/v1 PyTorchJob`; its kind is taught to the server first."""
    version, _, plain = kind.partition(" ")
    group, _, number = version.rpartition("/")
    known = await story.kind(group, number, plain, namespaced=namespaced)
    meta: Raw = {"name": name, **more.pop("metadata", {})}
    if namespaced:
        meta["namespace"] = "default"
    if owner:
        meta["ownerReferences"] = [owner.owner()]
    return Workload(story, known, await story.client.create(known, {"metadata": meta, "spec": spec or {}, **more}))


async def firm(story: Story) -> None:
    """Kinds that serve people are not preemptible by default, so their queue must deserve what they use."""
    for queue in (names.DEFAULT_PARENT_QUEUE, names.DEFAULT_QUEUE):
        await story.client.patch(
            QUEUE, queue, "", {"spec": {"resources": {item: {"quota": -1} for item in ("gpu", "cpu", "memory")}}}
        )


async def shape(story: Story, pod: str) -> dict[str, int | None]:
    """The sub-groups of a pod's group, with their minima."""
    await story.settles()
    return {
        sub_group.name: sub_group.min_member if sub_group.min_sub_group is None else sub_group.min_sub_group
        for sub_group in (await story.group_of(pod)).spec.sub_groups
    }


async def minimum(story: Story, pod: str) -> int | None:
    await story.settles()
    return (await story.group_of(pod)).spec.min_member


def replicated(name: str, count: int, *, gpus: int = 1, labels: dict[str, str] | None = None, **spec: Any) -> Raw:
    marked = {"app": name, "gang": name, **(labels or {})}
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": count,
            "selector": {"matchLabels": {"app": name}},
            **spec,
            "template": {"metadata": {"labels": marked}, "spec": pod_spec(gpus=gpus)},
        },
    }


def job(
    name: str, count: int, *, minimum: int | None = None, annotations: dict[str, str] | None = None, **spec: Any
) -> Raw:
    noted = {**({names.BATCH_MIN_MEMBER: str(minimum)} if minimum else {}), **(annotations or {})}
    long = {"labels": {"gang": name}, "annotations": {names.RUN_SECONDS: "3600"}}
    return {
        "metadata": {"name": name, "namespace": "default", "annotations": noted},
        "spec": {
            "parallelism": count,
            "completions": count,
            **spec,
            "template": {"metadata": long, "spec": pod_spec(gpus=1, restartPolicy="Never")},
        },
    }


# --- kinds of Kubernetes ----------------------------------------------------------------------------------------------


async def test_a_bare_pod_is_a_gang_of_one_in_the_queue_of_its_label(story: Story) -> None:
    await story.nodes(1, gpus=1)
    await story.queue("team")
    made_pod = await story.pod("p", gpus=1, queue="team")
    await story.runs("p")
    group = await story.group_of("p")
    assert (group.name, group.spec.min_member, group.spec.queue) == (f"pg-p-{made_pod.uid}", 1, "team")


async def test_replicas_of_a_replica_set_share_a_group_and_start_as_room_appears(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.client.create(REPLICA_SET, replicated("web", 3))
    await story.shares(web=2)
    assert [group.spec.min_member for group in await story.all(POD_GROUP)] == [1]


async def test_replicas_of_a_deployment_have_groups_of_their_own(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await firm(story)
    await story.client.create(DEPLOYMENT, replicated("web", 2))
    await story.shares(web=2)
    groups = await story.all(POD_GROUP)
    assert len(groups) == 2 and {group.spec.priority_class_name for group in groups} == {"inference"}


async def test_a_deployment_on_parts_of_gpus_leaves_no_config_maps_when_it_shrinks(story: Story) -> None:
    await story.nodes(1, gpus=1)
    body = replicated("web", 2, gpus=0, labels={names.PREEMPTIBILITY: "preemptible"})
    body["spec"]["template"]["metadata"]["annotations"] = {names.GPU_FRACTION: "0.3"}
    await story.client.create(DEPLOYMENT, body)
    await story.shares(web=2)
    assert len(await story.all(CONFIG_MAP)) == 4
    await story.client.patch(DEPLOYMENT, "web", "default", {"spec": {"replicas": 0}})
    await story.gone(POD, CONFIG_MAP)


async def test_pods_of_a_stateful_set_run_in_order(story: Story) -> None:
    await story.nodes(1, gpus=3)
    await story.client.create(STATEFUL_SET, replicated("db", 3, serviceName="db"))
    await story.runs("db-0", "db-1", "db-2")
    assert [group.spec.min_member for group in await story.all(POD_GROUP)] == [1]


async def test_a_job_starts_pod_by_pod_unless_it_asks_for_a_gang(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.client.create(JOB, job("gang", 3, minimum=3))
    await story.client.create(JOB, job("plain", 3))
    await story.shares(plain=2)
    await story.nodes(1, gpus=4)
    await story.shares(plain=3, gang=3)


async def test_pods_of_a_job_may_be_put_into_a_group_that_the_user_made(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.group("mine", 2)
    body = job("train", 2, annotations={names.SKIP_GROUPER: "true"})
    body["spec"]["template"]["metadata"]["annotations"][names.POD_GROUP_NAME] = "mine"
    await story.client.create(JOB, body)
    await story.shares(train=2)
    assert [group.name for group in await story.all(POD_GROUP)] == ["mine"]


async def test_every_run_of_a_cron_job_is_a_group() -> None:
    async with told(moved=True) as story:
        await story.nodes(1, gpus=4)
        await story.client.create(
            CRON_JOB,
            {
                "metadata": {"name": "nightly", "namespace": "default"},
                "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job("nightly", 1)["spec"]}},
            },
        )
        while len(await story.all(POD_GROUP)) < 2:
            await story.settles()
            await story.passes(20)
        await story.shares(nightly=2)
        groups = await story.all(POD_GROUP)
        assert len(groups) == 2 and all(group.name.startswith("pg-nightly-") for group in groups)


async def test_what_a_runtime_class_adds_to_a_pod_counts(story: Story) -> None:
    await story.nodes(1, gpus=1, cpu=2)
    await story.apply(
        {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": "sandbox"},
            "handler": "sandbox",
            "overhead": {"podFixed": {"cpu": "1500m"}},
        }
    )
    await story.pod("fits", asks={"cpu": "500m"}, runtimeClassName="sandbox")
    await story.runs("fits")
    await story.pod("more", asks={"cpu": "500m"})
    await story.waits("more")


async def test_a_kind_nobody_knows_is_scheduled_all_the_same(story: Story) -> None:
    await story.nodes(1, gpus=2)
    thing = await made(
        story, "example.com/v1 Thing", "thing", metadata={"labels": {names.PRIORITY_CLASS: "build-preemptible"}}
    )
    await thing.pods("a", "b")
    await story.runs("a", "b")
    group = await story.group_of("a")
    assert (group.name, group.spec.min_member, group.spec.priority_class_name) == (thing.group, 1, "build-preemptible")


@pytest.mark.parametrize(
    "kind",
    [
        "machinelearning.seldon.io/v1 SeldonDeployment",
        "kubevirt.io/v1 VirtualMachineInstance",
        "workspace.devfile.io/v1alpha2 DevWorkspace",
        "kubeflow.org/v1alpha1 ScheduledWorkflow",
        "tekton.dev/v1 PipelineRun",
        "tekton.dev/v1 TaskRun",
        "kubeflow.org/v1beta1 Notebook",
        "egx.nvidia.io/v1 SPOTRequest",
        "run.ai/v1 RunaiJob",
    ],
)
async def test_simple_kinds_get_one_group_by_their_owner(story: Story, kind: str) -> None:
    await story.nodes(1, gpus=2)
    await firm(story)
    owner = await made(story, kind, "owner", {"parallelism": 1})
    await owner.pods("owner-0")
    await story.runs("owner-0")
    group = await story.group_of("owner-0")
    assert (group.spec.min_member, [owner_reference.uid for owner_reference in group.metadata.owner_references]) == (
        1,
        [owner.made.uid],
    )


async def test_pods_of_an_azure_job_start_together(story: Story) -> None:
    await story.nodes(1, gpus=1)
    owner = await made(
        story, "amlarc.azureml.com/v1alpha1 AmlJob", "aml", {"job": {"options": {"envs": {"AZUREML_NODE_COUNT": 2}}}}
    )
    await owner.pods("aml-0", "aml-1")
    await story.waits("aml-0", "aml-1")
    await story.nodes(1, gpus=1)
    await story.runs("aml-0", "aml-1")


async def test_an_argo_workflow_is_seen_through(story: Story) -> None:
    await story.nodes(1, gpus=2)
    flow = await made(
        story, "argoproj.io/v1alpha1 Workflow", "flow", metadata={"labels": {names.QUEUE: names.DEFAULT_QUEUE}}
    )
    await flow.pods("step-1", "step-2")
    await story.runs("step-1", "step-2")
    assert (await story.group_of("step-1")).name != (await story.group_of("step-2")).name


# --- Kubeflow ---------------------------------------------------------------------------------------------------------


def replicas(**counts: int) -> Raw:
    return {role: {"replicas": count} for role, count in counts.items()}


@pytest.mark.parametrize(
    ("kind", "spec", "roles"),
    [
        ("kubeflow.org/v1 TFJob", {"tfReplicaSpecs": replicas(Chief=1, Worker=2)}, ("chief", "worker", "worker")),
        (
            "kubeflow.org/v1 XGBoostJob",
            {"xgbReplicaSpecs": replicas(Master=1, Worker=2)},
            ("master", "worker", "worker"),
        ),
        ("kubeflow.org/v1 JAXJob", {"jaxReplicaSpecs": replicas(Worker=3)}, ("worker", "worker", "worker")),
        (
            "kubeflow.org/v1 PyTorchJob",
            {"pytorchReplicaSpecs": replicas(Master=1, Worker=2)},
            ("master", "worker", "worker"),
        ),
        (
            "kubeflow.org/v1 MPIJob",
            {"mpiReplicaSpecs": replicas(Launcher=1, Worker=2)},
            ("launcher", "worker", "worker"),
        ),
        (
            "kubeflow.org/v2beta1 MPIJob",
            {"mpiReplicaSpecs": replicas(Launcher=1, Worker=2)},
            ("launcher", "worker", "worker"),
        ),
    ],
    ids=["tensorflow", "xgboost", "jax", "pytorch", "mpi-v1", "mpi-v2beta1"],
)
async def test_a_training_job_starts_whole(story: Story, kind: str, spec: Raw, roles: tuple[str, ...]) -> None:
    await story.nodes(1, gpus=2)
    owner = await made(story, kind, "train", spec)
    for number, role in enumerate(roles):
        await owner.pods(f"train-{number}", **{f"{TRAINING}__replica-type": role, f"{TRAINING}__job-role": role})
    await story.waits("train-0", "train-1", "train-2")
    assert await minimum(story, "train-0") == 3
    await story.nodes(1, gpus=1)
    await story.runs("train-0", "train-1", "train-2")


async def pytorch(story: Story, workers: int, **spec: Any) -> None:
    owner = await made(
        story,
        "kubeflow.org/v1 PyTorchJob",
        "train",
        {"pytorchReplicaSpecs": replicas(Master=1, Worker=workers), **spec},
    )
    for number in range(workers):
        await owner.pods(
            f"worker-{number}", **{f"{TRAINING}__replica-type": "worker", f"{TRAINING}__replica-index": str(number)}
        )
    await owner.pods("master", **{f"{TRAINING}__replica-type": "master", f"{TRAINING}__replica-index": "0"})


@pytest.mark.parametrize(
    "spec",
    [{"elasticPolicy": {"minReplicas": 2}}, {"runPolicy": {"schedulingPolicy": {"minAvailable": 2}}}],
    ids=["elastic-policy", "run-policy"],
)
async def test_an_elastic_training_job_starts_with_its_minimum_the_master_first(story: Story, spec: Raw) -> None:
    await pytorch(story, 3, **spec)
    assert await shape(story, "master") == {"master": 1, "worker": 1}
    await story.nodes(1, gpus=2)
    await story.runs("master")
    assert len(await story.pods(phase="Running")) == 2


async def test_an_mpi_launcher_that_comes_later_is_not_waited_for(story: Story) -> None:
    await story.nodes(1, gpus=4)
    owner = await made(
        story,
        "kubeflow.org/v1 MPIJob",
        "mpi",
        {"launcherCreationPolicy": "WaitForWorkersReady", "mpiReplicaSpecs": replicas(Launcher=1, Worker=2)},
    )
    await owner.pods("worker-0", "worker-1", **{f"{TRAINING}__job-name": "mpi", f"{TRAINING}__job-role": "worker"})
    await story.runs("worker-0", "worker-1")
    await owner.pods("launcher", **{f"{TRAINING}__job-name": "mpi", f"{TRAINING}__job-role": "launcher"})
    await story.runs("launcher")
    assert await minimum(story, "launcher") == 3


async def test_a_train_job_is_grouped_by_its_job_set(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.queue("team")
    train = await made(
        story, "trainer.kubeflow.org/v1alpha1 TrainJob", "train", metadata={"labels": {names.QUEUE: "team"}}
    )
    owner = await jobset(story, owner=train)
    await owner.pods("w-0", "w-1", **jobset_labels("workers", 0))
    await story.runs("w-0", "w-1")
    group = await story.group_of("w-0")
    assert (group.name, group.spec.queue) == (owner.group, "team")


# --- JobSet, LeaderWorkerSet ------------------------------------------------------------------------------------------


def jobset_labels(job: str, index: int) -> dict[str, str]:
    return {"jobset.sigs.k8s.io__replicatedjob-name": job, "jobset.sigs.k8s.io__job-index": str(index)}


def replicated_job(name: str, parallelism: int, replicas: int = 1) -> Raw:
    return {"name": name, "replicas": replicas, "template": {"spec": {"parallelism": parallelism}}}


async def jobset(story: Story, *jobs: Raw, owner: Workload | None = None, order: str = "AnyOrder") -> Workload:
    spec = {
        "replicatedJobs": list(jobs or (replicated_job("workers", 2),)),
        "startupPolicy": {"startupPolicyOrder": order},
    }
    return await made(story, "jobset.x-k8s.io/v1alpha2 JobSet", "js", spec, owner=owner)


@pytest.mark.parametrize(("order", "needed"), [("AnyOrder", 2), ("InOrder", 1)])
async def test_the_jobs_of_a_job_set_start_together_or_in_order(story: Story, order: str, needed: int) -> None:
    await story.nodes(1, gpus=2)
    owner = await jobset(story, replicated_job("driver", 1), replicated_job("workers", 2), order=order)
    await owner.pods("driver-0", **jobset_labels("driver", 0))
    await owner.pods("workers-0", "workers-1", **jobset_labels("workers", 0))
    await story.settles()
    group = await story.group_of("driver-0")
    assert group.spec.min_sub_group == needed
    assert await shape(story, "driver-0") == {"driver": 1, "driver-replica-0": 1, "workers": 1, "workers-replica-0": 2}
    assert bool(await story.pods(phase="Running")) is (needed == 1)
    await story.nodes(1, gpus=1)
    await story.runs("driver-0", "workers-0", "workers-1")


async def lws(story: Story, size: int, **spec: Any) -> Workload:
    return await made(
        story, "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet", "lws", {"leaderWorkerTemplate": {"size": size}, **spec}
    )


def lws_labels(group: int, worker: int) -> dict[str, str]:
    return {
        "leaderworkerset.sigs.k8s.io__group-index": str(group),
        "leaderworkerset.sigs.k8s.io__worker-index": str(worker),
    }


async def test_every_replica_of_a_leader_worker_set_is_a_gang(story: Story) -> None:
    await story.nodes(1, gpus=3)
    owner = await lws(story, 2)
    for group in (0, 1):
        for worker in (0, 1):
            await owner.pods(f"lws-{group}-{worker}", **lws_labels(group, worker))
    await story.settles()
    assert len(await story.all(POD_GROUP)) == 2
    running = {pod.name.rpartition("-")[0] for pod in await story.pods(phase="Running")}
    assert len(await story.pods(phase="Running")) == 2 and len(running) == 1
    assert await shape(story, "lws-0-0") == {"leader": 1, "workers": 1}


async def test_a_leader_that_must_be_ready_first_starts_alone(story: Story) -> None:
    await story.nodes(1, gpus=2)
    owner = await lws(story, 2, startupPolicy="LeaderReady")
    await owner.pods("lws-0-0", **lws_labels(0, 0))
    await story.runs("lws-0-0")
    await owner.pods("lws-0-1", **lws_labels(0, 1))
    await story.runs("lws-0-1")
    assert await minimum(story, "lws-0-1") == 2


# --- Ray, Spark -------------------------------------------------------------------------------------------------------


async def ray_job(story: Story, **workers: Any) -> Workload:
    """A RayJob with its cluster, one group of workers."""
    given = {"groupName": "small", "replicas": 2, **workers}
    await made(story, "ray.io/v1 RayCluster", "cluster", {"workerGroupSpecs": [given], "headGroupSpec": {}})
    return await made(story, "ray.io/v1 RayJob", "ray", status={"rayClusterName": "cluster"})


async def ray_pods(owner: Workload, workers: int) -> list[str]:
    await owner.pods("head", **{"ray.io__group": "headgroup"})
    names = [f"worker-{number}" for number in range(workers)]
    await owner.pods(*names, **{"ray.io__group": "small"})
    return ["head", *names]


async def test_a_ray_job_runs_when_head_and_workers_fit(story: Story) -> None:
    owner = await ray_job(story)
    pods = await ray_pods(owner, 2)
    await story.nodes(1, gpus=2)
    await story.waits(*pods)
    assert await shape(story, "head") == {"headgroup": 1, "small": 2}
    await story.nodes(1, gpus=1)
    await story.runs(*pods)


async def test_a_ray_job_waits_whole_while_one_of_its_groups_cannot_be_placed(story: Story) -> None:
    owner = await ray_job(story)
    await story.nodes(1, gpus=4)
    await owner.pods("head", **{"ray.io__group": "headgroup"})
    await owner.pods("worker-0", **{"ray.io__group": "small"})
    await story.waits("head", "worker-0")
    await owner.pods("worker-1", **{"ray.io__group": "small"})
    await story.runs("head", "worker-0", "worker-1")


async def test_an_elastic_ray_job_starts_with_its_minimum(story: Story) -> None:
    owner = await ray_job(story, minReplicas=1, replicas=3)
    await ray_pods(owner, 3)
    await story.nodes(1, gpus=2)
    await story.settles()
    assert {pod.labels["ray.io/group"] for pod in await story.pods(phase="Running")} == {"headgroup", "small"}


async def test_driver_and_executors_of_a_spark_application_share_a_group_that_late_ones_join(story: Story) -> None:
    await story.nodes(1, gpus=3)
    labels = {"spark-app-name": "pi", "spark-app-selector": "spark-1"}
    for name in ("driver", "exec-1"):
        await story.pod(name, gpus=1, labels=labels)
        await story.runs(name)
    await story.pod("exec-2", gpus=1, labels=labels)
    await story.runs("exec-2")
    assert {(await story.group_of(name)).name for name in ("driver", "exec-1", "exec-2")} == {"spark-1"}


# --- Knative ----------------------------------------------------------------------------------------------------------


async def knative(story: Story, min_scale: str | None = None) -> tuple[Workload, Workload]:
    """A service with one revision."""
    await firm(story)
    service = await made(story, "serving.knative.dev/v1 Service", "chat")
    noted = {} if min_scale is None else {"annotations": {"autoscaling.knative.dev/min-scale": min_scale}}
    return service, await made(story, "serving.knative.dev/v1 Revision", "chat-00001", metadata=noted)


@pytest.mark.parametrize(("min_scale", "needed"), [("2", 2), (None, 1), ("0", 0)])
async def test_the_pods_of_a_revision_start_together_up_to_its_minimum(
    story: Story, min_scale: str | None, needed: int
) -> None:
    await story.nodes(1, gpus=2)
    service, revision = await knative(story, min_scale)
    await service.pods("p-0", "p-1", **{"serving.knative.dev__revision": "chat-00001"})
    await story.runs("p-0", "p-1")
    group = await story.group_of("p-0")
    assert (group.name, group.spec.min_member) == (revision.group, needed)


async def test_revisions_may_be_scheduled_pod_by_pod() -> None:
    async with told(grouper(GrouperSettings(knative_gangs=False))) as story:
        await story.nodes(1, gpus=1)
        service, _ = await knative(story, "2")
        await service.pods("p-0", "p-1", **{"serving.knative.dev__revision": "chat-00001"})
        await story.settles()
        assert len(await story.pods(phase="Running")) == 1 and len(await story.all(POD_GROUP)) == 2


async def test_a_revision_that_was_scheduled_pod_by_pod_stays_so(story: Story) -> None:
    await story.nodes(1, gpus=4)
    service, _ = await knative(story, "2")
    old = await story.pod(
        "p-0",
        gpus=1,
        owner=service.owner(),
        labels={"serving.knative.dev/revision": "chat-00001"},
        annotations={names.POD_GROUP_NAME: "pg-old", names.SKIP_GROUPER: "true"},
    )
    owner = {"apiVersion": "v1", "kind": "Pod", "name": old.name, "uid": old.uid}
    await story.client.create(
        POD_GROUP,
        {
            "metadata": {"name": "pg-old", "namespace": "default", "ownerReferences": [owner]},
            "spec": {"minMember": 1, "queue": names.DEFAULT_QUEUE},
        },
    )
    await service.pods("p-1", **{"serving.knative.dev__revision": "chat-00001"})
    await story.runs("p-0", "p-1")
    assert [owner_reference.kind for owner_reference in (await story.group_of("p-1")).metadata.owner_references] == [
        "Pod"
    ]


# --- kinds described by a Karta ---------------------------------------------------------------------------------------


async def test_a_kind_described_by_a_karta_is_grouped_by_its_components(story: Story) -> None:
    await story.nodes(1, gpus=2)

    def component(name: str) -> Raw:
        return {
            "name": name,
            "ownerRef": "customjob",
            "specDefinition": {"podTemplateSpecPath": f".spec.{name}.template"},
            "scaleDefinition": {"replicasPath": f".spec.{name}.replicas"},
            "podSelector": {"componentTypeSelector": {"keyPath": ".metadata.labels.role", "value": name}},
        }

    root: Raw = {
        "name": "customjob",
        "kind": {"group": "example.com", "version": "v1", "kind": "CustomJob"},
        "statusDefinition": {"statusMappings": {}},
    }
    leaves = [{"componentName": "coordinator"}, {"componentName": "worker"}]
    await made(
        story,
        "run.ai/v1alpha1 Karta",
        "custom",
        {
            "structureDefinition": {
                "rootComponent": root,
                "childComponents": [component("coordinator"), component("worker")],
            },
            "optimizationInstructions": {"gangScheduling": {"podGroup": {"name": "customjob", "subGroups": leaves}}},
        },
        namespaced=False,
        metadata={"labels": {f"run.ai/karta-{part}": value for part, value in root["kind"].items()}},
    )
    owner = await made(
        story, "example.com/v1 CustomJob", "cj", {"coordinator": {"replicas": 1}, "worker": {"replicas": 2}}
    )
    await owner.pods("c-0", role="coordinator")
    await owner.pods("w-0", "w-1", role="worker")
    await story.waits("c-0", "w-0", "w-1")
    group = await story.group_of("w-0")
    assert (group.name, group.spec.min_sub_group) == (f"pg-{owner.made.uid}-customjob", 2)
    assert await shape(story, "w-0") == {"coordinator": 1, "worker": 2}
    assert (await story.get_pod("w-0")).labels[names.SUB_GROUP] == "worker"
    await story.nodes(1, gpus=1)
    await story.runs("c-0", "w-0", "w-1")


async def test_work_of_other_schedulers_is_left_alone_and_counted(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.pod("theirs", gpus=1, schedulerName=names.DEFAULT_SCHEDULER)
    await story.runs("theirs")
    assert await story.all(POD_GROUP) == []
    await story.pod("ours", gpus=2)
    await story.waits("ours")


# --- whom the grouper serves ------------------------------------------------------------------------------------------


async def test_only_pods_and_namespaces_that_are_selected_are_grouped() -> None:
    settings = from_flags(["--pod-label-selector=team=ml", "--namespace-label-selector=gpu=yes"])
    async with told(grouper(settings)) as story:
        await story.nodes(1, gpus=4)
        await story.client.create(NAMESPACE, {"metadata": {"name": "chosen", "labels": {"gpu": "yes"}}})
        marked = {"team": "ml"}
        for name, namespace, labels in (
            ("ours", "chosen", marked),
            ("unlabelled", "chosen", {}),
            ("elsewhere", "default", marked),
        ):
            body = pod(name, gpus=1, labels=labels)
            body["metadata"]["namespace"] = namespace
            await story.client.create(POD, body)
        await story.settles()
        assert [group.namespace for group in (await story.client.list(POD_GROUP)).items] == ["chosen"]
        assert [
            item.name for item in (await story.client.list(POD, "chosen")).items if item.status.phase == "Running"
        ] == ["ours"]


async def test_the_queue_may_be_named_by_a_label_of_ones_own() -> None:
    async with told(grouper(from_flags(["--queue-label-key=example.com/team"]))) as story:
        await story.nodes(1, gpus=1)
        await story.queue("vision")
        await story.pod("p", gpus=1, labels={"example.com/team": "vision"})
        await story.runs("p")
        assert [group.spec.queue for group in (await story.client.list(POD_GROUP, "default")).items] == ["vision"]
