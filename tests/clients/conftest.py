"""The embedded platform with two simulated nodes, listening over TLS, and a kubeconfig for whoever comes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gangline.local import Platform, write_kubeconfig
from journeys import kubectl
from journeys.kubectl import Kubectl
from journeys.story import Story, embedded_platform


@pytest.fixture
async def story() -> AsyncIterator[Story]:
    platform = embedded_platform()
    try:
        await platform.start()
        told = Story(platform)
        await told.nodes(2, gpus=8)
        yield told
    finally:
        await platform.stop()


@pytest.fixture
async def kubeconfig(story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    assert isinstance(story.platform, Platform)
    path = write_kubeconfig(story.platform, await story.platform.listen(), tmp_path / "kubeconfig")
    monkeypatch.setenv("KUBECONFIG", str(path))
    return path


@pytest.fixture
def run(kubeconfig: Path, tmp_path: Path) -> Kubectl:
    if kubectl.find() is None:
        pytest.skip(kubectl.MISSING)
    return Kubectl(kubectl.find() or "", kubeconfig, tmp_path)
