"""A small operator written with kopf: it finds our kinds, handles them, keeps finalizers, posts events, and lets go."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from clients.manifests import podcliqueset
from embedded import PATIENCE
from gangline.api.kinds import EVENT, POD_CLIQUE_SET
from journeys.story import Story

kopf = pytest.importorskip("kopf", reason="kopf is not installed")


SETS = ("grove.io", "v1alpha1", "podcliquesets")


def operator(told: list[str]) -> Any:
    def by_kubeconfig(**known: Any) -> Any:
        return kopf.login_with_kubeconfig(**known)

    def alone(settings: Any, **_: Any) -> None:
        settings.peering.standalone = True

    def made(name: str, body: Any, patch: Any, **_: Any) -> None:
        told.append(f"made {name}")
        patch.metadata.labels["seen-by"] = "kopf"
        kopf.info(body, reason="Seen", message="an operator was here")

    def scaled(name: str, old: Any, new: Any, **_: Any) -> None:
        told.append(f"{name} went from {old} to {new}")

    def gone(name: str, **_: Any) -> None:
        told.append(f"{name} goes")

    registry = kopf.OperatorRegistry()
    kopf.on.login(registry=registry)(by_kubeconfig)
    kopf.on.startup(registry=registry)(alone)
    kopf.on.create(*SETS, registry=registry)(made)
    kopf.on.update(*SETS, field="spec.replicas", registry=registry)(scaled)
    kopf.on.delete(*SETS, registry=registry)(gone)
    return registry


async def test_an_operator_follows_a_set_from_creation_to_the_end(story: Story, kubeconfig: Path) -> None:
    told: list[str] = []
    stop, ready = asyncio.Event(), asyncio.Event()
    at_work = asyncio.create_task(
        kopf.operator(
            registry=operator(told),
            stop_flag=stop,
            ready_flag=ready,
            namespaces=["default"],
            settings=kopf.OperatorSettings(),
        )
    )
    try:
        await asyncio.wait_for(ready.wait(), PATIENCE)
        await story.apply(podcliqueset("llm"))
        await story.until(lambda: _said(told, "made llm"), "the operator sees the set")

        async def labelled() -> bool:
            return (await story.client.get(POD_CLIQUE_SET, "llm", "default")).labels.get("seen-by") == "kopf"

        await story.until(labelled, "the operator's label")
        await story.until(lambda: _noted(story, "an operator was here"), "the operator's event")
        await story.client.patch(POD_CLIQUE_SET, "llm", "default", {"spec": {"replicas": 2}})
        await story.until(lambda: _said(told, "llm went from 1 to 2"), "the operator sees the change")
        await story.client.delete(POD_CLIQUE_SET, "llm", "default")
        await story.until(lambda: _said(told, "llm goes"), "the operator sees the end")
        await story.gone(POD_CLIQUE_SET)
    finally:
        stop.set()
        await asyncio.wait_for(at_work, PATIENCE)


async def _said(told: list[str], text: str) -> bool:
    return text in told


async def _noted(story: Story, text: str) -> bool:
    return any(event.message == text for event in (await story.client.list(EVENT, "default")).items)
