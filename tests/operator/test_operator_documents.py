"""The sets that the project's first documents print apply as they stand, and become what is said there.

Containers are filled in where a document leaves them out, and names and replicas of the one that is only a fragment.
"""

from __future__ import annotations

from typing import Any

import pytest

from backends.crds import stand_in
from backends.test_journeys import BACKEND, noticed
from gangline.api.kinds import CRD, KOORDINATOR_POD_GROUP, POD_CLIQUE_SET, POD_GROUP, WORKLOAD, Kind
from gangline.api.meta import Raw
from gangline.cluster.server.admit.hooks import admit_with
from gangline.cluster.server.store.live_reader import LiveReader
from gangline.components.admission_hooks import hooks
from gangline.components.options import ComponentOptions
from gangline.errors import ApiError
from gangline.operator.backends import Registry
from gangline.rules.sets import OperatorSettings
from operator_world import NAMESPACE, operator_world


def a_set(name: str, cliques: dict[str, Raw], scheduler: str, **spec: Any) -> Raw:
    """A set as a document has it: no roleName, no startup type, no delay; minimum and replicas only where they are
    printed."""
    pod = {"schedulerName": scheduler, "containers": [{"name": "main", "image": "registry.example/app:1"}]}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": spec
        | {"template": {"cliques": [{"name": item, "spec": own | {"podSpec": pod}} for item, own in cliques.items()]}},
    }


PRINTED: list[tuple[Raw, str, Kind[Any], str, int, int]] = [
    (
        a_set("ml-inference", {"model-server": {"replicas": 2}}, "", replicas=3),
        "default",
        WORKLOAD,
        "scheduling.k8s.io/workload",
        3,
        6,
    ),
    (
        a_set("ml-inference", {"model-server": {"replicas": 2}}, "default-scheduler", replicas=3),
        "default",
        WORKLOAD,
        "scheduling.k8s.io/workload",
        3,
        6,
    ),
    (
        a_set(
            "distributed-training", {"master": {"replicas": 1}, "workers": {"replicas": 8}}, "kai-scheduler", replicas=1
        ),
        "kai",
        POD_GROUP,
        "grove.io/podgang",
        1,
        9,
    ),
    (
        a_set("fragment", {"main": {}}, "koord-scheduler", replicas=1),
        "koordinator",
        KOORDINATOR_POD_GROUP,
        "scheduling.koordinator.sh/gang",
        1,
        1,
    ),
    (
        a_set("ml-training", {"master": {"replicas": 1, "minAvailable": 1}}, "kai-scheduler", replicas=2),
        "kai",
        POD_GROUP,
        "grove.io/podgang",
        2,
        2,
    ),
    (
        a_set("my-app", {"workers": {"replicas": 4}}, "kai-scheduler", replicas=3),
        "kai",
        POD_GROUP,
        "grove.io/podgang",
        3,
        12,
    ),
    (
        a_set("my-app", {"workers": {"replicas": 4}}, "grove-scheduler", replicas=3),
        "kai",
        POD_GROUP,
        "grove.io/podgang",
        3,
        12,
    ),
]


@pytest.mark.parametrize(("pcs", "backend", "kind", "gate", "gangs", "pods"), PRINTED)
async def test_a_printed_set_becomes_gangs_objects_of_its_backend_and_pods(
    pcs: Raw, backend: str, kind: Kind[Any], gate: str, gangs: int, pods: int
) -> None:
    async with operator_world() as here:
        await here.client.create(CRD, stand_in(KOORDINATOR_POD_GROUP))
        await noticed(here, KOORDINATOR_POD_GROUP)
        for hook in hooks(ComponentOptions(), LiveReader(here.server.store, here.server.catalogue)):
            admit_with(here.server.admission, hook)
        made = await here.apply(pcs)
        assert len(await here.pods()) == pods
        for replica in range(gangs):
            gang = await here.gang(f"{made.name}-{replica}")
            assert gang.labels[BACKEND] == backend and [owner.uid for owner in gang.metadata.owner_references] == [
                made.uid
            ]
            owned = [obj for obj in await here.every(kind) if obj.metadata.controller.uid == gang.uid]
            assert len(owned) == 1, "the backend's object of this gang"
        assert Registry(OperatorSettings()).by_name(backend).gate == gate


async def test_under_compat_grove_two_cliques_without_a_role_are_refused_as_upstream_refuses_them() -> None:
    async with operator_world() as here:
        for hook in hooks(ComponentOptions(compat=("grove",)), LiveReader(here.server.store, here.server.catalogue)):
            admit_with(here.server.admission, hook)
        with pytest.raises(ApiError, match=r"spec\.template\.cliques\.roleName: given more than once: ''"):
            await here.client.create(POD_CLIQUE_SET, PRINTED[2][0])


async def test_the_only_clique_of_a_set_needs_no_name_but_for_upstream() -> None:
    fragment = a_set("fragment", {"": {}}, "koord-scheduler")
    del fragment["spec"]["template"]["cliques"][0]["name"]
    two = a_set("two", {"": {}, "b": {}}, "kai-scheduler")
    async with operator_world() as here:
        for hook in hooks(ComponentOptions(), LiveReader(here.server.store, here.server.catalogue)):
            admit_with(here.server.admission, hook)
        made = await here.client.create(POD_CLIQUE_SET, fragment)
        assert [clique.name for clique in made.spec.template.cliques] == ["main"]
        with pytest.raises(ApiError, match=r"spec\.template\.cliques\[0\]\.name: must be given"):
            await here.client.create(POD_CLIQUE_SET, two)
    async with operator_world() as here:
        for hook in hooks(ComponentOptions(compat=("grove",)), LiveReader(here.server.store, here.server.catalogue)):
            admit_with(here.server.admission, hook)
        with pytest.raises(ApiError, match=r"spec\.template\.cliques\[0\]\.name: must be given"):
            await here.client.create(POD_CLIQUE_SET, fragment)
