"""What a set's backend cannot give is said when the set is applied, by the server itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from backends.crds import install
from backends.test_journeys import BACKEND, llm
from gangline.api import names
from gangline.api.kinds import COSCHEDULING_POD_GROUP, POD_CLIQUE_SET, TOPOLOGY_BINDING, Kind
from gangline.api.kinds import NAMESPACE as NAMESPACE_KIND
from gangline.cluster.server.admit.hooks import admit_with
from gangline.cluster.server.store.live_reader import LiveReader
from gangline.components.admission_hooks import hooks
from gangline.components.options import ComponentOptions
from gangline.errors import ApiError
from gangline.operator.memory.probes import Probes, ask_for_all
from gangline.rules.sets import OperatorSettings
from gangline.runtime import ManualClock
from operator_world import NAMESPACE, OperatorWorld, operator_world

LEVELS = [{"domain": "rack", "key": "example.com/rack"}]


@asynccontextmanager
async def guarded(*kinds: Kind[Any]) -> AsyncIterator[OperatorWorld]:
    """The operator on a server with gangline's admission, and a topology of racks."""
    async with operator_world() as here:
        await install(here.client, *kinds)
        for hook in hooks(ComponentOptions(), LiveReader(here.server.store, here.server.catalogue)):
            admit_with(here.server.admission, hook)
        await here.client.create(TOPOLOGY_BINDING, {"metadata": {"name": "t"}, "spec": {"levels": LEVELS}})
        yield here


async def refusal(here: OperatorWorld, pcs: dict[str, Any]) -> str:
    with pytest.raises(ApiError) as refused:
        await here.client.create(POD_CLIQUE_SET, pcs)
    return str(refused.value)


async def test_a_guarantee_that_the_backend_cannot_give_is_refused_with_the_backends_that_could() -> None:
    async with guarded(COSCHEDULING_POD_GROUP) as here:
        required = {"topologyName": "t", "pack": {"required": "rack"}}
        for backend, said in (
            ("coscheduling", "coscheduling"),
            ("default", "default on Kubernetes 1.35"),
            ("yunikorn", "yunikorn"),
        ):
            told = await refusal(here, llm(backend, topologyConstraint=required))
            assert f"spec.template.topologyConstraint: {said} cannot keep a gang inside one rack" in told
            assert (
                "or choose a backend that can: default on Kubernetes 1.36, " in told
                and "kai, koordinator, volcano" in told
            )


async def test_a_guarantee_that_the_server_drops_without_a_word_is_refused_and_taken_once_the_gate_is_on() -> None:
    async with operator_world(workloads=("v1alpha2",)) as here:
        fresh, probes, clock = LiveReader(here.server.store, here.server.catalogue), Probes(), ManualClock()
        for hook in hooks(ComponentOptions(), fresh, probes):
            admit_with(here.server.admission, hook)
        await here.client.create(NAMESPACE_KIND, {"metadata": {"name": names.SYSTEM_NAMESPACE}})
        await here.client.create(TOPOLOGY_BINDING, {"metadata": {"name": "t"}, "spec": {"levels": LEVELS}})
        await ask_for_all(probes, here.client, clock, OperatorSettings(), fresh.serves)
        asked = llm(topologyConstraint={"topologyName": "t", "pack": {"required": "rack"}})
        told = await refusal(here, asked)
        assert (
            "default on Kubernetes 1.36 without feature gate TopologyAwareWorkloadScheduling cannot keep a gang "
            "inside one rack" in told
        )
        assert (
            "or choose a backend that can: default on Kubernetes 1.36, " in told and "kai, koordinator, volcano" in told
        )
        here.server.settings.features |= {"TopologyAwareWorkloadScheduling"}
        clock.advance(61)
        await ask_for_all(probes, here.client, clock, OperatorSettings(), fresh.serves)
        await here.client.create(POD_CLIQUE_SET, asked)


async def test_a_wish_that_the_backend_cannot_express_is_no_reason_to_refuse() -> None:
    async with guarded(COSCHEDULING_POD_GROUP) as here:
        await here.apply(llm("coscheduling", topologyConstraint={"topologyName": "t", "pack": {"preferred": "rack"}}))
        assert len(await here.pods()) == 7


async def test_another_backend_is_refused_while_pods_are_bound_and_taken_when_none_is() -> None:
    async with guarded(COSCHEDULING_POD_GROUP) as here:
        await here.apply(llm("kai"))
        await here.run(*await here.pods("llm-0-decode"))
        with pytest.raises(ApiError) as refused:
            await here.client.patch(
                POD_CLIQUE_SET, "llm", NAMESPACE, {"metadata": {"annotations": {BACKEND: "coscheduling"}}}
            )
        assert "the backend cannot be changed from kai to coscheduling while pods are bound: llm-0-decode has 4" in str(
            refused.value
        )
        await here.client.delete(POD_CLIQUE_SET, "llm", NAMESPACE)
        await here.settles()


async def test_a_backend_that_nobody_knows_is_answered_with_those_that_there_are() -> None:
    async with guarded() as here:
        assert "no backend is called 'slurm'; there are: default, kai, koordinator, volcano" in await refusal(
            here, llm("slurm")
        )
