"""The controllers of the world on a server: each does what a cluster's would."""

from __future__ import annotations

import base64
from typing import Any

from cluster.world.simulated_world import SimulatedWorld, namespace, pod_spec, world
from gangline.api import names
from gangline.api.kinds import (
    CONFIG_MAP,
    CRD,
    CRON_JOB,
    DAEMON_SET,
    DEPLOYMENT,
    ENDPOINT_SLICE,
    ENDPOINTS,
    HPA,
    JOB,
    NAMESPACE,
    NODE,
    PDB,
    POD,
    POD_CLIQUE,
    PV,
    PVC,
    REPLICA_SET,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_QUOTA,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    STATEFUL_SET,
    STORAGE_CLASS,
    foreign,
)
from gangline.api.meta import Raw
from gangline.cluster.world.nodes.nodes import NodePool, NodeTaint, ProvisionerPart
from gangline.cluster.world.settings import PoolGrowth

TWO = NodePool(name="n", count=2, gpus=8)
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, **pod_spec()}


def web(replicas: int = 3, image: str = "app") -> Raw:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": image}]}}
    return {"spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}}


async def images(lived: SimulatedWorld) -> list[str]:
    return sorted(pod.spec.containers[0].image for pod in await lived.pods() if not pod.metadata.deleting)


async def test_a_deployment_runs_rolls_and_goes_with_everything_it_made() -> None:
    async with world(TWO) as lived:
        await lived.make(DEPLOYMENT, "web", web())
        await lived.settles()
        assert await images(lived) == ["app"] * 3
        status = (await lived.client.get(DEPLOYMENT, "web", "default")).status
        assert (status.replicas, status.available_replicas, status.updated_replicas) == (3, 3, 3)
        await lived.client.patch(DEPLOYMENT, "web", "default", web(image="new"))
        await lived.settles()
        assert await images(lived) == ["new"] * 3
        assert len((await lived.client.list(REPLICA_SET, "default")).items) == 2
        await lived.client.delete(DEPLOYMENT, "web", "default")
        await lived.settles()
        assert await lived.pods() == [] and (await lived.client.list(REPLICA_SET, "default")).items == []


async def test_a_pod_of_a_deployment_that_is_deleted_is_replaced() -> None:
    async with world(TWO) as lived:
        await lived.make(DEPLOYMENT, "web", web(2))
        await lived.settles()
        first = (await lived.pods())[0]
        await lived.client.delete(POD, first.name, "default")
        await lived.settles()
        assert len(await lived.pods()) == 2 and first.uid not in {pod.uid for pod in await lived.pods()}


async def test_a_stateful_set_starts_in_order_with_volumes_that_outlive_its_pods() -> None:
    async with world(TWO) as lived:
        await lived.make(
            STORAGE_CLASS, "fast", {"provisioner": "example.com/disk", "volumeBindingMode": "WaitForFirstConsumer"}
        )
        claim = {
            "metadata": {"name": "data"},
            "spec": {
                "storageClassName": "fast",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
        await lived.make(
            STATEFUL_SET, "db", {"spec": web(2)["spec"] | {"serviceName": "db", "volumeClaimTemplates": [claim]}}
        )
        await lived.settles()
        assert await lived.phases() == {"db-0": "Running", "db-1": "Running"}
        claims = (await lived.client.list(PVC, "default")).items
        assert {item.name: item.status.phase for item in claims} == {"data-db-0": "Bound", "data-db-1": "Bound"}
        await lived.client.patch(STATEFUL_SET, "db", "default", {"spec": {"replicas": 1}})
        await lived.settles()
        assert await lived.phases() == {"db-0": "Running"}
        assert len((await lived.client.list(PVC, "default")).items) == 2


async def test_a_claim_that_waits_for_its_consumer_is_bound_where_that_goes_and_deleted_after_it() -> None:
    async with world(TWO) as lived:
        await lived.make(
            STORAGE_CLASS, "late", {"provisioner": "example.com/disk", "volumeBindingMode": "WaitForFirstConsumer"}
        )
        await lived.make(
            PVC,
            "v",
            {
                "spec": {
                    "storageClassName": "late",
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                }
            },
        )
        await lived.settles()
        assert (await lived.client.get(PVC, "v", "default")).status.phase == "Pending"
        await lived.make(POD, "p", pod_spec(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "v"}}]))
        await lived.settles()
        assert await lived.phases() == {"p": "Running"}
        volume = (await lived.client.list(PV)).items[0]
        assert volume.status["phase"] == "Bound"
        await lived.client.delete(PVC, "v", "default")
        await lived.settles()
        assert not await lived.is_gone(PVC, "v"), "a claim in use is kept"
        await lived.client.delete(POD, "p", "default")
        await lived.settles()
        assert await lived.is_gone(PVC, "v") and await lived.is_gone(PV, volume.name, "")


async def test_a_claim_takes_the_smallest_volume_that_fits() -> None:
    async with world() as lived:
        for name, size in (("big", "10Gi"), ("small", "2Gi"), ("tiny", "1Mi")):
            await lived.make(
                PV,
                name,
                {
                    "spec": {
                        "capacity": {"storage": size},
                        "accessModes": ["ReadWriteOnce"],
                        "storageClassName": "",
                        "hostPath": {"path": "/data"},
                    }
                },
            )
        await lived.make(
            PVC,
            "v",
            {
                "spec": {
                    "storageClassName": "",
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                }
            },
        )
        await lived.settles()
        assert (await lived.client.get(PVC, "v", "default")).spec.volume_name == "small"


async def test_a_services_endpoints_are_its_ready_pods() -> None:
    async with world(TWO) as lived:
        await lived.make(
            SERVICE, "web", {"spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]}}
        )
        await lived.make(POD, "a", pod_spec(), labels={"app": "web"})
        await lived.make(POD, "b", pod_spec(), labels={"app": "web"}, annotations={names.READY_SECONDS: "60"})
        await lived.make(POD, "c", pod_spec(), labels={"app": "other"})
        await lived.settles()
        of = {"kubernetes.io/service-name": "web"}
        [found] = (await lived.client.list(ENDPOINT_SLICE, "default", of)).items
        ready = {endpoint["targetRef"]["name"]: endpoint["conditions"]["ready"] for endpoint in found.endpoints or ()}
        assert ready == {"a": True, "b": False}
        assert [port["port"] for port in found.ports or ()] == [8080]
        await lived.after(60, steps=60)
        old = await lived.client.get_raw(ENDPOINTS, "web", "default")
        assert len(old["subsets"][0]["addresses"]) == 2
        await lived.client.delete(SERVICE, "web", "default")
        await lived.settles()
        assert (await lived.client.list(ENDPOINT_SLICE, "default", of)).items == []
        assert await lived.is_gone(ENDPOINTS, "web")


async def test_endpoints_whose_service_went_while_nobody_looked_go_and_those_of_somebody_else_stay() -> None:
    async with world(TWO) as lived:
        await lived.make(ENDPOINTS, "ours", labels={"endpoints.kubernetes.io/managed-by": "endpoint-controller"})
        await lived.make(ENDPOINTS, "theirs")
        await lived.make(SERVICE, "outside", {"spec": {"ports": [{"port": 80}]}})
        await lived.make(
            ENDPOINTS, "outside", {"subsets": [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 80}]}]}
        )
        await lived.settles()
        assert await lived.is_gone(ENDPOINTS, "ours")
        assert not await lived.is_gone(ENDPOINTS, "theirs") and not await lived.is_gone(ENDPOINTS, "outside")


async def test_a_budget_says_how_many_pods_may_be_disturbed() -> None:
    async with world(TWO) as lived:
        await lived.make(DEPLOYMENT, "web", web(4))
        await lived.make(PDB, "b", {"spec": {"maxUnavailable": "25%", "selector": {"matchLabels": {"app": "web"}}}})
        await lived.settles()
        status = (await lived.client.get(PDB, "b", "default")).status
        assert (
            status["expectedPods"],
            status["currentHealthy"],
            status["desiredHealthy"],
            status["disruptionsAllowed"],
        ) == (4, 4, 3, 1)


async def test_an_autoscaler_follows_the_metric_that_is_written_down() -> None:
    async with world(TWO) as lived:
        await lived.make(DEPLOYMENT, "web", web(2))
        await lived.make(
            HPA,
            "web",
            {
                "spec": {
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                    "minReplicas": 1,
                    "maxReplicas": 6,
                    "metrics": [
                        {
                            "type": "Resource",
                            "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
                        }
                    ],
                }
            },
            annotations={names.METRIC: "100"},
        )
        await lived.settles()
        assert (await lived.client.get(DEPLOYMENT, "web", "default")).spec.replicas == 4
        await lived.client.patch(HPA, "web", "default", {"metadata": {"annotations": {names.METRIC: "10"}}})
        await lived.settles()
        assert (await lived.client.get(DEPLOYMENT, "web", "default")).spec.replicas == 4, (
            "going down waits out its window"
        )
        await lived.after(320, steps=5)
        assert (await lived.client.get(DEPLOYMENT, "web", "default")).spec.replicas == 1


async def test_a_cron_job_makes_a_job_each_time_and_keeps_a_short_history() -> None:
    async with world(TWO) as lived:
        await lived.make(
            CRON_JOB,
            "c",
            {
                "spec": {
                    "schedule": "*/1 * * * *",
                    "successfulJobsHistoryLimit": 1,
                    "jobTemplate": {"spec": {"template": pod_spec(restartPolicy="Never")}},
                }
            },
        )
        await lived.after(300, steps=5)
        jobs = (await lived.client.list(JOB, "default")).items
        assert 1 <= len(jobs) <= 2
        assert (await lived.client.get(CRON_JOB, "c", "default")).status["lastScheduleTime"]


async def test_a_token_secret_is_filled_and_goes_with_its_account() -> None:
    async with world(root_ca="CA") as lived:
        await lived.make(SERVICE_ACCOUNT, "robot")
        await lived.make(
            SECRET,
            "t",
            {"type": "kubernetes.io/service-account-token"},
            annotations={"kubernetes.io/service-account.name": "robot"},
        )
        await lived.settles()
        secret = await lived.client.get(SECRET, "t", "default")
        assert base64.b64decode(secret.data["token"]).count(b".") == 2
        assert base64.b64decode(secret.data["ca.crt"]) == b"CA"
        assert base64.b64decode(secret.data["namespace"]) == b"default"
        await lived.client.delete(SERVICE_ACCOUNT, "robot", "default")
        await lived.settles()
        assert await lived.is_gone(SECRET, "t")


async def test_a_pod_gets_the_claims_its_templates_describe_and_gives_them_back() -> None:
    async with world(TWO) as lived:
        await lived.make(
            RESOURCE_CLAIM_TEMPLATE,
            "gpu",
            {
                "spec": {
                    "spec": {
                        "devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}
                    }
                }
            },
        )
        await lived.make(POD, "p", pod_spec(resourceClaims=[{"name": "g", "resourceClaimTemplateName": "gpu"}]))
        await lived.settles()
        claim = (await lived.client.list(RESOURCE_CLAIM, "default")).items[0]
        assert claim.spec["devices"]["requests"][0]["exactly"]["deviceClassName"] == "gpu.example.com"
        status = (await lived.client.get(POD, "p", "default")).status.resource_claim_statuses
        assert status == ({"name": "g", "resourceClaimName": claim.name},)
        await lived.client.delete(POD, "p", "default")
        await lived.settles()
        assert (await lived.client.list(RESOURCE_CLAIM, "default")).items == []


async def test_pods_that_fit_nowhere_bring_nodes_and_idle_nodes_go() -> None:
    growth = (
        PoolGrowth(NodePool(name="big", gpus=8), most=4, delay=30, idle=120),
        PoolGrowth(NodePool(name="small", gpus=1), most=2, delay=30),
    )
    async with world(growth=growth) as lived:
        await lived.make(POD, "little", pod_spec(gpus=1))
        for number in range(3):
            await lived.make(
                POD, f"p{number}", pod_spec(gpus=4, restartPolicy="Never"), annotations={names.RUN_SECONDS: "60"}
            )
        await lived.after(20)
        assert (await lived.client.list(NODE)).items == []
        await lived.after(20)
        assert sorted(node.name for node in (await lived.client.list(NODE)).items) == ["big-0", "big-1", "small-0"]
        assert set((await lived.phases()).values()) == {"Running"}
        await lived.after(240, steps=5)
        little = await lived.client.get(POD, "little", "default")
        assert little.status.phase == "Running"
        left = {node.name for node in (await lived.client.list(NODE)).items}
        assert left - {"small-0"} == {little.spec.node_name} - {"small-0"}, "an empty big node goes, one in use stays"


async def test_a_node_that_is_still_starting_brings_no_second_one() -> None:
    """Nobody takes the taint of new nodes off here, so that the first one never seems to be ready."""
    async with world(growth=(PoolGrowth(NodePool(name="big", gpus=8), most=3, delay=10),), off=("lifecycle",)) as lived:
        await lived.make(POD, "p", pod_spec(gpus=8))
        await lived.after(90, steps=5)
        assert [node.name for node in (await lived.client.list(NODE)).items] == ["big-0"]
        assert await lived.phases() == {"p": "Pending"}


async def test_a_provisioner_brings_the_node_that_holds_all_that_waits_and_takes_it_when_it_is_empty() -> None:
    shapes = (NodePool(name="one", gpus=1), NodePool(name="eight", gpus=8))
    provision = ProvisionerPart(name="flexible", shapes=shapes, delay=30, batch=2, empty=20)
    async with world(provisions=(provision,)) as lived:
        for number in range(2):
            await lived.make(
                POD, f"p{number}", pod_spec(gpus=4, restartPolicy="Never"), annotations={names.RUN_SECONDS: "60"}
            )
        await lived.after(25)
        assert (await lived.client.list(NODE)).items == []
        await lived.after(20)
        [node] = (await lived.client.list(NODE)).items
        assert (node.name, node.labels["node.kubernetes.io/instance-type"]) == ("flexible-0", "eight")
        assert set((await lived.phases()).values()) == {"Running"}
        await lived.after(120, steps=5)
        assert (await lived.client.list(NODE)).items == []


async def test_an_owner_of_a_kind_added_later_is_collected_too() -> None:
    async with world() as lived:
        thing = foreign("x.example.com/v1", "Thing", "things")
        await lived.make(
            CRD,
            "things.x.example.com",
            {
                "spec": {
                    "group": "x.example.com",
                    "scope": "Namespaced",
                    "names": {"plural": "things", "kind": "Thing"},
                    "versions": [
                        {
                            "name": "v1",
                            "served": True,
                            "storage": True,
                            "schema": {"openAPIV3Schema": {"type": "object"}},
                        }
                    ],
                }
            },
        )
        await lived.settles()
        owner = await lived.make(thing, "o")
        reference: dict[str, Any] = {"apiVersion": "x.example.com/v1", "kind": "Thing", "name": "o", "uid": owner.uid}
        await lived.make(CONFIG_MAP, "c", ownerReferences=[reference])
        await lived.settles()
        assert not await lived.is_gone(CONFIG_MAP, "c")
        await lived.client.delete(thing, "o", "default")
        await lived.settles()
        assert await lived.is_gone(CONFIG_MAP, "c")


async def test_a_deleted_job_that_orphans_its_pods_lets_go_of_them() -> None:
    async with world(TWO) as lived:
        await lived.make(JOB, "j", {"spec": {"template": pod_spec(restartPolicy="Never")}})
        await lived.settles()
        await lived.client.delete(JOB, "j", "default", propagation="Orphan")

        async def let_go() -> bool:
            (left,) = await lived.pods()
            return left.metadata.owner_references == () and left.metadata.finalizers == ()

        await lived.until(let_go)


async def test_a_namespace_says_what_holds_it_up() -> None:
    async with world() as lived:
        await namespace(lived, "team")
        await lived.make(CONFIG_MAP, "held", namespace="team", finalizers=["x.io/f"])
        await lived.client.delete(NAMESPACE, "team")
        await lived.settles()
        raw = await lived.client.get_raw(NAMESPACE, "team")
        said = {condition["type"]: condition["message"] for condition in raw["status"]["conditions"]}
        assert said["NamespaceFinalizersRemaining"] == (
            "Some content in the namespace has finalizers remaining: x.io/f in 1 resource instances"
        )
        await lived.client.patch(CONFIG_MAP, "held", "team", {"metadata": {"finalizers": None}})
        await lived.until(lambda: lived.is_gone(NAMESPACE, "team", ""))


async def test_a_namespace_that_somebody_holds_stays_whole_until_it_is_let_go() -> None:
    async with world() as lived:
        await lived.make(NAMESPACE, "team", labels={"owner": "me"}, finalizers=["x.io/f"])
        await lived.make(CONFIG_MAP, "c", namespace="team")
        await lived.client.delete(NAMESPACE, "team")
        await lived.until(lambda: lived.is_gone(CONFIG_MAP, "c", "team"))
        await lived.settles()
        left = await lived.client.get_raw(NAMESPACE, "team")
        assert (left["metadata"]["finalizers"], left["metadata"]["labels"]["owner"], left["spec"]) == (
            ["x.io/f"],
            "me",
            {},
        )
        await lived.client.patch(NAMESPACE, "team", "", {"metadata": {"finalizers": None}})
        await lived.until(lambda: lived.is_gone(NAMESPACE, "team", ""))


async def test_a_deployment_made_again_adopts_what_the_first_one_left() -> None:
    async with world(TWO) as lived:
        await lived.make(DEPLOYMENT, "web", web(2))
        await lived.settles()
        before = {pod.uid for pod in await lived.pods()}
        await lived.client.delete(DEPLOYMENT, "web", "default", propagation="Orphan")
        await lived.until(lambda: lived.is_gone(DEPLOYMENT, "web"))
        assert {pod.uid for pod in await lived.pods()} == before
        again = await lived.make(DEPLOYMENT, "web", web(2))
        await lived.settles()
        (kept,) = (await lived.client.list(REPLICA_SET, "default")).items
        assert [owner.uid for owner in kept.metadata.owner_references] == [again.uid]
        assert {pod.uid for pod in await lived.pods()} == before


async def test_a_deployment_deleted_in_the_foreground_goes_last() -> None:
    async with world(TWO) as lived:
        await lived.make(DEPLOYMENT, "web", web(2))
        await lived.settles()
        await lived.client.delete(DEPLOYMENT, "web", "default", propagation="Foreground")
        await lived.until(lambda: lived.is_gone(DEPLOYMENT, "web"))
        assert await lived.pods() == [] and (await lived.client.list(REPLICA_SET, "default")).items == []


async def test_a_daemon_set_has_one_pod_on_every_node_that_takes_it() -> None:
    tainted = NodePool(name="t", taints=(NodeTaint(key="k", effect="NoSchedule"),))
    async with world(TWO, tainted) as lived:
        await lived.make(
            DAEMON_SET, "d", {"spec": {key: value for key, value in web()["spec"].items() if key != "replicas"}}
        )
        await lived.settles()
        assert sorted(pod.spec.node_name for pod in await lived.pods()) == ["n-0", "n-1"]
        await lived.make(
            NODE,
            "late",
            {"status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "10"}}},
            labels={names.SIMULATED: "true"},
        )
        await lived.settles()
        assert sorted(pod.spec.node_name for pod in await lived.pods()) == ["late", "n-0", "n-1"]
        await lived.client.patch(
            DAEMON_SET, "d", "default", {"spec": {"template": web(image="new")["spec"]["template"]}}
        )
        await lived.settles()
        assert await images(lived) == ["new"] * 3
        status = (await lived.client.get(DAEMON_SET, "d", "default")).status
        assert (status["desiredNumberScheduled"], status["numberReady"], status["updatedNumberScheduled"]) == (3, 3, 3)


async def test_an_autoscaler_scales_a_clique_by_a_named_metric() -> None:
    async with world(kinds=True) as lived:
        await lived.make(
            POD_CLIQUE,
            "c",
            {"spec": {"roleName": "r", "replicas": 2, "minAvailable": 1, "podSpec": pod_spec()["spec"]}},
        )
        await lived.make(
            HPA,
            "c",
            {
                "spec": {
                    "scaleTargetRef": {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": "c"},
                    "maxReplicas": 5,
                    "metrics": [
                        {
                            "type": "Pods",
                            "pods": {
                                "metric": {"name": "queue"},
                                "target": {"type": "AverageValue", "averageValue": "10"},
                            },
                        }
                    ],
                }
            },
            annotations={names.METRIC: "queue=35,other=900"},
        )
        await lived.settles()
        assert (await lived.client.get(POD_CLIQUE, "c", "default")).spec.replicas == 4


async def test_a_quota_says_how_much_is_used() -> None:
    async with world(TWO) as lived:
        hard = {
            "pods": "5",
            "requests.cpu": "4",
            "memory": "1Gi",
            "count/configmaps": "9",
            "count/deployments.apps": "2",
        }
        await lived.make(RESOURCE_QUOTA, "q", {"spec": {"hard": hard}})
        amounts = {"requests": {"cpu": "250m", "memory": "64Mi"}}
        for name in ("a", "b"):
            await lived.make(
                POD, name, {"spec": {"containers": [{"name": "main", "image": "app", "resources": amounts}]}}
            )
        await lived.make(CONFIG_MAP, "c")
        await lived.settles()
        status = (await lived.client.get(RESOURCE_QUOTA, "q", "default")).status
        assert status["hard"] == hard
        assert status["used"] == {
            "pods": "2",
            "requests.cpu": "500m",
            "memory": "128Mi",
            "count/configmaps": "2",
            "count/deployments.apps": "0",
        }
