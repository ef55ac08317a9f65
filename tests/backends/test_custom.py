"""A package outside the tree brings a backend by entry point: found at start, used like the others."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backends.scene import EMPTY, a_gang, a_pod, a_set, live, objects
from embedded import until
from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import CRD, EVENT, POD, POD_CLIQUE, POD_CLIQUE_SET
from gangline.api.meta import condition
from gangline.operator import backends
from gangline.operator.backends import Registry
from gangline.operator.backends.contract import Facts, GangObject, PodGangInfo
from gangline.rules import verdicts
from gangline.rules.sets import OperatorSettings
from operator_world import NAMESPACE, OperatorWorld, operator_world
from yaml_loading import load_all_yaml

PACKAGE = Path(__file__).parents[2] / "examples" / "custom-backend"


@pytest.fixture
def herd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The example package, installed as pip would leave it: its code on the path, and its entry points beside it."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    about = tmp_path / f"gangline_herd-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = project["entry-points"]["gangline.backends"]
    (about / "entry_points.txt").write_text(
        "[gangline.backends]\n" + "".join(f"{name} = {where}\n" for name, where in points.items())
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(PACKAGE / "src"))
    backends._table.cache_clear()
    yield importlib.import_module("gangline_herd")
    backends._table.cache_clear()


def documents(file: str) -> list[Any]:
    return load_all_yaml((PACKAGE / file).read_text())


def test_the_package_is_found_by_its_entry_point_after_the_built_in_ones(herd: Any) -> None:
    registry = Registry(OperatorSettings())
    assert registry.names[-1] == "herd" and isinstance(registry.by_name("herd"), herd.Herd)
    [pcs] = documents("sheep.yaml")
    found = registry.for_set(msgspec.convert(pcs, PodCliqueSet, strict=False))
    assert (found.backend.name, found.scheduler_name, found.source) == ("herd", "herd-scheduler", "annotation")
    assert registry.for_scheduler("herd-scheduler").backend.name == "herd"


def test_it_translates_prepares_refuses_and_reads_back(herd: Any) -> None:
    backend = herd.Herd()
    assert objects(backend, a_gang()) == [
        {
            "apiVersion": "herd.example.com/v1",
            "kind": "Herd",
            "metadata": {"name": "llm-0", "namespace": "serve"},
            "spec": {
                "flocks": [{"name": "llm-0-prefill", "atLeast": 2}, {"name": "llm-0-decode", "atLeast": 4}],
                "paused": False,
            },
        }
    ]
    assert backend.prepare_pod(a_pod(), a_gang())["metadata"]["labels"]["herd.example.com/flock"] == "llm-0-prefill"
    [problem] = backend.check(a_set(topologyConstraint={"topologyName": "t", "pack": {"required": "rack"}}), Facts())
    assert problem.message == "herd cannot keep a gang inside one rack"
    status = {"conditions": [{"type": "Gathered", "status": "False", "reason": "NoPasture", "message": "no room"}]}
    assert backend.gang_status(a_gang(live=(live(herd.HERD, "llm-0", status=status),)), EMPTY).why == "no room"


async def test_a_set_for_it_is_translated_let_go_and_cleaned_up_and_what_the_scheduler_took_over_stays(
    herd: Any,
) -> None:
    async with operator_world() as here:
        for crd in documents("herd-crd.yaml"):
            await here.client.create(CRD, crd)
        await until(lambda: here.manager.cache.revision(herd.HERD) > 0, "the operator to notice the kind")
        [pcs] = documents("sheep.yaml")
        await here.apply(pcs | {"metadata": pcs["metadata"] | {"namespace": NAMESPACE}})
        [made] = await here.every(herd.HERD)
        assert made.metadata.controller.uid == (await here.gang("sheep-0")).uid
        assert {flock["name"]: flock["atLeast"] for flock in made.spec["flocks"]} == {
            "sheep-0-lead": 1,
            "sheep-0-flock": 2,
        }
        pods = await here.pods()
        assert [pod.spec.scheduler_name for pod in pods] == ["herd-scheduler"] * 4
        assert [pod for pod in pods if pod.spec.scheduling_gates] == [], (
            "its own gate is lifted once the gang is complete"
        )
        await here.client.patch(herd.HERD, "sheep-0", NAMESPACE, {"spec": {"paused": True}})
        await here.settles()
        assert (await here.every(herd.HERD))[0].spec["paused"] is True
        await here.client.delete(POD_CLIQUE_SET, "sheep", NAMESPACE)
        await here.settles()
        assert (await here.every(herd.HERD), await here.every(POD)) == ([], [])


async def paused(here: OperatorWorld) -> None:
    """A server that knows herds, with a set whose herd begins paused."""
    herd = importlib.import_module("gangline_herd")
    for crd in documents("herd-crd.yaml"):
        await here.client.create(CRD, crd)
    await until(lambda: here.manager.cache.revision(herd.HERD) > 0, "the operator to notice the kind")
    [pcs] = documents("sheep.yaml")
    meta = pcs["metadata"]
    notes = {**(meta.get("annotations") or {}), "herd.example.com/paused": "true"}
    await here.apply(pcs | {"metadata": meta | {"namespace": NAMESPACE, "annotations": notes}})


async def test_a_backend_holds_the_gates_while_its_object_exists_says_why_and_lifts_them(herd: Any) -> None:
    async with operator_world() as here:
        await paused(here)
        assert len(await here.every(herd.HERD)) == 1
        pods = await here.pods()
        assert len(pods) == 4 and all(pod.spec.scheduling_gates for pod in pods)
        why = "backend herd holds the gates: Herd sheep-0 is paused: set spec.paused to false"
        gang = await here.gang("sheep-0")
        whole = condition(gang.status.conditions, "Initialized")
        assert whole is not None and (whole.status, whole.reason, whole.message) == ("False", "BackendNotReady", why)
        assert verdicts.of_gang(gang, None).text == f"sheep-0 is Pending: {why}"
        for clique in await here.every(POD_CLIQUE):
            gated = condition(clique.status.conditions, "SchedulingGated")
            assert gated is not None and gated.message.endswith(f"pods wait: {why}")
        assert why in str((await here.the_set("sheep")).status.pod_gang_statuses)
        events = [event for event in await here.every(EVENT) if event.reason == "BackendNotReady"]
        assert [event.message for event in events] == [why]
        await here.client.patch(herd.HERD, "sheep-0", NAMESPACE, {"spec": {"paused": False}})
        await here.settles()
        assert not any(pod.spec.scheduling_gates for pod in await here.pods())


async def test_a_backend_holds_the_gates_of_pods_that_come_to_a_gang_that_runs(herd: Any) -> None:
    async with operator_world() as here:
        await paused(here)
        await here.client.patch(herd.HERD, "sheep-0", NAMESPACE, {"spec": {"paused": False}})
        await here.settles()
        await here.run(*await here.pods())
        await here.client.patch(herd.HERD, "sheep-0", NAMESPACE, {"spec": {"paused": True}})
        await here.settles()
        await here.client.patch(POD_CLIQUE, "sheep-0-flock", NAMESPACE, {"spec": {"replicas": 4}}, subresource="scale")
        await here.settles()
        assert len([pod for pod in await here.pods() if pod.spec.scheduling_gates]) == 1
        await here.client.patch(herd.HERD, "sheep-0", NAMESPACE, {"spec": {"paused": False}})
        await here.settles()
        assert [pod for pod in await here.pods() if pod.spec.scheduling_gates] == []


async def test_a_note_of_kubectl_that_a_third_partys_backend_copies_is_not_written(
    herd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    translate = herd.Herd.gang_objects

    def copying(self: Any, gang: PodGangInfo, facts: Facts) -> Iterator[GangObject]:
        for wanted in translate(self, gang, facts):
            notes = {names.LAST_APPLIED: "{}", "herd.example.com/note": "kept"}
            yield replace(wanted, obj=wanted.obj | {"metadata": wanted.obj["metadata"] | {"annotations": notes}})

    monkeypatch.setattr(herd.Herd, "gang_objects", copying)
    async with operator_world() as here:
        await paused(here)
        [made] = await here.every(herd.HERD)
        assert made.metadata.annotations == {"herd.example.com/note": "kept"}


async def test_what_a_third_partys_backend_writes_says_who_made_it_for_which_set_and_by_which_backend(
    herd: Any,
) -> None:
    async with operator_world() as here:
        await paused(here)
        [made] = await here.every(herd.HERD)
        assert made.labels == {
            "app.kubernetes.io/managed-by": "grove-operator",
            "app.kubernetes.io/part-of": "sheep",
            "grove.io/scheduler-backend": "herd",
        }
