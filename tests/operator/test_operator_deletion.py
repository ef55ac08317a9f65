"""A set can always be deleted, whatever became of its backend, profile, queue or topology since it was stored."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from backends.crds import stand_in
from backends.test_journeys import BACKEND, llm, noticed
from embedded import until
from gangline.admission.registration import WebhookAddress, configurations
from gangline.api import names
from gangline.api.kinds import (
    COMPUTE_DOMAIN,
    CRD,
    HYPER_NODE,
    MUTATING_WEBHOOK,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    SERVICE,
    TOPOLOGY_BINDING,
    VALIDATING_WEBHOOK,
    VOLCANO_POD_GROUP,
    VOLCANO_QUEUE,
    Kind,
)
from gangline.api.kinds import NAMESPACE as NAMESPACE_KIND
from gangline.api.meta import Raw
from gangline.client import Client, User
from gangline.cluster.server.admit.hooks import admit_with
from gangline.cluster.server.store.live_reader import LiveReader
from gangline.components.admission_hooks import hooks
from gangline.components.options import ComponentOptions
from gangline.config import manner
from gangline.errors import ApiError
from gangline.operator import backends
from gangline.operator.backends import BUILT_IN
from gangline.operator.backends.kai import KaiBackend
from gangline.operator.component import component
from gangline.rules.hooks import Hook, HookReview
from gangline.rules.sets import OperatorSettings, Profile
from operator_world import NAMESPACE, OperatorWorld, clique, operator_world, pod_clique_set

RACK = {"topologyName": "t", "pack": {"required": "rack"}}


@dataclass
class Judged:
    """A server whose admission can be configured anew, with an operator that is started anew with it."""

    here: OperatorWorld
    judges: list[Hook]

    async def configure(self, settings: OperatorSettings) -> None:
        await self.here.kill("operator")
        fresh = LiveReader(self.here.server.store, self.here.server.catalogue)
        compat = ("grove",) if settings.manner.one_gate else ()
        self.judges[:] = list(hooks(ComponentOptions(operator=settings, compat=compat), fresh))
        await self.here.start(component(settings))

    async def goes(self, name: str) -> None:
        """Delete a set as kubectl does, and see everything of it gone."""
        await self.here.client.delete(POD_CLIQUE_SET, name, NAMESPACE)

        async def gone() -> bool:
            kinds: list[Kind[Any]] = [POD_CLIQUE_SET, POD_CLIQUE, POD_GANG, POD, SERVICE]
            return not [obj for kind in kinds for obj in await self.here.every(kind, name)]

        await until(gone, "everything of the set is gone")


@asynccontextmanager
async def judged(settings: OperatorSettings | None = None, *crds: Any) -> AsyncIterator[Judged]:
    async with operator_world(settings) as here:
        for kind in crds:
            await here.client.create(CRD, stand_in(kind))
        found = Judged(here, [])
        for plural in ("podcliquesets", "clustertopologybindings"):
            admit_with(here.server.admission, _whoever(plural, lambda: found.judges))
        await here.client.create(
            TOPOLOGY_BINDING,
            {"metadata": {"name": "t"}, "spec": {"levels": [{"domain": "rack", "key": "example.com/rack"}]}},
        )
        await found.configure(settings or OperatorSettings())
        await noticed(here, *crds)
        yield found


def _whoever(plural: str, judges: Callable[[], list[Hook]]) -> Hook:
    """Hands each review to the hooks that are in force now."""

    def complete(review: Any) -> Any:
        for hook in judges():
            if hook.plural == plural and hook.mutate is not None:
                return hook.mutate(review)
        return dict(review.obj)

    def check(review: Any) -> Any:
        found = (hook.validate(review) for hook in judges() if hook.plural == plural and hook.validate is not None)
        return next((denied for denied in found if denied is not None), None)

    return Hook(f"{plural}.test", "grove.io", plural, mutate=complete, validate=check)


def only(*backends: str) -> OperatorSettings:
    profiles = tuple(profile for profile in OperatorSettings().profiles if profile.backend in backends)
    return OperatorSettings(backends=backends, profiles=profiles)


async def open_queue(here: OperatorWorld, name: str) -> None:
    await here.client.create(VOLCANO_QUEUE, {"metadata": {"name": name}, "spec": {"weight": 1}})
    await here.client.patch(VOLCANO_QUEUE, name, "", {"status": {"state": "Open"}}, subresource="status")


def on_kai(name: str = "llm", **more: Any) -> Raw:
    return pod_clique_set(name, clique("prefill", 2), clique("decode", 3), **more)


async def test_a_set_whose_backend_was_switched_off_is_deleted_and_meanwhile_labelled() -> None:
    async with judged() as it:
        await it.here.apply(on_kai())
        await it.configure(only("default"))
        with pytest.raises(ApiError, match="backend 'kai' is switched off"):
            await it.here.client.create(POD_CLIQUE_SET, on_kai("other", annotations={BACKEND: "kai"}))
        labelled = await it.here.client.patch(POD_CLIQUE_SET, "llm", NAMESPACE, {"metadata": {"labels": {"team": "a"}}})
        assert labelled.labels["team"] == "a"
        await it.goes("llm")


async def test_a_set_whose_profile_was_removed_is_deleted() -> None:
    mine = Profile("my-scheduler", "passthrough")
    settings = OperatorSettings(profiles=(*OperatorSettings().profiles, mine))
    async with judged(settings) as it:
        wanted = pod_clique_set("llm", clique("main", 2, scheduler="my-scheduler"))
        await it.here.apply(wanted)
        await it.configure(OperatorSettings())
        await it.goes("llm")
        with pytest.raises(ApiError, match="no backend serves schedulerName 'my-scheduler'"):
            await it.here.apply(wanted)


async def test_a_set_whose_volcano_queue_was_closed_or_deleted_is_deleted() -> None:
    async with judged(None, VOLCANO_POD_GROUP, VOLCANO_QUEUE, HYPER_NODE) as it:
        client = it.here.client
        await open_queue(it.here, "batch")
        await it.here.apply(
            llm("volcano")
            | {
                "metadata": {
                    "name": "llm",
                    "namespace": NAMESPACE,
                    "annotations": {BACKEND: "volcano", names.VOLCANO_QUEUE: "batch"},
                }
            }
        )
        await client.delete(VOLCANO_QUEUE, "batch")
        await it.here.settles()
        await it.goes("llm")


async def test_a_set_that_was_stored_under_compat_grove_with_a_topology_is_deleted_natively() -> None:
    grove = OperatorSettings(manner=manner(["grove"]))
    async with judged(grove) as it:
        await it.here.apply(
            pod_clique_set("llm", clique("main", 2, scheduler="default-scheduler"), topologyConstraint=RACK)
        )
        await it.configure(OperatorSettings())
        await it.here.settles()
        await it.goes("llm")


async def test_a_set_whose_topology_binding_was_deleted_is_deleted_and_so_is_a_binding_of_a_scheduler_that_is_off() -> (
    None
):
    async with judged() as it:
        await it.here.apply(on_kai(topologyConstraint=RACK))
        await it.here.client.patch(
            TOPOLOGY_BINDING,
            "t",
            "",
            {
                "metadata": {"finalizers": ["example.com/keep"]},
                "spec": {"schedulerTopologyBindings": [{"schedulerName": "kai-scheduler", "topologyReference": "t"}]},
            },
        )
        await it.configure(only("default"))
        await it.here.client.delete(TOPOLOGY_BINDING, "t")
        await it.here.client.patch(TOPOLOGY_BINDING, "t", "", {"metadata": {"finalizers": None}})
        assert (await it.here.client.list(TOPOLOGY_BINDING)).items == []
        await it.goes("llm")


async def test_a_set_whose_backend_crashes_at_translating_and_at_judging_is_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken(KaiBackend):
        def check(self, pcs: Any, facts: Any) -> Any:
            raise ZeroDivisionError("no idea")

        def gang_objects(self, gang: Any, facts: Any) -> Any:
            raise ZeroDivisionError("no idea")

    async with judged() as it:
        await it.here.apply(on_kai())
        monkeypatch.setitem(BUILT_IN, "kai", Broken)
        backends._table.cache_clear()
        try:
            await it.configure(OperatorSettings())
            with pytest.raises(
                ApiError, match="backend kai failed while it judged the set: ZeroDivisionError: no idea"
            ):
                await it.here.client.create(POD_CLIQUE_SET, on_kai("other"))
            await it.goes("llm")
        finally:
            backends._table.cache_clear()


async def test_a_set_is_deleted_when_the_kind_of_its_backends_objects_is_gone() -> None:
    async with judged(None, VOLCANO_POD_GROUP, VOLCANO_QUEUE, HYPER_NODE) as it:
        await open_queue(it.here, "default")
        await it.here.apply(llm("volcano"))
        assert len(await it.here.every(VOLCANO_POD_GROUP)) == 1
        await it.here.client.delete(CRD, VOLCANO_POD_GROUP.resource)
        await it.goes("llm")


async def test_a_set_is_deleted_when_the_kind_of_its_compute_domains_is_gone() -> None:
    mnnvl = OperatorSettings(auto_mnnvl=True)
    async with judged(mnnvl) as it:
        await it.here.client.create(CRD, stand_in(COMPUTE_DOMAIN))
        await noticed(it.here, COMPUTE_DOMAIN)
        gpus = clique("main", 1)
        gpus["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
        await it.here.apply(pod_clique_set("llm", gpus, annotations={"grove.io/mnnvl-group": "a"}))
        assert len(await it.here.every(COMPUTE_DOMAIN)) == 1
        await it.here.client.delete(CRD, COMPUTE_DOMAIN.resource)
        await it.goes("llm")


async def test_a_namespace_with_sets_of_backends_that_are_off_is_deleted() -> None:
    async with judged() as it:
        await it.here.client.create(NAMESPACE_KIND, {"metadata": {"name": "team"}})
        pcs = on_kai()
        await it.here.apply(pcs | {"metadata": pcs["metadata"] | {"namespace": "team"}})
        await it.configure(only("default"))
        await it.here.client.delete(NAMESPACE_KIND, "team")

        async def gone() -> bool:
            return all(item.name != "team" for item in (await it.here.client.list(NAMESPACE_KIND)).items)

        await until(gone, "the namespace to go")


async def test_a_set_of_an_outside_backend_that_does_not_run_is_deleted() -> None:
    async with judged() as it:
        await it.configure(replace(OperatorSettings(), outside=("kai",)))
        await it.here.apply(on_kai())
        await it.goes("llm")


async def test_a_set_that_was_deleted_while_no_operator_ran_goes_when_one_is_back_although_its_backend_is_off() -> None:
    async with judged() as it:
        await it.here.apply(on_kai())
        await it.here.kill("operator")
        await it.here.client.delete(POD_CLIQUE_SET, "llm", NAMESPACE)
        assert (await it.here.the_set("llm")).metadata.deleting
        await it.configure(only("default"))
        await it.here.settles()
        assert [await it.here.every(kind) for kind in (POD_CLIQUE_SET, POD_CLIQUE, POD)] == [[], [], []]


async def test_a_set_goes_while_nobody_answers_for_admission_and_a_stranger_gets_nothing_through(
    unused_tcp_port: int,
) -> None:
    protected = OperatorSettings(authorizer=True)
    async with operator_world(protected) as here:
        await here.apply(on_kai())
        asked = list(hooks(ComponentOptions(operator=protected), LiveReader(here.server.store, here.server.catalogue)))
        for configuration in configurations(asked, WebhookAddress(url=f"https://127.0.0.1:{unused_tcp_port}"), b""):
            kind = MUTATING_WEBHOOK if configuration["kind"] == MUTATING_WEBHOOK.kind else VALIDATING_WEBHOOK
            await here.client.create(kind, configuration)
        eve = Client(here.server.transport(User("eve", ("system:masters",))))
        with pytest.raises(ApiError, match="failed calling webhook"):
            await eve.delete(POD_GANG, "llm-0", NAMESPACE)
        await Judged(here, []).goes("llm")


async def test_pods_of_a_backend_that_is_off_lose_the_finalizer_of_its_scheduler() -> None:
    async with judged() as it:
        await it.here.apply(on_kai())
        [pod, *_] = await it.here.pods()
        await it.here.client.patch(POD, pod.name, NAMESPACE, {"metadata": {"finalizers": ["kueue.x-k8s.io/managed"]}})
        await it.here.settles()
        assert (await it.here.client.get(POD, pod.name, NAMESPACE)).metadata.finalizers == ("kueue.x-k8s.io/managed",)
        await it.configure(only("default"))
        await it.goes("llm")


async def test_what_a_new_annotation_is_to_blame_for_is_refused_and_what_was_wrong_before_is_not() -> None:
    async with judged() as it:
        await it.here.apply(on_kai())
        await it.configure(only("default"))
        client = it.here.client
        with pytest.raises(ApiError) as refused:
            await client.patch(POD_CLIQUE_SET, "llm", NAMESPACE, {"metadata": {"annotations": {BACKEND: "unheard-of"}}})
        assert "no backend is called 'unheard-of'; there are: default" in str(refused.value)
        with pytest.raises(ApiError, match="no backend serves schedulerName 'kai-scheduler'"):
            await client.patch(POD_CLIQUE_SET, "llm", NAMESPACE, {"spec": {"replicas": 2}})


def test_hooks_judge_no_update_of_an_object_that_is_being_deleted() -> None:
    leaving = {"metadata": {"name": "x", "deletionTimestamp": "2026-01-01T00:00:00Z"}, "spec": {}}
    every = list(hooks(ComponentOptions(operator=OperatorSettings(authorizer=True)), None))  # type: ignore[arg-type]
    assert every and not any(hook.asks(HookReview("UPDATE", leaving, leaving)) for hook in every)
