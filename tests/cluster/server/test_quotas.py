"""Quotas: what a namespace may hold, refused in time and booked at once."""

from __future__ import annotations

from typing import Any

from cluster.server.conftest import MAPS, PODS, Api, config_map, pod

QUOTAS = "/api/v1/namespaces/default/resourcequotas"


async def limited(api: Api, **hard: str) -> None:
    """A quota whose controller has counted nothing yet."""
    names = {name.replace("__", "/").replace("_", "."): value for name, value in hard.items()}
    await api.post(QUOTAS, {"metadata": {"name": "q"}, "spec": {"hard": names}})
    await api.merge(f"{QUOTAS}/q/status", {"status": {"hard": names, "used": dict.fromkeys(names, "0")}})


async def used(api: Api) -> dict[str, str]:
    found: dict[str, str] = (await api.get(f"{QUOTAS}/q")).body["status"]["used"]
    return found


def asking(name: str, **amounts: str) -> dict[str, Any]:
    return pod(name, containers=[{"name": "main", "image": "none", "resources": {"requests": amounts}}])


async def test_what_would_exceed_a_quota_is_refused_and_what_fits_is_booked(api: Api) -> None:
    await limited(api, pods="2", requests_cpu="1", requests_memory="1Gi")
    assert (await api.post(PODS, asking("a", cpu="600m", memory="64Mi"))).status == 201
    assert await used(api) == {"pods": "1", "requests.cpu": "600m", "requests.memory": "64Mi"}
    refused = await api.post(PODS, asking("b", cpu="600m", memory="64Mi"))
    assert (refused.status, refused.message) == (
        403,
        'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=600m, limited: '
        "requests.cpu=1",
    )
    assert (await used(api))["pods"] == "1"


async def test_a_container_must_state_what_is_limited(api: Api) -> None:
    await limited(api, requests_cpu="1", limits_memory="1Gi")
    assert (await api.post(PODS, asking("a", cpu="1"))).message == (
        'pods "a" is forbidden: failed quota: q: must specify limits.memory for: main'
    )


async def test_objects_of_any_kind_are_counted(api: Api) -> None:
    await limited(api, count__configmaps="1")
    assert (await api.post(MAPS, config_map("a"))).status == 201
    assert (await api.post(MAPS, config_map("b"))).message == (
        'configmaps "b" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, '
        "limited: count/configmaps=1"
    )


async def test_neither_a_dry_run_nor_a_name_that_is_taken_is_booked(api: Api) -> None:
    await limited(api, count__configmaps="5")
    await api.post(MAPS, config_map("a"))
    await api.post(MAPS, config_map("b"), dryRun="All")
    assert (await api.post(MAPS, config_map("a"))).status == 409
    assert await used(api) == {"count/configmaps": "1"}


async def test_a_quota_that_nobody_has_counted_for_does_not_hold_yet(api: Api) -> None:
    await api.post(QUOTAS, {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}})
    assert (await api.post(PODS, pod("a"))).status == 201


async def test_a_quota_counts_only_what_is_in_its_scope(api: Api) -> None:
    high = {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}
    spec = {"hard": {"pods": "0"}, "scopeSelector": {"matchExpressions": [high]}}
    await api.post("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": 10})
    await api.post(QUOTAS, {"metadata": {"name": "q"}, "spec": spec})
    await api.merge(f"{QUOTAS}/q/status", {"status": {"hard": {"pods": "0"}, "used": {"pods": "0"}}})
    assert (await api.post(PODS, pod("low"))).status == 201
    assert (await api.post(PODS, pod("high", priorityClassName="high"))).status == 403
