"""What the operator keeps of what it follows: everything it reads, and equal things once."""

from __future__ import annotations

import msgspec

from gangline.api.core import Node, Pod
from gangline.api.grove import PodClique
from gangline.api.kinds import POD_CLIQUE
from gangline.api.meta import Raw
from gangline.operator.memory.trims import bare_node, bare_pod, clique_of_template, shared
from operator_world import NAMESPACE, clique, operator_world, pod_clique_set


def meta(name: str, **more: object) -> Raw:
    owner = {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": "c", "uid": "owner", "controller": True}
    labels = {"grove.io/podclique": "c", "grove.io/pod-template-hash": "h"}
    return {"name": name, "uid": name, "labels": labels, "ownerReferences": [owner]} | more


def test_a_pod_keeps_all_but_what_nobody_reads_back() -> None:
    volumes = [{"name": "token", "secret": {"secretName": "s"}}, {"name": "rest", "emptyDir": {}}]
    spec = {
        "nodeName": "n",
        "hostname": "h",
        "schedulingGates": [{"name": "g"}],
        "volumes": volumes,
        "containers": [{"name": "main", "image": "i"}],
        "tolerations": [{"operator": "Exists"}],
    }
    given = msgspec.convert({"metadata": meta("p"), "spec": spec, "status": {"phase": "Running"}}, Pod)
    kept = bare_pod(given)
    assert (kept.spec.containers, kept.spec.tolerations, [volume["name"] for volume in kept.spec.volumes]) == (
        (),
        (),
        ["token"],
    )
    assert (kept.metadata, kept.status) == (given.metadata, given.status)
    assert (kept.spec.node_name, kept.spec.hostname, kept.spec.scheduling_gates) == (
        "n",
        "h",
        given.spec.scheduling_gates,
    )


def test_equal_labels_and_owners_are_held_once_and_different_ones_apart() -> None:
    one, two, other = (shared(msgspec.convert({"metadata": meta(name)}, Pod)) for name in ("a", "b", "c"))
    assert one.metadata.owner_references is two.metadata.owner_references
    changed = shared(msgspec.convert({"metadata": meta("d", ownerReferences=[])}, Pod))
    assert changed.metadata.owner_references == () and other.metadata.owner_references == one.metadata.owner_references
    assert one.labels == {"grove.io/podclique": "c", "grove.io/pod-template-hash": "h"}


def test_cliques_of_one_template_share_a_pod_spec_unless_somebody_edited_theirs() -> None:
    specs: list[Raw] = [
        {"containers": [{"name": "x"}]},
        {"containers": [{"name": "x"}]},
        {"containers": [{"name": "edited"}]},
    ]
    kept = [
        clique_of_template(msgspec.convert({"metadata": meta(str(number)), "spec": {"podSpec": spec}}, PodClique))
        for number, spec in enumerate(specs)
    ]
    assert kept[0].spec.pod_spec is kept[1].spec.pod_spec and [item.spec.pod_spec for item in kept] == specs


def test_a_node_is_only_its_labels() -> None:
    given = msgspec.convert({"metadata": {"name": "n", "labels": {"zone": "z"}}, "spec": {"unschedulable": True}}, Node)
    assert (bare_node(given).labels, bare_node(given).spec) == ({"zone": "z"}, Node().spec)


async def test_what_is_left_out_is_still_on_the_server() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("w", clique("a")))
        [pod] = await here.pods()
        assert pod.spec.containers[0].image == "registry.example/app:1"
        await here.client.patch(POD_CLIQUE, "w-0-a", NAMESPACE, {"spec": {"replicas": 2}})
        await here.settles()
        assert {item.spec.containers[0].image for item in await here.pods()} == {"registry.example/app:1"}
