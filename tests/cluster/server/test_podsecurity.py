"""Pod security standards: what each level refuses, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.server.conftest import PODS, Api, pod
from gangline.cluster.server.admit.pod_security import violations

SAFE = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def spec(*contexts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "containers": [
            {"name": f"c{number}", "image": "i", "securityContext": context} for number, context in enumerate(contexts)
        ],
        **more,
    }


def told(level: str, wanted: dict[str, Any]) -> str | None:
    return violations({"pod-security.kubernetes.io/enforce": level}, "enforce", wanted)


def test_a_careful_pod_passes_every_level() -> None:
    assert told("restricted", spec(SAFE, SAFE)) is None


def test_without_labels_anything_goes() -> None:
    assert violations({}, "enforce", spec({"privileged": True})) is None


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (spec({"privileged": True}), 'privileged (container "c0" must not set securityContext.privileged=true)'),
        (spec({}, hostNetwork=True, hostPID=True), "host namespaces (hostNetwork=true, hostPID=true)"),
        (spec({}, volumes=[{"name": "v", "hostPath": {"path": "/"}}]), 'hostPath volumes (volume "v")'),
        (
            spec({"capabilities": {"add": ["SYS_ADMIN"]}}),
            'non-default capabilities (container "c0" must not include "SYS_ADMIN" in '
            "securityContext.capabilities.add)",
        ),
    ],
)
def test_the_baseline_refuses(wanted: dict[str, Any], text: str) -> None:
    assert told("baseline", wanted) == f'violate PodSecurity "baseline:latest": {text}'


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"runAsUser": 0}, 'runAsUser=0 (container "c0" must not set runAsUser=0)'),
        (
            {"runAsNonRoot": None},
            'runAsNonRoot != true (pod or container "c0" must set securityContext.runAsNonRoot=true)',
        ),
        (
            {"capabilities": {}},
            'unrestricted capabilities (container "c0" must set securityContext.capabilities.drop=["ALL"])',
        ),
    ],
)
def test_the_restricted_level_refuses(change: dict[str, Any], text: str) -> None:
    assert told("restricted", spec({**SAFE, **change})) == f'violate PodSecurity "restricted:latest": {text}'


async def test_a_namespace_enforces_one_level_and_warns_of_another(api: Api) -> None:
    await api.merge(
        "/api/v1/namespaces/default",
        {
            "metadata": {
                "labels": {
                    "pod-security.kubernetes.io/enforce": "baseline",
                    "pod-security.kubernetes.io/warn": "restricted",
                }
            }
        },
    )
    warned = await api.post(PODS, pod("a"))
    assert warned.status == 201
    assert "allowPrivilegeEscalation != false" in warned.warnings[0]
    assert "would violate PodSecurity" in warned.warnings[0]
    refused = await api.post(PODS, pod("b", hostNetwork=True))
    assert (
        refused.message
        == 'pods "b" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)'
    )
