"""The dashboard in a cluster: brought where it is asked for, with a login and no more rights than it needs, and taken
away with the rest."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.api.kinds import CLUSTER_ROLE, DEPLOYMENT, SERVICE
from gangline.cli.deploy import chart, install, uninstall
from gangline.cli.look import dashboard
from gangline.role_objects import rules
from yaml_loading import load_all_yaml, load_yaml


@pytest.mark.parametrize("login", ["token", "proxy", "none"])
def test_its_pod_runs_a_command_that_exists(login: str) -> None:
    [obj] = [manifest.obj for manifest in install.page_manifests("r/g:1", login) if manifest.kind == DEPLOYMENT]
    [container] = obj["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "r/g:1" and container["command"][:2] == ["gangline", "dashboard"]
    given = dashboard.command.make_context("dashboard", container["command"][2:]).params
    assert (given["address"], given["login"]) == ("0.0.0.0", login)
    assert container["readinessProbe"]["httpGet"]["port"] == given["port"]


def test_its_service_leads_to_its_pod_and_its_account_has_its_rights() -> None:
    made = {manifest.kind: manifest.obj for manifest in install.page_manifests(None, "token")}
    [port] = made[SERVICE]["spec"]["ports"]
    assert (port["port"], port["targetPort"]) == (80, 8080)
    assert made[SERVICE]["spec"]["selector"] == made[DEPLOYMENT]["spec"]["selector"]["matchLabels"]
    assert made[CLUSTER_ROLE]["rules"] == rules("dashboard")


def test_the_chart_brings_the_same_only_where_it_is_enabled() -> None:
    text = chart.printed()["templates/dashboard.yaml"]
    lines = text.splitlines()
    assert lines[2] == "{{- if .Values.dashboard.enabled }}" and lines[-1] == "{{- end }}"
    kinds = [document["kind"] for document in load_all_yaml(_plain(text)) if document]
    assert kinds == [manifest.kind.kind for manifest in install.page_manifests(None, "token")]
    assert load_yaml(chart.printed()["values.yaml"])["dashboard"] == {"enabled": False, "login": "token", "claim": ""}


@pytest.mark.parametrize(
    ("claim", "volume"), [("", {"emptyDir": {}}), ("p", {"persistentVolumeClaim": {"claimName": "p"}})]
)
def test_what_it_remembers_is_kept_where_the_claim_says(claim: str, volume: dict[str, Any]) -> None:
    made = [manifest.obj for manifest in install.page_manifests(None, "token", claim) if manifest.kind == DEPLOYMENT]
    pod = made[0]["spec"]["template"]["spec"]
    [container] = pod["containers"]
    [mount] = container["volumeMounts"]
    assert pod["volumes"] == [{"name": mount["name"], **volume}]
    assert f"--keep={mount['mountPath']}" in container["command"]
    assert (pod.get("securityContext") or {}).get("fsGroup") == (10000 if claim else None)


def _plain(text: str) -> str:
    """Without lines of control words."""
    return "\n".join(line for line in text.splitlines() if not line.strip().startswith("{{-"))


def test_uninstall_takes_it_too() -> None:
    taken = {(kind, name) for kind, name, _ in uninstall._own(everything=False)}
    assert {(manifest.kind, manifest.name) for manifest in install.page_manifests(None, "token")} <= taken
