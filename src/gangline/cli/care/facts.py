"""What `gangline doctor` and `gangline bundle` read of a cluster: every answer once, and why there is none.

First in their journey: checks.py judges these facts, bundle.py packs them. Reads only; what may not be read becomes a
sentence in `refused` and ends nothing.
"""

from __future__ import annotations

import asyncio
import email.utils
import time
from typing import TYPE_CHECKING, Any

from gangline.cli.care.checks import RIGHTS, AskedRight, DoctorFacts
from gangline.errors import ApiError, NotFound

if TYPE_CHECKING:
    from gangline.cli.connection import ClusterConnection

PATHS = {
    "definitions": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "validating": "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "mutating": "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "slices": "/apis/discovery.k8s.io/v1/endpointslices",
    "leases": "/apis/coordination.k8s.io/v1/leases",
    "deployments": "/apis/apps/v1/deployments",
    "configs": "/apis/kai.scheduler/v1/configs",
    "shards": "/apis/kai.scheduler/v1/schedulingshards",
    "queues": "/apis/scheduling.run.ai/v2/queues",
    "nodes": "/api/v1/nodes",
}
"""What is listed, by the name it has among the facts."""


def examined() -> list[tuple[str, str]]:
    """Group and resource of all that is listed, and of what commands look at: what an account that examines a cluster
    may list."""
    listed = [path.strip("/").split("/") for path in PATHS.values()]
    looked_at = [(group, resource) for verb, group, resource in RIGHTS if verb == "list"]
    return [*(("" if parts[0] == "api" else parts[1], parts[-1]) for parts in listed), *looked_at]


async def gather_facts(connection: ClusterConnection) -> DoctorFacts:
    """Raises Unavailable and Unauthorized: without an answer there is nothing to examine."""
    version, skew = await _version(connection)
    lists = await asyncio.gather(*(_list(connection, path) for path in PATHS.values()))
    facts = dict(zip(PATHS, lists, strict=True))
    return DoctorFacts(
        server=connection.server,
        now=time.time(),
        version=version,
        skew=skew,
        user=await _user(connection),
        rights=tuple(await asyncio.gather(*(_right(connection, *right) for right in RIGHTS))),
        lists={name: items for name, (items, _) in facts.items()},
        refused={name: trouble for name, (_, trouble) in facts.items() if trouble},
    )


async def _version(connection: ClusterConnection) -> tuple[dict[str, Any], float | None]:
    """The server's version, and by how many seconds its clock goes before ours; None where it does not say."""
    from gangline.client.typed_views import plain

    asked = time.time()
    answer = await connection.client.send("GET", "/version")
    try:
        server_time = email.utils.parsedate_to_datetime(answer.headers.get("date", "")).timestamp()
    except (ValueError, OverflowError):
        return plain(answer.body, "GET /version"), None
    # The header counts whole seconds: the moment lies anywhere in that second.
    return plain(answer.body, "GET /version"), server_time + 0.5 - (asked + time.time()) / 2


async def _list(connection: ClusterConnection, path: str) -> tuple[list[dict[str, Any]], str]:
    try:
        from gangline.client.typed_views import plain_items

        return plain_items((await connection.client.send("GET", path)).body, f"GET {path}"), ""
    except NotFound:
        return [], ""
    except ApiError as error:
        return [], str(error)


async def _user(connection: ClusterConnection) -> str:
    answer = await _ask(connection, "authentication.k8s.io", "SelfSubjectReview", {})
    return str(_part(_part(answer, "status"), "userInfo").get("username") or "")


async def _right(connection: ClusterConnection, verb: str, group: str, resource: str) -> AskedRight:
    about = {"verb": verb, "group": group, "resource": resource, "namespace": connection.namespace}
    answer = await _ask(connection, "authorization.k8s.io", "SelfSubjectAccessReview", {"resourceAttributes": about})
    return AskedRight(verb, group, resource, bool(_part(answer, "status").get("allowed")))


def _part(answer: dict[str, Any], name: str) -> dict[str, Any]:
    part = answer.get(name)
    return part if isinstance(part, dict) else {}


async def _ask(connection: ClusterConnection, group: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    import msgspec

    from gangline.client.typed_views import plain

    body = msgspec.json.encode({"apiVersion": f"{group}/v1", "kind": kind, "spec": spec})
    try:
        answer = await connection.client.send("POST", f"/apis/{group}/v1/{kind.lower()}s", body)
    except ApiError:
        return {}
    return plain(answer.body, f"POST {kind}")
